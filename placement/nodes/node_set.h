/* SPDX-License-Identifier: GPL-3.0-or-later */
/* node_set.h - a set of nodes and how many GPUs each gives
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_NODES_NODE_SET_H
#define WEFT_PLACEMENT_NODES_NODE_SET_H

#include "base/divisor.h"
#include "placement/capacity/capacity.h"

/* Nodes of one domain are consecutive, at every level, so that GPUs taken in
 * this order form a tree. */
struct node_set {
	uint32_t n_nodes, n_gpus;
	uint32_t *node, *count; /* [n_nodes] */
	uint64_t hash;		/* of the set, whatever its order */
};

/* How a domain's demand is dealt to its parts. */
enum distribution {
	DEAL_COMPACT, /* fewest parts: largest first, the last fits best */
	DEAL_EVEN,    /* equal shares on as few parts */
	DEAL_ALIGNED, /* multiples of `chunk` first, so that groups stay whole
		       */
	DEAL_PARTLY,  /* partly used parts first, to keep the others whole */
	N_DEALS
};

/* Takes the whole job from `domain`.  Returns 1 when done, 0 when this way
 * leads to no valid choice, -1 with err.  Free with node_set_free in any case.
 */
int node_set_fill(struct capacity *s, uint32_t domain,
		  enum distribution distribution, uint32_t chunk,
		  struct node_set *c, struct weft_error *err);

/* The same, looking only at what each node gives: finds a choice whenever one
 * exists in the domain, even under limits on the number of nodes. */
int node_set_flat(struct capacity *s, uint32_t domain, struct node_set *c,
		  struct weft_error *err);
/* The nodes of c and free ones near them, with about `limit` spare GPUs in all:
 * out->count[i] is what c takes of a node, 0 for the others.  s: the capacity
 * of single GPUs.  Free with node_set_free in either case. */
int node_set_surround(struct capacity *s, const struct node_set *c,
		      uint32_t limit, struct node_set *out,
		      struct weft_error *err);
void node_set_free(struct node_set *c);

/* Appends a node; the caller has made room. */
void node_set_add(struct node_set *c, uint32_t node, uint32_t count);

/* The `count` free GPUs to use on a node: in as few NVLink domains as can be,
 * the tightest that fits first, lowest index first. */
uint64_t node_set_gpus(const struct weft_occupancy *o, uint32_t node,
		       uint32_t count);

/* Writes the GPUs of a choice, c->n_gpus of them, in its order. */
void node_set_expand(const struct node_set *c, const struct weft_occupancy *o,
		     uint32_t *gpus);

/* True when the choice keeps to the job's node counts, to gpus_per_node, to
 * what nodes give and to the required nodes. */
bool node_set_valid(const struct node_set *c, const struct capacity *s);

/* The greatest number of GPUs of which both are multiples; of 0 and n it is n.
 */
static inline uint32_t node_set_divisor(uint32_t a, uint32_t b)
{
	return (uint32_t)weft_divisor(a, b);
}

/* Sizes of the blocks in which the ranks on a choice are moved: the largest
 * that all its shares are multiples of, tensor groups of tp, single ranks; few
 * large steps first.  Returns how many. */
uint32_t node_set_units(const struct node_set *c, uint32_t tp,
			uint32_t unit[3]);

#endif
