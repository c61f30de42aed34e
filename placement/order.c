/* SPDX-License-Identifier: GPL-3.0-or-later */
/* order.c - rank orders worth trying: every nesting of the job's axes */
#include "placement/order.h"

#include <stdlib.h>
#include <string.h>

/* Axes with more than one coordinate, fastest first. */
struct nest {
	uint32_t n;
	uint32_t size[WEFT_MAX_AXES], stride[WEFT_MAX_AXES];
};

/* A grid that does not number the ranks is taken as one axis. */
static struct nest natural_nest(const struct weft_grid *grid, uint32_t n_ranks)
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

/* Counts through the nest like an odometer, its first axis fastest. */
static void enumerate(const struct nest *nest, uint32_t n_ranks, uint32_t *rank)
{
	uint32_t at[WEFT_MAX_AXES] = {0}, r = 0;

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

static int add_order(struct orders *o, const struct nest *nest,
		     struct weft_error *err)
{
	uint32_t *rank = weft_calloc(o->n_ranks, sizeof(*rank), err);

	if (!rank)
		return -1;
	enumerate(nest, o->n_ranks, rank);
	o->rank[o->n++] = rank;
	return 0;
}

static void swap_axes(struct nest *nest, uint32_t a, uint32_t b)
{
	uint32_t stride = nest->stride[a], size = nest->size[a];

	nest->stride[a] = nest->stride[b];
	nest->size[a] = nest->size[b];
	nest->stride[b] = stride;
	nest->size[b] = size;
}

/* The next permutation in lexicographic order of strides; false after the last.
 */
static bool next_nest(struct nest *nest)
{
	uint32_t i, j;

	for (i = nest->n; i > 1; i--)
		if (nest->stride[i - 2] < nest->stride[i - 1])
			break;
	if (i <= 1)
		return false;
	for (j = nest->n; nest->stride[j - 1] < nest->stride[i - 2];)
		j--;
	swap_axes(nest, i - 2, j - 1);
	for (j = nest->n; i < j; i++, j--)
		swap_axes(nest, i - 1, j - 1);
	return true;
}

int orders_build(const struct weft_job *job, struct orders *o,
		 struct weft_error *err)
{
	struct nest nest = natural_nest(&job->grid, job->n_gpus);

	memset(o, 0, sizeof(*o));
	o->n_ranks = job->n_gpus;
	if (graph_build(&job->traffic, &o->ranks, err))
		return -1;
	do {
		if (add_order(o, &nest, err))
			return -1;
	} while (o->n < ORDERS_MAX && next_nest(&nest));
	return 0;
}

static void free_blocks(struct orders *o)
{
	for (uint32_t k = 0; k < o->n; k++)
		graph_free(&o->blocks[k]);
	o->block = 0;
}

void orders_free(struct orders *o)
{
	free_blocks(o);
	for (uint32_t k = 0; k < o->n; k++)
		free(o->rank[k]);
	graph_free(&o->ranks);
	memset(o, 0, sizeof(*o));
}

int orders_cut(struct orders *o, uint32_t block, struct weft_error *err)
{
	uint32_t *group, n_groups = o->n_ranks / block;
	int rc = -1;

	if (o->block == block)
		return 0;
	free_blocks(o);
	group = weft_calloc(o->n_ranks, sizeof(*group), err);
	if (!group)
		return -1;
	for (uint32_t k = 0; k < o->n; k++) {
		for (uint32_t i = 0; i < o->n_ranks; i++)
			group[o->rank[k][i]] = i / block;
		if (graph_contract(&o->ranks, group, n_groups, &o->blocks[k],
				   err))
			goto out;
	}
	o->block = block;
	rc = 0;
out:
	free(group);
	return rc;
}

double orders_cost(const struct orders *o, uint32_t k, const struct sites *s)
{
	const struct graph *g = &o->blocks[k];
	double sum = g->inside * s->distance[0][0];

	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++)
			if (g->peer[e] > v)
				sum += g->weight[e] *
				       sites_distance(s, v, g->peer[e]);
	return sum;
}
