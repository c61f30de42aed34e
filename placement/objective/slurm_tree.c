/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm_tree.c - the rule of Slurm's topology/tree
 *
 * Documented (topology guide) is a best fit: the lowest switch that can satisfy
 * the job, and on its leafs the fewest nodes to spare.  What follows is that
 * rule in detail, as Slurm 22.05 was seen to follow it (tests/slurm, 70-show).
 *
 * Leaf after leaf is chosen until the nodes suffice.  The better of two leafs
 * is the one that holds all that is left, if only one does; of two that do, the
 * one with fewer nodes; where neither does, the same is asked of the switches
 * above them, until these are the same, and then the one with more nodes is
 * better.  A leaf replaces one that comes before it in order only where it is
 * better at the same distance from the leafs chosen so far, or nearer and no
 * worse.  So a remainder goes to a far leaf that it fits tightly rather than to
 * a near one.
 *
 * Nodes that the user names are taken first.  Lighter nodes go before heavier
 * ones (slurm.conf(5), Weight): all of a weight are taken that does not suffice
 * by itself.  Leafs with nodes taken so are filled up, in order, before others.
 *
 * Tasks are numbered node by node in the order of the nodes' names, as the
 * default --distribution=block does with nodes listed in that order.  Switches
 * are the levels from the innermost domains of several nodes up.
 */
#include "placement/objective/slurm_rule.h"

#include "base/clock.h"
#include "base/compare.h"

#include <stdlib.h>

struct tree {
	const struct rule_request *q;
	uint32_t leaf_level;
	uint32_t part;	       /* top domain that the job stays in */
	uint32_t heaviest;     /* weight that is needed */
	uint32_t *slots;       /* [n_domains] nodes that could be the job's */
	uint64_t *open;	       /* bitset of nodes that could be taken still */
	uint64_t *taken;       /* bitset of nodes */
	uint64_t *used;	       /* bitset of leafs, by domain */
	struct family *family; /* [leafs] */
	uint32_t n_families;
	uint32_t n_taken;
};

static uint32_t domain_of(const struct tree *t, uint32_t level, uint32_t node)
{
	const struct weft_fabric *f = t->q->fabric;

	return f->gpu_domain[level][f->nodes[node].first_gpu];
}

static uint32_t part_of(const struct tree *t, uint32_t node)
{
	return domain_of(t, t->q->fabric->n_levels - 1, node);
}

static bool is_required(const struct tree *t, uint32_t node)
{
	const uint64_t *required = t->q->occupancy->required;

	return required && weft_bitset_has(required, node);
}

static uint32_t weight_of(const struct tree *t, uint32_t node)
{
	const uint32_t *weight = t->q->occupancy->weight;

	return weight ? weight[node] : 0;
}

/* ---- what there is to choose from ---- */

/* Nodes that can hold their share of the job. */
static void open_find(struct tree *t)
{
	const struct weft_fabric *f = t->q->fabric;

	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (rule_gives(t->q, i))
			weft_bitset_add(t->open, i);
}

/* The part with nodes enough and all required ones; of several the last. False:
 * there is none. */
static bool part_find(struct tree *t)
{
	const struct weft_fabric *f = t->q->fabric;
	const struct weft_level *top = &f->levels[f->n_levels - 1];
	uint32_t n_must = 0;

	t->part = WEFT_NONE;
	for (uint32_t i = 0; t->q->occupancy->required && i < f->n_nodes; i++)
		n_must += is_required(t, i);
	for (uint32_t d = top->first_domain;
	     d < top->first_domain + top->n_domains; d++) {
		const struct weft_domain *part = &f->domains[d];
		uint32_t n = 0, n_here = 0;

		for (uint32_t i = part->first_node;
		     i < part->first_node + part->n_nodes; i++) {
			if (!weft_bitset_has(t->open, i))
				continue;
			n++;
			n_here += is_required(t, i);
		}
		if (n >= t->q->n_nodes && n_here == n_must)
			t->part = d;
	}
	return t->part != WEFT_NONE && n_must <= t->q->n_nodes;
}

/* The least weight up to which the nodes suffice beside the required ones. */
static int heaviest_find(struct tree *t, struct weft_error *err)
{
	const struct weft_fabric *f = t->q->fabric;
	uint32_t *weight, n = 0, need = t->q->n_nodes;

	if (!t->q->occupancy->weight)
		return 0;
	weight = weft_calloc(f->n_nodes, sizeof(*weight), err);
	if (!weight)
		return -1;
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		if (is_required(t, i))
			need--;
		else if (part_of(t, i) == t->part &&
			 weft_bitset_has(t->open, i))
			weight[n++] = weight_of(t, i);
	}
	qsort(weight, n, sizeof(*weight), weft_compare_numbers);
	t->heaviest = need ? weight[need - 1] : 0;
	free(weight);
	return 0;
}

/* Leaves out nodes of other parts, and such as are too heavy. */
static void open_narrow(struct tree *t)
{
	const struct weft_fabric *f = t->q->fabric;

	if (f->levels[f->n_levels - 1].n_domains == 1 &&
	    !t->q->occupancy->weight)
		return;
	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (part_of(t, i) != t->part || weight_of(t, i) > t->heaviest)
			weft_bitset_remove(t->open, i);
}

static void node_take(struct tree *t, uint32_t node)
{
	weft_bitset_remove(t->open, node);
	weft_bitset_add(t->taken, node);
	t->n_taken++;
}

static uint32_t leaf_count(const struct tree *t, uint32_t leaf)
{
	const struct weft_domain *d = &t->q->fabric->domains[leaf];
	uint32_t n = 0;

	for (uint32_t i = d->first_node; i < d->first_node + d->n_nodes; i++)
		n += weft_bitset_has(t->open, i) ||
		     weft_bitset_has(t->taken, i);
	return n;
}

static void slots_count(struct tree *t)
{
	const struct weft_fabric *f = t->q->fabric;

	for (uint32_t l = t->leaf_level; l < f->n_levels; l++) {
		const struct weft_level *level = &f->levels[l];
		uint32_t end = level->first_domain + level->n_domains;

		for (uint32_t d = level->first_domain; d < end; d++) {
			if (l == t->leaf_level)
				t->slots[d] = leaf_count(t, d);
			if (l + 1 < f->n_levels)
				t->slots[f->domains[d].parent] += t->slots[d];
		}
	}
}

/* ---- leafs ---- */

/* Leafs below one switch, which are as far from all others. */
struct family {
	uint32_t first, n;
	uint32_t far;	  /* hops to all chosen leafs */
	uint32_t fullest; /* of those not chosen, the first; WEFT_NONE: none */
};

static void families_find(struct tree *t)
{
	const struct weft_domain *d = t->q->fabric->domains;
	const struct weft_level *leafs = &t->q->fabric->levels[t->leaf_level];
	uint32_t end = leafs->first_domain + leafs->n_domains;
	struct family *y = t->family;

	for (uint32_t i = leafs->first_domain; i < end; y->n++, i++) {
		if (i == leafs->first_domain || d[i].parent != d[i - 1].parent)
			*(y = &t->family[t->n_families++]) =
				(struct family){.first = i};
	}
}

/* Hops from a leaf to another one, siblings at least. */
static uint32_t hops(const struct tree *t, uint32_t leaf, uint32_t other)
{
	const struct weft_fabric *f = t->q->fabric;
	uint32_t meet = t->leaf_level + 1;

	while (meet + 1 < f->n_levels &&
	       f->gpu_domain[meet][f->domains[leaf].first_gpu] !=
		       f->gpu_domain[meet][f->domains[other].first_gpu])
		meet++;
	return 2 * (meet - t->leaf_level);
}

static void far_add(struct tree *t, uint32_t other)
{
	for (uint32_t i = 0; i < t->n_families; i++)
		t->family[i].far += hops(t, t->family[i].first, other);
}

static void fullest_find(const struct tree *t, struct family *y)
{
	y->fullest = WEFT_NONE;
	for (uint32_t i = y->first; i < y->first + y->n; i++)
		if (t->slots[i] && !weft_bitset_has(t->used, i) &&
		    (y->fullest == WEFT_NONE ||
		     t->slots[i] > t->slots[y->fullest]))
			y->fullest = i;
}

static int compare(uint32_t x, uint32_t y)
{
	return (x > y) - (x < y);
}

/* Above 0: leaf a is better than leaf b for `need` nodes; below 0: worse. */
static int leafs_compare(const struct tree *t, uint32_t a, uint32_t b,
			 uint32_t need)
{
	const struct weft_domain *d = t->q->fabric->domains;

	for (;;) {
		bool fits_a = t->slots[a] >= need, fits_b = t->slots[b] >= need;

		if (fits_a && fits_b)
			return compare(t->slots[b], t->slots[a]);
		if (fits_a || fits_b)
			return fits_a ? 1 : -1;
		if (d[a].parent == d[b].parent)
			return compare(t->slots[a], t->slots[b]);
		a = d[a].parent;
		b = d[b].parent;
	}
}

/* Of one family, for `need` nodes: the first of the best. */
static uint32_t best_of(const struct tree *t, const struct family *y,
			uint32_t need)
{
	uint32_t best = y->fullest;

	if (best == WEFT_NONE || t->slots[best] < need)
		return best;
	for (uint32_t i = y->first; i < y->first + y->n; i++)
		if (!weft_bitset_has(t->used, i) &&
		    leafs_compare(t, i, best, need) > 0)
			best = i;
	return best;
}

/* NULL: none is left. */
static struct family *leaf_choose(const struct tree *t, uint32_t *leaf)
{
	uint32_t need = t->q->n_nodes - t->n_taken;
	struct family *from = NULL;

	for (uint32_t i = 0; i < t->n_families; i++) {
		struct family *y = &t->family[i];
		uint32_t best = best_of(t, y, need);
		int better;

		if (best == WEFT_NONE)
			continue;
		better = from ? leafs_compare(t, best, *leaf, need) : 1;
		if (from && !(y->far < from->far && better >= 0) &&
		    !(y->far == from->far && better > 0))
			continue;
		from = y;
		*leaf = best;
	}
	return from;
}

/* Takes nodes of a leaf in their order, as many as are wanted. */
static void leaf_take(struct tree *t, uint32_t leaf)
{
	const struct weft_domain *d = &t->q->fabric->domains[leaf];
	uint32_t n = t->q->n_nodes;

	for (uint32_t i = 0; i < d->n_nodes && t->n_taken < n; i++) {
		if (weft_bitset_has(t->open, d->first_node + i))
			node_take(t, d->first_node + i);
	}
	weft_bitset_add(t->used, leaf);
}

/* ---- the choice ---- */

/* Nodes that go before others; then what is left in their leafs. */
static void first_take(struct tree *t)
{
	const struct weft_fabric *f = t->q->fabric;
	const struct weft_level *leafs = &f->levels[t->leaf_level];
	bool some = t->q->occupancy->required || t->q->occupancy->weight;

	for (uint32_t i = 0; some && i < f->n_nodes; i++) {
		if (is_required(t, i) || (weft_bitset_has(t->open, i) &&
					  weight_of(t, i) < t->heaviest))
			node_take(t, i);
	}
	slots_count(t);
	if (!t->n_taken)
		return;
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		if (weft_bitset_has(t->taken, i))
			weft_bitset_add(t->used,
					domain_of(t, t->leaf_level, i));
	}
	for (uint32_t i = 0; i < leafs->n_domains; i++) {
		if (!weft_bitset_has(t->used, leafs->first_domain + i))
			continue;
		far_add(t, leafs->first_domain + i);
		leaf_take(t, leafs->first_domain + i);
	}
}

/* Chooses leaf after leaf. */
static void leafs_take(struct tree *t)
{
	struct family *from;
	uint32_t leaf;

	for (uint32_t i = 0; i < t->n_families; i++)
		fullest_find(t, &t->family[i]);
	while (t->n_taken < t->q->n_nodes && !weft_deadline_passed() &&
	       (from = leaf_choose(t, &leaf))) {
		far_add(t, leaf);
		leaf_take(t, leaf);
		fullest_find(t, from);
	}
}

/* The nodes in the order of names, for the ranks. */
static int tree_fill(const struct tree *t, uint32_t *where,
		     struct weft_error *err)
{
	const struct weft_fabric *f = t->q->fabric;
	uint32_t *nodes = weft_calloc(t->q->n_nodes, sizeof(*nodes), err);
	uint32_t n = 0;

	if (!nodes)
		return -1;
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		if (weft_bitset_has(t->taken, f->counted[i]))
			nodes[n++] = f->counted[i];
	}
	rule_fill(t->q, nodes, where);
	free(nodes);
	return 0;
}

static int tree_take(struct tree *t, uint32_t *where, bool *yes,
		     struct weft_error *err)
{
	open_find(t);
	*yes = part_find(t);
	if (!*yes)
		return 0;
	if (heaviest_find(t, err))
		return -1;
	open_narrow(t);
	families_find(t);
	first_take(t);
	leafs_take(t);
	*yes = t->n_taken == t->q->n_nodes;
	return *yes ? tree_fill(t, where, err) : 0;
}

int rule_tree(const struct rule_request *q, uint32_t *where, bool *yes,
	      struct weft_error *err)
{
	const struct weft_fabric *f = q->fabric;
	struct tree t = {
		.q = q,
		.leaf_level = rule_leaf_level(f),
		.slots = weft_calloc(f->n_domains, sizeof(*t.slots), err),
		.open = weft_calloc(weft_bitset_words(f->n_nodes),
				    2 * sizeof(*t.open), err),
		.used = weft_calloc(weft_bitset_words(f->n_domains),
				    sizeof(*t.used), err),
	};
	int rc = -1;

	t.family = weft_calloc(f->levels[t.leaf_level].n_domains,
			       sizeof(*t.family), err);
	if (t.slots && t.open && t.used && t.family) {
		t.taken = t.open + weft_bitset_words(f->n_nodes);
		rc = tree_take(&t, where, yes, err);
	}
	free(t.slots);
	free(t.open);
	free(t.used);
	free(t.family);
	return rc;
}
