/* SPDX-License-Identifier: GPL-3.0-or-later */
/* write_cables.c - the sections switches and cables, like ones folded
 *
 * Cables that differ only in the thing at one end share a line: first all that
 * go to one switch, then lines whose lists are the same.
 */
#include "base/compare.h"
#include "topology/hierarchy/writer.h"

#include <stdlib.h>
#include <string.h>

/* ---- switches ---- */

/* The domain of the file that a switch belongs to: its own, or the nearest
 * around it that has hosts; WEFT_NONE: none. */
static uint32_t switch_domain(const struct weft_writer *w, uint32_t sw)
{
	uint32_t d = w->hierarchy->switch_domain[sw];

	while (d != WEFT_NONE && !w->domain[d])
		d = w->hierarchy->domains[d].parent;
	return d;
}

/* What the line of a switch says; "" where nothing needs to be said. */
static void switch_facts(struct weft_writer *w, uint32_t sw, char *text,
			 size_t size)
{
	const struct weft_inventory_switch *s = &w->s->switches[sw];
	uint32_t d = switch_domain(w, sw);
	bool own =
		w->is_leaf[sw] || (d != WEFT_NONE && w->sw[sw] == w->domain[d]);
	char ports[32] = "", tier[32] = "", name[WEFT_NAME_SIZE];
	const char *comma;

	if (s->n_ports)
		snprintf(ports, sizeof(ports), "ports: %u", s->n_ports);
	comma = s->n_ports ? ", " : "";
	if (own) {
		/* leafs are switches by themselves, other domains by a line,
		 * which a cable of theirs asks for */
		bool said = w->is_leaf[sw] || !w->cabled[sw] ||
			    w->hierarchy->domains[d].level == 0;

		snprintf(text, size, said && !s->n_ports ? "" : "{%s}", ports);
		return;
	}
	if (s->tier)
		snprintf(tier, sizeof(tier), ", tier: %u", s->tier);
	weft_writer_clean(s->network ? s->network : "other", name);
	if (d == WEFT_NONE)
		snprintf(text, size, "{network: \"%s\"%s%s%s}", name, tier,
			 comma, ports);
	else if (w->hierarchy->n_rails > 1 &&
		 w->hierarchy->domains[d].level == 0)
		snprintf(text, size, "{domain: \"%s\"%s%s%s}",
			 w->rail[(size_t)d * w->hierarchy->n_rails], tier,
			 comma, ports);
	else
		snprintf(text, size, "{domain: \"%s\"%s%s%s}", w->domain[d],
			 tier, comma, ports);
}

struct fact {
	char text[3 * WEFT_NAME_SIZE];
	const char *name;
};

WEFT_COMPARATOR(compare_facts, struct fact, WEFT_TEXT(text) WEFT_NAME(name));

static int facts_write(struct weft_writer *w, struct fact *facts, uint32_t n,
		       const char **names)
{
	WEFT_SORT(facts, n, compare_facts);
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i;
		     end < n && strcmp(facts[end].text, facts[i].text) == 0 &&
		     end - i < 32;
		     end++)
			names[end - i] = facts[end].name;
		if (weft_writer_line(w, names, end - i, facts[i].text))
			return -1;
	}
	return 0;
}

static void cabled_mark(struct weft_writer *w)
{
	for (uint32_t i = 0; i < w->s->n_cables; i++) {
		const struct weft_inventory_cable *c = &w->s->cables[i];

		if (c->a.kind == WEFT_END_SWITCH)
			w->cabled[c->a.index] = true;
		if (c->b.kind == WEFT_END_SWITCH)
			w->cabled[c->b.index] = true;
	}
}

static int switches_write(struct weft_writer *w)
{
	struct fact *facts;
	const char **names;
	uint32_t n = 0;

	if (WRITER_ARRAY(w, facts, w->s->n_switches) ||
	    WRITER_ARRAY(w, names, w->s->n_switches))
		return -1;
	for (uint32_t i = 0; i < w->s->n_switches; i++) {
		switch_facts(w, i, facts[n].text, sizeof(facts[n].text));
		facts[n].name = w->sw[i];
		n += facts[n].text[0] != '\0';
	}
	if (!n)
		return 0;
	fputs("switches:\n", w->out);
	return facts_write(w, facts, n, names);
}

/* ---- cables ---- */

/* Parallel cables between two things, alike in all that the file says. */
struct row {
	const char *port; /* the host's adapter, or "" */
	uint32_t rail;
	const char *to;
	uint32_t n, width;
	double rate_bytes_per_s;
	bool down;
	const char *from;
	char *froms; /* of a folded row */
};

/* What a line says besides the things at its ends and how many. */
WEFT_COMPARATOR(compare_kinds, struct row,
		WEFT_NAME(port) WEFT_UP(rail) WEFT_UP(rate_bytes_per_s)
			WEFT_UP(width) WEFT_UP(down));

/* By ends first: parallel ones lie side by side. */
WEFT_COMPARATOR(compare_parallel, struct row,
		WEFT_NAME(to) WEFT_NAME(from) WEFT_BY(compare_kinds));

/* All from one list to one switch lie side by side. */
WEFT_COMPARATOR(compare_to, struct row,
		WEFT_NAME(to) WEFT_BY(compare_kinds) WEFT_UP(n)
			WEFT_NAME(from));

WEFT_COMPARATOR(compare_froms, struct row,
		WEFT_NAME(froms) WEFT_BY(compare_kinds) WEFT_UP(n)
			WEFT_NAME(to));

/* Rows of the cables whose both ends are in the file. */
static uint32_t rows_gather(const struct weft_writer *w, struct row *rows)
{
	const struct weft_inventory *s = w->s;
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_cables; i++) {
		const struct weft_inventory_cable *c = &s->cables[i];
		const struct weft_inventory_hca *hca =
			c->a.kind == WEFT_END_HOST && c->a.hca != WEFT_NONE
				? &s->hcas[c->a.hca]
				: NULL;
		const char *from = c->a.kind == WEFT_END_HOST
					   ? w->host[c->a.index]
					   : w->sw[c->a.index];

		if (!from || c->b.kind != WEFT_END_SWITCH || !w->sw[c->b.index])
			continue;
		rows[n++] = (struct row){
			.port = hca ? hca->name : "",
			.rail = hca ? hca->rail : WEFT_NONE,
			.to = w->sw[c->b.index],
			.n = c->n,
			.width = c->width,
			.rate_bytes_per_s = c->rate_bytes_per_s,
			.down = c->down,
			.from = from,
		};
	}
	return n;
}

static uint32_t rows_merge(struct row *rows, uint32_t n)
{
	uint32_t kept = 0;

	WEFT_SORT(rows, n, compare_parallel);
	for (uint32_t i = 0; i < n; i++) {
		if (kept && compare_parallel(&rows[kept - 1], &rows[i]) == 0)
			rows[kept - 1].n += rows[i].n;
		else
			rows[kept++] = rows[i];
	}
	return kept;
}

/* Rows to one switch that differ in `from` alone become one; *folded counts the
 * rows whose froms are to be freed. */
static int rows_fold(struct weft_writer *w, struct row *rows, uint32_t n,
		     uint32_t *folded)
{
	const char **names;

	if (WRITER_ARRAY(w, names, n))
		return -1;
	WEFT_SORT(rows, n, compare_to);
	for (uint32_t i = 0, end; i < n; i = end) {
		struct row row = rows[i];

		for (end = i; end < n && rows[end].to == row.to &&
			      rows[end].n == row.n &&
			      compare_kinds(&rows[end], &row) == 0;
		     end++)
			names[end - i] = rows[end].from;
		if (weft_writer_hostlist(w, names, end - i, &row.froms))
			return -1;
		rows[(*folded)++] = row;
	}
	return 0;
}

static void row_write(const struct weft_writer *w, const struct row *row,
		      const char *to)
{
	char port[WEFT_NAME_SIZE];

	fprintf(w->out, "  - {from: \"%s\", ", row->froms);
	if (row->port[0]) {
		weft_writer_clean(row->port, port);
		fprintf(w->out, "port: \"%s\", ", port);
	}
	if (row->rail != WEFT_NONE)
		fprintf(w->out, "rail: %u, ", row->rail);
	fprintf(w->out, "to: \"%s\"", to);
	if (row->n > 1)
		fprintf(w->out, ", n: %u", row->n);
	if (row->rate_bytes_per_s > 0)
		fprintf(w->out, ", rate: %.9g Gbps",
			row->rate_bytes_per_s * 8 / 1e9);
	if (row->width)
		fprintf(w->out, ", width: %u", row->width);
	fputs(row->down ? ", state: down}\n" : "}\n", w->out);
}

static int rows_write(struct weft_writer *w, struct row *rows, uint32_t n)
{
	const char **names;

	if (WRITER_ARRAY(w, names, n))
		return -1;
	WEFT_SORT(rows, n, compare_froms);
	fputs(n ? "cables:\n" : "", w->out);
	for (uint32_t i = 0, end; i < n; i = end) {
		char *to;

		for (end = i;
		     end < n && strcmp(rows[end].froms, rows[i].froms) == 0 &&
		     rows[end].n == rows[i].n &&
		     compare_kinds(&rows[end], &rows[i]) == 0;
		     end++)
			names[end - i] = rows[end].to;
		if (weft_writer_hostlist(w, names, end - i, &to))
			return -1;
		row_write(w, &rows[i], to);
		free(to);
	}
	return 0;
}

static int cables_write(struct weft_writer *w)
{
	uint32_t n, folded = 0;
	struct row *rows;
	int rc;

	if (WRITER_ARRAY(w, rows, w->s->n_cables))
		return -1;
	n = rows_merge(rows, rows_gather(w, rows));
	rc = rows_fold(w, rows, n, &folded);
	if (rc == 0)
		rc = rows_write(w, rows, folded);
	for (uint32_t i = 0; i < folded; i++)
		free(rows[i].froms);
	return rc;
}

int weft_writer_cabling(struct weft_writer *w)
{
	if (!w->s->n_switches)
		return 0;
	cabled_mark(w);
	return switches_write(w) || (w->s->n_cables && cables_write(w)) ? -1
									: 0;
}
