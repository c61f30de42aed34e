/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rails.c - what a graph costs at least where its vertices keep to rails
 *
 * Everything is first priced as if it went to another row, block and rail; what
 * it costs less where it does not is a saving, of which no more can be had than
 *
 * - of a vertex: its heaviest edges to as many sites as are nearest to it;
 * - of a clique: what is best of all ways to spread its members over rows.  Let
 *   rows hold r_1 >= r_2 >= ... of them.  A member of the i-th shares its rail
 *   with at most row_rail members of each row before it, and the i-th row its
 *   block with at most the block_rows - 1 before it.  Edges besides the
 *   clique's save as those of any vertex, with the sites of the row that the
 *   clique leaves them.
 */
#include "placement/bounds/rails.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sites at from ... to - 1 are a row; counts those on the fullest rail. */
static uint32_t fullest_rail(const struct sites *s, uint32_t from, uint32_t to)
{
	uint32_t most = 0;

	for (uint32_t i = from; i < to; i++) {
		uint32_t same = 0;

		for (uint32_t j = from; j < to; j++)
			same += s->rail[j] == s->rail[i];
		most = same > most ? same : most;
	}
	return most;
}

bool rails_measure(const struct sites *s, struct rails *r)
{
	uint32_t row = 0, block = 0, rows = 0, max;
	bool several = false;

	memset(r, 0, sizeof(*r));
	for (uint32_t i = 0; i < s->n; i++) {
		uint32_t meet = i + 1 < s->n ? s->meet[0][i] : UINT32_MAX;

		several |= s->rail[i] != s->rail[0];
		if (meet == 0)
			continue;
		if (i + 1 < s->n && s->node[i] == s->node[i + 1])
			return false;
		rows++;
		r->n_rows++;
		if (i + 1 - row > r->row_size)
			r->row_size = i + 1 - row;
		max = fullest_rail(s, row, i + 1);
		r->row_rail = max > r->row_rail ? max : r->row_rail;
		row = i + 1;
		if (meet == 1)
			continue;
		if (i + 1 - block > r->block_size)
			r->block_size = i + 1 - block;
		r->block_rows = rows > r->block_rows ? rows : r->block_rows;
		block = i + 1;
		rows = 0;
	}
	return several;
}

/* Savings of a vertex's edges, heaviest first, when `row` sites of its own row
 * are open to them. */
static double save_vertex(const struct rails *r, const double *weight,
			  uint32_t n, uint32_t row, const struct rail_prices *p)
{
	uint32_t on_rail = r->row_rail * (r->block_rows - 1);
	uint32_t far_rail = r->row_rail * (r->n_rows - r->block_rows);
	uint32_t off_rail = r->block_size - 1;
	double sum = 0;

	/* nearest first; off_rail is generous: it forgets those on the rail */
	for (uint32_t k = 0; k < n; k++) {
		bool rail_first = p->rail >= p->block;

		if (row) {
			row--;
			sum += weight[k] * (p->row + p->block + p->rail);
		} else if (on_rail) {
			on_rail--;
			sum += weight[k] * (p->block + p->rail);
		} else if (far_rail && (rail_first || !off_rail)) {
			far_rail--;
			sum += weight[k] * p->rail;
		} else if (off_rail) {
			off_rail--;
			sum += weight[k] * p->block;
		} else {
			break;
		}
	}
	return sum / 2;
}

static double total_weight(const struct graph *g)
{
	double sum = 0;

	for (uint32_t e = 0; e < g->n_edges; e++)
		sum += g->weight[e] / 2;
	return sum;
}

double rails_by_degree(const struct rails *r, const struct graph *g,
		       const double *heaviest, const struct rail_prices *p)
{
	double save = 0;

	for (uint32_t v = 0; v < g->n; v++)
		save += save_vertex(r, heaviest + g->row[v],
				    g->row[v + 1] - g->row[v], r->row_size - 1,
				    p);
	return total_weight(g) * (p->row + p->block + p->rail) - save;
}

/* A clique's members over rows. */
struct spread {
	const struct rails *r;
	const struct rail_prices *p;
	uint32_t members;
	double clique;	/* weight */
	double *others; /* [row_size + 1] what the edges of a member besides
			 * the clique's save, when its row holds so many */
	double *now;	/* [row_size + 1][members + 1] most saved when so many
			 * members are placed, the last row with so many */
	double *next;
};

/* What the i-th row (from 0) of `here` members saves after `before` in those
 * before it; they are no smaller. */
static double save_row(const struct spread *s, uint32_t i, uint32_t here,
		       uint32_t before)
{
	const struct rail_prices *p = s->p;
	uint32_t in_block = i % s->r->block_rows;
	double pairs = here * (here - 1.0) / 2;
	double beside = i ? (double)before * in_block / i : 0;
	double on_rail = fmin((double)i * s->r->row_rail, before);

	return s->clique * (pairs * (p->row + p->block + p->rail) +
			    here * (beside * p->block + on_rail * p->rail)) +
	       here * s->others[here];
}

/* One row more. */
static void add_row(struct spread *s, uint32_t i)
{
	uint32_t width = s->members + 1, rows = s->r->row_size + 1;
	double *swap = s->now;

	for (uint32_t k = 0; k < rows * width; k++)
		s->next[k] = -INFINITY;
	for (uint32_t here = 1; here < rows; here++) {
		for (uint32_t m = 0; m + here < width; m++) {
			double from = -INFINITY;

			for (uint32_t last = here; last < rows; last++)
				from = fmax(from, s->now[last * width + m]);
			if (isfinite(from))
				s->next[here * width + m + here] =
					from + save_row(s, i, here, m);
		}
	}
	s->now = s->next;
	s->next = swap;
}

static double save_clique(struct spread *s)
{
	uint32_t width = s->members + 1, rows = s->r->row_size + 1;
	double most = 0;

	for (uint32_t k = 0; k < rows * width; k++)
		s->now[k] = -INFINITY;
	s->now[(rows - 1) * width] = 0;
	for (uint32_t i = 0; i < s->members && i < s->r->n_rows; i++) {
		add_row(s, i);
		for (uint32_t last = 1; last < rows; last++)
			most = fmax(most, s->now[last * width + s->members]);
	}
	return most;
}

static int compare_down(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a < b) - (a > b);
}

/* Raises others[] to what v's edges save.  Those to members of its own clique,
 * heavier than the clique is, may have the whole row. */
static void save_others(struct spread *s, const struct graph *g, uint32_t v,
			const uint32_t *clique_of, double *scratch)
{
	uint32_t n = 0, own = 0, degree = g->row[v + 1] - g->row[v];
	double inside;

	for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++) {
		if (clique_of[g->peer[e]] == clique_of[v])
			scratch[own++] = g->weight[e] - s->clique;
		else
			scratch[degree - ++n] = g->weight[e];
	}
	qsort(scratch, own, sizeof(*scratch), compare_down);
	qsort(scratch + own, n, sizeof(*scratch), compare_down);
	inside = save_vertex(s->r, scratch, own, s->r->row_size - 1, s->p);
	for (uint32_t here = 1; here <= s->r->row_size; here++) {
		double save = inside + save_vertex(s->r, scratch + own, n,
						   s->r->row_size - here, s->p);

		s->others[here] = fmax(s->others[here], save);
	}
}

/* clique_of[v]: which line along the heaviest axis v is on. */
static uint32_t name_cliques(const struct lattice *l, uint32_t *clique_of)
{
	uint32_t n = l->n / l->axis[0].size;

	for (uint32_t v = 0; v < l->n; v++) {
		uint32_t code = 0;

		for (uint32_t i = 1; i < l->n_axes; i++)
			code = code * l->axis[i].size + l->axis[i].at[v];
		clique_of[v] = code;
	}
	return n;
}

/* The savings of all cliques, each with the best others of its members. */
static double save_all(struct spread *s, const struct graph *g, uint32_t n,
		       const uint32_t *clique_of, double *others,
		       double *scratch)
{
	uint32_t rows = s->r->row_size + 1;
	double sum = 0, save = 0;
	const double *last = NULL;

	for (uint32_t v = 0; v < g->n; v++) {
		s->others = others + (size_t)clique_of[v] * rows;
		save_others(s, g, v, clique_of, scratch);
	}
	for (uint32_t c = 0; c < n; c++) {
		s->others = others + (size_t)c * rows;
		if (!last || memcmp(last, s->others, rows * sizeof(*last)) != 0)
			save = save_clique(s);
		last = s->others;
		sum += save;
	}
	return sum;
}

int rails_by_clique(const struct rails *r, const struct graph *g,
		    const struct lattice *l, double clique,
		    const struct rail_prices *p, double *cost,
		    struct weft_error *err)
{
	uint32_t members = l->axis[0].size, cliques;
	size_t table = (r->row_size + (size_t)1) * (members + (size_t)1);
	uint32_t *clique_of = weft_calloc(l->n, sizeof(*clique_of), err);
	double *memory = NULL, *others;
	struct spread s = {r, p, members, clique, NULL, NULL, NULL};
	int rc = -1;

	*cost = 0;
	if (!clique_of)
		return -1;
	cliques = name_cliques(l, clique_of);
	memory = weft_calloc(2 * table + g->n +
				     (size_t)cliques * (r->row_size + 1),
			     sizeof(*memory), err);
	if (!memory)
		goto out;
	s.now = memory;
	s.next = memory + table;
	others = memory + 2 * table;
	*cost = total_weight(g) * (p->row + p->block + p->rail) -
		save_all(&s, g, cliques, clique_of, others,
			 others + (size_t)cliques * (r->row_size + 1));
	rc = 0;
out:
	free(memory);
	free(clique_of);
	return rc;
}
