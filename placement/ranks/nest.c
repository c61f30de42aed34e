/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nest.c - orders of ranks that nest the axes of a job's grid */
#include "placement/ranks/nest.h"

#include <string.h>

#define MAX_TILINGS 64

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

void nest_enumerate(const struct nest *nest, uint32_t *rank)
{
	uint32_t n = 1;

	rank[0] = 0;
	/* each coordinate of an axis repeats what is inside of it */
	for (uint32_t a = 0; a < nest->n; a++) {
		uint32_t *next = rank + n;

		for (uint32_t at = 1; at < nest->size[a]; at++)
			for (uint32_t i = 0; i < n; i++)
				*next++ = rank[i] + at * nest->stride[a];
		n *= nest->size[a];
	}
}

bool nest_runs(const struct nest *nest, uint32_t n, struct nest *runs)
{
	struct nest part = {0};

	*runs = part;
	for (uint32_t a = 0; n > 1 && a < nest->n; a++) {
		uint32_t size = nest->size[a] < n ? nest->size[a] : n;
		uint32_t i = part.n++;

		if (n % size || nest->size[a] % size)
			return false;
		for (; i > 0 && part.stride[i - 1] > nest->stride[a]; i--) {
			part.stride[i] = part.stride[i - 1];
			part.size[i] = part.size[i - 1];
		}
		part.stride[i] = nest->stride[a];
		part.size[i] = size;
		n /= size;
	}
	for (uint32_t a = 0; a < part.n; a++) {
		uint32_t i = runs->n;

		if (i &&
		    part.stride[a] == runs->stride[i - 1] * runs->size[i - 1]) {
			runs->size[i - 1] *= part.size[a];
			continue;
		}
		runs->stride[i] = part.stride[a];
		runs->size[i] = part.size[a];
		runs->n++;
	}
	return true;
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

/* Adds the strides of a grid's axes, ascending and each once. */
static void add_strides(const struct weft_grid *grid, uint32_t *stride,
			uint32_t *n)
{
	for (uint32_t a = 0; a < grid->n_axes; a++) {
		uint32_t i = *n;

		if (grid->size[a] == 1)
			continue;
		while (i > 0 && stride[i - 1] >= grid->stride[a])
			i--;
		if (i < *n && stride[i] == grid->stride[a])
			continue;
		memmove(stride + i + 1, stride + i, (*n - i) * sizeof(*stride));
		stride[i] = grid->stride[a];
		++*n;
	}
}

struct nest nest_common(const struct weft_job *job)
{
	const struct weft_grid *expert = &job->schedule.expert;
	uint32_t stride[2 * WEFT_MAX_AXES + 1], n = 0;
	struct nest natural = nest_natural(&job->grid, job->n_gpus), nest = {0};

	if (natural.n < 1 || expert->n_ranks != job->n_gpus)
		return natural;
	add_strides(&job->grid, stride, &n);
	add_strides(expert, stride, &n);
	stride[n] = job->n_gpus;
	for (uint32_t i = 0; i < n; i++) {
		if (stride[i + 1] % stride[i])
			return natural;
		nest.stride[i] = stride[i];
		nest.size[i] = stride[i + 1] / stride[i];
	}
	nest.n = n;
	return n && stride[0] == 1 ? nest : natural;
}

/* Tilings of one size, as they are enumerated. */
struct tilings {
	const struct nest *natural;
	uint32_t share[NEST_MAX]; /* of each axis, in the tile */
	uint32_t n_tried;
	void (*visit)(void *data, const struct nest *nest);
	void *data;
};

/* Inner parts in natural order, then the outer ones. */
static struct nest tiled_nest(const struct tilings *t)
{
	const struct nest *natural = t->natural;
	struct nest nest = {0};

	for (uint32_t a = 0; a < natural->n; a++) {
		if (t->share[a] == 1)
			continue;
		nest.size[nest.n] = t->share[a];
		nest.stride[nest.n++] = natural->stride[a];
	}
	for (uint32_t a = 0; a < natural->n; a++) {
		if (t->share[a] == natural->size[a])
			continue;
		nest.size[nest.n] = natural->size[a] / t->share[a];
		nest.stride[nest.n++] = natural->stride[a] * t->share[a];
	}
	return nest;
}

/* Every way to make the tile of `left` more ranks from axes a, a + 1, ... */
static void distribute_tile(struct tilings *t, uint32_t a, uint32_t left)
{
	if (a == t->natural->n) {
		if (left == 1 && t->n_tried++ < MAX_TILINGS) {
			const struct nest nest = tiled_nest(t);

			t->visit(t->data, &nest);
		}
		return;
	}
	for (uint32_t share = 1; share <= left; share++) {
		if (left % share || t->natural->size[a] % share)
			continue;
		t->share[a] = share;
		distribute_tile(t, a + 1, left / share);
	}
}

void nest_tilings(const struct nest *natural, uint32_t size,
		  void (*visit)(void *data, const struct nest *nest),
		  void *data)
{
	struct tilings t = {.natural = natural, .visit = visit, .data = data};

	distribute_tile(&t, 0, size);
}
