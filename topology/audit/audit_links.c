/* SPDX-License-Identifier: GPL-3.0-or-later */
/* audit_links.c - cables that are down, narrow or slow against their siblings
 *
 * A cable's siblings at an end are the others there that lead the same way: at
 * a host those to the same network, at a switch those to hosts, up, or down.
 * It is slow when it is slow at one end and not usual at the other.
 */
#include "topology/audit/checks.h"
#include "topology/audit/siblings.h"

#include <stdio.h>

enum verdict { UNKNOWN, USUAL, LESS };

struct aspect {
	double (*value)(const struct weft_inventory_cable *c);
	enum weft_finding_id id;
};

static double cable_rate(const struct weft_inventory_cable *c)
{
	return c->rate_bytes_per_s;
}

static double cable_width(const struct weft_inventory_cable *c)
{
	return c->width;
}

/* Narrow comes first: a narrow cable is slow, too, and reported once. */
static const struct aspect aspects[] = {
	{cable_width, WEFT_FINDING_LINK_NARROW},
	{cable_rate, WEFT_FINDING_LINK_SLOW},
};

struct work {
	const struct weft_audit *a;
	double *scratch;
};

/* Whether two cables of an end are siblings there. */
static bool are_siblings(const struct audit_graph *g,
			 const struct weft_end *end,
			 const struct weft_inventory_cable *x,
			 const struct weft_inventory_cable *y)
{
	if (end->kind == WEFT_END_HOST)
		return g->network[x->b.index] == g->network[y->b.index];
	if ((x->a.kind == WEFT_END_HOST) != (y->a.kind == WEFT_END_HOST))
		return false;
	return audit_graph_direction(g, x, end->index) ==
	       audit_graph_direction(g, y, end->index);
}

static struct audit_majority
siblings_majority(struct work *w, const struct aspect *aspect,
		  const struct weft_end *end,
		  const struct weft_inventory_cable *c)
{
	const struct audit_graph *g = w->a->graph;
	uint32_t n, known = 0;
	const uint32_t *cable =
		audit_graph_cables(g, end->kind, end->index, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct weft_inventory_cable *other =
			&g->s->cables[cable[i]];

		if (aspect->value(other) > 0 && are_siblings(g, end, c, other))
			w->scratch[known++] = aspect->value(other);
	}
	return audit_majority(w->scratch, known);
}

/* How a cable's value is among its siblings at one end; *usual: theirs. */
static enum verdict end_judge(struct work *w, const struct aspect *aspect,
			      const struct weft_end *end,
			      const struct weft_inventory_cable *c,
			      double *usual, bool *alone)
{
	struct audit_majority m = siblings_majority(w, aspect, end, c);
	uint32_t less = 0;

	if (m.n < 3 && !(m.n == 2 && m.n_same == 1))
		return UNKNOWN;
	if (aspect->value(c) >= m.value * 0.99)
		return m.n < 3 ? UNKNOWN : USUAL;
	for (uint32_t i = 0; i < m.n; i++)
		less += w->scratch[i] < m.value * 0.99;
	*alone = audit_is_few(less, m.n);
	if (m.value > *usual)
		*usual = m.value;
	return LESS;
}

/* 1: reported; 0: nothing to report; -1: a->err. */
static int cable_look(struct work *w, const struct aspect *aspect,
		      const struct weft_inventory_cable *c)
{
	const struct weft_end *ends[2] = {&c->a, &c->b};
	bool alone[2] = {false, false};
	enum verdict verdict[2];
	double usual = 0;
	char place[160], mine[32], theirs[32];
	double value = aspect->value(c);

	if (value <= 0)
		return 0;
	for (int e = 0; e < 2; e++)
		verdict[e] =
			end_judge(w, aspect, ends[e], c, &usual, &alone[e]);
	if (verdict[0] == USUAL || verdict[1] == USUAL)
		return 0;
	if ((verdict[0] != LESS || !alone[0]) &&
	    (verdict[1] != LESS || !alone[1]))
		return 0;
	audit_graph_place(w->a->graph, c, place, sizeof(place));
	if (aspect->id == WEFT_FINDING_LINK_NARROW) {
		snprintf(mine, sizeof(mine), "%.0fx wide", value);
		snprintf(theirs, sizeof(theirs), "%.0fx", usual);
	} else {
		audit_rate(value, mine, sizeof(mine));
		audit_rate(usual, theirs, sizeof(theirs));
	}
	return audit_note(w->a, aspect->id, place, c->where, WEFT_WEIGHT_CABLE,
			  "is %s; its siblings are %s", mine, theirs)
		       ? -1
		       : 1;
}

static int down_note(struct work *w, const struct weft_inventory_cable *c)
{
	char place[160], count[32] = "";

	audit_graph_place(w->a->graph, c, place, sizeof(place));
	if (c->n > 1)
		snprintf(count, sizeof(count), " (%u cables)", c->n);
	return audit_note(w->a, WEFT_FINDING_LINK_DOWN, place, c->where,
			  WEFT_WEIGHT_CABLE + c->n, "is down%s", count);
}

int audit_links(const struct weft_audit *a)
{
	const struct weft_inventory *s = a->inventory;
	struct work w = {.a = a};
	int rc = 0;

	if (WEFT_ARRAY(w.scratch, s->n_cables, a->memory, a->err))
		return -1;
	for (uint32_t i = 0; i < s->n_cables && rc == 0; i++) {
		if (s->cables[i].down) {
			rc = down_note(&w, &s->cables[i]);
			continue;
		}
		for (size_t k = 0; k < WEFT_N_OF(aspects) && rc == 0; k++)
			rc = cable_look(&w, &aspects[k], &s->cables[i]);
		rc = rc > 0 ? 0 : rc;
	}
	return rc;
}
