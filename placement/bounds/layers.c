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

#include "base/compare.h"

#include <math.h>
#include <stdlib.h>

#define MAX_HIGHS  96  /* values of high told apart, about */
#define MAX_WORK   4e7 /* sums until several lows are not told apart */
#define QUICK_WORK 1e6 /* the same when it has to be quick, for any sums */
#define ROUNDING   1e-13

/* Sums a layer at a time in `now`; `flat` are lower, concave costs to take
 * instead of the first layer's. */
struct summing {
	struct layers s;
	struct effort *effort;
	struct layer *out;
	uint32_t concave_to; /* up to here every layer's costs are concave */
	double *now, *next;  /* [out->n + 1] */
	double *gain;	     /* [s.n] of a layer that is high, ascending */
	double *least;	     /* [layer size + 1] of the layers */
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

static uint32_t concave_to(const struct layer *c)
{
	double scale = 0;
	uint32_t a;

	for (a = 0; a <= c->n; a++)
		scale = fmax(scale, fabs(c->cost[a]));
	for (a = 1; a < c->n; a++)
		if (c->cost[a + 1] - c->cost[a] >
		    c->cost[a] - c->cost[a - 1] + ROUNDING * scale)
			return a;
	return c->n;
}

/* All layers but one hold low or high. */
static void sum_concave(struct summing *t, uint32_t low, uint32_t high)
{
	const struct layers *s = &t->s;
	uint32_t width = high - low, n = t->out->n, full = 0;
	double base = 0;

	for (uint32_t a = 0; a <= width; a++)
		t->least[a] = INFINITY;
	for (uint32_t i = 0; i < s->n; i++) {
		const double *cost = s->layer[i]->cost;

		base += cost[low];
		t->gain[i] = cost[high] - cost[low];
		for (uint32_t a = 0; a <= width; a++) {
			double more = cost[low + a] - cost[low];

			t->least[a] = more < t->least[a] ? more : t->least[a];
		}
	}
	qsort(t->gain, s->n, sizeof(*t->gain), weft_compare_reals);
	for (uint32_t a = 0; a <= n; a++)
		t->now[a] = INFINITY;
	/* `rest` beyond `full` layers that are high */
	for (uint64_t a = (uint64_t)low * s->n; a <= n; a++) {
		uint32_t rest = (uint32_t)(a - (uint64_t)low * s->n -
					   (uint64_t)full * width);

		if (rest > width || (full == s->n && rest))
			break;
		if (rest == width && width) {
			base += t->gain[full++];
			rest = 0;
		}
		t->now[a] = base + t->least[rest];
	}
	effort_spend(t->effort, n + (uint64_t)s->n * (width + 1));
}

/* One layer after the other. */
static void sum_one_by_one(struct summing *t, uint32_t low, uint32_t high)
{
	uint32_t n = t->out->n;

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
}

/* The next value of high; all up to it are priced as last + 1. */
static uint32_t next_high(uint32_t last, uint32_t most)
{
	uint32_t step = 1 + (last > MAX_HIGHS / 2 ? last / (MAX_HIGHS / 2) : 0);

	return last + step < most ? last + step : most;
}

/* Takes into *out the sets whose layers hold `low` or more each, and as many in
 * one of them; where `loose`, that or more in all of them. */
static void sum_from(struct summing *t, uint32_t low, bool loose)
{
	const struct layers *s = &t->s;
	uint32_t most = s->layer[0]->n;

	for (uint32_t last = low ? low - 1 : 0;
	     last < most && !effort_spent(t->effort);) {
		uint32_t high = next_high(last, most), top = last + 1;

		if (high <= t->concave_to)
			sum_concave(t, low, high);
		else
			sum_one_by_one(t, low, high);
		for (uint32_t a = 1; a <= t->out->n; a++) {
			uint32_t deep = loose ? a / s->n : low;
			double price = s->piece * top;

			if (deep < top)
				price += s->part * (top - deep);
			price += t->now[a];
			if (price < t->out->cost[a])
				t->out->cost[a] = price;
		}
		last = high;
	}
}

static int start(struct summing *t, struct weft_error *err)
{
	uint32_t size = t->s.layer[0]->n;
	double *p = weft_calloc(2 * ((size_t)t->out->n + 1) + t->s.n +
					2 * ((size_t)size + 1),
				sizeof(*p), err);

	t->memory = p;
	t->all_flat = weft_calloc(t->s.n, sizeof(*t->all_flat), err);
	if (!p || !t->all_flat)
		return -1;
	t->now = p;
	t->next = t->now + t->out->n + 1;
	t->gain = t->next + t->out->n + 1;
	t->least = t->gain + t->s.n;
	t->flat.n = size;
	t->flat.cost = t->least + size + 1;
	t->concave_to = size;
	for (uint32_t i = 0; i < t->s.n; i++) {
		uint32_t to = concave_to(t->s.layer[i]);

		t->concave_to = to < t->concave_to ? to : t->concave_to;
	}
	return 0;
}

/* Replaces all layers by one that is nowhere dearer than any, and concave. */
static void flatten(struct summing *t)
{
	uint32_t n = t->flat.n;
	double least = INFINITY, all = INFINITY;

	for (uint32_t i = 0; i < t->s.n; i++) {
		const double *cost = t->s.layer[i]->cost;

		for (uint32_t a = 1; a < n; a++)
			least = fmin(least, cost[a]);
		all = fmin(all, cost[n]);
		t->all_flat[i] = &t->flat;
	}
	/* where something is earned, as if each vertex earned that much */
	for (uint32_t a = 1; a < n; a++)
		t->flat.cost[a] = least < 0 ? least * a : least;
	t->flat.cost[n] = n > 1 ? fmin(all, t->flat.cost[n - 1]) : all;
	t->s.layer = t->all_flat;
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
	highs = size < MAX_HIGHS ? size : MAX_HIGHS;
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
	return rc;
}
