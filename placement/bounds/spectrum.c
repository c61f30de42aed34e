/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spectrum.c - rings and paths in the traffic, and their eigenvalues */
#include "placement/bounds/spectrum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Where the next rank along a chain is: one axis, or two run through as one. */
struct walk {
	uint32_t size[2], stride[2]; /* faster axis first; size[1] may be 1 */
};

static uint32_t walk_next(const struct walk *w, uint32_t rank, bool *closes)
{
	*closes = false;
	for (uint32_t a = 0; a < 2; a++) {
		uint32_t at, left;

		at = weft_grid_divide(rank, w->stride[a], &left);
		weft_grid_divide(at, w->size[a], &at);
		if (at + 1 < w->size[a])
			return rank + w->stride[a];
		rank -= at * w->stride[a];
	}
	*closes = true;
	return rank;
}

static struct chain measure(const struct walk *w, const struct cliques *t)
{
	struct chain c = {.size = w->size[0] * w->size[1], .path = INFINITY};
	double closing = INFINITY;

	for (uint32_t r = 0; r < t->loose.n && c.path > 0; r++) {
		bool closes;
		uint32_t next = walk_next(w, r, &closes);
		double weight = cliques_weight(t, r, next);

		/* a ring of two is one edge, met from both its ends */
		if (closes && c.size > 2)
			closing = fmin(closing, weight);
		else
			c.path = fmin(c.path, weight);
	}
	c.ring = c.size > 2 ? fmin(c.path, closing) : 0;
	return c;
}

static struct walk one_axis(const struct weft_grid *grid, uint32_t a)
{
	return (struct walk){{grid->size[a], 1}, {grid->stride[a], 1}};
}

/* The product with every axis alone. */
static void measure_axes(const struct weft_grid *grid, const struct cliques *t,
			 struct product *p)
{
	*p = (struct product){.n_ranks = t->loose.n};
	for (uint32_t i = 0; i < grid->n_axes; i++) {
		struct walk w = one_axis(grid, i);

		if (grid->size[i] > 1)
			p->chain[p->n++] = measure(&w, t);
	}
}

/* That with axes a and b as one chain, the others as in `alone`. */
static bool measure_joined(const struct weft_grid *grid,
			   const struct cliques *t, uint32_t a, uint32_t b,
			   const struct product *alone, struct product *p)
{
	struct walk w = one_axis(grid, a);
	uint32_t at = 0;

	w.size[1] = grid->size[b];
	w.stride[1] = grid->stride[b];
	*p = (struct product){.n_ranks = t->loose.n};
	p->chain[p->n++] = measure(&w, t);
	for (uint32_t i = 0; i < grid->n_axes; i++) {
		if (grid->size[i] == 1)
			continue;
		if (i != a && i != b)
			p->chain[p->n++] = alone->chain[at];
		at++;
	}
	return p->chain[0].ring > 0;
}

uint32_t spectrum_products(const struct weft_grid *grid,
			   const struct cliques *t, struct product *out,
			   uint32_t max)
{
	uint64_t ranks = 1;
	uint32_t n = 0;

	for (uint32_t a = 0; a < grid->n_axes; a++)
		ranks *= grid->size[a];
	if (ranks != t->loose.n || max == 0)
		return 0;
	measure_axes(grid, t, &out[n++]);
	for (uint32_t a = 0; a < grid->n_axes; a++) {
		for (uint32_t b = 0; b < grid->n_axes && n < max; b++) {
			if (grid->size[a] == 1 || grid->size[b] == 1 ||
			    grid->stride[a] >= grid->stride[b])
				continue;
			n += measure_joined(grid, t, a, b, &out[0], &out[n]);
		}
	}
	return n;
}

/* Eigenvalues of one chain, ascending.  Of its path (2 - 2 cos(pi k / n)) and
 * its ring (2 - 2 cos(2 pi k / n)), each times its weight, the larger: the
 * chain contains both graphs. */
static void chain_values(const struct chain *c, double *value)
{
	for (uint32_t k = 0; k < c->size; k++) {
		double ring_k = (k + 1) / 2; /* 0, 1, 1, 2, 2, ... */
		double path = 2 - 2 * cos(M_PI * k / c->size);
		double ring = 2 - 2 * cos(2 * M_PI * ring_k / c->size);

		value[k] = fmax(c->path * path, c->ring * ring);
	}
}

/* Merges neighbouring runs of `run` ascending values each, of n, into out. */
static void merge_pairs(const double *in, uint32_t n, uint32_t run, double *out)
{
	for (uint32_t first = 0; first < n; first += 2 * run) {
		uint32_t middle = first + run < n ? first + run : n;
		uint32_t end = first + 2 * run < n ? first + 2 * run : n;
		uint32_t i = first, j = middle, k = first;

		while (i < middle && j < end)
			out[k++] = in[j] < in[i] ? in[j++] : in[i++];
		memcpy(out + k, in + i, (middle - i) * sizeof(*out));
		memcpy(out + k + (middle - i), in + j,
		       (end - j) * sizeof(*out));
	}
}

static void swap(double **a, double **b)
{
	double *t = *a;

	*a = *b;
	*b = t;
}

int spectrum_raise(const struct product *p, double *lambda,
		   struct weft_error *err)
{
	double *memory = weft_calloc(p->n_ranks, 2 * sizeof(*memory), err);
	double *sum = memory, *value;
	uint32_t n = 1;

	if (!memory)
		return -1;
	value = memory + p->n_ranks;
	/* eigenvalues of a product are the sums of its factors': one ascending
	 * run of them for each of the next factor */
	for (uint32_t i = 0; i < p->n; i++) {
		const struct chain *c = &p->chain[i];

		chain_values(c, value);
		for (uint32_t k = c->size; k-- > 0;)
			for (uint32_t j = 0; j < n; j++)
				sum[k * n + j] = sum[j] + value[k];
		for (uint32_t run = n; run < n * c->size; run *= 2) {
			merge_pairs(sum, n * c->size, run, value);
			swap(&sum, &value);
		}
		n *= c->size;
	}
	for (uint32_t i = 0; i < n && i < p->n_ranks; i++)
		lambda[i] = fmax(lambda[i], sum[i]);
	free(memory);
	return 0;
}

/* The fewest domains that hold n ranks. */
static uint32_t fewest(const uint32_t *size, uint32_t n_sizes, uint32_t n)
{
	uint32_t m = 0;

	while (m < n_sizes && n > 0) {
		n -= size[m] < n ? size[m] : n;
		m++;
	}
	return m;
}

double spectrum_split(const struct product *p, const uint32_t *size,
		      uint32_t n_sizes)
{
	double bytes = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct chain *c = &p->chain[i];
		uint32_t pieces = fewest(size, n_sizes, c->size);

		if (pieces < 2)
			continue;
		bytes += fmax(c->ring * pieces, c->path * (pieces - 1)) *
			 (p->n_ranks / c->size);
	}
	return bytes;
}
