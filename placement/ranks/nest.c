/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nest.c - orders of ranks that nest the axes of a job's grid */
#include "placement/ranks/nest.h"

struct nest nest_natural(const struct weft_grid *grid, uint32_t n_ranks)
{
	struct nest nest = {0};
	uint64_t product = 1;

	for (uint32_t a = 0; a < grid->n_axes; a++) {
		uint32_t i = nest.n;

		if (grid->size[a] == 1)
			continue;
		for (; i > 0 && nest.stride[i - 1] > grid->stride[a]; i--) {
			nest.stride[i] = nest.stride[i - 1];
			nest.size[i] = nest.size[i - 1];
		}
		nest.stride[i] = grid->stride[a];
		nest.size[i] = grid->size[a];
		nest.n++;
		product *= grid->size[a];
	}
	if (product != n_ranks)
		return (struct nest){.n = 1, .size = {n_ranks}, .stride = {1}};
	return nest;
}

void nest_enumerate(const struct nest *nest, uint32_t n_ranks, uint32_t *rank)
{
	uint32_t at[NEST_MAX] = {0}, r = 0;

	for (uint32_t i = 0; i < n_ranks; i++) {
		rank[i] = r;
		for (uint32_t a = 0; a < nest->n; a++) {
			r += nest->stride[a];
			if (++at[a] < nest->size[a])
				break;
			r -= at[a] * nest->stride[a];
			at[a] = 0;
		}
	}
}

void nest_swap(struct nest *nest, uint32_t a, uint32_t b)
{
	uint32_t stride = nest->stride[a], size = nest->size[a];

	nest->stride[a] = nest->stride[b];
	nest->size[a] = nest->size[b];
	nest->stride[b] = stride;
	nest->size[b] = size;
}

bool nest_next(struct nest *nest)
{
	uint32_t i, j;

	for (i = nest->n; i > 1; i--)
		if (nest->stride[i - 2] < nest->stride[i - 1])
			break;
	if (i <= 1)
		return false;
	for (j = nest->n; nest->stride[j - 1] < nest->stride[i - 2];)
		j--;
	nest_swap(nest, i - 2, j - 1);
	for (j = nest->n; i < j; i++, j--)
		nest_swap(nest, i - 1, j - 1);
	return true;
}
