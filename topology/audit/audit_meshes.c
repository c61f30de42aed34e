/* SPDX-License-Identifier: GPL-3.0-or-later */
/* audit_meshes.c - cables missing between switches that are joined each to each
 *
 * In a group of a dragonfly, and between its groups, all pairs are meant to
 * have the same number of cables.  Where a pair of a level has fewer, a cable
 * is missing; where one has more instead, it was plugged in elsewhere.
 */
#include "base/compare.h"
#include "topology/audit/checks.h"
#include "topology/audit/deltas.h"
#include "topology/audit/siblings.h"

#include <stdio.h>
#include <stdlib.h>

/* Of all pairs: fewer that are alike are no pattern. */
#define LEAST_ALIKE 0.75

/* Cables between two children of a domain, the lower index first. */
struct pair {
	uint32_t parent, a, b, n;
};

struct mesh {
	const struct weft_audit *a;
	struct pair *pairs; /* by parent, a, b; each once */
	uint32_t n_pairs;
	/* the children of domain d are child[first[d]] up to that of d + 1 */
	uint32_t *first, *child;
	uint32_t *count; /* [n_domains] scratch */
	struct audit_deltas deltas;
};

WEFT_COMPARATOR(compare_pairs, struct pair,
		WEFT_UP(parent) WEFT_UP(a) WEFT_UP(b));

/* ---- pairs ---- */

/* The two children of one domain that a cable joins, or false.  One that is
 * down is there: link-down has it. */
static bool pair_find(const struct weft_hierarchy *h,
		      const struct weft_inventory_cable *cable,
		      struct pair *pair)
{
	uint32_t a, b;

	if (cable->a.kind != WEFT_END_SWITCH ||
	    cable->b.kind != WEFT_END_SWITCH)
		return false;
	a = h->switch_domain[cable->a.index];
	b = h->switch_domain[cable->b.index];
	while (a != WEFT_NONE && b != WEFT_NONE && a != b &&
	       h->domains[a].parent != h->domains[b].parent) {
		if (h->domains[a].level <= h->domains[b].level)
			a = h->domains[a].parent;
		else
			b = h->domains[b].parent;
	}
	if (a == WEFT_NONE || b == WEFT_NONE || a == b ||
	    h->domains[a].parent == WEFT_NONE)
		return false;
	*pair = (struct pair){h->domains[a].parent, a < b ? a : b,
			      a < b ? b : a, cable->n};
	return h->levels[h->domains[pair->parent].level].shape ==
	       WEFT_HIERARCHY_GROUPS;
}

static int pairs_list(struct mesh *m)
{
	const struct weft_inventory *s = m->a->inventory;
	uint32_t kept = 0;

	if (WEFT_ARRAY(m->pairs, s->n_cables, m->a->memory, m->a->err))
		return -1;
	for (uint32_t i = 0; i < s->n_cables; i++)
		if (pair_find(m->a->hierarchy, &s->cables[i],
			      &m->pairs[m->n_pairs]))
			m->n_pairs++;
	WEFT_SORT(m->pairs, m->n_pairs, compare_pairs);
	for (uint32_t i = 0; i < m->n_pairs; i++)
		if (kept &&
		    compare_pairs(&m->pairs[kept - 1], &m->pairs[i]) == 0)
			m->pairs[kept - 1].n += m->pairs[i].n;
		else
			m->pairs[kept++] = m->pairs[i];
	m->n_pairs = kept;
	return 0;
}

/* Counting sort by parent. */
static int children_index(struct mesh *m)
{
	const struct weft_hierarchy *h = m->a->hierarchy;
	uint32_t n = h->n_domains;

	if (WEFT_ARRAY(m->first, (size_t)n + 2, m->a->memory, m->a->err) ||
	    WEFT_ARRAY(m->child, n, m->a->memory, m->a->err))
		return -1;
	for (uint32_t d = 0; d < n; d++)
		if (h->domains[d].parent != WEFT_NONE)
			m->first[h->domains[d].parent + 2]++;
	for (uint32_t d = 1; d < n + 2; d++)
		m->first[d] += m->first[d - 1];
	for (uint32_t d = 0; d < n; d++)
		if (h->domains[d].parent != WEFT_NONE)
			m->child[m->first[h->domains[d].parent + 1]++] = d;
	return 0;
}

/* ---- a level ---- */

/* Pairs of the level that cables join, from *first on, and their range. */
static uint32_t level_end(const struct mesh *m, uint32_t first)
{
	const struct weft_hierarchy *h = m->a->hierarchy;
	uint32_t level = h->domains[m->pairs[first].parent].level;
	uint32_t i = first;

	while (i < m->n_pairs && h->domains[m->pairs[i].parent].level == level)
		i++;
	return i;
}

/* All pairs of the domains of pairs[first, end), joined or not. */
static double level_pairs(const struct mesh *m, uint32_t first, uint32_t end)
{
	double n = 0;

	for (uint32_t i = first; i < end; i++)
		if (i == first ||
		    m->pairs[i].parent != m->pairs[i - 1].parent) {
			uint32_t k = m->first[m->pairs[i].parent + 1] -
				     m->first[m->pairs[i].parent];

			n += (double)k * (k - 1) / 2;
		}
	return n;
}

/* Cables of most pairs, or 0 where the pairs differ too much. */
static uint32_t usual_find(struct mesh *m, uint32_t first, uint32_t end)
{
	struct audit_majority usual;
	double *value;

	if (WEFT_ARRAY(value, end - first, m->a->memory, m->a->err))
		return WEFT_NONE;
	for (uint32_t i = first; i < end; i++)
		value[i - first] = m->pairs[i].n;
	usual = audit_majority(value, end - first);
	return usual.n_same >= WEFT_LEAST_MAJORITY &&
			       usual.n_same >=
				       LEAST_ALIKE * level_pairs(m, first, end)
		       ? (uint32_t)usual.value
		       : 0;
}

/* Differences of one domain, whose joined pairs begin at pairs[*i]. */
static int domain_compare(struct mesh *m, uint32_t *i, uint32_t end,
			  uint32_t usual)
{
	uint32_t parent = m->pairs[*i].parent;

	for (uint32_t x = m->first[parent]; x < m->first[parent + 1]; x++)
		for (uint32_t y = x + 1; y < m->first[parent + 1]; y++) {
			struct pair pair = {parent, m->child[x], m->child[y],
					    0};
			bool joined = *i < end &&
				      compare_pairs(&m->pairs[*i], &pair) == 0;
			uint32_t has = joined ? m->pairs[(*i)++].n : 0;

			if (has != usual &&
			    audit_deltas_add(
				    &m->deltas,
				    (struct audit_delta){pair.a, pair.b,
							 (int)has - (int)usual,
							 false},
				    m->a->err))
				return -1;
		}
	return 0;
}

/* ---- telling ---- */

static struct weft_place where_of(const struct mesh *m, uint32_t domain)
{
	const struct weft_inventory *s = m->a->inventory;

	for (uint32_t k = 0; k < s->n_switches; k++)
		if (m->a->hierarchy->switch_domain[k] == domain)
			return s->switches[k].where;
	return (struct weft_place){WEFT_NONE, 0};
}

static int culprit_note(struct mesh *m, const struct audit_culprit *c,
			uint32_t usual)
{
	const struct weft_hierarchy_domain *d = m->a->hierarchy->domains;
	struct weft_place where = where_of(m, c->sw);
	char place[2 * WEFT_NAME_SIZE + 4];

	if (c->n == 2 && c->fewer == c->more)
		return audit_note(m->a, WEFT_FINDING_CABLE_MOVED, d[c->sw].name,
				  where, WEFT_WEIGHT_CABLE + c->fewer,
				  "a cable to %s should lead to %s: all pairs "
				  "of the %s have %u",
				  d[c->gained].name, d[c->lost].name,
				  d[d[c->sw].parent].name, usual);
	if (!c->fewer)
		return 0; /* a cable more harms no one */
	if (c->n > 1)
		return audit_note(m->a, WEFT_FINDING_MESH_UNEVEN, d[c->sw].name,
				  where, WEFT_WEIGHT_CABLE + c->fewer,
				  "has %u cables fewer to others of %s than "
				  "they have to each other, first to %s",
				  c->fewer, d[d[c->sw].parent].name,
				  d[c->lost].name);
	snprintf(place, sizeof(place), "%s--%s", d[c->sw].name,
		 d[c->lost].name);
	return audit_note(m->a, WEFT_FINDING_MESH_UNEVEN, place, where,
			  WEFT_WEIGHT_CABLE + c->fewer,
			  "%u cable%s fewer than between the other pairs of %s",
			  c->fewer, c->fewer == 1 ? "" : "s",
			  d[d[c->sw].parent].name);
}

static int level_look(struct mesh *m, uint32_t first, uint32_t end)
{
	uint32_t usual = usual_find(m, first, end);
	struct audit_culprit c;

	if (usual == WEFT_NONE)
		return -1;
	for (uint32_t i = first; usual && i < end;)
		if (domain_compare(m, &i, end, usual))
			return -1;
	while (audit_deltas_next(&m->deltas, m->a->hierarchy->n_domains,
				 m->count, &c))
		if (culprit_note(m, &c, usual))
			return -1;
	return 0;
}

int audit_meshes(const struct weft_audit *a)
{
	const struct weft_hierarchy *h = a->hierarchy;
	struct mesh m = {.a = a};
	int rc;

	if (!h || !h->n_domains ||
	    audit_told(a, WEFT_FINDING_INPUT_TRUNCATED, ""))
		return 0;
	rc = WEFT_ARRAY(m.count, h->n_domains, a->memory, a->err) ||
			     children_index(&m) || pairs_list(&m)
		     ? -1
		     : 0;
	for (uint32_t i = 0, end; rc == 0 && i < m.n_pairs; i = end) {
		end = level_end(&m, i);
		rc = level_look(&m, i, end);
	}
	audit_deltas_free(&m.deltas);
	return rc;
}
