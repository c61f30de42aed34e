/* SPDX-License-Identifier: GPL-3.0-or-later */
/* axes.c - the level that each axis spans */
#include "cli/plan/axes.h"

/* Neighbours along an axis are enough: the outermost level at which any two
 * ranks of a group meet is that of some two next to each other. */
static uint32_t axis_reach(const struct weft_fabric *f,
			   const struct weft_grid *grid, uint32_t axis,
			   const uint32_t *where)
{
	uint32_t reach = WEFT_NONE;

	for (uint32_t r = 0; r < grid->n_ranks; r++) {
		uint32_t next = r + grid->stride[axis], level;

		if (weft_grid_coordinate(grid, r, axis) + 1 == grid->size[axis])
			continue;
		level = weft_fabric_meet(f, where[r], where[next]);
		if (reach == WEFT_NONE || level > reach)
			reach = level;
	}
	return reach;
}

void axes_reach(const struct weft_fabric *f, const struct weft_job *job,
		const uint32_t *where, uint32_t level[WEFT_MAX_AXES])
{
	for (uint32_t a = 0; a < job->grid.n_axes; a++)
		level[a] = axis_reach(f, &job->grid, a, where);
}
