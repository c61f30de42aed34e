/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lattice_runs.h - which weights of edges may make an axis of a lattice
 *
 * Private to lattice.c.
 */
#ifndef WEFT_PLACEMENT_BOUNDS_LATTICE_RUNS_H
#define WEFT_PLACEMENT_BOUNDS_LATTICE_RUNS_H

#include "placement/bounds/lattice.h"

#define LATTICE_MAX_CLASSES 12
#define LATTICE_MAX_RUNS    (LATTICE_MAX_CLASSES * (LATTICE_MAX_CLASSES + 1) / 2)
#define LATTICE_MAX_SETS    24

/* Classes first ... last, whose edges part all vertices into pieces of `size`
 * each. */
struct lattice_run {
	uint32_t first, last, size;
};

/* Runs that share no class and whose sizes multiply to n. */
struct lattice_set {
	uint32_t n, run[LATTICE_MAX_AXES];
};

struct lattice_runs {
	uint32_t n, n_edges, n_classes;
	uint32_t *from, *to;			      /* [n_edges] by class */
	uint32_t first_edge[LATTICE_MAX_CLASSES + 1]; /* of each class */
	uint32_t n_runs;
	struct lattice_run run[LATTICE_MAX_RUNS];
	uint32_t n_sets;
	struct lattice_set set[LATTICE_MAX_SETS]; /* most axes first */
	uint32_t *parent, *size;		  /* [n] pieces, as a forest */
	uint8_t *seen;				  /* [n] scratch of callers */
	void *memory;
};

/* Free with lattice_runs_free in either case. */
int lattice_runs_build(const struct graph *g, struct lattice_runs *r,
		       struct weft_error *err);
void lattice_runs_free(struct lattice_runs *r);

/* Pieces: start with single vertices, join by the edges of runs, then number
 * them.  Returns their common size, 0 when the sizes differ. */
void lattice_runs_start(struct lattice_runs *r);
void lattice_runs_join(struct lattice_runs *r, uint32_t run);
uint32_t lattice_runs_label(struct lattice_runs *r, uint32_t *label);

#endif
