/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mapping.c - which vertex of a graph sits on which site of a tree
 *
 * Ranks that clearly belong together become one item; the items are dealt out
 * to the domains by repeated cuts, with the domains in another order at each
 * start, and exchanged between two domains at a time until nothing is gained.
 * Starts alternate with partial ones on the best arrangement.
 */
#include "placement/mapping.h"

#include "placement/climb.h"
#include "placement/collapse.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* This near to the target is there. */
#define REACHED	     1e-9
#define IDLE_PER_BIN 30 /* exchanges without gain that end a descent */

struct solver {
	const struct mapping *m;
	struct effort *effort;
	struct weft_error *err;
	uint32_t *site_of; /* the best */
	double cost;
	const char *method;
	/* at work: */
	struct collapse levels[COLLAPSE_MAX];
	int n_levels;
	const struct collapse *groups;
	uint32_t *first_member; /* [n_groups + 1] into member */
	uint32_t *member;
	struct tree tree, raised;
	bool is_raised;
	struct graph graph;
	struct climb climb;
	uint32_t *trial; /* [g->n] sites */
};

double mapping_cost(const struct graph *g, const struct sites *s,
		    const uint32_t *site_of)
{
	double sum = 0;

	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++)
			if (g->peer[e] > v)
				sum += g->weight[e] *
				       sites_distance(s, site_of[v],
						      site_of[g->peer[e]]);
	return sum;
}

static bool done(const struct solver *s)
{
	return s->cost <= s->m->target * (1 + REACHED) ||
	       effort_spent(s->effort);
}

static void offer(struct solver *s, const uint32_t *site_of, const char *method)
{
	double cost = mapping_cost(s->m->g, s->m->s, site_of);

	effort_spend(s->effort, s->m->g->n_edges / 2);
	if (s->method && !(cost < s->cost))
		return;
	memcpy(s->site_of, site_of, s->m->g->n * sizeof(*site_of));
	s->cost = cost;
	s->method = method;
}

static void offer_starts(struct solver *s)
{
	for (uint32_t v = 0; v < s->m->g->n; v++)
		s->trial[v] = v;
	offer(s, s->trial, "order as given");
	for (uint32_t i = 0; i < s->m->n_starts; i++)
		offer(s, s->m->start[i], "start");
}

static uint32_t gcd(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* What every lowest domain holds a multiple of. */
static int common_size(const struct solver *s, uint32_t *size)
{
	struct tree t;
	int rc = tree_build(s->m->s, 1, &t, s->err);

	*size = 0;
	if (rc == 0)
		for (uint32_t b = 0; b < t.n_bins; b++)
			*size = gcd(*size, t.first[b + 1] - t.first[b]);
	tree_free(&t);
	return rc;
}

static int index_members(struct solver *s)
{
	const struct collapse *c = s->groups;
	uint32_t *at;

	s->first_member = weft_calloc(c->n_groups + 2, sizeof(*at), s->err);
	s->member = weft_calloc(s->m->g->n, sizeof(*at), s->err);
	if (!s->first_member || !s->member)
		return -1;
	at = s->first_member + 1;
	for (uint32_t v = 0; v < s->m->g->n; v++)
		at[c->of[v] + 1]++;
	for (uint32_t i = 1; i <= c->n_groups; i++)
		at[i] += at[i - 1];
	for (uint32_t v = 0; v < s->m->g->n; v++)
		s->member[at[c->of[v]]++] = v;
	return 0;
}

/* Chooses the groups and sets up the search over them. */
static int prepare(struct solver *s)
{
	uint32_t divisor;
	struct tree up;

	if (common_size(s, &divisor))
		return -1;
	s->n_levels = collapse_build(s->m->g, divisor, s->levels, s->err);
	if (s->n_levels < 0)
		return -1;
	s->groups = s->levels + s->n_levels - 1;
	for (int i = s->n_levels - 1; i > 0; i--) {
		if (s->levels[i].dominant) {
			s->groups = s->levels + i;
			break;
		}
	}
	if (index_members(s) ||
	    tree_build(s->m->s, s->groups->size, &s->tree, s->err))
		return -1;
	if (s->tree.n_bins == s->tree.n_slots && s->tree.height > 1) {
		if (tree_raise(&s->tree, &up, s->err)) {
			tree_free(&up);
			return -1;
		}
		s->raised = s->tree;
		s->tree = up;
		s->is_raised = true;
	}
	if (graph_contract(s->m->g, s->groups->of, s->tree.n_slots, &s->graph,
			   s->err))
		return -1;
	return climb_build(&s->graph, &s->tree, s->groups->n_groups, s->effort,
			   &s->climb, s->err);
}

static uint32_t site_of_slot(const struct solver *s, uint32_t slot)
{
	slot = s->tree.site[slot];
	return s->is_raised ? s->raised.site[slot] : slot;
}

static void offer_seating(struct solver *s, const struct seating *from,
			  const char *method)
{
	for (uint32_t i = 0; i < s->groups->n_groups; i++) {
		uint32_t site = site_of_slot(s, from->slot_of[i]);

		for (uint32_t k = s->first_member[i];
		     k < s->first_member[i + 1]; k++)
			s->trial[s->member[k]] = site++;
	}
	offer(s, s->trial, method);
}

static void run(struct solver *s)
{
	struct climb *c = &s->climb;
	uint32_t patience = IDLE_PER_BIN * s->tree.n_bins, idle = 0;
	struct seating best = {0};

	if (seating_build(&s->graph, &s->tree, s->groups->n_groups, &best,
			  s->err))
		return;
	best.cost = INFINITY;
	while (!done(s) && idle < 200 + s->tree.n_slots) {
		if (!climb_restart(c))
			break;
		climb_descend(c, patience);
		climb_raise(c, patience, s->err);
		for (uint32_t i = 0; i < 20 && !done(s); i++)
			if (climb_shake(c))
				i = 0;
		idle++;
		if (c->now.cost < best.cost - c->splitter.epsilon) {
			seating_copy(&c->now, &best);
			offer_seating(s, &best, "multisection");
			idle = 0;
		}
	}
	seating_free(&best);
}

static void free_solver(struct solver *s)
{
	climb_free(&s->climb);
	graph_free(&s->graph);
	tree_free(&s->tree);
	tree_free(&s->raised);
	collapse_free(s->levels, s->n_levels);
	free(s->first_member);
	free(s->member);
	free(s->trial);
}

int mapping_solve(const struct mapping *m, struct effort *effort,
		  uint32_t *site_of, double *cost, const char **method,
		  struct weft_error *err)
{
	struct solver s = {
		.m = m, .effort = effort, .err = err, .site_of = site_of};
	int rc = -1;

	if (m->g->n == 0 || m->g->n > m->s->n)
		return weft_fail(err, WEFT_EINVAL,
				 "%u vertices for %u sites: expected at "
				 "least one, and a site for each",
				 m->g->n, m->s->n);
	s.trial = weft_calloc(m->g->n, sizeof(*s.trial), err);
	if (!s.trial)
		return -1;
	offer_starts(&s);
	rc = 0;
	if (!done(&s) && m->g->n > 1) {
		rc = prepare(&s);
		if (rc == 0)
			run(&s);
	}
	*cost = s.cost;
	if (method)
		*method = s.method;
	free_solver(&s);
	return rc;
}
