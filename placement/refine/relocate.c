/* SPDX-License-Identifier: GPL-3.0-or-later */
/* relocate.c - a job moved to where it destroys less room for others
 *
 * Domains that are as good as one another for a job differ in what is left of
 * them and of the domains around them.
 */
#include "placement/refine/relocate.h"

#include "base/bitset.h"
#include "placement/nodes/limits.h"

#include <stdlib.h>
#include <string.h>

/* Distances looked up, at most: some 0.5 ms. */
#define MOST_WORK 200000

/* What it takes to tell what a move gains, and to count a GPU's slots. */
#define GAIN_WORK 16
#define SLOT_WORK 8

struct relocate {
	const struct capacity *s;
	const struct weft_fabric *f;
	struct effort effort;
	uint32_t n; /* GPUs of the job */
	uint32_t *where;
	uint32_t *trial;   /* [n] */
	uint32_t *used;	   /* [n_domains] GPUs that the job has of each */
	uint64_t *mask;	   /* [n_nodes] which ones */
	uint64_t *becomes; /* [n_nodes] where a node's go: GPUs of the node */
	uint32_t *to;	   /* [n_nodes] to; WEFT_NONE: they stay */
	uint32_t *taken;   /* [n_domains] the last attempt that placed it */
	uint32_t attempt;
	struct comparison *best;
	struct weft_error *err;
};

static void count_used(struct relocate *x)
{
	const struct weft_fabric *f = x->f;

	memset(x->used, 0, f->n_domains * sizeof(*x->used));
	memset(x->mask, 0, f->n_nodes * sizeof(*x->mask));
	for (uint32_t r = 0; r < x->n; r++) {
		uint32_t gpu = x->where[r], node = f->gpu_node[gpu];

		for (uint32_t l = f->node_level; l < f->n_levels; l++)
			x->used[f->gpu_domain[l][gpu]]++;
		x->mask[node] |= UINT64_C(1)
				 << (gpu - f->nodes[node].first_gpu);
	}
}

/* The part of a domain that has most of the job and no place yet; WEFT_NONE:
 * all have one. */
static uint32_t next_part(const struct relocate *x, uint32_t from)
{
	const struct weft_domain *d = &x->f->domains[from];
	uint32_t best = WEFT_NONE;

	for (uint32_t i = 0; i < d->n_children; i++) {
		uint32_t c = d->first_child + i;

		if (x->used[c] && x->taken[c] != x->attempt &&
		    (best == WEFT_NONE || x->used[c] > x->used[best]))
			best = c;
	}
	return best;
}

/* The part of a domain that has the least room, but enough for n GPUs;
 * WEFT_NONE: there is none. */
static uint32_t best_fit(const struct relocate *x, uint32_t to, uint32_t n)
{
	const struct weft_domain *d = &x->f->domains[to];
	const uint32_t *cap = x->s->cap;
	uint32_t best = WEFT_NONE;

	for (uint32_t i = 0; i < d->n_children; i++) {
		uint32_t c = d->first_child + i;

		if (cap[c] >= n && x->taken[c] != x->attempt &&
		    (best == WEFT_NONE || cap[c] < cap[best]))
			best = c;
	}
	return best;
}

/* The same GPUs, where these are free, else those that a node gives first. */
static bool fit_node(struct relocate *x, uint32_t from, uint32_t to)
{
	uint64_t mask = x->mask[from];
	uint32_t count = weft_mask_count(mask);

	if (x->s->give[to] < count)
		return false;
	x->to[from] = to;
	x->becomes[from] = (mask & ~x->s->o->free[to]) == 0
				   ? mask
				   : node_set_gpus(x->s->o, to, count);
	return true;
}

/* What `from` has of the job goes into `to`, the largest parts first, each into
 * the tightest that holds it; false: they do not fit so. */
static bool fit(struct relocate *x, uint32_t from, uint32_t to)
{
	const struct weft_domain *d = &x->f->domains[from];
	const struct weft_domain *e = &x->f->domains[to];
	uint32_t part;

	x->taken[from] = x->taken[to] = x->attempt;
	if (d->level == x->f->node_level)
		return fit_node(x, d->first_node, e->first_node);
	while ((part = next_part(x, from)) != WEFT_NONE) {
		uint32_t place = best_fit(x, to, x->used[part]);

		effort_spend(&x->effort, d->n_children + e->n_children);
		if (place == WEFT_NONE || !fit(x, part, place))
			return false;
	}
	return true;
}

/* The GPU that is as many after the first of one mask as gpu is of the other.
 */
static uint32_t counterpart(const struct relocate *x, uint32_t gpu)
{
	const struct weft_node *nodes = x->f->nodes;
	uint32_t node = x->f->gpu_node[gpu];
	uint32_t k = gpu - nodes[node].first_gpu;
	uint64_t rest = x->becomes[node];

	for (k = weft_mask_count(x->mask[node] & weft_mask_first(k)); k; k--)
		rest &= rest - 1;
	return nodes[x->to[node]].first_gpu +
	       weft_mask_count((rest & -rest) - 1);
}

static void move(struct relocate *x)
{
	for (uint32_t r = 0; r < x->n; r++) {
		uint32_t gpu = x->where[r];

		x->trial[r] = x->to[x->f->gpu_node[gpu]] == WEFT_NONE
				      ? gpu
				      : counterpart(x, gpu);
	}
}

static bool is_within(const struct relocate *x)
{
	uint32_t level = x->s->job->within_level;
	const uint32_t *domain;

	if (level >= x->f->n_levels)
		return true;
	domain = x->f->gpu_domain[level];
	for (uint32_t r = 1; r < x->n; r++)
		if (domain[x->trial[r]] != domain[x->trial[0]])
			return false;
	return true;
}

/* Keeps the trial where it destroys less and ranks before the best. */
static int try_trial(struct relocate *x, bool *better)
{
	struct weft_judge *judge = x->s->judge;
	struct comparison comparison;
	double most = x->best->measure.share_lost - COMPARISON_SAME;
	int rc;

	effort_spend(&x->effort, (uint64_t)SLOT_WORK * x->n);
	if (weft_slots_lost(&judge->slots, x->trial) > most || !is_within(x))
		return 0;
	rc = limits_keep(x->s, x->trial, x->err);
	if (rc <= 0)
		return rc;
	effort_spend(&x->effort, weft_judge_work(judge));
	if (comparison_measure(x->s, x->trial, &comparison, x->err))
		return -1;
	*better = comparison_compare(&comparison, x->best) < 0;
	if (!*better)
		return 0;
	*x->best = comparison;
	memcpy(x->where, x->trial, x->n * sizeof(*x->where));
	count_used(x);
	return 0;
}

static int try_move(struct relocate *x, uint32_t from, uint32_t to,
		    bool *better)
{
	const struct weft_domain *d = &x->f->domains[from];
	bool fits;
	int rc = 0;

	x->attempt++;
	fits = fit(x, from, to);
	if (fits) {
		move(x);
		rc = try_trial(x, better);
	}
	for (uint32_t i = 0; i < d->n_nodes; i++)
		x->to[d->first_node + i] = WEFT_NONE;
	return rc;
}

/* Whether a domain is as good a place as another one, or has as much of the
 * job. */
static bool is_alike(const struct relocate *x, uint32_t a, uint32_t b)
{
	const struct weft_domain *domains = x->f->domains;

	return b != WEFT_NONE && x->s->shape[a] == x->s->shape[b] &&
	       x->used[a] == x->used[b] &&
	       domains[a].parent == domains[b].parent;
}

/* Into each domain of its level that the job does not use, and where others
 * around it then have more room. */
static int try_domain(struct relocate *x, uint32_t from, bool *better)
{
	const struct weft_level *level =
		&x->f->levels[x->f->domains[from].level];
	const struct weft_slots *slots = &x->s->judge->slots;
	uint32_t last = WEFT_NONE;

	for (uint32_t i = 0; i < level->n_domains && !*better; i++) {
		uint32_t to = level->first_domain + i;

		if (x->used[to] || x->s->cap[to] < x->used[from] ||
		    is_alike(x, to, last))
			continue;
		last = to;
		if (effort_spent(&x->effort))
			return 0;
		effort_spend(&x->effort, GAIN_WORK);
		if (weft_slots_gain(slots, x->used, from, to) >
			    COMPARISON_SAME &&
		    try_move(x, from, to, better))
			return -1;
	}
	return 0;
}

/* Each domain of a level that the job uses, those that are alike once. */
static int try_level(struct relocate *x, uint32_t l, bool *better)
{
	const struct weft_level *level = &x->f->levels[l];
	uint32_t last = WEFT_NONE;

	for (uint32_t i = 0; i < level->n_domains && !*better; i++) {
		uint32_t d = level->first_domain + i;

		if (!x->used[d] || is_alike(x, d, last))
			continue;
		last = d;
		if (try_domain(x, d, better))
			return -1;
	}
	return 0;
}

/* From the outermost level in, again from the start after each move. */
static int relocate(struct relocate *x)
{
	bool better = true;

	while (better) {
		better = false;
		for (uint32_t l = x->f->n_levels;
		     !better && l-- > x->f->node_level;)
			if (try_level(x, l, &better))
				return -1;
	}
	return 0;
}

int relocate_run(const struct capacity *s, const struct effort *effort,
		 uint32_t *where, struct comparison *best,
		 struct weft_error *err)
{
	uint32_t n_nodes = s->f->n_nodes, n_domains = s->f->n_domains;
	struct relocate x = {.s = s,
			     .f = s->f,
			     .effort = *effort,
			     .n = s->job->n_gpus,
			     .where = where,
			     .best = best,
			     .err = err};
	int rc = -1;

	if (!s->judge->slots.fabric || s->o->required ||
	    best->measure.share_lost <= COMPARISON_SAME)
		return 0;
	x.effort.work = effort_share(MOST_WORK, x.n);
	/* on thousands of GPUs a step takes milliseconds to predict */
	if (x.effort.work < weft_judge_work(s->judge))
		return 0;
	x.trial = weft_calloc(x.n, sizeof(*x.trial), err);
	x.mask = weft_calloc(n_nodes, 2 * sizeof(*x.mask), err);
	x.to = weft_calloc(n_nodes, sizeof(*x.to), err);
	x.used = weft_calloc(n_domains, 2 * sizeof(*x.used), err);
	if (x.trial && x.mask && x.to && x.used) {
		x.becomes = x.mask + n_nodes;
		x.taken = x.used + n_domains;
		memset(x.to, 0xff, n_nodes * sizeof(*x.to));
		count_used(&x);
		rc = relocate(&x);
	}
	free(x.trial);
	free(x.mask);
	free(x.to);
	free(x.used);
	return rc;
}
