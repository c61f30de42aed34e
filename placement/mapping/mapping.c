/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mapping.c - which vertex of a graph sits on which site of a tree
 *
 * Ranks that clearly belong together become one item; the items are dealt out
 * to the domains by repeated cuts, with the domains in another order at each
 * start, and exchanged between domains until nothing is gained.  Then the same
 * with single ranks from there, and on a rail-optimised fabric the order inside
 * the nodes.
 */
#include "placement/mapping/mapping.h"

#include "base/clock.h"
#include "base/divisor.h"
#include "placement/mapping/local_search.h"
#include "placement/mapping/mapping_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a mapping problem with its ranks in groups of one size ---- */

struct coarse_level {
	const struct graph *g;
	const struct sites *s;
	const struct coarsening *groups;
	uint32_t *first_member; /* [n_groups + 2] into member */
	uint32_t *member;	/* [g->n] ranks of each group */
	uint32_t *slot_at; /* [s->n] slot of each site, or the one before */
	struct tree below; /* where each bin of it takes one group: */
	bool raised;	   /* then its bins are the slots of tree */
	struct tree tree;
	struct graph items;
	struct local_search local_search;
};

#define NONE UINT32_MAX

static int index_members(struct coarse_level *st, struct weft_error *err)
{
	const struct coarsening *c = st->groups;
	uint32_t *at;

	st->first_member = weft_calloc(c->n_groups + 2, sizeof(*at), err);
	st->member = weft_calloc(st->g->n, sizeof(*at), err);
	if (!st->first_member || !st->member)
		return -1;
	at = st->first_member + 1;
	for (uint32_t v = 0; v < st->g->n; v++)
		at[c->of[v] + 1]++;
	for (uint32_t i = 1; i <= c->n_groups; i++)
		at[i] += at[i - 1];
	/* each entry ends where its group does, which is where the next one
	 * begins: so the table is right one place earlier */
	for (uint32_t v = 0; v < st->g->n; v++)
		st->member[at[c->of[v]]++] = v;
	return 0;
}

static uint32_t site_of_slot(const struct coarse_level *st, uint32_t slot)
{
	slot = st->tree.site[slot];
	return st->raised ? st->below.site[slot] : slot;
}

/* Slots of single groups in bins of one slot each say nothing: then the bins
 * above are the lowest. */
static int build_tree(struct coarse_level *st, struct weft_error *err)
{
	uint32_t slot = 0;

	st->slot_at = weft_calloc(st->s->n, sizeof(*st->slot_at), err);
	if (!st->slot_at || tree_build(st->s, st->groups->size, &st->tree, err))
		return -1;
	if (st->tree.n_bins == st->tree.n_slots && st->tree.height > 1) {
		st->below = st->tree;
		st->raised = true;
		if (tree_raise(&st->below, &st->tree, err))
			return -1;
	}
	for (uint32_t site = 0; site < st->s->n; site++) {
		while (slot + 1 < st->tree.n_slots &&
		       site_of_slot(st, slot + 1) <= site)
			slot++;
		st->slot_at[site] = slot;
	}
	return 0;
}

/* Keeps g, s and groups, and pointers into itself.  Free with coarse_level_free
 * in either case. */
static int coarse_level_build(const struct graph *g, const struct sites *s,
			      const struct coarsening *groups,
			      struct effort *effort, struct coarse_level *st,
			      struct weft_error *err)
{
	memset(st, 0, sizeof(*st));
	st->g = g;
	st->s = s;
	st->groups = groups;
	if (index_members(st, err) || build_tree(st, err) ||
	    graph_contract(g, groups->of, st->tree.n_slots, &st->items, err))
		return -1;
	return local_search_build(&st->items, &st->tree, effort,
				  &st->local_search, err);
}

static void coarse_level_free(struct coarse_level *st)
{
	local_search_free(&st->local_search);
	graph_free(&st->items);
	tree_free(&st->tree);
	tree_free(&st->below);
	free(st->first_member);
	free(st->member);
	free(st->slot_at);
	memset(st, 0, sizeof(*st));
}

/* climb.now becomes the arrangement, as far as it keeps groups together: each
 * goes to where its first rank is, while there is room. */
static void coarse_level_read(struct coarse_level *st, const uint32_t *site_of)
{
	struct assignment *now = &st->local_search.now;
	const struct tree *t = &st->tree;
	uint32_t next = 0;

	memset(now->item_at, 0xff, t->n_slots * sizeof(*now->item_at));
	memset(now->slot_of, 0xff, t->n_slots * sizeof(*now->slot_of));
	for (uint32_t i = 0; i < st->groups->n_groups; i++) {
		uint32_t rank = st->member[st->first_member[i]];
		uint32_t bin = t->bin[st->slot_at[site_of[rank]]];

		for (uint32_t k = t->first[bin]; k < t->first[bin + 1]; k++) {
			if (now->item_at[k] != NONE)
				continue;
			assignment_put(now, i, k);
			break;
		}
	}
	for (uint32_t i = 0; i < t->n_slots; i++) {
		if (now->slot_of[i] != NONE)
			continue;
		while (now->item_at[next] != NONE)
			next++;
		assignment_put(now, i, next);
	}
	now->cost = assignment_cost(now);
}

/* Cost of climb.now, with what is inside of the groups as near as can be. */
static double coarse_level_cost(const struct coarse_level *st)
{
	const struct tree *lowest = st->raised ? &st->below : &st->tree;

	return st->local_search.now.cost +
	       st->items.inside * lowest->distance[0];
}

static void coarse_level_write(const struct coarse_level *st,
			       const struct assignment *from, uint32_t *site_of)
{
	for (uint32_t i = 0; i < st->groups->n_groups; i++) {
		uint32_t site = site_of_slot(st, from->slot_of[i]);

		for (uint32_t k = st->first_member[i];
		     k < st->first_member[i + 1]; k++)
			site_of[st->member[k]] = site++;
	}
}

/* ---- the mapping ---- */

/* This near to the target is there. */
#define REACHED 1e-9
/* Part of the effort for groups of ranks, if they belong together less clearly
 * than others, and for all that comes before rails. */
#define GROUP_SHARE 0.8
#define TREE_SHARE  0.4
#define RANK_SHARE  0.1
/* Work of one search for rails, in edges. */
#define RAIL_WORK 2000
#define N_HEATS	  3
/* Part of the effort for each size of groups, when they are compared. */
#define PROBE_SHARE 0.1
/* Smaller groups take longer: they must be better by this part. */
#define CLEARLY 0.003

/* Where sites are spare, part of what is left of the effort for each share of
 * domains, of which few are tried. */
#define SPREAD_SHARE 0.15
#define MAX_SHARES   3

struct solver {
	const struct mapping *m;
	struct effort *effort;
	struct weft_error *err;
	uint32_t *site_of; /* the best */
	double cost;
	const char *method;
	uint32_t *trial;	    /* [g->n] sites */
	struct coarse_level *stage; /* at work */
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

static bool offer_assignment(void *context, const struct assignment *from)
{
	struct solver *s = context;

	coarse_level_write(s->stage, from, s->trial);
	offer(s, s->trial, "multisection");
	return !done(s);
}

/* Leaves only a part of what is left; returns what there was. */
static struct effort limit(struct effort *e, double share)
{
	struct effort whole = *e;
	double now_s = weft_budget_clock_s();

	/* subtracted, as UINT64_MAX is no double */
	e->work -= (uint64_t)((double)e->work * (1 - share));
	if (e->deadline_s > 0)
		e->deadline_s = now_s + share * (e->deadline_s - now_s);
	return whole;
}

/* Takes the limit back, given what was spent of it. */
static void unlimit(struct effort *e, const struct effort *whole, double share)
{
	e->work += (uint64_t)((double)whole->work * (1 - share));
	e->deadline_s = whole->deadline_s;
}

/* Searches with groups of one size and a part of the effort.  again: what there
 * is comes from such a search. */
static int run_coarse_level(struct solver *s, const struct coarsening *groups,
			    double share, bool again)
{
	struct effort whole = limit(s->effort, share);
	struct coarse_level stage;
	int rc = coarse_level_build(s->m->g, s->m->s, groups, s->effort, &stage,
				    s->err);

	if (rc == 0) {
		s->stage = &stage;
		coarse_level_read(&stage, s->site_of);
		rc = multistart_run(&stage.local_search, again,
				    offer_assignment, s, s->err);
	}
	coarse_level_free(&stage);
	unlimit(s->effort, &whole, share);
	return rc;
}

/* The best so far, with its ranks put on rails. */
static int put_on_rails(struct solver *s)
{
	/* when the first gains no more, then the next */
	static const double heats[N_HEATS] = {0.1, 1, 10};
	const struct mapping *m = s->m;
	size_t size = m->g->n * sizeof(*s->site_of);
	struct alignment r;
	uint32_t idle = 0;
	int rc = alignment_build(m->g, m->s, s->effort, &r, s->err);

	if (rc)
		goto out;
	memcpy(r.site_of, s->site_of, size);
	alignment_solve(&r);
	offer(s, r.site_of, "multisection, rails");
	while (!done(s) && idle < N_HEATS) {
		double before = s->cost;

		memcpy(r.site_of, s->site_of, size);
		alignment_anneal(&r, heats[idle],
				 (uint64_t)m->g->n_edges * RAIL_WORK);
		alignment_solve(&r);
		offer(s, r.site_of, "multisection, rails");
		idle = s->cost < before ? 0 : idle + 1;
	}
out:
	alignment_free(&r);
	return rc;
}

/* What every lowest domain holds a multiple of, and the largest groups of which
 * there is room for all whole. */
static int find_sizes(struct solver *s, uint32_t *divisor,
		      struct coarsening *whole)
{
	struct tree t;
	int rc = tree_build(s->m->s, 1, &t, s->err);

	*divisor = 0;
	if (rc == 0)
		for (uint32_t b = 0; b < t.n_bins; b++)
			*divisor = (uint32_t)weft_divisor(
				*divisor, t.first[b + 1] - t.first[b]);
	if (rc == 0)
		rc = coarsening_whole(s->m->g, t.first, t.n_bins, whole,
				      s->err);
	tree_free(&t);
	return rc;
}

/* What all costs after one start with these groups, as far as a part of the
 * effort goes; INFINITY if it went nowhere. */
static int probe(struct solver *s, const struct coarsening *groups,
		 double *cost)
{
	struct effort whole = limit(s->effort, PROBE_SHARE);
	struct coarse_level stage;
	int rc = coarse_level_build(s->m->g, s->m->s, groups, s->effort, &stage,
				    s->err);

	*cost = (double)INFINITY;
	if (rc == 0 && local_search_restart(&stage.local_search)) {
		local_search_settle(&stage.local_search);
		rc = local_search_round(&stage.local_search, 0, s->err);
		coarse_level_write(&stage, &stage.local_search.now, s->trial);
		offer(s, s->trial, "multisection");
		*cost = coarse_level_cost(&stage);
	}
	coarse_level_free(&stage);
	unlimit(s->effort, &whole, PROBE_SHARE);
	return rc;
}

/* The largest groups that clearly belong together, else those that a start ends
 * best with. */
static int choose_groups(struct solver *s, const struct coarsening *levels,
			 int n, int *best)
{
	double least = (double)INFINITY, cost;

	for (*best = n - 1; *best > 0; --*best)
		if (levels[*best].dominant)
			return 0;
	*best = n - 1;
	for (int i = n - 1; n > 1 && i >= 0 && !done(s); i--) {
		if (probe(s, levels + i, &cost))
			return -1;
		if (cost < least * (1 - CLEARLY)) {
			least = cost;
			*best = i;
		}
	}
	return 0;
}

/* Groups, then single ranks from there, then rails. */
static int search_from(struct solver *s, const struct coarsening *groups,
		       const struct coarsening *ranks, double share)
{
	bool rails = alignment_matters(s->m->s);
	int rc = run_coarse_level(s, groups, rails ? TREE_SHARE : share, false);

	if (rc == 0 && groups->size > 1 && !done(s))
		rc = run_coarse_level(s, ranks, rails ? RANK_SHARE : 1, true);
	if (rc == 0 && rails && !done(s))
		rc = put_on_rails(s);
	return rc;
}

static int search(struct solver *s)
{
	struct coarsening levels[COLLAPSE_MAX], whole = {0};
	uint32_t divisor;
	double share = 1;
	int n = 0, best = 0, rc = find_sizes(s, &divisor, &whole);

	if (rc == 0)
		n = coarsening_build(s->m->g, divisor, levels, s->err);
	if (rc || n < 0) {
		coarsening_free(&whole, 1);
		return -1;
	}
	/* pairs of pairs never make such groups */
	if (whole.size > 1 &&
	    (divisor % whole.size || (whole.size & (whole.size - 1)))) {
		rc = search_from(s, &whole, levels, GROUP_SHARE);
	} else {
		rc = choose_groups(s, levels, n, &best);
		if (best && !levels[best].dominant)
			share = GROUP_SHARE;
		if (rc == 0)
			rc = search_from(s, levels + best, levels, share);
	}
	coarsening_free(levels, n);
	coarsening_free(&whole, 1);
	return rc;
}

/* ---- spare sites ---- */

/* The first `share` sites of each lowest domain.  Returns how many. */
static uint32_t keep_shares(const struct tree *t, uint32_t share,
			    uint32_t *keep)
{
	uint32_t n = 0;

	for (uint32_t b = 0; b < t->n_bins; b++)
		for (uint32_t k = t->first[b]; k < t->first[b + 1]; k++)
			if (k - t->first[b] < share)
				keep[n++] = t->site[k];
	return n;
}

/* The same problem where each lowest domain gives at most `share` sites. */
static int search_share(struct solver *s, const struct tree *t, uint32_t share,
			uint32_t *keep)
{
	uint32_t n = keep_shares(t, share, keep);
	struct effort whole = limit(s->effort, SPREAD_SHARE);
	struct sites sites = {0};
	struct mapping sub = {.g = s->m->g, .s = &sites};
	uint32_t *site_of = weft_calloc(s->m->g->n, sizeof(*site_of), s->err);
	double cost;
	int rc = -1;

	if (site_of && sites_pick(s->m->s, keep, n, &sites, s->err) == 0)
		rc = mapping_solve(&sub, s->effort, site_of, &cost, NULL,
				   s->err);
	for (uint32_t v = 0; rc == 0 && v < s->m->g->n; v++)
		s->trial[v] = keep[site_of[v]];
	unlimit(s->effort, &whole, SPREAD_SHARE);
	if (rc == 0)
		offer(s, s->trial, "even shares");
	free(site_of);
	sites_free(&sites);
	return rc;
}

/* Shares that all domains together have room for: the least, and those that
 * fill a whole number of domains. */
static int search_shares(struct solver *s)
{
	uint32_t n = s->m->g->n, most = 0, n_tried = 0;
	uint32_t *keep = weft_calloc(s->m->s->n, sizeof(*keep), s->err);
	struct tree t;
	int rc = tree_build(s->m->s, 1, &t, s->err);

	if (!keep)
		rc = -1;
	for (uint32_t b = 0; rc == 0 && b < t.n_bins; b++)
		if (t.first[b + 1] - t.first[b] > most)
			most = t.first[b + 1] - t.first[b];
	for (uint32_t share = 1;
	     rc == 0 && share < most && n_tried < MAX_SHARES && !done(s);
	     share++) {
		if ((uint64_t)share * t.n_bins < n ||
		    keep_shares(&t, share, keep) < n || (n_tried && n % share))
			continue;
		n_tried++;
		rc = search_share(s, &t, share, keep);
	}
	tree_free(&t);
	free(keep);
	return rc;
}

int mapping_solve(const struct mapping *m, struct effort *effort,
		  uint32_t *site_of, double *cost, const char **method,
		  struct weft_error *err)
{
	struct solver s = {
		.m = m, .effort = effort, .err = err, .site_of = site_of};
	int rc = 0;

	if (m->g->n == 0 || m->g->n > m->s->n)
		return weft_fail(err, WEFT_EINVAL,
				 "%u vertices for %u sites: expected at "
				 "least one, and a site for each",
				 m->g->n, m->s->n);
	s.trial = weft_calloc(m->g->n, sizeof(*s.trial), err);
	if (!s.trial)
		return -1;
	offer_starts(&s);
	if (m->spread && !done(&s) && m->g->n < m->s->n)
		rc = search_shares(&s);
	if (rc == 0 && !done(&s) && m->g->n > 1)
		rc = search(&s);
	*cost = s.cost;
	if (method)
		*method = s.method;
	free(s.trial);
	return rc;
}
