/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ground.h - the free GPUs that one arrangement may use, and who is on them
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_RANKS_GROUND_H
#define WEFT_PLACEMENT_RANKS_GROUND_H

#include "placement/mapping/cliques.h"
#include "placement/nodes/node_set.h"
#include "placement/ranks/search.h"

/* GPUs of one node are consecutive, nodes of one domain too. */
struct ground {
	const struct capacity *s;
	uint32_t n_nodes, n_gpus;
	uint32_t *node;	 /* [n_nodes] */
	uint32_t *first; /* [n_nodes + 1] into gpu[] */
	uint32_t *gpu;	 /* [n_gpus] */
	uint32_t *rank;	 /* [n_gpus] rank there, or WEFT_NONE */
	bool alike;	 /* GPUs of a node differ in nothing */
	/* Set by the caller after ground_build: which nodes are used is
	 * settled; ranks stay on the nodes of their fence, [n_nodes] or NULL.
	 */
	bool settled;
	const uint32_t *fence;
	void *memory;
};

/* c: nodes with the GPUs taken of each (0: all spare); its GPUs in c's order,
 * as node_set_expand gives them, hold the ranks order[0], order[1], ...  Free
 * with ground_free in either case. */
int ground_build(const struct capacity *s, const struct node_set *c,
		 struct ground *g, struct weft_error *err);
void ground_free(struct ground *g);

/* Puts ranks on the GPUs: rank r on where[r].  All of them are in g. */
int ground_put(struct ground *g, const uint32_t *where, struct weft_error *err);

/* Reads them back; where the GPUs of a node are alike, in ascending order. */
void ground_get(struct ground *g, uint32_t *where);

/* Moves blocks of `unit` GPUs, which nodes take multiples of, by local search.
 * target: a cost that cannot be improved on.  Never makes
 * it worse. */
int ground_improve(struct ground *g, struct cliques *traffic, uint32_t unit,
		   double target, struct effort *effort,
		   struct weft_error *err);

#endif
