/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm_rule.c - the rule of Slurm's topology/block, as its documentation
 * (topology guide, topology.conf(5)) states it
 *
 * Blocks of nodes, and aggregated blocks of twice, four times, ... as many
 * neighbouring ones.  A job gets an aggregate of the smallest size that can
 * hold it, of several the one with the fewest nodes available, and in it the
 * fewest base blocks, the last by best fit.  It waits where none of that size
 * has nodes enough: the sizes are enforced.
 *
 * Tasks are numbered node by node in the order of the nodes, as the default
 * --distribution=block does.  Base blocks are the innermost domains of several
 * nodes.
 */
#include "placement/objective/slurm_rule.h"

#include "base/compare.h"

#include <stdlib.h>

bool rule_gives(const struct rule_request *q, uint32_t node)
{
	return weft_occupancy_give(q->occupancy, node) >= q->per_node;
}

void rule_fill(const struct rule_request *q, const uint32_t *nodes,
	       uint32_t *where)
{
	const struct weft_fabric *f = q->fabric;
	uint32_t n_gpus = q->n_gpus ? q->n_gpus : q->n_nodes * q->per_node;
	uint32_t r = 0;

	for (uint32_t i = 0; i < q->n_nodes; i++) {
		uint64_t free = q->occupancy->free[nodes[i]];
		uint32_t left = q->per_node, gpu;

		/* Slurm takes them by number */
		for (uint32_t k = 0; k < f->nodes[nodes[i]].n_gpus; k++) {
			gpu = weft_fabric_numbered(f, nodes[i], k);
			if (left == 0 || r == n_gpus)
				break;
			if (!(free >> (gpu - f->nodes[nodes[i]].first_gpu) & 1))
				continue;
			where[r++] = gpu;
			left--;
		}
	}
}

/* Domains by the nodes that they can give to one job. */
struct switches {
	const struct rule_request *q;
	uint32_t leaf_level;
	uint32_t *slots; /* [n_domains] */
};

uint32_t rule_leaf_level(const struct weft_fabric *f)
{
	for (uint32_t l = f->node_level; l < f->n_levels; l++) {
		const struct weft_domain *d =
			f->domains + f->levels[l].first_domain;

		if (f->levels[l].n_domains == f->n_nodes)
			continue;
		for (uint32_t i = 0; i < f->levels[l].n_domains; i++) {
			if (d[i].n_nodes > 1)
				return l;
		}
	}
	return f->n_levels - 1;
}

static int switches_build(const struct rule_request *q, struct switches *w,
			  struct weft_error *err)
{
	const struct weft_fabric *f = q->fabric;

	w->q = q;
	w->leaf_level = rule_leaf_level(f);
	w->slots = weft_calloc(f->n_domains, sizeof(*w->slots), err);
	if (!w->slots)
		return -1;
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		if (!rule_gives(q, i))
			continue;
		for (uint32_t l = w->leaf_level; l < f->n_levels; l++)
			w->slots[f->gpu_domain[l][f->nodes[i].first_gpu]]++;
	}
	return 0;
}

/* The better of two numbers of nodes for a need, 0: none is there.  Enough is
 * better than too few; of enough the least, of too few the most. */
static bool fits_better(uint32_t slots, uint32_t than, uint32_t need)
{
	if (slots == 0 || than == 0)
		return slots > 0;
	if ((slots >= need) != (than >= need))
		return slots >= need;
	return slots >= need ? slots < than : slots > than;
}

/* Leafs first..last. */
struct span_of_leafs {
	uint32_t first, last;
};

/* Takes the job's nodes from leafs by best fit; uses up w->slots. */
static int leafs_take(struct switches *w, struct span_of_leafs leafs,
		      uint32_t *where, struct weft_error *err)
{
	const struct rule_request *q = w->q;
	uint32_t *nodes = weft_calloc(q->n_nodes, sizeof(*nodes), err);
	uint32_t n = 0;

	if (!nodes)
		return -1;
	while (n < q->n_nodes) {
		const struct weft_domain *d;
		uint32_t best = leafs.first;

		for (uint32_t i = leafs.first; i <= leafs.last; i++) {
			if (fits_better(w->slots[i], w->slots[best],
					q->n_nodes - n))
				best = i;
		}
		w->slots[best] = 0;
		d = &q->fabric->domains[best];
		for (uint32_t i = d->first_node;
		     i < d->first_node + d->n_nodes && n < q->n_nodes; i++) {
			if (rule_gives(q, i))
				nodes[n++] = i;
		}
	}
	qsort(nodes, n, sizeof(*nodes), weft_compare_numbers);
	rule_fill(q, nodes, where);
	free(nodes);
	return 0;
}

/* Aggregates of n_blocks neighbouring base blocks. */
struct aggregates {
	uint32_t n_blocks;
	bool could;		   /* one would do if all were free */
	struct span_of_leafs best; /* of those that can, the fewest slots */
	uint32_t best_slots;	   /* 0: none can */
};

/* Nodes of the leaf that could give to the job, were they free. */
static uint32_t leaf_room(const struct rule_request *q, uint32_t leaf)
{
	const struct weft_domain *d = &q->fabric->domains[leaf];
	uint32_t n = 0;

	for (uint32_t i = d->first_node; i < d->first_node + d->n_nodes; i++)
		n += q->fabric->nodes[i].n_gpus >= q->per_node;
	return n;
}

static void aggregates_search(const struct switches *w, struct aggregates *a)
{
	const struct weft_level *level = &w->q->fabric->levels[w->leaf_level];
	uint32_t end = level->first_domain + level->n_domains;
	uint32_t need = w->q->n_nodes;

	a->could = false;
	a->best_slots = 0;
	for (uint32_t i = level->first_domain; i < end; i += a->n_blocks) {
		uint32_t slots = 0, room = 0, last = i;

		for (uint32_t k = i; k < end && k < i + a->n_blocks; k++) {
			slots += w->slots[k];
			room += leaf_room(w->q, k);
			last = k;
		}
		a->could |= room >= need;
		if (slots < need || (a->best_slots && slots >= a->best_slots))
			continue;
		a->best_slots = slots;
		a->best = (struct span_of_leafs){i, last};
	}
}

/* The aggregate to use; best_slots 0: the job has to wait. */
static void aggregate_find(const struct switches *w, struct aggregates *a)
{
	uint32_t n_leafs = w->q->fabric->levels[w->leaf_level].n_domains;

	for (a->n_blocks = 1;; a->n_blocks *= 2) {
		aggregates_search(w, a);
		if (a->could || a->n_blocks >= n_leafs)
			return;
	}
}

int rule_block(const struct rule_request *q, uint32_t *where, bool *yes,
	       struct weft_error *err)
{
	struct aggregates a;
	struct switches w;
	int rc = 0;

	if (switches_build(q, &w, err))
		return -1;
	aggregate_find(&w, &a);
	*yes = a.best_slots > 0;
	if (*yes)
		rc = leafs_take(&w, a.best, where, err);
	free(w.slots);
	return rc;
}

int rule_block_fits(const struct rule_request *q, bool *yes,
		    struct weft_error *err)
{
	struct aggregates a;
	struct switches w;

	if (switches_build(q, &w, err))
		return -1;
	aggregate_find(&w, &a);
	*yes = a.best_slots > 0;
	free(w.slots);
	return 0;
}
