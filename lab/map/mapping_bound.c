/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mapping_bound.c - what an arrangement on a tree of sites costs at least
 *
 * With d(l) the least distance of sites that meet at level l or further out,
 * and X(l) a lower bound of the weight between different domains of level l,
 *
 *	cost >= d(0) * all weight + sum over l of (d(l+1) - d(l)) * X(l).
 *
 * X(l) follows from the sizes of the domains: by degree, by spectrum, and by
 * the contours of the lattice that the graph contains (cut.h).  Rails make
 * sites of different nodes farther apart by R at least; what that costs is not
 * independent of X(0) and X(1), so for these the sum may be replaced by a
 * common bound with all of d(1) - d(0) and R and a share of d(2) - d(1)
 * (struct rails), the rest of which is left to X(1).
 */
#include "base/compare.h"
#include "lab/map/map.h"
#include "placement/bounds/cut.h"
#include "placement/bounds/lattice.h"
#include "placement/mapping/graph.h"
#include "placement/mapping/sites.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Rows are domains of level 0, blocks those of level 1. */
struct rails {
	uint32_t row_size;   /* sites of a row, at most */
	uint32_t row_rail;   /* sites of a row on one rail, at most */
	uint32_t block_size; /* sites of a block, at most */
	uint32_t block_rows; /* rows of a block, at most */
	uint32_t n_rows;
};

/* What a byte between different rows, blocks or rails costs more; the last only
 * between different rows. */
struct rail_prices {
	double row, block, rail;
};

/* ---- what a graph costs at least where its vertices keep to rails ---- */

/* Everything is first priced as if it went to another row, block and rail; what
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

/* False where rails make no difference, or a node is part of several rows. */
static bool rails_measure(const struct sites *s, struct rails *r)
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

/* Least cost of all edges by what each vertex can have near it.  heaviest: the
 * edges of each row, descending. */
static double rails_by_degree(const struct rails *r, const struct graph *g,
			      const double *heaviest,
			      const struct rail_prices *p)
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
	qsort(scratch, own, sizeof(*scratch), weft_compare_reals_down);
	qsort(scratch + own, n, sizeof(*scratch), weft_compare_reals_down);
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

/* The same by how the lattice's heaviest axis, if it is a clique, can lie on
 * rows and rails; 0 if it is none. */
static int rails_by_clique(const struct rails *r, const struct graph *g,
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

/* ---- the bound ---- */

#define RAIL_SHARES 8 /* shares of d(2) - d(1) tried beside rails */

struct bounding {
	const struct graph *g;
	const struct sites *s;
	struct effort *effort;
	double total;	  /* weight of all edges */
	double *heaviest; /* [g->n_edges] each row descending */
	double *lambda;	  /* [g->n] of the lattice, ascending */
	struct lattice lattice;
	struct contour_lines lines;
	struct parts parts; /* of the level at hand */
	uint32_t n_levels;
	double nearest;			   /* d(0) */
	double step[WEFT_MAX_LEVELS + 1];  /* d(l+1) - d(l) */
	double cross[WEFT_MAX_LEVELS + 1]; /* X(l) */
	double rail;			   /* R */
};

static int sort_rows(struct bounding *b, struct weft_error *err)
{
	const struct graph *g = b->g;

	b->heaviest = weft_calloc(g->n_edges, sizeof(*b->heaviest), err);
	if (!b->heaviest)
		return -1;
	graph_heaviest(g, b->heaviest);
	for (uint32_t e = 0; e < g->n_edges; e++)
		b->total += g->weight[e] / 2;
	return 0;
}

/* Eigenvalues of a product are the sums of its factors'. */
static int find_spectrum(struct bounding *b, struct weft_error *err)
{
	double *value = weft_calloc(b->g->n, sizeof(*value), err);
	uint32_t n = 1;

	b->lambda = weft_calloc(b->g->n, sizeof(*b->lambda), err);
	for (uint32_t i = 0; value && b->lambda && i < b->lines.n; i++) {
		uint32_t size = b->lines.line[i].size;

		line_values(&b->lines.line[i], value);
		for (uint32_t k = size; k-- > 0;)
			for (uint32_t j = 0; j < n; j++)
				b->lambda[k * n + j] = b->lambda[j] + value[k];
		n *= size;
	}
	if (b->lambda)
		qsort(b->lambda, n, sizeof(*b->lambda), weft_compare_reals);
	free(value);
	return value && b->lambda ? 0 : -1;
}

/* Distances by level; those of levels at which no two sites meet do not
 * matter. */
static void measure_levels(struct bounding *b)
{
	const struct sites *s = b->s;
	bool occurs[WEFT_MAX_LEVELS + 1] = {false};
	double far[WEFT_MAX_LEVELS + 1] = {0}, least = INFINITY;

	b->rail = INFINITY;
	for (uint32_t i = 0; i + 1 < s->n; i++) {
		occurs[s->meet[0][i]] = true;
		if (s->meet[0][i] >= b->n_levels)
			b->n_levels = s->meet[0][i] + 1u;
	}
	for (uint32_t l = b->n_levels; l-- > 0;) {
		const double *d = s->distance[l];

		if (occurs[l]) {
			least = fmin(least, fmin(d[0], d[1]));
			if (l && isfinite(d[0]))
				b->rail = fmin(b->rail, d[1] - d[0]);
		}
		far[l] = least;
	}
	for (uint32_t l = 0; l + 1 < b->n_levels && isfinite(far[l + 1]); l++)
		b->step[l] = far[l + 1] - far[l];
	b->nearest = least;
	if (!isfinite(b->rail) || b->rail < 0)
		b->rail = 0;
}

static void fill_parts(struct bounding *b, uint32_t level)
{
	struct parts *p = &b->parts;
	const struct sites *s = b->s;

	p->n = 0;
	p->n_sites = 0;
	p->n_vertices = b->g->n;
	p->size[0] = 1;
	for (uint32_t i = 1; i < s->n; i++) {
		if (s->meet[0][i - 1] > level)
			p->size[++p->n] = 0;
		p->size[p->n]++;
	}
	p->n++;
	qsort(p->size, p->n, sizeof(*p->size), weft_compare_numbers_down);
	for (uint32_t i = 0; i < p->n; i++) {
		if (p->size[i] > b->g->n)
			p->size[i] = b->g->n;
		p->n_sites += p->size[i];
	}
}

/* Raises *weight to what the lattice's parts cut, priced as told. */
static int try_contour(struct bounding *b, const struct contour_terms *terms,
		       double *weight, bool *exact, struct weft_error *err)
{
	struct contour c = {0};
	double cut = 0;
	int rc = contour_build(&b->lattice, &b->lines, terms, b->parts.size[0],
			       b->effort, &c, err);

	if (rc == 0 && c.complete)
		rc = cut_by_contour(&c, &b->parts, &cut, err);
	*exact = c.exact;
	*weight = fmax(*weight, cut);
	contour_free(&c);
	return rc;
}

/* Quickly, then again thoroughly where that gives more: as long as the
 * effort lasts. */
static int try_contours(struct bounding *b, double *weight,
			struct weft_error *err)
{
	uint32_t layer = b->g->n / b->lattice.axis[b->lattice.n_axes - 1].size;
	const struct contour_terms all[] = {
		{1, b->parts.size[0], false, true},
		{1, b->parts.size[0], true, true},
		{1, 0, false, true},
		{1, layer / 2, false, true},
		{0, 0, false, true},
	};
	bool exact[sizeof(all) / sizeof(all[0])];

	for (uint32_t k = 0; k < 2 * sizeof(all) / sizeof(all[0]); k++) {
		uint32_t i = k % (sizeof(all) / sizeof(all[0]));
		struct contour_terms terms = all[i];

		if (effort_spent(b->effort))
			break;
		terms.quick = k == i;
		if ((terms.quick || !exact[i]) &&
		    try_contour(b, &terms, weight, &exact[i], err))
			return -1;
	}
	return 0;
}

static int find_crossing(struct bounding *b, uint32_t level,
			 struct weft_error *err)
{
	double *x = &b->cross[level];

	fill_parts(b, level);
	if (b->parts.n < 2)
		return 0;
	*x = fmax(cut_by_degree(b->g, b->heaviest, &b->parts),
		  cut_by_spectrum(b->lambda, &b->parts));
	return b->lattice.n_axes ? try_contours(b, x, err) : 0;
}

/* Raises *cost to what rows, blocks and rails cost together, and the outer
 * levels. */
static int try_rails(struct bounding *b, const struct rails *r, double share,
		     double *cost, struct weft_error *err)
{
	const struct rail_prices p = {b->step[0], share * b->step[1], b->rail};
	double sum = rails_by_degree(r, b->g, b->heaviest, &p), clique = 0;

	if (b->lines.n && b->lines.line[0].clique > 0 &&
	    rails_by_clique(r, b->g, &b->lattice, b->lines.line[0].clique, &p,
			    &clique, err))
		return -1;
	sum = fmax(sum, clique) + (1 - share) * b->step[1] * b->cross[1];
	for (uint32_t l = 2; l < b->n_levels; l++)
		sum += b->step[l] * b->cross[l];
	*cost = fmax(*cost, sum);
	return 0;
}

/* What is paid beyond the least distance. */
static int sum_up(struct bounding *b, double *sum, struct weft_error *err)
{
	struct rails r;

	*sum = 0;
	for (uint32_t l = 0; l < b->n_levels; l++)
		*sum += b->step[l] * b->cross[l];
	if (!(b->rail > 0) || b->n_levels < 2 || !rails_measure(b->s, &r))
		return 0;
	for (uint32_t k = 0; k <= RAIL_SHARES && !effort_spent(b->effort); k++)
		if (try_rails(b, &r, (double)k / RAIL_SHARES, sum, err))
			return -1;
	return 0;
}

int mapping_bound(const struct graph *g, const struct sites *s,
		  struct effort *effort, double *bound, struct weft_error *err)
{
	struct bounding b = {.g = g, .s = s, .effort = effort};
	double sum;
	int rc = -1;

	*bound = 0;
	b.parts.size = weft_calloc(s->n, sizeof(*b.parts.size), err);
	if (!b.parts.size || sort_rows(&b, err))
		goto out;
	rc = 0;
	if (b.total == 0 || s->n < 2)
		goto out;
	measure_levels(&b);
	rc = -1;
	if (lattice_find(g, effort, &b.lattice, err) ||
	    contour_lines_build(&b.lattice, &b.lines, err) ||
	    find_spectrum(&b, err))
		goto out;
	for (uint32_t l = b.n_levels; l-- > 0;) {
		if (find_crossing(&b, l, err))
			goto out;
		/* what crosses a domain also crosses those inside it */
		if (l + 1 < b.n_levels)
			b.cross[l] = fmax(b.cross[l], b.cross[l + 1]);
	}
	if (sum_up(&b, &sum, err))
		goto out;
	*bound = b.nearest * b.total + sum;
	rc = 0;
out:
	contour_lines_free(&b.lines);
	lattice_free(&b.lattice);
	free(b.heaviest);
	free(b.lambda);
	free(b.parts.size);
	return rc;
}
