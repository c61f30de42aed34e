/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lattice.c - the grid of lines that a graph contains, whatever its numbering
 *
 * Edges of one axis weigh about the same, and less or more than those of
 * others.  So the weights are put into classes, and each run of classes next to
 * each other whose edges part the vertices into pieces of one size is taken for
 * an axis.  Sets of such axes whose sizes multiply to the number of vertices
 * are then checked: without axis i the graph must fall into as many layers as
 * the axis is long, all of one size; a vertex's layer is its coordinate, and no
 * two vertices may have the same coordinates.
 */
#include "placement/bounds/lattice.h"

#include "base/compare.h"
#include "placement/bounds/lattice_runs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_LINE UINT32_MAX

/* Fills the coordinates of the axes given; false where they are no grid. */
static bool place_vertices(struct lattice_runs *r,
			   const struct lattice_set *set, struct lattice *l)
{
	uint32_t n = r->n, code;

	for (uint32_t i = 0; i < set->n; i++) {
		uint32_t size = r->run[set->run[i]].size;

		lattice_runs_start(r);
		for (uint32_t j = 0; j < set->n; j++)
			if (j != i)
				lattice_runs_join(r, set->run[j]);
		if (lattice_runs_label(r, l->axis[i].at) != n / size)
			return false;
	}
	memset(r->seen, 0, n);
	for (uint32_t v = 0; v < n; v++) {
		code = 0;
		for (uint32_t i = 0; i < set->n; i++)
			code = code * l->axis[i].size + l->axis[i].at[v];
		if (r->seen[code]++)
			return false;
	}
	return true;
}

/* The axis along which two vertices differ; n_axes when there are several. */
static uint32_t axis_between(const struct lattice *l, uint32_t a, uint32_t b)
{
	uint32_t found = l->n_axes;

	for (uint32_t i = 0; i < l->n_axes; i++) {
		if (l->axis[i].at[a] == l->axis[i].at[b])
			continue;
		if (found < l->n_axes)
			return l->n_axes;
		found = i;
	}
	return found;
}

WEFT_COMPARATOR(compare_edges, struct line_edge, WEFT_UP(a) WEFT_UP(b));

static struct line_edge along(const struct lattice_axis *axis, uint32_t v,
			      uint32_t u, double weight)
{
	uint32_t a = axis->at[v], b = axis->at[u];

	return (struct line_edge){a < b ? a : b, a < b ? b : a, weight};
}

/* Cliques that are lines along one axis.  Pairs of an axis that have no loose
 * edge on any line are alike, so that the cliques alone tell of them; edges of
 * all others are in a graph, each at its lower end, what the clique adds to it
 * among them. */
struct filled {
	const struct cliques *t; /* NULL: there are none */
	uint32_t axis, size;
	bool first_line;	   /* is one */
	bool *loose;		   /* [size][size] a < b: pairs that have one */
	uint32_t n_loose;	   /* such pairs */
	uint32_t *first, *partner; /* their other ends, by coordinate */
	uint32_t *at;		   /* [n] coordinates along the axis */
	uint32_t *member;	   /* [t->n][size] of each, by coordinate */
	double least, sum; /* of a pair's weight, over all of the cliques */
	double most;
	struct graph rest;
};

static double pair_weight(const struct filled *f, uint32_t clique)
{
	return 2 * f->t->t->cliques[clique].bytes;
}

static bool is_alike(const struct filled *f, uint32_t a, uint32_t b)
{
	return !f->loose[a * f->size + b];
}

/* Pairs of the axis that no loose edge tells apart; cover: NULL, to count. */
static uint32_t take_alike(const struct filled *f, uint32_t i,
			   struct line_edge *cover)
{
	uint32_t n = 0;

	if (!f->t || f->axis != i || !f->first_line)
		return 0;
	for (uint32_t a = 0; a < f->size; a++) {
		for (uint32_t b = a + 1; b < f->size; b++) {
			if (!is_alike(f, a, b))
				continue;
			if (cover)
				cover[n] = (struct line_edge){a, b, f->most};
			n++;
		}
	}
	return n;
}

/* Takes the edges of one line, on which all coordinates but i are zero. */
static int take_line(struct lattice *l, uint32_t i, const struct graph *g,
		     const struct filled *f, struct weft_error *err)
{
	struct lattice_axis *axis = &l->axis[i];
	uint32_t n = 0, room = 0;

	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t v = 0; v < l->n; v++) {
			uint32_t k = 0;

			while (k < l->n_axes && (k == i || !l->axis[k].at[v]))
				k++;
			if (k < l->n_axes)
				continue;
			for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++) {
				uint32_t u = g->peer[e];

				if (u < v || axis_between(l, v, u) != i)
					continue;
				if (pass)
					axis->cover[n++] =
						along(axis, v, u, g->weight[e]);
				else
					room++;
			}
		}
		if (!pass)
			axis->cover = weft_calloc(room + take_alike(f, i, NULL),
						  sizeof(*axis->cover), err);
		if (!axis->cover)
			return -1;
	}
	n += take_alike(f, i, axis->cover + n);
	axis->n_cover = n;
	qsort(axis->cover, n, sizeof(*axis->cover), compare_edges);
	axis->edge = weft_calloc(n, sizeof(*axis->edge), err);
	return axis->edge ? 0 : -1;
}

/* What is known of each edge of cover[]. */
struct lattice_tally {
	uint32_t times; /* lines that have it */
	double least;	/* weight on any of these; 0 once some line lacks it */
};

struct inventory {
	struct lattice *l;
	const struct graph *g;
	const struct filled *f;
	struct lattice_tally *tally; /* of all axes' edges */
	/* [g->n_edges] which tally each edge of the graph goes to, in the row
	 * of its lower end; NO_LINE: it is on no line that cover[] names */
	uint32_t *at;
	/* [size][size] of an axis, where an edge is in cover[], + 1; or, where
	 * that would take far more words than these, [size + 1] where those of
	 * a lower end begin */
	uint32_t *index[LATTICE_MAX_AXES];
};

static bool is_dense(const struct lattice_axis *axis)
{
	return (uint64_t)axis->size * axis->size <=
	       4 * (uint64_t)axis->n_cover + 64;
}

/* Where the edges of each lower end begin in cover[], which is sorted. */
static void index_ends(const struct lattice_axis *axis, uint32_t *first)
{
	for (uint32_t k = 0; k < axis->n_cover; k++)
		first[axis->cover[k].a + 1]++;
	for (uint32_t a = 0; a < axis->size; a++)
		first[a + 1] += first[a];
}

static int index_cover(struct inventory *s, struct weft_error *err)
{
	for (uint32_t i = 0; i < s->l->n_axes; i++) {
		const struct lattice_axis *axis = &s->l->axis[i];
		size_t size = is_dense(axis) ? (size_t)axis->size * axis->size
					     : (size_t)axis->size + 1;

		s->index[i] = weft_calloc(size, sizeof(*s->index[i]), err);
		if (!s->index[i])
			return -1;
		if (!is_dense(axis))
			index_ends(axis, s->index[i]);
		for (uint32_t k = 0; is_dense(axis) && k < axis->n_cover; k++)
			s->index[i][axis->cover[k].a * axis->size +
				    axis->cover[k].b] = k + 1;
	}
	return 0;
}

static struct line_edge *find_edge(const struct inventory *s, uint32_t i,
				   const struct line_edge *e)
{
	const struct lattice_axis *axis = &s->l->axis[i];
	const uint32_t *index = s->index[i];
	uint32_t k;

	if (is_dense(axis)) {
		k = index[e->a * axis->size + e->b];
		return k ? &axis->cover[k - 1] : NULL;
	}
	for (k = index[e->a]; k < index[e->a + 1]; k++)
		if (axis->cover[k].b == e->b)
			return &axis->cover[k];
	return NULL;
}

static void count_edge(struct inventory *s, uint32_t v, uint32_t e)
{
	struct lattice *l = s->l;
	struct line_edge at, *in;
	struct lattice_tally *t;
	uint32_t i;

	s->at[e] = NO_LINE;
	if (s->g->peer[e] < v)
		return;
	i = axis_between(l, v, s->g->peer[e]);
	if (i == l->n_axes)
		return;
	at = along(&l->axis[i], v, s->g->peer[e], s->g->weight[e]);
	in = find_edge(s, i, &at);
	if (!in)
		return;
	t = &l->axis[i].tally[in - l->axis[i].cover];
	s->at[e] = (uint32_t)(t - s->tally);
	t->least = t->times ? fmin(t->least, at.weight) : at.weight;
	t->times++;
	in->weight = fmax(in->weight, at.weight);
	l->axis[i].weight += at.weight;
}

/* Keeps the edges that every line has. */
static void keep_common(struct lattice *l, struct lattice_axis *axis)
{
	struct lattice_tally *tally = axis->tally;
	uint32_t lines = l->n / axis->size;

	for (uint32_t k = 0; k < axis->n_cover; k++) {
		struct line_edge e = axis->cover[k];

		e.weight = tally[k].least;
		if (tally[k].times < lines) {
			tally[k].least = 0;
			continue;
		}
		axis->heaviest = fmax(axis->heaviest, e.weight);
		l->weight += e.weight * lines;
		axis->edge[axis->n_edges++] = e;
	}
}

WEFT_COMPARATOR(compare_axes, struct lattice_axis, WEFT_DOWN(heaviest));

static void scale_edge(struct inventory *s, uint32_t v, uint32_t e)
{
	const struct lattice *l = s->l;
	const struct lattice_tally *t = &s->tally[s->at[e]];
	uint32_t layer = l->axis[l->n_axes - 1].at[v], i = 0;
	double weight = s->g->weight[e], *low, *high;

	while (t < l->axis[i].tally ||
	       t >= l->axis[i].tally + l->axis[i].n_cover)
		i++;
	low = &l->axis[i].scale[layer];
	high = &l->axis[i].cover_scale[layer];
	if (t->least > 0)
		*low = fmin(*low, weight / t->least);
	*high = fmax(*high,
		     weight / l->axis[i].cover[t - l->axis[i].tally].weight);
}

/* What scale_edge does, for all of these at once.  Axes have been put in order;
 * their coordinates have not moved. */
static void scale_alike(struct lattice *l, const struct filled *f)
{
	const struct lattice_axis *last = &l->axis[l->n_axes - 1];
	uint32_t n = f->size * (f->size - 1) / 2 - f->n_loose, i = 0;

	if (!n || !f->first_line)
		return;
	while (l->axis[i].at != f->at)
		i++;
	for (uint32_t k = 0; k < f->t->n; k++) {
		uint32_t z = last->at[f->member[k * f->size]];
		double weight = pair_weight(f, k);

		if (f->t->n * f->size == l->n)
			l->axis[i].scale[z] =
				fmin(l->axis[i].scale[z], weight / f->least);
		l->axis[i].cover_scale[z] =
			fmax(l->axis[i].cover_scale[z], weight / f->most);
	}
}

/* How heavy the lines of each layer are beside edge[] and cover[]. */
static int scale_layers(struct inventory *s, struct weft_error *err)
{
	struct lattice *l = s->l;
	uint32_t layers = l->axis[l->n_axes - 1].size;

	for (uint32_t i = 0; i < l->n_axes; i++) {
		struct lattice_axis *axis = &l->axis[i];

		axis->scale = weft_calloc(layers, sizeof(double), err);
		axis->cover_scale = weft_calloc(layers, sizeof(double), err);
		if (!axis->scale || !axis->cover_scale)
			return -1;
		for (uint32_t z = 0; z < layers; z++)
			axis->scale[z] = INFINITY;
	}
	for (uint32_t v = 0; v < l->n; v++)
		for (uint32_t e = s->g->row[v]; e < s->g->row[v + 1]; e++)
			if (s->at[e] != NO_LINE)
				scale_edge(s, v, e);
	if (s->f->t)
		scale_alike(l, s->f);
	for (uint32_t i = 0; i < l->n_axes; i++) {
		for (uint32_t z = 0; z < layers; z++) {
			/* lines along the last axis are in all layers */
			if (i + 1 == l->n_axes ||
			    !isfinite(l->axis[i].scale[z]))
				l->axis[i].scale[z] = 1;
			if (i + 1 == l->n_axes)
				l->axis[i].cover_scale[z] = 1;
		}
	}
	return 0;
}

/* The tallies of pairs that no loose edge tells apart. */
static void count_alike(const struct filled *f, struct lattice_axis *axis)
{
	for (uint32_t k = 0; k < axis->n_cover; k++) {
		const struct line_edge *e = &axis->cover[k];

		if (!is_alike(f, e->a, e->b))
			continue;
		axis->tally[k] = (struct lattice_tally){f->t->n, f->least};
		axis->weight += f->sum;
	}
}

/* Everything but the coordinates and sizes, which are given.  Axes are put in
 * order. */
static int measure(struct lattice *l, const struct graph *g,
		   const struct filled *f, struct weft_error *err)
{
	struct inventory s = {.l = l, .g = g, .f = f};
	size_t n = 0;
	int rc = -1;

	for (uint32_t i = 0; i < l->n_axes; i++) {
		if (take_line(l, i, g, f, err))
			return -1;
		n += l->axis[i].n_cover;
	}
	s.tally = weft_calloc(n, sizeof(*s.tally), err);
	s.at = weft_calloc(g->n_edges, sizeof(*s.at), err);
	if (!s.tally || !s.at || index_cover(&s, err))
		goto out;
	n = 0;
	for (uint32_t i = 0; i < l->n_axes; i++) {
		l->axis[i].tally = s.tally + n;
		n += l->axis[i].n_cover;
	}
	for (uint32_t v = 0; v < l->n; v++)
		for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++)
			count_edge(&s, v, e);
	if (f->t)
		count_alike(f, &l->axis[f->axis]);
	for (uint32_t i = 0; i < l->n_axes; i++)
		keep_common(l, &l->axis[i]);
	qsort(l->axis, l->n_axes, sizeof(l->axis[0]), compare_axes);
	rc = scale_layers(&s, err);
out:
	for (uint32_t i = 0; i < l->n_axes; i++) {
		l->axis[i].tally = NULL;
		free(s.index[i]);
	}
	free(s.tally);
	free(s.at);
	return rc;
}

static int add_axis(struct lattice *l, uint32_t size, struct weft_error *err)
{
	struct lattice_axis *axis = &l->axis[l->n_axes];

	axis->size = size;
	axis->at = weft_calloc(l->n, sizeof(*axis->at), err);
	if (!axis->at)
		return -1;
	l->n_axes++;
	return 0;
}

/* The lattice of one set of axes; n_axes is 0 where that is none. */
static int build(struct lattice_runs *r, const struct lattice_set *set,
		 const struct graph *g, struct lattice *l,
		 struct weft_error *err)
{
	memset(l, 0, sizeof(*l));
	l->n = g->n;
	for (uint32_t i = 0; i < set->n; i++)
		if (add_axis(l, r->run[set->run[i]].size, err))
			return -1;
	if (place_vertices(r, set, l))
		return measure(l, g, &(struct filled){0}, err);
	lattice_free(l);
	return 0;
}

int lattice_find(const struct graph *g, struct effort *effort,
		 struct lattice *l, struct weft_error *err)
{
	struct lattice_runs r = {0};
	int rc = -1;

	memset(l, 0, sizeof(*l));
	if (lattice_runs_build(g, &r, err))
		goto out;
	for (uint32_t i = 0; i < r.n_sets && !effort_spent(effort); i++) {
		struct lattice other;

		effort_spend(effort, g->n_edges);
		if (build(&r, &r.set[i], g, &other, err)) {
			lattice_free(&other);
			goto out;
		}
		/* more axes tell more, even where they are not all the weight;
		 * such sets come first */
		if (other.n_axes >= l->n_axes &&
		    other.weight > l->weight * (1 + 1e-9)) {
			struct lattice worse = *l;

			*l = other;
			other = worse;
		}
		lattice_free(&other);
	}
	rc = 0;
out:
	lattice_runs_free(&r);
	return rc;
}

/* ---- cliques that are lines ---- */

/* More than so many pairs of an axis, for each of its coordinates, are not
 * worth telling apart from all. */
#define MAX_LOOSE 4

/* The axis of which every clique is a line; n_axes: there is none. */
static uint32_t axis_of_cliques(const struct lattice *l,
				const struct cliques *t)
{
	uint32_t axis = l->n_axes;

	for (uint32_t k = 0; k < t->n && t->disjoint; k++) {
		const struct weft_clique *one = &t->t->cliques[k];
		const uint32_t *member = t->t->member + one->first_member;

		if (k == 0)
			axis = axis_between(l, member[0], member[1]);
		if (axis == l->n_axes || one->n_members != l->axis[axis].size)
			return l->n_axes;
		for (uint32_t i = 1; i < one->n_members; i++)
			if (axis_between(l, member[0], member[i]) != axis)
				return l->n_axes;
	}
	return axis;
}

static void filled_free(struct filled *f)
{
	free(f->loose);
	free(f->member);
	free(f->first);
	graph_free(&f->rest);
}

/* Which member has which coordinate, and what pairs weigh. */
static void place_members(struct filled *f)
{
	const struct weft_traffic *t = f->t->t;

	f->least = (double)INFINITY;
	for (uint32_t k = 0; k < f->t->n; k++) {
		const uint32_t *from = t->member + t->cliques[k].first_member;
		double weight = pair_weight(f, k);

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
			    axis_between(l, v, g->peer[e]) != f->axis)
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
			    !is_alike(f, a < b ? a : b, a < b ? b : a))
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
	double weight = has ? pair_weight(f, k) : 0;

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

static int filled_build(const struct lattice *l, uint32_t axis,
			const struct cliques *t, struct filled *f,
			struct weft_error *err)
{
	uint32_t n = t->loose.n;

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

/* Of all pairs where the cliques are no lines. */
static int measure_cliques(struct lattice *l, struct cliques *t,
			   struct weft_error *err)
{
	struct filled f = {0};
	const struct graph *g = &f.rest;
	uint32_t axis = axis_of_cliques(l, t);
	int rc = -1;

	if (axis < l->n_axes && filled_build(l, axis, t, &f, err))
		goto out;
	if (!f.t)
		g = cliques_whole(t, err);
	if (!g)
		goto out;
	/* vertex 0 is on the first line of every axis */
	f.first_line = f.t && cliques_of(t, 0) < t->n;
	rc = measure(l, g, &f, err);
out:
	filled_free(&f);
	return rc;
}

/* Adds a digit of each vertex' number, times a weight; the loops count through
 * the numbers, as divisions would take most of the time. */
static void add_digit(uint32_t size, uint32_t stride, uint32_t weight,
		      uint32_t n, uint32_t *at)
{
	uint32_t v = 0;

	while (v < n && size > 1)
		for (uint32_t digit = 0; digit < size && v < n; digit++)
			for (uint32_t i = 0; i < stride && v < n; i++)
				at[v++] += digit * weight;
}

int lattice_along(struct cliques *t, const struct lattice_walk *walk,
		  uint32_t n_walks, struct lattice *l, struct weft_error *err)
{
	uint32_t n = t->loose.n;

	memset(l, 0, sizeof(*l));
	l->n = n;
	for (uint32_t i = 0; i < n_walks; i++) {
		const struct lattice_walk *w = &walk[i];

		if (add_axis(l, w->size[0] * w->size[1], err))
			return -1;
		add_digit(w->size[0], w->stride[0], 1, n, l->axis[i].at);
		add_digit(w->size[1], w->stride[1], w->size[0], n,
			  l->axis[i].at);
	}
	return n_walks ? measure_cliques(l, t, err) : 0;
}

void lattice_free(struct lattice *l)
{
	for (uint32_t i = 0; i < l->n_axes; i++) {
		free(l->axis[i].edge);
		free(l->axis[i].cover);
		free(l->axis[i].cover_scale);
		free(l->axis[i].at);
		free(l->axis[i].scale);
	}
	memset(l, 0, sizeof(*l));
}
