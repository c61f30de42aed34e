/* SPDX-License-Identifier: GPL-3.0-or-later */
/* candidates_equal.c - sets of nodes with the same share of each NVLink domain
 *
 * Rings and all-to-alls that cross domains are cheapest where every domain has
 * as much of them as the others: whole domains of one size, an equal part of
 * each, whole multiples of the groups that exchange most.  Where NVLink domains
 * span nodes and some have holes that is worth a tenth of the cost; beyond
 * them, between leafs, distances differ too little to pay for the time.
 */
#include "placement/nodes/candidates.h"

#include "base/compare.h"
#include "placement/nodes/groups.h"
#include "placement/nodes/limits.h"

#include <stdlib.h>

/* Numbers of nodes per domain that are tried in one scope. */
#define MAX_SIZES 12
/* Of the sizes that domains have, the largest ones. */
#define MAX_WHOLE 4
/* Ways with a few domains more than are needed at least. */
#define MORE_DOMAINS 3

struct equal {
	struct capacity *s;
	struct candidates *out;
	const uint32_t *chunk; /* [n_chunks] GPUs that stay together */
	uint32_t n_chunks;
	uint32_t n_nodes; /* of the job, `share` GPUs on each */
	bool few;	  /* multiples of chunks alone */
	uint32_t n_sizes, size[MAX_SIZES];
	struct weft_error *err;
};

static void add_size(struct equal *e, uint32_t n)
{
	for (uint32_t i = 0; i < e->n_sizes; i++)
		if (e->size[i] == n)
			return;
	if (n > 0 && n < e->n_nodes && e->n_sizes < MAX_SIZES)
		e->size[e->n_sizes++] = n;
}

/* Whole domains, even parts of the job, and multiples of its groups that fill
 * the largest domain. */
static int find_sizes(struct equal *e, const struct groups *g)
{
	uint32_t *room = weft_calloc(g->n, sizeof(*room), e->err);
	uint32_t sum = 0, least = 0, n_whole = 0;

	e->n_sizes = 0;
	if (!room)
		return -1;
	for (uint32_t i = 0; i < g->n; i++)
		room[i] = g->group[i].n_nodes;
	qsort(room, g->n, sizeof(*room), weft_compare_numbers_down);
	while (least < g->n && sum < e->n_nodes)
		sum += room[least++];
	for (uint32_t i = 0; i < g->n && n_whole < MAX_WHOLE && !e->few; i++) {
		if (i > 0 && room[i] == room[i - 1])
			continue;
		add_size(e, room[i]);
		n_whole++;
	}
	for (uint32_t m = least; m <= least + MORE_DOMAINS && !e->few; m++)
		if (m && e->n_nodes % m == 0)
			add_size(e, e->n_nodes / m);
	for (uint32_t i = 0; i < e->n_chunks; i++) {
		uint32_t n = e->chunk[i] / g->share;

		if (n && e->chunk[i] % g->share == 0)
			add_size(e, room[0] / n * n);
	}
	free(room);
	return 0;
}

/* 0 also where the size leads to nothing. */
static int try_size(struct equal *e, struct groups *g, uint32_t size,
		    uint32_t most)
{
	const struct segments segments = {size, e->n_nodes, most};
	struct node_set c = {0};
	uint32_t last;
	int rc = groups_distribute_segments(g, &segments, DEAL_COMPACT, &last,
					    e->err);

	if (rc == 1)
		rc = groups_choose(g, last, &c, e->err);
	if (rc == 1)
		candidates_add(e->out, &c);
	else
		node_set_free(&c);
	return rc < 0 ? -1 : 0;
}

static int try_scope(struct equal *e, uint32_t scope, uint32_t share)
{
	struct groups g;
	int rc = groups_build(e->s, scope, share, &g, e->err);

	if (rc == 0)
		rc = find_sizes(e, &g);
	for (uint32_t i = 0; rc == 0 && g.n > 1 && i < e->n_sizes; i++) {
		rc = try_size(e, &g, e->size[i], 1);
		if (rc == 0)
			rc = try_size(e, &g, e->size[i], UINT32_MAX);
	}
	groups_free(&g);
	return rc;
}

int candidates_equal(struct capacity *s, const uint32_t *chunk,
		     uint32_t n_chunks, uint32_t share, uint32_t level,
		     bool few, struct candidates *c, struct weft_error *err)
{
	struct equal e = {.s = s,
			  .out = c,
			  .chunk = chunk,
			  .n_chunks = n_chunks,
			  .few = few,
			  .err = err};
	uint32_t domain[CANDIDATES_PICKS], n;

	if (limits_level(s->f) > 0 || !share || s->job->n_gpus % share)
		return 0;
	e.n_nodes = s->job->n_gpus / share;
	n = candidates_pick(s, level, domain);
	for (uint32_t i = 0; i < n; i++)
		if (try_scope(&e, domain[i], share))
			return -1;
	return 0;
}
