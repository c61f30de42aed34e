/* SPDX-License-Identifier: GPL-3.0-or-later */
/* audit_uplinks.c - switches whose way up is not that of their siblings
 *
 * A switch's row is how many cables it has to which switch above it.  A row
 * that two or more switches share is a pattern; a switch whose row is that of a
 * pattern up to a few cables is meant to have the pattern.  In networks without
 * patterns (dragonfly, random graphs) the check says nothing.
 */
#include "base/compare.h"
#include "base/hash.h"
#include "topology/audit/checks.h"
#include "topology/audit/deltas.h"
#include "topology/audit/siblings.h"

#include <stdio.h>
#include <stdlib.h>

/* Of the cables of a pattern: a row that shares fewer is of another kind. */
#define LEAST_LIKE   0.5
#define LEAST_UNLIKE 0.85

struct cell {
	uint32_t high, n; /* switch above, cables to it */
};

struct row {
	uint32_t sw, first, n; /* cells */
	uint32_t aside; /* cables to switches of services, in place of others */
	uint32_t total;
	uint32_t adapters; /* of the host below that has most; 0: no host */
	uint64_t hash;
	uint32_t pattern; /* first row (in order of hash) with these cells */
	uint32_t n_same;  /* rows of that pattern */
};

struct work {
	const struct weft_audit *a;
	const struct audit_graph *g;
	struct cell *cells;
	struct row *rows;
	uint32_t n_cells, n_rows;
	uint32_t *shared;    /* [n_rows] cables shared with a row */
	uint32_t *first_low; /* high switch -> rows with a cell for it */
	uint32_t *low;
	uint32_t *count; /* [n_switches] */
	struct audit_deltas deltas;
};

/* ---- rows ---- */

WEFT_COMPARATOR(compare_cells, struct cell, WEFT_UP(high));

WEFT_COMPARATOR(compare_rows, struct row, WEFT_UP(hash) WEFT_UP(sw));

static uint32_t host_adapters(const struct audit_graph *g, uint32_t host)
{
	return g->first[WEFT_END_HOST][host + 1] -
	       g->first[WEFT_END_HOST][host];
}

/* Leafs of hosts with far more adapters, or of services, are of another kind.
 */
static bool are_like(const struct audit_graph *g, const struct row *a,
		     const struct row *b)
{
	return g->service[a->sw] == g->service[b->sw] &&
	       (!a->adapters || !b->adapters ||
		(a->adapters <= 2 * b->adapters &&
		 b->adapters <= 2 * a->adapters));
}

static void row_fill(struct work *w, uint32_t sw)
{
	struct row *row = &w->rows[w->n_rows];
	uint32_t n, kept = 0;
	const uint32_t *cable =
		audit_graph_cables(w->g, WEFT_END_SWITCH, sw, &n);
	struct cell *cell = w->cells + w->n_cells;

	*row = (struct row){.sw = sw, .first = w->n_cells};
	for (uint32_t i = 0; i < n; i++) {
		const struct weft_inventory_cable *c =
			&w->g->s->cables[cable[i]];

		const struct weft_end *peer = audit_graph_peer(c, sw);
		int direction = audit_graph_direction(w->g, c, sw);
		uint32_t below = c->a.kind == WEFT_END_HOST
					 ? host_adapters(w->g, c->a.index)
					 : 0;

		row->adapters = below > row->adapters ? below : row->adapters;
		if (direction >= 0 && w->g->service[peer->index] &&
		    !w->g->service[sw])
			row->aside += c->n;
		else if (direction > 0)
			cell[row->n++] = (struct cell){peer->index, c->n};
	}
	WEFT_SORT(cell, row->n, compare_cells);
	for (uint32_t i = 0; i < row->n; i++) {
		row->total += cell[i].n;
		if (kept && cell[kept - 1].high == cell[i].high)
			cell[kept - 1].n += cell[i].n;
		else
			cell[kept++] = cell[i];
	}
	row->n = kept;
	w->n_cells += kept;
	row->hash =
		weft_hash_bytes(WEFT_HASH_START, cell, kept * sizeof(*cell));
	if (kept)
		w->n_rows++;
}

static void patterns_find(struct work *w)
{
	WEFT_SORT(w->rows, w->n_rows, compare_rows);
	for (uint32_t i = 0, end; i < w->n_rows; i = end) {
		for (end = i + 1;
		     end < w->n_rows && w->rows[end].hash == w->rows[i].hash;)
			end++;
		for (uint32_t k = i; k < end; k++) {
			w->rows[k].pattern = i;
			w->rows[k].n_same = end - i;
		}
	}
}

/* high switch -> rows that have a cell for it. */
static void lows_index(struct work *w)
{
	for (uint32_t r = 0; r < w->n_rows; r++)
		for (uint32_t i = 0; i < w->rows[r].n; i++)
			w->first_low[w->cells[w->rows[r].first + i].high + 2]++;
	for (uint32_t i = 1; i < w->g->s->n_switches + 2; i++)
		w->first_low[i] += w->first_low[i - 1];
	for (uint32_t r = 0; r < w->n_rows; r++)
		for (uint32_t i = 0; i < w->rows[r].n; i++) {
			uint32_t high = w->cells[w->rows[r].first + i].high;

			w->low[w->first_low[high + 1]++] = r;
		}
}

/* ---- who differs from a pattern ---- */

static uint32_t cell_at(const struct work *w, const struct row *row,
			uint32_t high)
{
	for (uint32_t i = 0; i < row->n; i++)
		if (w->cells[row->first + i].high == high)
			return w->cells[row->first + i].n;
	return 0;
}

/* The pattern that most of the row's cables belong to, or WEFT_NONE. */
static uint32_t pattern_nearest(struct work *w, const struct row *row)
{
	uint32_t best = WEFT_NONE;

	for (uint32_t i = 0; i < row->n; i++) {
		const struct cell *cell = &w->cells[row->first + i];
		uint32_t from = w->first_low[cell->high];

		for (uint32_t k = from; k < w->first_low[cell->high + 1]; k++) {
			const struct row *other = &w->rows[w->low[k]];
			uint32_t p = other->pattern, n;

			if (other->sw != w->rows[p].sw ||
			    other->n_same < WEFT_LEAST_MAJORITY ||
			    other->n_same <= row->n_same)
				continue;
			n = cell_at(w, other, cell->high);
			w->shared[p] += n < cell->n ? n : cell->n;
			if (best == WEFT_NONE || w->shared[p] > w->shared[best])
				best = p;
		}
	}
	return best;
}

static void shared_clear(struct work *w, const struct row *row)
{
	for (uint32_t i = 0; i < row->n; i++) {
		uint32_t high = w->cells[row->first + i].high;

		for (uint32_t k = w->first_low[high];
		     k < w->first_low[high + 1]; k++)
			w->shared[w->rows[w->low[k]].pattern] = 0;
	}
}

static int delta_add(struct work *w, uint32_t low, uint32_t high, int more)
{
	return more ? audit_deltas_add(
			      &w->deltas,
			      (struct audit_delta){low, high, more, false},
			      w->a->err)
		    : 0;
}

static int row_compare(struct work *w, const struct row *row,
		       const struct row *usual)
{
	uint32_t aside =
		row->aside > usual->aside ? row->aside - usual->aside : 0;

	for (uint32_t i = 0; i < usual->n; i++) {
		const struct cell *cell = &w->cells[usual->first + i];
		uint32_t has = cell_at(w, row, cell->high);

		/* its ports are taken by management or storage */
		while (has < cell->n && aside) {
			has++;
			aside--;
		}
		if (delta_add(w, row->sw, cell->high, (int)has - (int)cell->n))
			return -1;
	}
	for (uint32_t i = 0; i < row->n; i++) {
		const struct cell *cell = &w->cells[row->first + i];

		if (cell_at(w, usual, cell->high) == 0 &&
		    delta_add(w, row->sw, cell->high, (int)cell->n))
			return -1;
	}
	return 0;
}

static int row_look(struct work *w, const struct row *row)
{
	uint32_t p = pattern_nearest(w, row);
	uint32_t shared = p == WEFT_NONE ? 0 : w->shared[p];

	shared_clear(w, row);
	if (p == WEFT_NONE || p == row->pattern ||
	    shared < LEAST_LIKE * w->rows[p].total)
		return 0;
	/* wired as the others, all the same, up to a cable or two */
	if (!are_like(w->g, row, &w->rows[p]) &&
	    shared < LEAST_UNLIKE * w->rows[p].total)
		return 0;
	return row_compare(w, row, &w->rows[p]);
}

/* ---- telling ---- */

static const char *cables_text(uint32_t n, char *buffer, size_t size)
{
	snprintf(buffer, size, "%u cable%s", n, n == 1 ? "" : "s");
	return buffer;
}

static int culprit_note(struct work *w, const struct audit_culprit *c)
{
	const struct weft_inventory_switch *sw = w->g->s->switches;
	bool moved = c->fewer == c->more && c->n == 2;
	char few[32], many[32];

	cables_text(c->fewer, few, sizeof(few));
	cables_text(c->more, many, sizeof(many));
	if (moved)
		return audit_note(w->a, WEFT_FINDING_CABLE_MOVED,
				  sw[c->sw].name, sw[c->sw].where,
				  WEFT_WEIGHT_CABLE,
				  "%s to %s should lead to %s, as those of its "
				  "siblings do",
				  many, sw[c->gained].name, sw[c->lost].name);
	if (c->more == 0)
		return audit_note(
			w->a, WEFT_FINDING_UPLINKS_UNEVEN, sw[c->sw].name,
			sw[c->sw].where, WEFT_WEIGHT_CABLE + c->fewer,
			"has %s fewer than its siblings, to %s%s", few,
			sw[c->lost].name, c->n > 1 ? " and others" : "");
	return audit_note(w->a, WEFT_FINDING_UPLINKS_UNEVEN, sw[c->sw].name,
			  sw[c->sw].where,
			  WEFT_WEIGHT_CABLE + c->fewer + c->more,
			  "has %u cables fewer and %u more than its siblings",
			  c->fewer, c->more);
}

static int deltas_tell(struct work *w)
{
	struct audit_culprit c;

	while (audit_deltas_next(&w->deltas, w->g->s->n_switches, w->count, &c))
		if (culprit_note(w, &c))
			return -1;
	return 0;
}

/* ---- leafs without any way up ---- */

static bool has_uplinks(const struct audit_graph *g, uint32_t sw)
{
	uint32_t n;
	const uint32_t *cable = audit_graph_cables(g, WEFT_END_SWITCH, sw, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct weft_inventory_cable *c = &g->s->cables[cable[i]];

		if (c->a.kind == WEFT_END_SWITCH && !c->down)
			return true;
	}
	return false;
}

static uint32_t hosts_below(const struct audit_graph *g, uint32_t sw)
{
	uint32_t n, hosts = 0;
	const uint32_t *cable = audit_graph_cables(g, WEFT_END_SWITCH, sw, &n);

	for (uint32_t i = 0; i < n; i++)
		hosts += g->s->cables[cable[i]].a.kind == WEFT_END_HOST;
	return hosts;
}

/* Reports orphans where most of the leafs of their network are none: else
 * leafs are all there is. */
static int orphans_find(struct work *w)
{
	const struct audit_graph *g = w->g;

	if (audit_told(w->a, WEFT_FINDING_INPUT_TRUNCATED, ""))
		return 0; /* what is not there may be what was not read */
	for (uint32_t net = 0; net < g->n_networks; net++) {
		uint32_t n = 0, joined = 0;

		for (uint32_t k = 0; k < g->s->n_switches; k++) {
			if (g->network[k] != net || g->tier[k] != 1 ||
			    !hosts_below(g, k))
				continue;
			n++;
			joined += has_uplinks(g, k);
		}
		if (joined == n || 2 * joined < n)
			continue;
		for (uint32_t k = 0; k < g->s->n_switches; k++) {
			const struct weft_inventory_switch *sw =
				&g->s->switches[k];
			uint32_t hosts = hosts_below(g, k);

			if (g->network[k] != net || g->tier[k] != 1 || !hosts ||
			    has_uplinks(g, k))
				continue;
			if (audit_note(w->a, WEFT_FINDING_LEAF_ORPHAN, sw->name,
				       sw->where, WEFT_WEIGHT_SWITCH + hosts,
				       "has no uplink, its siblings have; %u "
				       "host port%s reach%s nothing else",
				       hosts, hosts == 1 ? "" : "s",
				       hosts == 1 ? "es" : ""))
				return -1;
		}
	}
	return 0;
}

int audit_uplinks(const struct weft_audit *a)
{
	uint32_t n = a->inventory->n_switches;
	size_t ends = 2 * (size_t)a->inventory->n_cables;
	struct work w = {.a = a, .g = a->graph};
	int rc = 0;

	if (WEFT_ARRAY(w.cells, ends, a->memory, a->err) ||
	    WEFT_ARRAY(w.rows, (size_t)n + 1, a->memory, a->err) ||
	    WEFT_ARRAY(w.shared, (size_t)n + 1, a->memory, a->err) ||
	    WEFT_ARRAY(w.first_low, (size_t)n + 2, a->memory, a->err) ||
	    WEFT_ARRAY(w.low, ends, a->memory, a->err) ||
	    WEFT_ARRAY(w.count, n, a->memory, a->err) || orphans_find(&w))
		return -1;
	for (uint32_t k = 0; k < n; k++)
		row_fill(&w, k);
	patterns_find(&w);
	lows_index(&w);
	for (uint32_t r = 0; r < w.n_rows && rc == 0; r++)
		rc = row_look(&w, &w.rows[r]);
	if (rc == 0)
		rc = deltas_tell(&w);
	audit_deltas_free(&w.deltas);
	return rc;
}
