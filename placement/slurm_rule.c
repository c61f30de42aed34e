/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm_rule.c - the rules of Slurm's topology plugins, as its documentation
 * (topology guide, topology.conf(5)) states them
 *
 * topology/tree: the lowest-level switch that can satisfy the job; on its leaf
 * switches nodes by best fit: the leaf that holds what is left with the fewest
 * nodes to spare, or, where none does, the one with the most.
 *
 * topology/block: blocks of nodes, and aggregated blocks of twice, four times,
 * ... as many neighbouring ones.  A job gets an aggregate of the smallest size
 * that can hold it, of several the one with the fewest nodes available, and in
 * it the fewest base blocks, the last by best fit.  It waits where none of that
 * size has nodes enough: the sizes are enforced.
 *
 * Nodes of less weight go before heavier ones (slurm.conf(5), Weight): heavier
 * ones are looked at only where the others do not suffice.  Nodes that the user
 * names are taken first, all below one switch, then others of their leafs.
 *
 * Both number the tasks node by node in the order of the nodes' names, as the
 * default --distribution=block does with nodes listed in that order.  Leaf
 * switches and base blocks are the innermost domains of several nodes; where
 * all nodes are in one, the first ones are chosen.
 */
#include "placement/slurm_rule.h"

#include <stdlib.h>
#include <string.h>

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
		uint64_t rest = q->occupancy->free[nodes[i]];
		uint32_t left = q->per_node, gpu;

		weft_mask_foreach (gpu, rest) {
			if (left-- == 0 || r == n_gpus)
				break;
			where[r++] = f->nodes[nodes[i]].first_gpu + gpu;
		}
	}
}

/* Domains by the nodes that they can give to one job. */
struct switches {
	const struct rule_request *q;
	uint32_t leaf_level;
	uint32_t heaviest; /* weight of a node that the user does not name */
	uint32_t n_must;   /* nodes that the user names */
	uint32_t *slots;   /* [n_domains] */
	uint32_t *must;	   /* [n_domains] of the slots: nodes named */
};

static bool is_required(const struct rule_request *q, uint32_t node)
{
	return q->occupancy->required &&
	       weft_bitset_has(q->occupancy->required, node);
}

static bool gives(const struct switches *w, uint32_t node)
{
	const uint32_t *weight = w->q->occupancy->weight;

	return rule_gives(w->q, node) &&
	       (!weight || weight[node] <= w->heaviest ||
		is_required(w->q, node));
}

static uint32_t leaf_level_find(const struct weft_fabric *f)
{
	for (uint32_t l = f->node_level; l < f->n_levels; l++) {
		const struct weft_domain *d =
			f->domains + f->levels[l].first_domain;

		for (uint32_t i = 0; i < f->levels[l].n_domains; i++) {
			if (d[i].n_nodes > 1)
				return l;
		}
	}
	return f->n_levels - 1;
}

static void switches_count(struct switches *w)
{
	const struct weft_fabric *f = w->q->fabric;

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		bool required = is_required(w->q, i);

		w->n_must += required;
		if (!gives(w, i))
			continue;
		for (uint32_t l = w->leaf_level; l < f->n_levels; l++) {
			uint32_t d = f->gpu_domain[l][f->nodes[i].first_gpu];

			w->slots[d]++;
			w->must[d] += required;
		}
	}
}

static int switches_build(const struct rule_request *q, uint32_t heaviest,
			  struct switches *w, struct weft_error *err)
{
	const struct weft_fabric *f = q->fabric;

	memset(w, 0, sizeof(*w));
	w->q = q;
	w->heaviest = heaviest;
	w->leaf_level = leaf_level_find(f);
	w->slots = weft_calloc(f->n_domains, 2 * sizeof(*w->slots), err);
	if (!w->slots)
		return -1;
	w->must = w->slots + f->n_domains;
	switches_count(w);
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

/* The leafs below a range of GPUs, first..last. */
struct span_of_leafs {
	uint32_t first, last;
};

static struct span_of_leafs leafs_of(const struct switches *w, uint32_t domain)
{
	const struct weft_fabric *f = w->q->fabric;
	const struct weft_domain *d = &f->domains[domain];
	const uint32_t *leaf = f->gpu_domain[w->leaf_level];

	return (struct span_of_leafs){leaf[d->first_gpu],
				      leaf[d->first_gpu + d->n_gpus - 1]};
}

/* Nodes of a choice that grows. */
struct taking {
	uint64_t *taken; /* bitset */
	uint32_t n;
};

static void node_take(struct switches *w, uint32_t node, struct taking *t)
{
	const struct weft_fabric *f = w->q->fabric;
	uint32_t gpu = f->nodes[node].first_gpu;

	weft_bitset_add(t->taken, node);
	w->slots[f->gpu_domain[w->leaf_level][gpu]]--;
	t->n++;
}

/* Takes nodes of a leaf in their order, as many as are wanted. */
static void leaf_take(struct switches *w, uint32_t leaf, struct taking *t)
{
	const struct weft_domain *d = &w->q->fabric->domains[leaf];
	uint32_t end = d->first_node + d->n_nodes;

	for (uint32_t i = d->first_node; i < end && t->n < w->q->n_nodes; i++) {
		if (gives(w, i) && !weft_bitset_has(t->taken, i))
			node_take(w, i, t);
	}
	w->slots[leaf] = 0;
}

/* Takes nodes from leafs: first those of required nodes, then by best fit.
 * Uses up w->slots. */
static void best_fit(struct switches *w, struct span_of_leafs leafs,
		     struct taking *t)
{
	uint32_t n_nodes = w->q->n_nodes;

	for (uint32_t i = leafs.first; w->n_must && i <= leafs.last; i++) {
		if (w->must[i])
			leaf_take(w, i, t);
	}
	while (t->n < n_nodes) {
		uint32_t best = leafs.first;

		for (uint32_t i = leafs.first; i <= leafs.last; i++) {
			if (fits_better(w->slots[i], w->slots[best],
					n_nodes - t->n))
				best = i;
		}
		if (!w->slots[best])
			return;
		leaf_take(w, best, t);
	}
}

/* The job's nodes in these leafs, *yes: which have enough of them. */
static int leafs_take(struct switches *w, struct span_of_leafs leafs,
		      uint32_t *where, bool *yes, struct weft_error *err)
{
	const struct rule_request *q = w->q;
	const struct weft_fabric *f = q->fabric;
	uint32_t *nodes = weft_calloc(q->n_nodes, sizeof(*nodes), err);
	struct taking t = {
		.taken = weft_calloc(weft_bitset_words(f->n_nodes),
				     sizeof(*t.taken), err),
	};
	uint32_t n = 0;
	int rc = -1;

	if (!nodes || !t.taken)
		goto out;
	for (uint32_t i = 0; w->n_must && i < f->n_nodes; i++) {
		if (is_required(q, i))
			node_take(w, i, &t);
	}
	best_fit(w, leafs, &t);
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		if (weft_bitset_has(t.taken, f->counted[i]))
			nodes[n++] = f->counted[i];
	}
	*yes = n == q->n_nodes;
	if (*yes)
		rule_fill(q, nodes, where);
	rc = 0;
out:
	free(nodes);
	free(t.taken);
	return rc;
}

/* The lowest switch with nodes enough, the required ones among them, of several
 * the one with the fewest; WEFT_NONE: there is none. */
static uint32_t switch_find(const struct switches *w)
{
	const struct weft_fabric *f = w->q->fabric;
	uint32_t best = WEFT_NONE;

	for (uint32_t l = w->leaf_level; l < f->n_levels && best == WEFT_NONE;
	     l++) {
		const struct weft_level *level = &f->levels[l];

		for (uint32_t i = level->first_domain;
		     i < level->first_domain + level->n_domains; i++) {
			if (w->slots[i] >= w->q->n_nodes &&
			    w->must[i] == w->n_must &&
			    (best == WEFT_NONE || w->slots[i] < w->slots[best]))
				best = i;
		}
	}
	return best;
}

static int tree_of(const struct rule_request *q, uint32_t heaviest,
		   uint32_t *where, bool *yes, struct weft_error *err)
{
	uint32_t best;
	struct switches w;
	int rc = 0;

	if (switches_build(q, heaviest, &w, err))
		return -1;
	best = w.n_must <= q->n_nodes ? switch_find(&w) : WEFT_NONE;
	*yes = best != WEFT_NONE;
	if (*yes)
		rc = leafs_take(&w, leafs_of(&w, best), where, yes, err);
	free(w.slots);
	return rc;
}

static int by_value(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return x < y ? -1 : x > y;
}

/* The least weight up to which enough nodes could give. */
static int heaviest_find(const struct rule_request *q, uint32_t *heaviest,
			 struct weft_error *err)
{
	const struct weft_occupancy *o = q->occupancy;
	uint32_t *weight, n = 0;

	*heaviest = UINT32_MAX;
	if (!o->weight)
		return 0;
	weight = weft_calloc(q->fabric->n_nodes, sizeof(*weight), err);
	if (!weight)
		return -1;
	for (uint32_t i = 0; i < q->fabric->n_nodes; i++) {
		if (rule_gives(q, i))
			weight[n++] = o->weight[i];
	}
	qsort(weight, n, sizeof(*weight), by_value);
	if (q->n_nodes <= n)
		*heaviest = weight[q->n_nodes - 1];
	free(weight);
	return 0;
}

int rule_tree(const struct rule_request *q, uint32_t *where, bool *yes,
	      struct weft_error *err)
{
	uint32_t heaviest;

	if (heaviest_find(q, &heaviest, err) ||
	    tree_of(q, heaviest, where, yes, err))
		return -1;
	/* light ones may be below switches that have too few of them */
	return *yes || heaviest == UINT32_MAX
		       ? 0
		       : tree_of(q, UINT32_MAX, where, yes, err);
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

	if (switches_build(q, UINT32_MAX, &w, err))
		return -1;
	w.n_must = 0;
	aggregate_find(&w, &a);
	*yes = a.best_slots > 0;
	if (*yes)
		rc = leafs_take(&w, a.best, where, yes, err);
	free(w.slots);
	return rc;
}

int rule_block_fits(const struct rule_request *q, bool *yes,
		    struct weft_error *err)
{
	struct aggregates a;
	struct switches w;

	if (switches_build(q, UINT32_MAX, &w, err))
		return -1;
	aggregate_find(&w, &a);
	*yes = a.best_slots > 0;
	free(w.slots);
	return 0;
}
