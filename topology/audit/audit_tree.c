/* SPDX-License-Identifier: GPL-3.0-or-later */
/* audit_tree.c - roots and branches that join nothing, and loops
 */
#include "topology/audit/checks.h"
#include "topology/audit/siblings.h"

struct tree {
	const struct weft_audit *a;
	uint32_t *parents, *switches, *hosts; /* counts, per switch */
	uint32_t *left, *queue;		      /* of the search for loops */
	uint32_t *first_up, *up;	      /* switch -> its parents */
};

static void edges_count(struct tree *t)
{
	const struct weft_inventory *s = t->a->inventory;

	for (uint32_t i = 0; i < s->n_edges; i++) {
		const struct weft_inventory_edge *e = &s->edges[i];

		if (e->child_kind == WEFT_END_HOST) {
			t->hosts[e->parent]++;
			continue;
		}
		t->switches[e->parent]++;
		t->parents[e->child]++;
		t->first_up[e->child + 2]++;
	}
	for (uint32_t k = 1; k < s->n_switches + 2; k++)
		t->first_up[k] += t->first_up[k - 1];
	for (uint32_t i = 0; i < s->n_edges; i++) {
		const struct weft_inventory_edge *e = &s->edges[i];

		if (e->child_kind == WEFT_END_SWITCH)
			t->up[t->first_up[e->child + 1]++] = e->parent;
	}
}

/* A round takes the switches off that have no switch left below them.  What is
 * never taken off has a loop below it. */
static void leaves_trim(struct tree *t)
{
	const struct weft_inventory *s = t->a->inventory;
	uint32_t n = 0;

	for (uint32_t k = 0; k < s->n_switches; k++) {
		t->left[k] = t->switches[k];
		if (t->left[k] == 0)
			t->queue[n++] = k;
	}
	for (uint32_t done = 0; done < n; done++) {
		uint32_t k = t->queue[done];

		for (uint32_t i = t->first_up[k]; i < t->first_up[k + 1]; i++)
			if (--t->left[t->up[i]] == 0)
				t->queue[n++] = t->up[i];
	}
}

/* Walks down what is left until a switch comes twice: that is on a loop. */
static int loop_tell(struct tree *t)
{
	const struct weft_inventory *s = t->a->inventory;
	uint32_t *below = t->queue, at = WEFT_NONE;

	for (uint32_t i = 0; i < s->n_edges; i++) {
		const struct weft_inventory_edge *e = &s->edges[i];

		if (e->child_kind == WEFT_END_SWITCH && t->left[e->child]) {
			below[e->parent] = e->child;
			at = e->parent;
		}
	}
	if (at == WEFT_NONE)
		return 0;
	for (uint32_t step = 0; step < s->n_switches; step++)
		at = below[at];
	return audit_note(t->a, WEFT_FINDING_TREE_LOOP, s->switches[at].name,
			  s->switches[at].where, WEFT_WEIGHT_SWITCH,
			  "hangs below itself, by way of %s",
			  s->switches[below[at]].name);
}

static int switches_look(struct tree *t)
{
	const struct weft_inventory *s = t->a->inventory;

	for (uint32_t k = 0; k < s->n_switches; k++) {
		const struct weft_inventory_switch *sw = &s->switches[k];
		uint32_t n;

		audit_graph_cables(t->a->graph, WEFT_END_SWITCH, k, &n);
		if (!n && !t->switches[k] && !t->hosts[k] &&
		    !audit_told(t->a, WEFT_FINDING_SWITCH_EMPTY, sw->name) &&
		    audit_note(t->a, WEFT_FINDING_SWITCH_EMPTY, sw->name,
			       sw->where, WEFT_WEIGHT_CABLE,
			       "joins nothing: no cable, switch or node"))
			return -1;
		if (!n && !t->parents[k] && t->switches[k] == 1 &&
		    !t->hosts[k] &&
		    audit_note(t->a, WEFT_FINDING_ROOT_SINGLE, sw->name,
			       sw->where, WEFT_WEIGHT_OUTCOME,
			       "is a root that joins only one switch"))
			return -1;
	}
	return 0;
}

static int roots_look(struct tree *t)
{
	const struct weft_hierarchy *hierarchy = t->a->hierarchy;
	uint32_t roots = 0;

	if (!hierarchy || !hierarchy->disjoint ||
	    audit_told(t->a, WEFT_FINDING_TREE_UNCONNECTED, ""))
		return 0;
	for (uint32_t d = 0; d < hierarchy->n_domains; d++)
		roots += hierarchy->domains[d].parent == WEFT_NONE;
	if (roots < 2)
		return 0;
	return audit_note(t->a, WEFT_FINDING_TREE_UNCONNECTED, "",
			  (struct weft_place){0}, WEFT_WEIGHT_OUTCOME,
			  "the network has %u parts that nothing joins; no job "
			  "can span them",
			  roots);
}

int audit_tree(const struct weft_audit *a)
{
	uint32_t n = a->inventory->n_switches;
	struct tree t = {.a = a};

	if (WEFT_ARRAY(t.parents, n, a->memory, a->err) ||
	    WEFT_ARRAY(t.switches, n, a->memory, a->err) ||
	    WEFT_ARRAY(t.hosts, n, a->memory, a->err) ||
	    WEFT_ARRAY(t.left, n, a->memory, a->err) ||
	    WEFT_ARRAY(t.queue, n, a->memory, a->err) ||
	    WEFT_ARRAY(t.first_up, (size_t)n + 2, a->memory, a->err) ||
	    WEFT_ARRAY(t.up, a->inventory->n_edges, a->memory, a->err))
		return -1;
	edges_count(&t);
	leaves_trim(&t);
	return switches_look(&t) || loop_tell(&t) || roots_look(&t) ? -1 : 0;
}
