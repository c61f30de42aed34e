/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rails.h - what a graph costs at least where its vertices keep to rails
 *
 * Sites of different nodes are farther apart when they are on different rails,
 * and a node has few sites on each.  What is near in the tree is rarely on one
 * rail; so the two are looked at together.  Private to placement/.
 */
#ifndef WEFT_PLACEMENT_BOUNDS_RAILS_H
#define WEFT_PLACEMENT_BOUNDS_RAILS_H

#include "placement/bounds/lattice.h"
#include "placement/mapping/graph.h"
#include "placement/mapping/sites.h"

#include <stdbool.h>

/* Rows are domains of level 0, blocks those of level 1. */
struct rails {
	uint32_t row_size;   /* sites of a row, at most */
	uint32_t row_rail;   /* sites of a row on one rail, at most */
	uint32_t block_size; /* sites of a block, at most */
	uint32_t block_rows; /* rows of a block, at most */
	uint32_t n_rows;
};

/* False where rails make no difference, or a node is part of several rows. */
bool rails_measure(const struct sites *s, struct rails *r);

/* What a byte between different rows, blocks or rails costs more; the last only
 * between different rows. */
struct rail_prices {
	double row, block, rail;
};

/* Least cost of all edges by what each vertex can have near it.  heaviest: the
 * edges of each row, descending. */
double rails_by_degree(const struct rails *r, const struct graph *g,
		       const double *heaviest, const struct rail_prices *p);

/* The same by how the lattice's heaviest axis, if it is a clique, can lie on
 * rows and rails; 0 if it is none. */
int rails_by_clique(const struct rails *r, const struct graph *g,
		    const struct lattice *l, double clique,
		    const struct rail_prices *p, double *cost,
		    struct weft_error *err);

#endif
