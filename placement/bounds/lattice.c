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
#include "placement/bounds/filled.h"
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

WEFT_COMPARATOR(compare_edges, struct line_edge, WEFT_UP(a) WEFT_UP(b));

static struct line_edge along(const struct lattice_axis *axis, uint32_t v,
			      uint32_t u, double weight)
{
	uint32_t a = axis->at[v], b = axis->at[u];

	return (struct line_edge){a < b ? a : b, a < b ? b : a, weight};
}

/* Takes the edges of one line, on which all coordinates but i are zero. */
static int take_line(struct lattice *l, uint32_t i, const struct graph *g,
		     const struct filled *f, struct weft_error *err)
{
	struct lattice_axis *axis = &l->axis[i];
	uint32_t n = 0, room = 0;

	for (uint32_t pass = 0; pass < 2; pass++) {
		for (uint32_t v = 0; v < l->n; v++) {
			if (l->code[v] & ~axis->bits)
				continue;
			for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++) {
				uint32_t u = g->peer[e];

				if (u < v || lattice_axis_between(l, v, u) != i)
					continue;
				if (pass)
					axis->cover[n++] =
						along(axis, v, u, g->weight[e]);
				else
					room++;
			}
		}
		if (!pass)
			axis->cover =
				weft_calloc(room + filled_take(f, i, NULL),
					    sizeof(*axis->cover), err);
		if (!axis->cover)
			return -1;
	}
	n += filled_take(f, i, axis->cover + n);
	axis->n_cover = n;
	WEFT_SORT(axis->cover, n, compare_edges);
	axis->edge = weft_calloc(n, sizeof(*axis->edge), err);
	return axis->edge ? 0 : -1;
}

/* What is known of each edge of cover[]. */
struct lattice_tally {
	uint32_t times; /* lines that have it */
	uint32_t axis;	/* its axis, once these are in order */
	double least;	/* weight on any of these; 0 once some line lacks it */
	double most;	/* its weight in cover[], from then on */
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

/* fmin and fmax are calls, for the sake of NaN. */
static inline double lesser(double a, double b)
{
	return a < b ? a : b;
}

static inline double greater(double a, double b)
{
	return a > b ? a : b;
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
	i = lattice_axis_between(l, v, s->g->peer[e]);
	if (i == l->n_axes)
		return;
	at = along(&l->axis[i], v, s->g->peer[e], s->g->weight[e]);
	in = find_edge(s, i, &at);
	if (!in)
		return;
	t = &l->axis[i].tally[in - l->axis[i].cover];
	s->at[e] = (uint32_t)(t - s->tally);
	t->least = t->times ? lesser(t->least, at.weight) : at.weight;
	t->times++;
	in->weight = greater(in->weight, at.weight);
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

/* Most are of equals, and divisions would take most of the time. */
static inline double ratio(double a, double b)
{
	return a == b ? 1 : a / b;
}

static void scale_edge(struct inventory *s, uint32_t v, uint32_t e)
{
	const struct lattice *l = s->l;
	const struct lattice_tally *t = &s->tally[s->at[e]];
	uint32_t layer = l->axis[l->n_axes - 1].at[v];
	double *low = &l->axis[t->axis].scale[layer];
	double *high = &l->axis[t->axis].cover_scale[layer];
	double weight = s->g->weight[e];

	if (t->least > 0)
		*low = lesser(*low, ratio(weight, t->least));
	*high = greater(*high, ratio(weight, t->most));
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
		double weight = filled_weight(f, k);

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
		for (uint32_t k = 0; k < axis->n_cover; k++) {
			axis->tally[k].axis = i;
			axis->tally[k].most = axis->cover[k].weight;
		}
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

		if (!filled_alike(f, e->a, e->b))
			continue;
		axis->tally[k].times = f->t->n;
		axis->tally[k].least = f->least;
		axis->weight += f->sum;
	}
}

/* Fills axis_of[]. */
static void index_bits(struct lattice *l)
{
	for (uint32_t i = 0; i < l->n_axes; i++)
		for (uint32_t bit = 0; bit < 64; bit++)
			if (l->axis[i].bits >> bit & 1)
				l->axis_of[bit] = (uint8_t)i;
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
	s.at = weft_realloc(NULL, g->n_edges, sizeof(*s.at), err);
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
	index_bits(l);
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

/* Fills code[], for lattice_axis_between. */
static int pack(struct lattice *l, struct weft_error *err)
{
	uint32_t shift = 0;

	l->code = weft_calloc(l->n, sizeof(*l->code), err);
	if (!l->code)
		return -1;
	for (uint32_t i = 0; i < l->n_axes; i++) {
		struct lattice_axis *axis = &l->axis[i];
		uint32_t bits = 1;

		while (axis->size >> bits)
			bits++;
		axis->bits = ((UINT64_C(1) << bits) - 1) << shift;
		for (uint32_t v = 0; v < l->n; v++)
			l->code[v] |= (uint64_t)axis->at[v] << shift;
		shift += bits;
	}
	index_bits(l);
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
		return pack(l, err) ? -1
				    : measure(l, g, &(struct filled){0}, err);
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

/* Of all pairs where the cliques are no lines. */
static int measure_cliques(struct lattice *l, struct cliques *t,
			   struct weft_error *err)
{
	const struct graph *g;
	struct filled f;
	int rc = filled_build(l, t, &f, err);

	if (rc == 0) {
		g = f.t ? &f.rest : cliques_whole(t, err);
		rc = g ? measure(l, g, &f, err) : -1;
	}
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
	return n_walks && (pack(l, err) || measure_cliques(l, t, err)) ? -1 : 0;
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
	free(l->code);
	memset(l, 0, sizeof(*l));
}
