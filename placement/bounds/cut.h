/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cut.h - the least weight between the domains of one level
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_BOUNDS_CUT_H
#define WEFT_PLACEMENT_BOUNDS_CUT_H

#include "placement/bounds/contour.h"
#include "placement/mapping/graph.h"

/* Domains that n_vertices are put into, each at most as many as its size;
 * largest first. */
struct parts {
	uint32_t n, n_vertices;
	uint64_t n_sites; /* sum of size[] */
	uint32_t *size;	  /* [n] */
	uint32_t step;	  /* each holds a multiple of this; 0: any number */
	/* so many of them hold something; 0: any number */
	uint32_t min_used, max_used;
};

/* What every vertex pays for its neighbours that do not fit into its domain.
 * heaviest: the edges of each row of g, descending. */
double cut_by_degree(const struct graph *g, const double *heaviest,
		     const struct parts *parts);

/* Donath and Hoffman (IBM J. R&D 17(5), 1973): parts of sizes s1 >= s2 >= ...
 * cut at least 1/2 sum s_i lambda_i, with lambda the ascending eigenvalues of
 * the graph's Laplacian. */
double cut_by_spectrum(const double *lambda, const struct parts *parts);

/* What the parts of a lattice pay at the least together. */
int cut_by_contour(const struct contour *c, const struct parts *parts,
		   double *weight, struct weft_error *err);

#endif
