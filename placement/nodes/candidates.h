/* SPDX-License-Identifier: GPL-3.0-or-later */
/* candidates.h - sets of nodes worth pricing for a job
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_NODES_CANDIDATES_H
#define WEFT_PLACEMENT_NODES_CANDIDATES_H

#include "placement/nodes/node_set.h"
#include "placement/placement.h"

#define CANDIDATES_MAX	 96
#define CANDIDATES_PICKS 3

/* Distinct choices that keep to every hard limit of the job. */
struct candidates {
	uint32_t n;
	struct node_set node_set[CANDIDATES_MAX];
	/* filled by the caller: ranks per block, cost with the best nesting of
	 * the axes, that nesting, and the indices by cost of those priced */
	uint32_t n_priced;
	uint32_t block[CANDIDATES_MAX];
	double cost[CANDIDATES_MAX];
	uint32_t nesting[CANDIDATES_MAX];
	uint32_t order[CANDIDATES_MAX];
};

/* From the innermost level outwards: the domains that hold the job best, and
 * the ways to deal the job to their parts.  single: the capacity of single
 * GPUs. n == 0: there is no choice.  Free with candidates_free in either case.
 */
int candidates_build(struct capacity *single, struct candidates *c,
		     struct weft_error *err);
/* The best domains of a level that hold the job, each once; returns how many.
 */
uint32_t candidates_pick(const struct capacity *s, uint32_t level,
			 uint32_t out[CANDIDATES_PICKS]);

/* Adds sets of nodes, `share` GPUs on each, in domains of the level with the
 * same number of nodes in each NVLink domain, where those span nodes.  chunk:
 * sizes of the groups of ranks that exchange most.  few: only as many nodes as
 * whole chunks fill. */
int candidates_equal(struct capacity *s, const uint32_t *chunk,
		     uint32_t n_chunks, uint32_t share, uint32_t level,
		     bool few, struct candidates *c, struct weft_error *err);

/* Takes over *choice, or drops it when it is known or there is no room. */
void candidates_add(struct candidates *c, struct node_set *node_set);

/* Marks in out[] sets that part blocks which others keep together, unless they
 * lie closer together than all of those: cutting the orders of a large job into
 * smaller blocks takes long.  By c->block. */
void candidates_leave_out(const struct candidates *c,
			  const struct weft_fabric *f,
			  bool out[CANDIDATES_MAX]);

/* Records in p, where n_ranks ranks are placed, the cheapest of those priced
 * that has other nodes. */
int candidates_next(const struct candidates *c, const struct weft_fabric *f,
		    struct weft_placement *p, uint32_t n_ranks,
		    struct weft_error *err);

void candidates_free(struct candidates *c);

#endif
