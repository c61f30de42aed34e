/* SPDX-License-Identifier: GPL-3.0-or-later */
/* grouping.c - ways to take ranks together that may stay together */
#include "placement/exact/grouping.h"

static bool numbers_ranks(const struct weft_job *job)
{
	uint64_t product = 1;

	for (uint32_t a = 0; a < job->grid.n_axes; a++)
		product *= job->grid.size[a];
	return product == job->n_gpus;
}

/* Ranks of a group; 0 where an axis of the set has one coordinate only, as the
 * same groups come without it. */
static uint32_t size_of(const struct weft_job *job, uint32_t axes)
{
	uint32_t size = 1;

	for (uint32_t a = 0; a < job->grid.n_axes; a++) {
		if (!(axes >> a & 1))
			continue;
		if (job->grid.size[a] == 1)
			return 0;
		size *= job->grid.size[a];
	}
	return size;
}

uint32_t groupings_list(const struct weft_job *job, uint32_t most,
			uint32_t room, struct grouping *way)
{
	uint32_t n = 0, n_axes = numbers_ranks(job) ? job->grid.n_axes : 0;

	for (uint32_t axes = 0; axes < 1u << n_axes; axes++) {
		uint32_t size = size_of(job, axes), at = n, n_groups;

		if (!size || size > room)
			continue;
		n_groups = job->n_gpus / size;
		if (n_groups < 2 || n_groups > most)
			continue;
		for (; at > 0 && way[at - 1].n_groups > n_groups; at--)
			way[at] = way[at - 1];
		way[at] = (struct grouping){axes, n_groups};
		n++;
	}
	return n;
}

void grouping_apply(const struct weft_job *job, const struct grouping *way,
		    uint32_t *group)
{
	for (uint32_t r = 0; r < job->n_gpus; r++) {
		uint32_t at = 0;

		if (way->n_groups == job->n_gpus)
			at = r;
		for (uint32_t a = 0;
		     way->n_groups < job->n_gpus && a < job->grid.n_axes; a++)
			if (!(way->axes >> a & 1))
				at = at * job->grid.size[a] +
				     weft_grid_coordinate(&job->grid, r, a);
		group[r] = at;
	}
}
