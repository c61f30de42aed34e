/* SPDX-License-Identifier: GPL-3.0-or-later */
/* job_grids.c - the grids in a job's traffic, and what parts of it send
 *
 * The grids are that of dense layers, the same with rings over "cp" and "dp" as
 * one axis, and that of experts.
 */
#include "placement/job_grids.h"

#include <math.h>
#include <string.h>

#define MANY 100000   /* edges, at both ends */
#define WORK 20000000 /* sums, for one grid and level */

static struct lattice_walk walk_of(const struct weft_grid *grid, uint32_t axis)
{
	return (struct lattice_walk){{grid->size[axis], 1},
				     {grid->stride[axis], 1}};
}

/* The axes of a grid, a and b as one; a == b: each alone.  Returns how many,
 * 0 when they are too many or do not number n ranks. */
static uint32_t walk_grid(const struct weft_grid *grid, uint32_t a, uint32_t b,
			  uint32_t n, struct lattice_walk *walk)
{
	uint32_t walks = 0;
	uint64_t ranks = 1;

	for (uint32_t i = 0; i < grid->n_axes; i++) {
		ranks *= grid->size[i];
		if (grid->size[i] == 1 || (a != b && i == b))
			continue;
		if (walks == LATTICE_MAX_AXES)
			return 0;
		walk[walks] = walk_of(grid, i);
		if (a != b && i == a) {
			walk[walks].size[1] = grid->size[b];
			walk[walks].stride[1] = grid->stride[b];
		}
		walks++;
	}
	return ranks == n ? walks : 0;
}

static int add(struct job_grids *grids, const struct graph *g,
	       const struct lattice_walk *walk, uint32_t walks,
	       struct weft_error *err)
{
	uint32_t i = grids->n;

	if (!walks)
		return 0;
	grids->n++;
	return lattice_along(g, walk, walks, &grids->lattice[i], err) ||
			       contour_lines_build(&grids->lattice[i],
						   &grids->lines[i], err)
		       ? -1
		       : 0;
}

int job_grids_build(const struct weft_job *job, const struct graph *g,
		    struct job_grids *grids, struct weft_error *err)
{
	struct lattice_walk walk[LATTICE_MAX_AXES];
	const struct weft_grid *dense = &job->grid;
	uint32_t cp = weft_grid_axis(dense, "cp");
	uint32_t dp = weft_grid_axis(dense, "dp");
	struct weft_grid expert;

	memset(grids, 0, sizeof(*grids));
	if (job->spec.ep > 1) {
		if (weft_spec_expert_grid(&job->spec, &expert, err) ||
		    add(grids, g, walk, walk_grid(&expert, 0, 0, g->n, walk),
			err))
			return -1;
		/* among experts' edges, those of dense layers cost more time
		 * to find than they tell */
		if (g->n_edges > MANY)
			return 0;
	}
	if (add(grids, g, walk, walk_grid(dense, 0, 0, g->n, walk), err))
		return -1;
	if (cp < WEFT_MAX_AXES && dp < WEFT_MAX_AXES && dense->size[cp] > 1 &&
	    dense->size[dp] > 1) {
		uint32_t fast = dense->stride[cp] < dense->stride[dp] ? cp : dp;
		uint32_t slow = fast == cp ? dp : cp;

		if (add(grids, g, walk,
			walk_grid(dense, fast, slow, g->n, walk), err))
			return -1;
	}
	return 0;
}

void job_grids_free(struct job_grids *grids)
{
	for (uint32_t i = 0; i < grids->n; i++) {
		contour_lines_free(&grids->lines[i]);
		lattice_free(&grids->lattice[i]);
	}
	grids->n = 0;
}

int job_grids_cut(const struct job_grids *grids, const struct parts *parts,
		  double *bytes, struct weft_error *err)
{
	static const struct contour_terms kinds[] = {
		{1, 0, false, true},
		{1, 1, false, true},
		{1, 1, true, true},
	};
	const uint32_t n_kinds = sizeof(kinds) / sizeof(kinds[0]);

	for (uint32_t i = 0; i < n_kinds * grids->n; i++) {
		struct contour_terms terms = kinds[i % n_kinds];
		struct effort effort = {.work = WORK};
		struct contour c;
		double cut = 0;
		int rc;

		terms.even_at *= parts->size[0];
		rc = contour_build(&grids->lattice[i / n_kinds],
				   &grids->lines[i / n_kinds], &terms,
				   parts->size[0], &effort, &c, err);

		if (rc == 0 && c.complete)
			rc = cut_by_contour(&c, parts, &cut, err);
		contour_free(&c);
		if (rc)
			return -1;
		if (isfinite(cut))
			*bytes = fmax(*bytes, cut);
	}
	return 0;
}
