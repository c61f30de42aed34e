/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nvlink.c - sizes of NVLink domains, and of groups of experts inside of them
 */
#include "plugin/bridge/launch/nvlink.h"

/* True when each block of n neighbours in a group of experts, counted from its
 * first rank, is in one NVLink domain. */
static bool blocks_hold(const struct weft_fabric *f,
			const struct weft_grid *grid, uint32_t axis,
			const uint32_t *where, uint32_t n)
{
	uint32_t stride = grid->stride[axis];

	for (uint32_t r = 0; r < grid->n_ranks; r++)
		if (weft_grid_coordinate(grid, r, axis) % n != 0 &&
		    f->gpu_domain[0][where[r]] !=
			    f->gpu_domain[0][where[r - stride]])
			return false;
	return true;
}

static uint32_t experts_together(const struct weft_fabric *f,
				 const struct weft_job *job,
				 const uint32_t *where)
{
	const struct weft_grid *grid = &job->schedule.expert;
	uint32_t axis, n;

	if (!where || grid->n_ranks != job->n_gpus)
		return 0;
	axis = weft_grid_axis(grid, "ep");
	if (axis == WEFT_MAX_AXES || grid->size[axis] < 2)
		return 0;
	n = grid->size[axis];
	while (grid->size[axis] % n != 0 ||
	       !blocks_hold(f, grid, axis, where, n))
		n--;
	return n;
}

struct weft_rank_nvlink weft_launch_nvlink(const struct weft_fabric *f,
					   const struct weft_job *job,
					   const uint32_t *given, uint32_t n,
					   const uint32_t *where)
{
	struct weft_rank_nvlink v = {0};

	for (uint32_t i = 0; i < n; i++) {
		const struct weft_domain *domain =
			&f->domains[f->gpu_domain[0][given[i]]];

		if (v.n_gpus && domain->n_gpus >= v.n_gpus)
			continue;
		v.n_gpus = domain->n_gpus;
		v.n_nodes = domain->n_nodes;
	}
	v.n_experts = experts_together(f, job, where);
	return v;
}
