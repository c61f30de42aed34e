/* SPDX-License-Identifier: GPL-3.0-or-later */
/* layers.c - what a set costs at least that is spread over layers
 *
 * Let the layers hold a_1 ... a_R vertices.  Of the lines across them, at least
 * max a_i meet the set and at least max a_i - min a_i are filled in part, so
 * for each pair of bounds low <= a_i <= high the least sum of the layers' own
 * costs is looked for: one layer after the other, or, where these costs are
 * concave, at once: then all layers but one hold low or high.
 */
#include "placement/bounds/layers.h"

#include <math.h>
#include <stdlib.h>

#define MAX_HIGHS   96	/* values of high told apart, about, */
#define QUICK_HIGHS 24	/* and when it has to be quick */
#define MAX_WORK    4e7 /* sums until several lows are not told apart */
#define QUICK_WORK  1e6 /* the same when it has to be quick, for any sums */
#define ROUNDING    1e-13

/* Layers that are one and the same. */
struct kind {
	const double *cost;
	uint32_t n;
	double gain; /* of one that is high, not low */
};

/* Sums a layer at a time in `now`; `flat` are lower, concave costs to take
 * instead of the first layer's. */
struct summing {
	struct layers s;
	struct effort *effort;
	struct layer *out;
	uint32_t concave_to; /* up to here every layer's costs are concave */
	double *now, *next;  /* [out->n + 1] */
	double *least;	     /* [layer size + 1] of the layers */
	struct kind *kind;   /* [n_kinds], room for s.n */
	uint32_t n_kinds;
	struct layer flat;
	const struct layer **all_flat;
	void *memory;
};

int layer_start(struct layer *c, uint64_t vertices, uint32_t max,
		struct weft_error *err)
{
	c->n = vertices < max ? (uint32_t)vertices : max;
	c->cost = weft_calloc((size_t)c->n + 1, sizeof(*c->cost), err);
	return c->cost ? 0 : -1;
}

static uint32_t concave_to(const double *cost, uint32_t n)
{
	double scale = 0;
	uint32_t a;

	for (a = 0; a <= n; a++)
		scale = fmax(scale, fabs(cost[a]));
	for (a = 1; a < n; a++)
		if (cost[a + 1] - cost[a] >
		    cost[a] - cost[a - 1] + ROUNDING * scale)
			return a;
	return n;
}

/* Bounds of what layers hold: all hold low or more each, loosely that is as
 * many as each has of the set, and one of them as many as top. */
struct range {
	uint32_t low, top;
	bool loose;
};

/* Takes n sums, of `first` vertices on, into *out where they are less.  cost:
 * beyond `base`. */
static void offer(struct summing *t, const struct range *r, uint64_t first,
		  uint32_t n, const double *cost, double base)
{
	const struct layers *s = &t->s;
	double *out = t->out->cost + first;
	uint32_t most = t->out->n + 1;

	if (first >= most)
		return;
	n = n < most - first ? n : most - (uint32_t)first;
	base += s->piece * r->top;
	if (!r->loose && r->low < r->top)
		base += s->part * (r->top - r->low);
	for (uint32_t i = 0, next; i < n; i = next) {
		uint64_t deep = (first + i) / s->n;
		double sum, part = 0;

		next = n;
		if (r->loose && deep < r->top) {
			part = s->part * (double)(r->top - deep);
			deep = (deep + 1) * s->n - first;
			next = deep < n ? (uint32_t)deep : n;
		}
		for (uint32_t a = i; a < next; a++) {
			sum = base + part + cost[a];
			out[a] = sum < out[a] ? sum : out[a];
		}
	}
}

/* What each kind gains, the least first, and what one layer adds at least that
 * holds more than low. */
static void measure_kinds(struct summing *t, uint32_t low, uint32_t high)
{
	uint32_t width = high - low;

	for (uint32_t a = 0; a <= width; a++)
		t->least[a] = INFINITY;
	for (uint32_t i = 0; i < t->n_kinds; i++) {
		struct kind kind = t->kind[i];
		const double *cost = kind.cost + low;
		uint32_t at = i;

		for (uint32_t a = 0; a <= width; a++) {
			double more = cost[a] - cost[0];

			t->least[a] = more < t->least[a] ? more : t->least[a];
		}
		kind.gain = cost[width] - cost[0];
		for (; at > 0 && t->kind[at - 1].gain > kind.gain; at--)
			t->kind[at] = t->kind[at - 1];
		t->kind[at] = kind;
	}
	effort_spend(t->effort, (uint64_t)t->n_kinds * (width + 1));
}

/* All layers but one hold low or high. */
static void sum_concave(struct summing *t, const struct range *r, uint32_t high)
{
	uint32_t width = high - r->low, most = t->out->n;
	uint64_t at = (uint64_t)r->low * t->s.n;
	double base = 0;

	measure_kinds(t, r->low, high);
	for (uint32_t i = 0; i < t->n_kinds; i++)
		base += t->kind[i].n * t->kind[i].cost[r->low];
	for (uint32_t i = 0; i < t->n_kinds; i++) {
		for (uint32_t k = 0; k < t->kind[i].n && at <= most; k++) {
			/* nothing more than low in any: no vertex at all */
			uint32_t none = at == 0;

			offer(t, r, at + none, width - none, t->least + none,
			      base);
			effort_spend(t->effort, width + 1);
			base += t->kind[i].gain;
			at += width;
		}
	}
	offer(t, r, at, 1, t->least, base);
}

/* One layer after the other. */
static void sum_one_by_one(struct summing *t, const struct range *r,
			   uint32_t high)
{
	uint32_t n = t->out->n, low = r->low;

	for (uint32_t a = 0; a <= n; a++)
		t->now[a] = a ? INFINITY : 0;
	for (uint32_t i = 0; i < t->s.n; i++) {
		const double *cost = t->s.layer[i]->cost;
		uint64_t reach = (i + (uint64_t)1) * high;
		double *swap = t->now;

		reach = reach < n ? reach : n;
		for (uint32_t sum = 0; sum <= n; sum++)
			t->next[sum] = INFINITY;
		for (uint64_t sum = (i + (uint64_t)1) * low; sum <= reach;
		     sum++) {
			uint64_t most = sum < high ? sum : high;
			double best = INFINITY;

			for (uint64_t a = low; a <= most; a++) {
				double c = t->now[sum - a] + cost[a];

				best = c < best ? c : best;
			}
			t->next[sum] = best;
		}
		effort_spend(t->effort, (reach + 1) * (high - low + 1) / 8);
		t->now = t->next;
		t->next = swap;
	}
	offer(t, r, 1, n, t->now + 1, 0);
}

static uint32_t max_highs(const struct layers *s)
{
	return s->quick ? QUICK_HIGHS : MAX_HIGHS;
}

/* The next value of high; all up to it are priced as last + 1. */
static uint32_t next_high(uint32_t last, uint32_t most, uint32_t highs)
{
	uint32_t step = 1 + (last > highs / 2 ? last / (highs / 2) : 0);

	return last + step < most ? last + step : most;
}

/* Takes into *out the sets whose layers hold `low` or more each, and as many in
 * one of them; where `loose`, that or more in all of them. */
static void sum_from(struct summing *t, uint32_t low, bool loose)
{
	uint32_t most = t->s.layer[0]->n;

	for (uint32_t last = low ? low - 1 : 0;
	     last < most && !effort_spent(t->effort);) {
		struct range range = {low, last + 1, loose};
		uint32_t high = next_high(last, most, max_highs(&t->s));

		if (high <= t->concave_to)
			sum_concave(t, &range, high);
		else
			sum_one_by_one(t, &range, high);
		last = high;
	}
}

/* Counts the layers of each kind; those next to each other are mostly of one.
 */
static void count_kinds(struct summing *t)
{
	t->n_kinds = 0;
	for (uint32_t i = 0; i < t->s.n; i++) {
		const double *cost = t->s.layer[i]->cost;
		uint32_t k = t->n_kinds;

		while (k > 0 && t->kind[k - 1].cost != cost)
			k--;
		if (k == 0) {
			t->kind[t->n_kinds++] = (struct kind){.cost = cost};
			k = t->n_kinds;
		}
		t->kind[k - 1].n++;
	}
}

static int start(struct summing *t, struct weft_error *err)
{
	uint32_t size = t->s.layer[0]->n;
	double *p = weft_calloc(2 * ((size_t)t->out->n + (size_t)size + 2),
				sizeof(*p), err);

	t->memory = p;
	t->all_flat = weft_calloc(t->s.n, sizeof(*t->all_flat), err);
	t->kind = weft_calloc(t->s.n, sizeof(*t->kind), err);
	if (!p || !t->all_flat || !t->kind)
		return -1;
	t->now = p;
	t->next = t->now + t->out->n + 1;
	t->least = t->next + t->out->n + 1;
	t->flat.n = size;
	t->flat.cost = t->least + size + 1;
	t->concave_to = size;
	count_kinds(t);
	for (uint32_t i = 0; i < t->n_kinds; i++) {
		uint32_t to = concave_to(t->kind[i].cost, size);

		t->concave_to = to < t->concave_to ? to : t->concave_to;
	}
	return 0;
}

/* Replaces all layers by one that is nowhere dearer than any, and concave. */
static void flatten(struct summing *t)
{
	uint32_t n = t->flat.n;
	double least = INFINITY, all = INFINITY;

	for (uint32_t i = 0; i < t->n_kinds; i++) {
		const double *cost = t->kind[i].cost;

		for (uint32_t a = 1; a < n; a++)
			least = fmin(least, cost[a]);
		all = fmin(all, cost[n]);
	}
	/* where something is earned, as if each vertex earned that much */
	for (uint32_t a = 1; a < n; a++)
		t->flat.cost[a] = least < 0 ? least * a : least;
	t->flat.cost[n] = n > 1 ? fmin(all, t->flat.cost[n - 1]) : all;
	for (uint32_t i = 0; i < t->s.n; i++)
		t->all_flat[i] = &t->flat;
	t->s.layer = t->all_flat;
	count_kinds(t);
	t->concave_to = n;
}

int layers_sum(const struct layers *s, struct effort *effort, struct layer *out,
	       bool *exact, struct weft_error *err)
{
	struct summing t = {.s = *s, .effort = effort, .out = out};
	uint32_t deepest = s->part > 0 ? out->n / s->n : 0, size, highs;
	double work;
	bool loose;
	int rc = start(&t, err);

	if (rc)
		goto out;
	size = s->layer[0]->n;
	highs = size < max_highs(s) ? size : max_highs(s);
	work = (double)highs * out->n * s->n;
	if (t.concave_to < size)
		work *= size;
	if (s->quick && work > QUICK_WORK && t.concave_to < size) {
		flatten(&t);
		work /= size;
		*exact = false;
	}
	loose = work * deepest > (s->quick ? QUICK_WORK : MAX_WORK) &&
		deepest > 1;
	*exact &= !(s->quick && loose);
	for (uint32_t a = 0; a <= out->n; a++)
		out->cost[a] = a ? INFINITY : 0;
	for (uint32_t low = 0; low <= (loose ? 1 : deepest); low++)
		sum_from(&t, low, loose && low);
out:
	free(t.memory);
	free(t.all_flat);
	free(t.kind);
	return rc;
}
