/* SPDX-License-Identifier: GPL-3.0-or-later */
/* contour.c - the least weight that leaves a set of a lattice, by its size
 *
 * Axis by axis, the heaviest first.  Let b(a) be the least cost of a vertices
 * of the product so far, and let R copies of it, one per coordinate of the next
 * axis, hold a_1 ... a_R vertices of the set.  Of the lines along that axis, at
 * least max a_i meet the set and at least max a_i - min a_i are filled in part;
 * hence the cost of s vertices of the larger product is at least
 *
 *	min over a_1 + ... + a_R = s of
 *	sum b(a_i) + piece * max a_i + part * (max a_i - min a_i),
 *
 * which is attained where sets of growing size can be nested, as on grids.
 *
 * The heaviest axis is most often a clique that no sensible set divides.  Its k
 * copies of all the rest hold s_1 ... s_k vertices, and cost sum b(s_i) + w / 2
 * * sum |s_i - s_j|; where w is large beside the steps of b, the sizes that
 * differ by one at most are the cheapest.
 */
#include "placement/contour.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_HEIGHTS 96 /* largest layers told apart, about */
#define MAX_DEPTH_WORK                                                         \
	4e7 /* combinations until the smallest layers are not                  \
	     */

int contour_lines_build(const struct lattice *l, struct contour_lines *lines,
			struct weft_error *err)
{
	memset(lines, 0, sizeof(*lines));
	for (uint32_t i = 0; i < l->n_axes; i++) {
		const struct lattice_axis *axis = &l->axis[i];

		lines->n = i + 1;
		if (line_build(axis->size, axis->edge, axis->n_edges,
			       &lines->line[i], err))
			return -1;
	}
	return 0;
}

void contour_lines_free(struct contour_lines *lines)
{
	for (uint32_t i = 0; i < lines->n; i++)
		line_free(&lines->line[i]);
	lines->n = 0;
}

/* Prices along one axis. */
struct price {
	double piece; /* of each line met */
	double part;  /* of each filled in part */
};

static struct price price_of(const struct line *line, double pieces)
{
	struct price p = {0, line->least / 2};

	if (line->path > 0) {
		p.piece = pieces * line->path;
		p.part = (line->other + (1 - pieces) * line->path) / 2;
	}
	return p;
}

/* Costs of a vertices, a = 0 ... n. */
struct curve {
	uint32_t n;
	double *cost;
};

/* One line alone. */
static void start_curve(const struct line *line, double pieces, double scale,
			struct curve *c)
{
	struct price p = price_of(line, pieces);

	c->cost[0] = 0;
	for (uint32_t a = 1; a <= c->n; a++) {
		double inside = a == line->size ? 0 : p.part;

		c->cost[a] = scale * fmax(line->cut[a] / 2, p.piece + inside);
	}
}

/* layers: R curves to be laid side by side. */
struct stack {
	const struct curve *const *layer;
	uint32_t n; /* R */
	struct price price;
	double *now, *next; /* [out->n + 1] */
};

/* Least sums with every layer between low and high: s->now. */
static void fill_stack(struct stack *s, uint32_t n, uint32_t low, uint32_t high,
		       struct effort *effort)
{
	for (uint32_t a = 0; a <= n; a++)
		s->now[a] = a ? INFINITY : 0;
	for (uint32_t i = 0; i < s->n; i++) {
		const double *cost = s->layer[i]->cost;
		double *swap = s->now;
		uint32_t reach = (i + 1) * high < n ? (i + 1) * high : n;

		for (uint32_t sum = 0; sum <= n; sum++)
			s->next[sum] = INFINITY;
		for (uint32_t sum = (i + 1) * low; sum <= reach; sum++) {
			uint32_t most = sum < high ? sum : high;
			double best = INFINITY;

			for (uint32_t a = low; a <= most; a++) {
				double c = s->now[sum - a] + cost[a];

				best = c < best ? c : best;
			}
			s->next[sum] = best;
		}
		effort_spend(effort,
			     (uint64_t)(reach + 1) * (high - low + 1) / 16);
		s->now = s->next;
		s->next = swap;
	}
}

/* Heights in steps: all up to (last, high] are priced as last + 1. */
static uint32_t next_height(uint32_t last, uint32_t most)
{
	uint32_t step =
		1 + (last > MAX_HEIGHTS / 2 ? last / (MAX_HEIGHTS / 2) : 0);

	return last + step < most ? last + step : most;
}

/* Takes into *out the sets whose layers hold `low` or more each, and as many in
 * one of them; where `loose`, that or more in all of them. */
static void stack_from(struct stack *s, uint32_t low, bool loose,
		       struct curve *out, struct effort *effort)
{
	uint32_t most = s->layer[0]->n;

	for (uint32_t last = low ? low - 1 : 0;
	     last < most && !effort_spent(effort);) {
		uint32_t high = next_height(last, most), top = last + 1;

		fill_stack(s, out->n, low, high, effort);
		for (uint32_t a = 1; a <= out->n; a++) {
			uint32_t deep = loose ? a / s->n : low;
			double price = s->price.piece * top;

			if (deep < top)
				price += s->price.part * (top - deep);
			out->cost[a] = fmin(out->cost[a], s->now[a] + price);
		}
		last = high;
	}
}

static void stack_curves(struct stack *s, struct curve *out,
			 struct effort *effort)
{
	uint32_t deepest = s->price.part > 0 ? out->n / s->n : 0;
	double work = (double)s->layer[0]->n * s->layer[0]->n * out->n * s->n;
	bool loose = work * deepest > MAX_DEPTH_WORK && deepest > 1;

	for (uint32_t a = 0; a <= out->n; a++)
		out->cost[a] = a ? INFINITY : 0;
	for (uint32_t low = 0; low <= (loose ? 1 : deepest); low++)
		stack_from(s, low, loose && low, out, effort);
}

/* Axes first ... last - 1 of the lattice, with the lines of layer z. */
struct tower {
	const struct lattice *l;
	const struct contour_lines *lines;
	double pieces;
	uint32_t first, max;
	struct effort *effort;
};

static int curve_start(struct curve *c, uint64_t vertices, uint32_t max,
		       struct weft_error *err)
{
	c->n = vertices < max ? (uint32_t)vertices : max;
	c->cost = weft_calloc((size_t)c->n + 1, sizeof(*c->cost), err);
	return c->cost ? 0 : -1;
}

/* Replaces *c by R layers of it (or of each of several, in s->layer). */
static int curve_raise(const struct tower *t, struct stack *s,
		       uint64_t vertices, struct curve *c,
		       struct weft_error *err)
{
	struct curve out;
	double *memory;

	if (curve_start(&out, vertices, t->max, err))
		return -1;
	memory = weft_calloc(2 * ((size_t)out.n + 1), sizeof(*memory), err);
	if (!memory) {
		free(out.cost);
		return -1;
	}
	s->now = memory;
	s->next = memory + out.n + 1;
	stack_curves(s, &out, t->effort);
	free(memory);
	free(c->cost);
	*c = out;
	return 0;
}

/* The curve of one layer along the last axis. */
static int layer_curve(const struct tower *t, uint32_t z, struct curve *c,
		       struct weft_error *err)
{
	const struct lattice_axis *axis = &t->l->axis[t->first];
	uint64_t vertices = axis->size;

	if (curve_start(c, vertices, t->max, err))
		return -1;
	start_curve(&t->lines->line[t->first], t->pieces, axis->scale[z], c);
	for (uint32_t i = t->first + 1; i + 1 < t->l->n_axes; i++) {
		const struct line *line = &t->lines->line[i];
		const struct curve **same =
			weft_calloc(line->size, sizeof(*same), err);
		struct stack s = {same, line->size, price_of(line, t->pieces),
				  NULL, NULL};
		int rc;

		if (!same)
			return -1;
		for (uint32_t k = 0; k < line->size; k++)
			same[k] = c;
		s.price.piece *= t->l->axis[i].scale[z];
		s.price.part *= t->l->axis[i].scale[z];
		vertices *= line->size;
		rc = curve_raise(t, &s, vertices, c, err);
		free(same);
		if (rc)
			return -1;
	}
	return 0;
}

/* A layer before z whose lines weigh the same; z when there is none. */
static uint32_t layer_like(const struct tower *t, uint32_t z)
{
	for (uint32_t y = 0; y < z; y++) {
		uint32_t i = t->first;

		while (i < t->l->n_axes &&
		       t->l->axis[i].scale[y] == t->l->axis[i].scale[z])
			i++;
		if (i == t->l->n_axes)
			return y;
	}
	return z;
}

/* All layers, each with its bonus, along the last axis. */
static int tower_top(const struct tower *t, const double *bonus,
		     struct curve *out, struct weft_error *err)
{
	const struct lattice *l = t->l;
	const struct line *line = &t->lines->line[l->n_axes - 1];
	struct curve *layer = weft_calloc(line->size, sizeof(*layer), err);
	const struct curve **all = weft_calloc(line->size, sizeof(*all), err);
	struct stack s = {all, line->size, price_of(line, t->pieces), NULL,
			  NULL};
	uint64_t vertices = 1;
	int rc = -1;

	if (!layer || !all)
		goto out;
	for (uint32_t i = t->first; i < l->n_axes; i++)
		vertices *= l->axis[i].size;
	for (uint32_t z = 0; z < line->size; z++) {
		uint32_t like = layer_like(t, z);

		all[z] = &layer[z];
		if (like == z) {
			if (layer_curve(t, z, &layer[z], err))
				goto out;
			continue;
		}
		if (curve_start(&layer[z], layer[like].n, t->max, err))
			goto out;
		memcpy(layer[z].cost, layer[like].cost,
		       ((size_t)layer[z].n + 1) * sizeof(double));
	}
	for (uint32_t z = 0; bonus && z < line->size; z++)
		for (uint32_t a = 0; a <= layer[z].n; a++)
			layer[z].cost[a] -= bonus[z] * a;
	rc = curve_raise(t, &s, vertices, out, err);
out:
	for (uint32_t z = 0; layer && z < line->size; z++)
		free(layer[z].cost);
	free(layer);
	free(all);
	return rc;
}

/* The product of all axes from t->first on. */
static int tower_build(const struct tower *t, const double *bonus,
		       struct curve *out, struct weft_error *err)
{
	memset(out, 0, sizeof(*out));
	if (t->first + 1 < t->l->n_axes)
		return tower_top(t, bonus, out, err);
	return layer_curve(t, 0, out, err);
}

/* Two copies, w between the two vertices of each pair: s1 + s2 vertices cost
 * b(s1) + b(s2) + w / 2 * |s1 - s2|. */
static void share_by_two(const struct curve *c, double w, struct contour *out)
{
	for (uint32_t s = 1; s <= out->max; s++) {
		double best = INFINITY;

		for (uint32_t a = (s + 1) / 2; a <= s && a <= c->n; a++)
			best = fmin(best, c->cost[a] + c->cost[s - a] +
						  w / 2 * (2 * a - s));
		out->least[s] = best;
	}
}

/* Least of the lines below the curve, at x: its lower convex hull. */
static double below_curve(const struct curve *c, double x)
{
	double best = INFINITY;

	for (uint32_t a = 0; a <= c->n && a <= x; a++) {
		for (uint32_t b = c->n; b > a && b >= x; b--) {
			double t = (x - a) / (b - a);

			best = fmin(best,
				    c->cost[a] * (1 - t) + c->cost[b] * t);
		}
		if (a == x)
			best = fmin(best, c->cost[a]);
	}
	return best;
}

/* The largest step of a curve. */
static double steepest(const struct curve *c)
{
	double step = 0;

	for (uint32_t a = 0; a < c->n; a++)
		step = fmax(step, fabs(c->cost[a + 1] - c->cost[a]));
	return step;
}

/* Sets of k copies, a clique of weight w between them.  Let s vertices be r
 * more than a multiple of k.  Any numbers s_1 ... s_k can be evened out, a
 * vertex at a time; each saves w / 2 * min(r, k - r) at least (w / 2 * k where
 * r is 0) and costs two steps of the curve at most. */
static void share_evenly(const struct curve *c, const struct line *clique,
			 struct contour *out)
{
	double w = clique->clique, dear = 4 * steepest(c);
	uint32_t k = clique->size;

	for (uint32_t s = 1; s <= out->max; s++) {
		uint32_t each = s / k, more = s % k;
		uint32_t saves = more < k - more ? more : k - more;

		out->least[s] = w / 2 * more * (k - more);
		if (!more)
			out->least[s] += k * c->cost[each];
		else if (w * saves >= dear)
			out->least[s] += (k - more) * c->cost[each] +
					 more * c->cost[each + 1];
		else
			out->least[s] += k * below_curve(c, (double)s / k);
	}
}

/* What price_of gives back, for the lines of axes first, first + 1, ... */
static double give_back(const struct lattice *l,
			const struct contour_lines *lines, double pieces,
			uint32_t first)
{
	uint32_t last = l->axis[l->n_axes - 1].size;
	double sum = 0;

	for (uint32_t i = first; i < l->n_axes; i++) {
		double all = price_of(&lines->line[i], pieces).piece *
			     (l->n / l->axis[i].size);

		/* lines of an inner axis, layer by layer */
		for (uint32_t z = 0; z < last; z++)
			sum += l->axis[i].scale[z] * all / last;
	}
	return sum;
}

static double bonus_back(const struct lattice *l, const double *bonus)
{
	uint32_t last = l->axis[l->n_axes - 1].size;
	double sum = 0;

	for (uint32_t z = 0; bonus && z < last; z++)
		sum += bonus[z] * (l->n / last);
	return sum;
}

int contour_build(const struct lattice *l, const struct contour_lines *lines,
		  const struct contour_terms *terms, uint32_t max,
		  struct effort *effort, struct contour *c,
		  struct weft_error *err)
{
	uint32_t k = l->axis[0].size;
	struct tower t = {
		l, lines, terms->pieces, 1, k == 2 ? max : max / k + 1, effort};
	struct curve curve = {0};
	const double *bonus = l->n_axes > 2 ? terms->bonus : NULL;
	bool evenly = false;
	int rc = -1;

	memset(c, 0, sizeof(*c));
	c->max = max;
	c->least = weft_calloc((size_t)max + 1, sizeof(*c->least), err);
	if (!c->least)
		return -1;
	if (l->n_axes > 1) {
		if (tower_build(&t, bonus, &curve, err))
			goto out;
		evenly = lines->line[0].clique * k >= 4 * steepest(&curve);
	}
	if (l->n_axes > 1 && k == 2) {
		share_by_two(&curve, lines->line[0].least, c);
	} else if (evenly) {
		share_evenly(&curve, &lines->line[0], c);
	} else {
		t.first = 0;
		t.max = max;
		free(curve.cost);
		if (tower_build(&t, bonus, &curve, err))
			goto out;
		memcpy(c->least, curve.cost,
		       ((size_t)max + 1) * sizeof(*c->least));
	}
	c->complete = !effort_spent(effort);
	c->back = give_back(l, lines, terms->pieces, t.first) -
		  bonus_back(l, bonus);
	rc = 0;
out:
	free(curve.cost);
	return rc;
}

void contour_free(struct contour *c)
{
	free(c->least);
	memset(c, 0, sizeof(*c));
}
