/* SPDX-License-Identifier: GPL-3.0-or-later */
/* write_levels.c - the sections levels, disjoint, rack, links, shapes */
#include "base/compare.h"
#include "base/hostlist.h"
#include "topology/hierarchy/writer.h"

#include <stdlib.h>
#include <string.h>

/* "member is in the group numbered `in`". */
struct member {
	uint32_t in;
	uint32_t order; /* 0: that of names */
	const char *name;
};

struct members {
	struct member *item;
	uint32_t n;
	const char **names; /* scratch of the same size */
};

static int members_alloc(struct weft_writer *w, struct members *m, size_t n)
{
	m->n = 0;
	return WRITER_ARRAY(w, m->item, n) || WRITER_ARRAY(w, m->names, n) ? -1
									   : 0;
}

static void member_add(struct members *m, uint32_t in, uint32_t order,
		       const char *name)
{
	m->item[m->n++] = (struct member){in, order, name};
}

WEFT_COMPARATOR(compare_members, struct member,
		WEFT_UP(in) WEFT_UP(order) WEFT_NAME(name));

static void members_sort(struct members *m)
{
	WEFT_SORT(m->item, m->n, compare_members);
}

/* The hostlist of group `in`, which begins at *at; *at goes behind it. */
static int members_text(struct weft_writer *w, const struct members *m,
			uint32_t in, uint32_t *at, char **text)
{
	bool ordered = *at < m->n && m->item[*at].order > 0;
	uint32_t n = 0;

	while (*at < m->n && m->item[*at].in == in)
		m->names[n++] = m->item[(*at)++].name;
	if (!ordered)
		return weft_writer_hostlist(w, m->names, n, text);
	*text = weft_hostlist_encode(m->names, n);
	return *text ? 0 : weft_fail(w->err, WEFT_ENOMEM, "out of memory");
}

/* ---- levels ---- */

static bool is_bundle(const struct weft_writer *w, uint32_t d)
{
	return w->hierarchy->n_rails > 1 && w->hierarchy->domains[d].level == 0;
}

/* Everything that is attached to each domain, by its name in the file. */
static int levels_gather(struct weft_writer *w, struct members *m)
{
	const struct weft_hierarchy *hierarchy = w->hierarchy;
	size_t most = (size_t)w->s->n_hosts +
		      (size_t)hierarchy->n_domains * hierarchy->n_rails;

	if (members_alloc(w, m, most))
		return -1;
	for (uint32_t h = 0; h < w->s->n_hosts; h++)
		if (w->host[h] && hierarchy->host_domain[h] != WEFT_NONE)
			member_add(m, hierarchy->host_domain[h],
				   hierarchy->host_order
					   ? hierarchy->host_order[h] + 1
					   : 0,
				   w->host[h]);
	for (uint32_t d = 0; d < hierarchy->n_domains; d++) {
		uint32_t parent = hierarchy->domains[d].parent;
		uint32_t order =
			hierarchy->ordered ? d * hierarchy->n_rails + 1 : 0;

		if (!w->domain[d] || parent == WEFT_NONE)
			continue;
		for (uint32_t r = 0; is_bundle(w, d) && r < hierarchy->n_rails;
		     r++)
			member_add(m, parent, order ? order + r : 0,
				   w->rail[d * hierarchy->n_rails + r]);
		if (!is_bundle(w, d))
			member_add(m, parent, order, w->domain[d]);
	}
	members_sort(m);
	return 0;
}

/* A bundle's name is the list of its leafs, in the order of the rails. */
static int domain_key(struct weft_writer *w, uint32_t d)
{
	uint32_t rails = w->hierarchy->n_rails;
	char *text;

	if (!is_bundle(w, d)) {
		weft_writer_word(w, w->domain[d]);
		return 0;
	}
	text = weft_hostlist_encode(w->rail + (size_t)d * rails, rails);
	if (!text)
		return weft_fail(w->err, WEFT_ENOMEM, "out of memory");
	weft_writer_word(w, text);
	free(text);
	return 0;
}

static uint32_t members_first(const struct members *m, uint32_t in)
{
	uint32_t low = 0, high = m->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (m->item[middle].in < in)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static int domain_write(struct weft_writer *w, const struct members *m,
			uint32_t d)
{
	uint32_t at = members_first(m, d);
	char *text;

	fputs("    ", w->out);
	if (domain_key(w, d) || members_text(w, m, d, &at, &text))
		return -1;
	fputs(": ", w->out);
	weft_writer_word(w, text);
	fputc('\n', w->out);
	free(text);
	return 0;
}

static int level_write(struct weft_writer *w, const struct members *m,
		       uint32_t level)
{
	const struct weft_hierarchy *hierarchy = w->hierarchy;
	bool begun = false;

	for (uint32_t d = 0; d < hierarchy->n_domains; d++) {
		if (!w->domain[d] || hierarchy->domains[d].level != level)
			continue;
		if (!begun)
			fprintf(w->out, "  %s:\n",
				hierarchy->levels[level].name);
		begun = true;
		if (domain_write(w, m, d))
			return -1;
	}
	return 0;
}

/* The level that joins the roots by itself: a file has no line for it. */
static bool is_core(const struct weft_writer *w, uint32_t level)
{
	return strcmp(w->hierarchy->levels[level].name, "core") == 0;
}

static int levels_write(struct weft_writer *w)
{
	struct members m;

	if (levels_gather(w, &m))
		return -1;
	if (!is_core(w, 0))
		fputs("levels:\n", w->out);
	for (uint32_t l = 0; l < w->hierarchy->n_levels; l++)
		if (!is_core(w, l) && level_write(w, &m, l))
			return -1;
	return 0;
}

/* ---- racks ---- */

/* Names of the racks, each once; *n of them. */
static int racks_list(struct weft_writer *w, const char **racks, uint32_t *n)
{
	*n = 0;
	for (uint32_t h = 0; h < w->s->n_hosts; h++) {
		char name[WEFT_NAME_SIZE];

		if (!w->host[h] || !w->s->hosts[h].rack.text)
			continue;
		weft_writer_clean(w->s->hosts[h].rack.text, name);
		racks[*n] = weft_arena_copy(&w->arena, name, w->err);
		if (!racks[(*n)++])
			return -1;
	}
	return 0;
}

static int racks_gather(struct weft_writer *w, const char **racks,
			struct members *m, uint32_t *n_racks)
{
	const char **sorted;
	uint32_t n, k = 0;

	if (racks_list(w, racks, &n))
		return -1;
	if (WRITER_ARRAY(w, sorted, n))
		return -1;
	for (uint32_t i = 0; i < n; i++)
		sorted[i] = racks[i];
	WEFT_SORT(sorted, n, weft_compare_names);
	*n_racks = 0;
	for (uint32_t i = 0; i < n; i++)
		if (!i || strcmp(sorted[i], sorted[*n_racks - 1]) != 0)
			sorted[(*n_racks)++] = sorted[i];
	for (uint32_t h = 0; h < w->s->n_hosts; h++) {
		const char **found;

		if (!w->host[h] || !w->s->hosts[h].rack.text)
			continue;
		found = bsearch(&racks[k++], sorted, *n_racks, sizeof(*sorted),
				weft_compare_names);
		member_add(m, (uint32_t)(found - sorted), 0, w->host[h]);
	}
	for (uint32_t i = 0; i < *n_racks; i++)
		racks[i] = sorted[i];
	members_sort(m);
	return 0;
}

static int racks_write(struct weft_writer *w)
{
	const char **racks;
	struct members m;
	uint32_t n, at = 0;

	if (WRITER_ARRAY(w, racks, w->s->n_hosts) ||
	    members_alloc(w, &m, w->s->n_hosts) ||
	    racks_gather(w, racks, &m, &n))
		return -1;
	for (uint32_t k = 0; k < n; k++) {
		char *text;

		if (members_text(w, &m, k, &at, &text))
			return -1;
		fputs(k ? "  " : "rack:\n  ", w->out);
		weft_writer_word(w, racks[k]);
		fputs(": ", w->out);
		weft_writer_word(w, text);
		fputc('\n', w->out);
		free(text);
	}
	return 0;
}

/* ---- links and shapes ---- */

/* A level of which every domain is left out is no level of the file; "core" is
 * one without a line. */
static bool level_is_written(const struct weft_writer *w, uint32_t level)
{
	const struct weft_hierarchy *hierarchy = w->hierarchy;

	for (uint32_t d = 0; d < hierarchy->n_domains; d++)
		if (w->domain[d] && hierarchy->domains[d].level == level)
			return true;
	return is_core(w, level);
}

/* "SEPARATORkey: value UNIT" where the value is known. */
static const char *link_write(const struct weft_writer *w,
			      const char *separator, const char *key,
			      double value, const char *unit)
{
	if (value <= 0)
		return separator;
	fprintf(w->out, "%s%s: %.9g%s", separator, key, value, unit);
	return ", ";
}

/* They come with a bandwidth, from a fabric. */
static void shares_write(const struct weft_writer *w,
			 const struct weft_hierarchy_level *level)
{
	for (uint32_t k = 0; k < level->n_shares; k++)
		fprintf(w->out, "%s%.17g B: %.9g",
			k ? ",\n    " : ",\n    shares: {",
			level->shares[k].size_bytes, level->shares[k].share);
	if (level->n_shares)
		fputc('}', w->out);
}

static void links_write(const struct weft_writer *w)
{
	bool begun = false;

	for (uint32_t l = 0; l < w->hierarchy->n_levels; l++) {
		const struct weft_hierarchy_level *level =
			&w->hierarchy->levels[l];
		const char *separator = "";

		if (!level_is_written(w, l) ||
		    (level->rate_bytes_per_s <= 0 &&
		     level->oversubscription < 1 && level->latency_s <= 0 &&
		     !level->hops))
			continue;
		fprintf(w->out, "%s  %s: {", begun ? "" : "links:\n",
			level->name);
		begun = true;
		separator =
			link_write(w, separator, "bandwidth",
				   level->rate_bytes_per_s * 8 / 1e9, " Gbps");
		separator = link_write(w, separator, "latency",
				       level->latency_s * 1e6, " us");
		separator = link_write(w, separator, "oversubscription",
				       level->oversubscription, "");
		link_write(w, separator, "hops", level->hops, "");
		shares_write(w, level);
		fputs("}\n", w->out);
	}
}

static void shapes_write(const struct weft_writer *w)
{
	bool begun = false;

	for (uint32_t l = 0; l < w->hierarchy->n_levels; l++) {
		const struct weft_hierarchy_level *level =
			&w->hierarchy->levels[l];
		const uint32_t *dims = level->dims;

		if (level->shape == WEFT_HIERARCHY_PLAIN ||
		    !level_is_written(w, l))
			continue;
		fprintf(w->out, "%s  %s: ", begun ? "" : "shapes:\n",
			level->name);
		begun = true;
		if (level->shape == WEFT_HIERARCHY_TORUS)
			fprintf(w->out, "[%u, %u, %u]\n", dims[0], dims[1],
				dims[2]);
		else
			fputs(level->shape == WEFT_HIERARCHY_RING ? "ring\n"
								  : "groups\n",
			      w->out);
	}
}

int weft_writer_levels(struct weft_writer *w)
{
	if (w->hierarchy->n_levels && levels_write(w))
		return -1;
	if (w->hierarchy->disjoint)
		fputs("disjoint: yes\n", w->out);
	if (racks_write(w))
		return -1;
	links_write(w);
	shapes_write(w);
	return 0;
}
