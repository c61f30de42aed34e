/* SPDX-License-Identifier: GPL-3.0-or-later */
/* filled.c - cliques that fill the lines of a lattice */
#include "placement/bounds/filled.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More than so many pairs of an axis, for each of its coordinates, are not
 * worth telling apart from all. */
#define MAX_LOOSE 4

/* The axis of which every clique is a line; n_axes: there is none. */
static uint32_t axis_of_cliques(const struct lattice *l,
				const struct cliques *t)
{
	uint32_t axis = l->n_axes;

	for (uint32_t k = 0; k < t->n && t->disjoint; k++) {
		const struct weft_clique *one = &t->t.cliques[k];
		const uint32_t *member = t->t.member + one->first_member;

		if (k == 0)
			axis = lattice_axis_between(l, member[0], member[1]);
		if (axis == l->n_axes || one->n_members != l->axis[axis].size)
			return l->n_axes;
		for (uint32_t i = 1; i < one->n_members; i++)
			if (lattice_axis_between(l, member[0], member[i]) !=
			    axis)
				return l->n_axes;
	}
	return axis;
}

void filled_free(struct filled *f)
{
	free(f->loose);
	free(f->member);
	free(f->first);
	graph_free(&f->rest);
}

/* Which member has which coordinate, and what pairs weigh. */
static void place_members(struct filled *f)
{
	const struct weft_traffic *t = &f->t->t;

	f->least = (double)INFINITY;
	for (uint32_t k = 0; k < f->t->n; k++) {
		const uint32_t *from = t->member + t->cliques[k].first_member;
		double weight = filled_weight(f, k);

		for (uint32_t i = 0; i < f->size; i++)
			f->member[k * f->size + f->at[from[i]]] = from[i];
		f->least = fmin(f->least, weight);
		f->most = fmax(f->most, weight);
		f->sum += weight;
	}
}

/* Which pairs of the axis have a loose edge on some line. */
static void find_loose(struct filled *f, const struct lattice *l)
{
	const struct graph *g = &f->t->loose;

	for (uint32_t v = 0; v < g->n; v++) {
		for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++) {
			uint32_t a = f->at[v], b = f->at[g->peer[e]];

			if (a >= b || f->loose[a * f->size + b] ||
			    lattice_axis_between(l, v, g->peer[e]) != f->axis)
				continue;
			f->loose[a * f->size + b] = true;
			f->n_loose++;
		}
	}
}

/* The other ends of such pairs: of a, first[a] .. first[a + 1] - 1. */
static void list_partners(struct filled *f)
{
	uint32_t n = 0;

	for (uint32_t a = 0; a < f->size; a++) {
		for (uint32_t b = 0; b < f->size; b++)
			if (a != b &&
			    !filled_alike(f, a < b ? a : b, a < b ? b : a))
				f->partner[n++] = b;
		f->first[a + 1] = n;
	}
}

/* Edges to higher vertices: loose ones, with what their clique adds, and those
 * of the clique alone where other lines have a loose one. */
static void put_row(struct filled *f, uint32_t v)
{
	const struct graph *g = &f->t->loose;
	uint32_t k = cliques_of(f->t, v), begin = f->rest.n_edges, end;
	bool has = k < f->t->n;
	double weight = has ? filled_weight(f, k) : 0;

	for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++) {
		uint32_t u = g->peer[e];
		bool both = has && u > v && cliques_of(f->t, u) == k;

		if (u > v)
			graph_add(&f->rest, u,
				  g->weight[e] + (both ? weight : 0));
	}
	end = f->rest.n_edges;
	for (uint32_t i = f->first[f->at[v]]; has && i < f->first[f->at[v] + 1];
	     i++) {
		uint32_t u = f->member[k * f->size + f->partner[i]], e = begin;

		while (e < end && f->rest.peer[e] != u)
			e++;
		if (u > v && e == end)
			graph_add(&f->rest, u, weight);
	}
}

int filled_build(const struct lattice *l, const struct cliques *t,
		 struct filled *f, struct weft_error *err)
{
	uint32_t n = t->loose.n, axis = axis_of_cliques(l, t);

	memset(f, 0, sizeof(*f));
	if (axis == l->n_axes)
		return 0;
	f->axis = axis;
	f->size = l->axis[axis].size;
	f->at = l->axis[axis].at;
	f->loose =
		weft_calloc((size_t)f->size * f->size, sizeof(*f->loose), err);
	f->member =
		weft_calloc((size_t)t->n * f->size, sizeof(*f->member), err);
	if (!f->loose || !f->member)
		return -1;
	f->t = t;
	/* vertex 0 is on the first line of every axis */
	f->first_line = cliques_of(t, 0) < t->n;
	place_members(f);
	find_loose(f, l);
	if (f->n_loose > MAX_LOOSE * f->size) {
		f->t = NULL;
		return 0;
	}
	f->first = weft_calloc((size_t)f->size + 1 + 2 * (size_t)f->n_loose,
			       sizeof(*f->first), err);
	if (!f->first ||
	    graph_start(&f->rest, n,
			t->loose.n_edges / 2 + (size_t)f->n_loose * t->n, err))
		return -1;
	f->partner = f->first + f->size + 1;
	list_partners(f);
	for (uint32_t v = 0; v < n; v++) {
		put_row(f, v);
		f->rest.row[v + 1] = f->rest.n_edges;
	}
	return 0;
}

uint32_t filled_take(const struct filled *f, uint32_t i,
		     struct line_edge *cover)
{
	uint32_t n = 0;

	if (!f->t || f->axis != i || !f->first_line)
		return 0;
	for (uint32_t a = 0; a < f->size; a++) {
		for (uint32_t b = a + 1; b < f->size; b++) {
			if (!filled_alike(f, a, b))
				continue;
			if (cover)
				cover[n] = (struct line_edge){a, b, f->most};
			n++;
		}
	}
	return n;
}
