/* SPDX-License-Identifier: GPL-3.0-or-later */
/* groups_segment.c - how many segments each domain takes
 *
 * With members sorted by what they give, what k segments of a domain give in
 * all is concave in k but for required nodes, which come first because they
 * must: the segments that add most, of all domains, are the best there are.
 */
#include "placement/nodes/groups.h"

#include "base/compare.h"
#include "placement/nodes/distribute.h"
#include "placement/nodes/limits.h"

#include <stdlib.h>
#include <string.h>

/* More than any segment can give. */
#define MUST (UINT64_C(1) << 40)

/* ---- quick ways, which keep to few domains ---- */

struct dealing {
	struct groups *g;
	uint32_t level;	 /* of groups */
	uint32_t first;	 /* domain of the first group */
	uint32_t *cap;	 /* [n_domains] segments */
	uint32_t *order; /* [n_domains] children of d, at first_child */
	enum distribution distribution;
	struct weft_error *err;
};

static void find_caps(struct dealing *x, const struct segments *segments)
{
	const struct weft_fabric *f = x->g->s->f;

	for (uint32_t i = 0; i < x->g->n; i++) {
		const struct group *group = &x->g->group[i];
		uint32_t d = group->domain;
		uint32_t n = group->n_nodes / segments->size;

		n = n < segments->most ? n : segments->most;
		for (; d != WEFT_NONE; d = f->domains[d].parent)
			x->cap[d] += n;
	}
}

/* By what they can take; of equals those first that have least besides, so that
 * what is left over is of use; then by shape, as names must not matter. */
static bool comes_before(const struct dealing *x, uint32_t a, uint32_t b)
{
	const struct capacity *s = x->g->s;

	if (x->cap[a] != x->cap[b])
		return x->cap[a] > x->cap[b];
	if (s->n_givers[a] != s->n_givers[b])
		return s->n_givers[a] < s->n_givers[b];
	return s->shape[a] < s->shape[b];
}

static void sort_children(struct dealing *x, const struct weft_domain *d)
{
	uint32_t *order = x->order + d->first_child;

	for (uint32_t i = 0; i < d->n_children; i++) {
		uint32_t child = d->first_child + i, at = i;

		for (; at > 0 && comes_before(x, child, order[at - 1]); at--)
			order[at] = order[at - 1];
		order[at] = child;
	}
}

/* As deep as the fabric has levels. */
static int distribute_domain(struct dealing *x, uint32_t domain, uint32_t need)
{
	const struct weft_domain *d = &x->g->s->f->domains[domain];
	struct hand h = {.n = d->n_children,
			 .part = x->order + d->first_child,
			 .cap = x->cap};
	int rc = 1;

	if (d->level == x->level) {
		x->g->take[domain - x->first] = need;
		return 1;
	}
	h.share = weft_calloc(h.n, sizeof(*h.share), x->err);
	if (!h.share)
		return -1;
	sort_children(x, d);
	need = x->distribution == DEAL_EVEN ? distribute_even(&h, need, 1)
					    : distribute_compact(&h, need);
	if (need)
		rc = 0;
	for (uint32_t i = 0; rc == 1 && i < h.n; i++)
		if (h.share[i])
			rc = distribute_domain(x, h.part[i], h.share[i]);
	free(h.share);
	return rc;
}

/* The group for the last, smaller segment: one in use if there is, the one that
 * it fills best. */
static uint32_t find_last(const struct groups *g, uint32_t segment,
			  uint32_t rest)
{
	uint32_t best = WEFT_NONE, least = WEFT_NONE;
	bool used = false;

	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t taken = g->take[i] * segment + rest, left;

		if (g->group[i].n_nodes < taken || (used && !g->take[i]))
			continue;
		left = g->group[i].n_nodes - taken;
		if (best != WEFT_NONE && left >= least && (used || !g->take[i]))
			continue;
		best = i;
		least = left;
		used = g->take[i] > 0;
	}
	return best;
}

/* From segments to nodes. */
static void count_nodes(struct groups *g, uint32_t segment, uint32_t rest,
			uint32_t last)
{
	for (uint32_t i = 0; i < g->n; i++)
		g->take[i] *= segment;
	g->take[last] += rest;
}

static uint32_t last_taken(const struct groups *g)
{
	uint32_t i = g->n - 1;

	while (i > 0 && !g->take[i])
		i--;
	return i;
}

int groups_distribute_segments(struct groups *g,
			       const struct segments *segments,
			       enum distribution distribution, uint32_t *last,
			       struct weft_error *err)
{
	const struct weft_fabric *f = g->s->f;
	uint32_t segment = segments->size;
	uint32_t n = segments->n_nodes / segment;
	uint32_t rest = segments->n_nodes % segment;
	struct dealing x = {.g = g, .distribution = distribution, .err = err};
	int rc = -1;

	memset(g->take, 0, g->n * sizeof(*g->take));
	x.level = limits_level(f);
	x.first = g->group[0].domain;
	x.cap = weft_calloc(f->n_domains, sizeof(*x.cap), err);
	x.order = weft_calloc(f->n_domains, sizeof(*x.order), err);
	if (!x.cap || !x.order)
		goto out;
	find_caps(&x, segments);
	rc = 0;
	if (x.cap[g->scope] < n)
		goto out;
	rc = n ? distribute_domain(&x, g->scope, n) : 1;
	if (rc != 1)
		goto out;
	*last = rest ? find_last(g, segment, rest) : last_taken(g);
	rc = *last != WEFT_NONE;
	if (rc)
		count_nodes(g, segment, rest, *last);
out:
	free(x.cap);
	free(x.order);
	return rc;
}

/* ---- all there are ---- */

/* One more segment of a group. */
struct step {
	uint64_t gain; /* GPUs; MUST on top where required nodes need it */
	uint32_t group, at;
};

WEFT_COMPARATOR(compare_steps, struct step,
		WEFT_DOWN(gain) WEFT_UP(group) WEFT_UP(at));

/* What segment k of group i adds when `rest` nodes are taken before. */
static uint64_t gain_of(const struct groups *g, uint32_t i, uint32_t segment,
			uint32_t rest, uint32_t k)
{
	uint32_t from = rest + k * segment, to = from + segment;
	const struct group *group = &g->group[i];

	if (to > group->n_nodes)
		return 0;
	return groups_sum(g, i, to) - groups_sum(g, i, from) +
	       (from < group->n_must ? MUST : 0);
}

static uint32_t list_steps(const struct groups *g, uint32_t segment,
			   struct step *step)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->n; i++) {
		uint64_t gain;

		for (uint32_t k = 0; (gain = gain_of(g, i, segment, 0, k)); k++)
			step[n++] = (struct step){gain, i, k};
	}
	qsort(step, n, sizeof(*step), compare_steps);
	return n;
}

/* The best n segments beside `rest` nodes of group `last` (WEFT_NONE: none):
 * what they give, MUST for each that is required; 0 where there are fewer.
 * take[] is filled when it is not NULL. */
static uint64_t best_steps(const struct groups *g, uint32_t segment,
			   const struct step *step, uint32_t n_steps,
			   uint32_t n, uint32_t last, uint32_t rest,
			   uint32_t *take)
{
	uint64_t sum = last == WEFT_NONE ? 0 : groups_sum(g, last, rest), own;
	uint32_t k = 0, at = 0;

	while (n) {
		while (at < n_steps && step[at].group == last)
			at++;
		own = last == WEFT_NONE ? 0
					: gain_of(g, last, segment, rest, k);
		if (own && (at == n_steps || own >= step[at].gain)) {
			sum += own;
			k++;
		} else if (at < n_steps) {
			sum += step[at].gain;
			if (take)
				take[step[at].group]++;
			at++;
		} else {
			return 0;
		}
		n--;
	}
	if (take && last != WEFT_NONE)
		take[last] = k;
	return sum;
}

/* Segments that required nodes take when `rest` nodes of group `last` are taken
 * besides; WEFT_NONE where a group has too few nodes for them. */
static uint32_t must_segments(const struct groups *g, uint32_t segment,
			      uint32_t last, uint32_t rest)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < g->n && g->s->o->required; i++) {
		uint32_t n = g->group[i].n_must, room = g->group[i].n_nodes;

		if (i == last) {
			n = n > rest ? n - rest : 0;
			room -= rest;
		}
		n = (n + segment - 1) / segment;
		if (n > room / segment)
			return WEFT_NONE;
		sum += n;
	}
	return sum;
}

int groups_most_segments(struct groups *g, const struct segments *segments,
			 uint32_t *last, struct weft_error *err)
{
	uint32_t segment = segments->size, n_steps;
	uint32_t n = segments->n_nodes / segment;
	uint32_t rest = segments->n_nodes % segment;
	uint64_t sum, best = 0;
	struct step *step =
		weft_calloc(g->n_members / segment + 1, sizeof(*step), err);

	if (!step)
		return -1;
	memset(g->take, 0, g->n * sizeof(*g->take));
	*last = WEFT_NONE;
	n_steps = list_steps(g, segment, step);
	if (!rest && must_segments(g, segment, WEFT_NONE, 0) <= n)
		best = best_steps(g, segment, step, n_steps, n, WEFT_NONE, 0,
				  NULL);
	for (uint32_t i = 0; rest && i < g->n; i++) {
		if (g->group[i].n_nodes < rest ||
		    must_segments(g, segment, i, rest) > n)
			continue;
		sum = best_steps(g, segment, step, n_steps, n, i, rest, NULL);
		/* required nodes are all there, however many steps they take */
		sum %= MUST;
		if (sum > best) {
			best = sum;
			*last = i;
		}
	}
	if (best) {
		best_steps(g, segment, step, n_steps, n, *last, rest, g->take);
		if (!rest)
			*last = last_taken(g);
		count_nodes(g, segment, rest, *last);
	}
	free(step);
	return best > 0;
}
