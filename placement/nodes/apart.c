/* SPDX-License-Identifier: GPL-3.0-or-later */
/* apart.c - whether a job takes as long on nodes that lie far apart */
#include "placement/nodes/apart.h"

#include "placement/nodes/node_set.h"

#include <stdlib.h>

struct apart {
	const struct capacity *s;
	const uint32_t *from;
	const struct comparison *best;
	uint32_t *where;
	struct weft_error *err;
};

/* The next `count` ranks of the sequence on GPUs of a node; returns count. */
static uint32_t expand_node(struct apart *x, uint32_t node, uint32_t count,
			    const uint32_t *rank)
{
	uint64_t rest = node_set_gpus(x->s->o, node, count);
	uint32_t gpu = x->s->f->nodes[node].first_gpu, n = 0;

	for (; rest; rest >>= 1, gpu++)
		if (rest & 1)
			x->where[rank[n++]] = gpu;
	return n;
}

/* The answer's ranks, those of each node together: of `share` each. */
static uint32_t *list_ranks(struct apart *x, uint32_t share)
{
	const uint32_t *node = x->s->f->gpu_node, *where = x->from;
	uint32_t n = x->s->job->n_gpus, n_nodes = 0;
	uint32_t *rank = weft_calloc(n, sizeof(*rank), x->err);
	/* of each node, where its next rank goes; 0: not met */
	uint32_t *next = weft_calloc(x->s->f->n_nodes, sizeof(*next), x->err);

	for (uint32_t r = 0; rank && next && r < n; r++) {
		if (!next[node[where[r]]])
			next[node[where[r]]] = share * n_nodes++ + 1;
		rank[next[node[where[r]]]++ - 1] = r;
	}
	if (!next) {
		free(rank);
		rank = NULL;
	}
	free(next);
	return rank;
}

/* Nodes that have as many usable GPUs as the job takes of one, one of each
 * domain of the outermost level with several in turn: as far apart as can be in
 * the answer's part of the fabric.  1: x->where is set; 0: too few. */
static int spread_out(struct apart *x, uint32_t share, const uint32_t *rank)
{
	const struct weft_fabric *f = x->s->f;
	const struct weft_occupancy *o = x->s->o;
	uint32_t first = f->gpu_domain[f->n_levels - 1][x->from[0]];
	uint32_t n = x->s->job->n_gpus, done = 0, several = 1;
	uint32_t *next;

	while (several == 1 && f->domains[first].level > f->node_level + 1) {
		several = f->domains[first].n_children;
		first = f->domains[first].first_child;
	}
	next = weft_calloc(several, sizeof(*next), x->err);
	if (!next)
		return -1;
	for (uint32_t turn = 0, idle = 0; done < n && idle < several; turn++) {
		uint32_t k = turn % several;
		const struct weft_domain *d = &f->domains[first + k];

		while (next[k] < d->n_nodes &&
		       o->usable[d->first_node + next[k]] < share)
			next[k]++;
		idle = next[k] < d->n_nodes ? 0 : idle + 1;
		if (!idle)
			done += expand_node(x, d->first_node + next[k]++, share,
					    rank + done);
	}
	free(next);
	return done == n;
}

int apart_is_as_good(const struct capacity *s, const uint32_t *from,
		     const struct comparison *best, uint32_t *where, bool *can,
		     struct weft_error *err)
{
	struct apart x = {s, from, best, where, err};
	struct weft_judge *judge = s->judge;
	const uint32_t *node = s->f->gpu_node;
	uint32_t share = 0, n = s->job->n_gpus, *rank;
	struct weft_measure apart;
	int rc;

	*can = false;
	for (uint32_t r = 0; r < n; r++)
		share += node[from[r]] == node[from[0]];
	if (share == n || !best->even)
		return 0;
	rank = list_ranks(&x, share);
	rc = rank ? spread_out(&x, share, rank) : -1;
	free(rank);
	if (rc <= 0)
		return rc;
	/* without a weight of fragmentation the value is the goal */
	if (!weft_judge_infer(judge, where, &apart.value) &&
	    weft_judge_measure(judge, where, &apart, err))
		return -1;
	*can = apart.value <= best->measure.value * (1 + judge->same);
	return 0;
}
