/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perimeter.c - the least traffic that leaves a set of ranks of a given size
 *
 * In a product of k chains the ranks lie on lines, n_i of them on each line
 * along axis i.  Of the lines along i that a set of s ranks meets, x_i are
 * filled in part, the others wholly.  A line filled in part is cut, which costs
 * at least the chain's least cut; and a set that meets few lines along one axis
 * meets many along the others (Loomis and Whitney, Bull. AMS 55(10), 1949):
 *
 *	product over i of (lines met along i) >= s^(k-1).
 *
 * Also, a line filled wholly along i crosses n_i lines along each other axis.
 * The least sum of x_i times the least cut of axis i, under these conditions
 * and that the numbers add up to s, is a lower bound of what leaves the set.
 */
#include "placement/bounds/perimeter.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Combinations of lines looked at for one question, a nanosecond each. */
#define MAX_WORK 60000

/* The lines of a product, axis 0 the one with most of them. */
struct lines {
	uint32_t k, n_ranks, size;
	uint32_t length[SPECTRUM_MAX_CHAINS]; /* ranks on a line */
	uint32_t n[SPECTRUM_MAX_CHAINS];      /* lines that can be met */
	double part[SPECTRUM_MAX_CHAINS];     /* price of a line met in part */
	double whole[SPECTRUM_MAX_CHAINS];    /* and of one met wholly */
	uint32_t floor[SPECTRUM_MAX_CHAINS];  /* lines that must be met */
	double *cost[SPECTRUM_MAX_CHAINS];    /* [n + 1] least cost of meeting
					       * so many lines or more */
	double need;			      /* size^(k-1) */
	double *memory;
};

/* What a set pays for each line that it meets. */
enum pricing {
	PRICE_LEAVES, /* what leaves the set: a cycle is cut twice, a path
		       * once, a line inside the set not at all */
	PRICE_SHARES, /* half of it: the set on the other side pays the rest */
	PRICE_PIECES, /* a path in m pieces is cut m - 1 times: each piece
		       * pays one cut, and one a line is given back */
};

static void set_price(struct lines *l, uint32_t axis, const struct chain *c,
		      enum pricing pricing)
{
	bool by_piece = pricing == PRICE_PIECES && !(c->ring > 0);

	l->length[axis] = c->size;
	l->part[axis] = fmax(2 * c->ring, c->path);
	if (pricing != PRICE_LEAVES && !by_piece)
		l->part[axis] /= 2;
	l->whole[axis] = by_piece ? c->path : 0;
}

/* Size order: short lines are many. */
static int lines_build(const struct product *p, enum pricing pricing,
		       uint32_t largest, struct lines *l,
		       struct weft_error *err)
{
	uint32_t order[SPECTRUM_MAX_CHAINS];

	memset(l, 0, sizeof(*l));
	l->n_ranks = p->n_ranks;
	l->k = p->n;
	for (uint32_t i = 0; i < p->n; i++) {
		uint32_t at = i;

		for (;
		     at > 0 && p->chain[order[at - 1]].size > p->chain[i].size;
		     at--)
			order[at] = order[at - 1];
		order[at] = i;
	}
	l->memory = weft_calloc(((size_t)largest + 2) * (l->k ? l->k : 1),
				sizeof(*l->memory), err);
	for (uint32_t i = 0; l->memory && i < l->k; i++) {
		set_price(l, i, &p->chain[order[i]], pricing);
		l->cost[i] = l->memory + i * ((size_t)largest + 2);
	}
	return l->memory ? 0 : -1;
}

static uint32_t lines_limit(const struct lines *l, uint32_t axis, uint32_t size)
{
	uint32_t all = l->n_ranks / l->length[axis];

	return all < size ? all : size;
}

/* Combinations that lines_least looks at, at most. */
static double lines_work(const struct lines *l, uint32_t size)
{
	double sum = 0, product = 1;

	for (uint32_t i = 0; i < l->k; i++) {
		sum += lines_limit(l, i, size);
		product *= i ? lines_limit(l, i, size) : 1;
	}
	return (sum + product) * (1 << l->k);
}

/* Lines met along one axis when x are filled in part and, as told, some or none
 * wholly; 0 where `size` ranks cannot lie so. */
static uint32_t lines_met(uint32_t size, uint32_t length, uint32_t x, bool some)
{
	uint32_t full = some ? (size - x) / length : 0;
	uint32_t on_parts = size - full * length;

	if ((full > 0) != some || on_parts < x || (x == 0 && on_parts) ||
	    on_parts > (uint64_t)x * (length - 1))
		return 0;
	return x + full;
}

static void price_axis(struct lines *l, uint32_t axis, bool some_full)
{
	double *cost = l->cost[axis], price;
	uint32_t most = lines_limit(l, axis, l->size);

	l->n[axis] = most;
	for (uint32_t n = 0; n <= most; n++)
		cost[n] = INFINITY;
	for (uint32_t x = 0; x <= most; x++) {
		uint32_t met =
			lines_met(l->size, l->length[axis], x, some_full);

		if (!met)
			continue;
		price = x * l->part[axis] + (met - x) * l->whole[axis];
		if (met > most)
			met = most;
		cost[met] = fmin(cost[met], price);
	}
	for (uint32_t n = most; n-- > 0;)
		cost[n] = fmin(cost[n], cost[n + 1]);
}

/* full: bit i tells that lines along axis i are filled wholly. */
static void set_floors(struct lines *l, uint32_t full)
{
	for (uint32_t i = 0; i < l->k; i++) {
		l->floor[i] = 1;
		for (uint32_t j = 0; j < l->k; j++)
			if (j != i && full >> j & 1 &&
			    l->length[j] > l->floor[i])
				l->floor[i] = l->length[j];
	}
}

/* Least cost of axes 0 ... axis, when those beyond meet `met` lines in product
 * at `cost`; no more than `best`. */
static double enumerate(const struct lines *l, uint32_t axis, double met,
			double cost, double best)
{
	const double *price = l->cost[axis];

	if (axis == 0) {
		double need =
			fmax(ceil(l->need / met * (1 - 1e-12)), l->floor[0]);

		return need > l->n[0]
			       ? best
			       : fmin(best, cost + price[(uint32_t)need]);
	}
	for (uint32_t n = l->floor[axis]; n <= l->n[axis]; n++) {
		/* more lines at the same price are at least as good */
		if (n < l->n[axis] && price[n + 1] <= price[n])
			continue;
		if (cost + price[n] >= best)
			break;
		best = enumerate(l, axis - 1, met * n, cost + price[n], best);
	}
	return best;
}

static double lines_least(struct lines *l, uint32_t size)
{
	double best = INFINITY;

	l->size = size;
	l->need = pow(size, l->k - 1);
	for (uint32_t full = 0; full < 1u << l->k; full++) {
		set_floors(l, full);
		for (uint32_t i = 0; i < l->k; i++)
			price_axis(l, i, full >> i & 1);
		best = enumerate(l, l->k - 1, 1, 0, best);
	}
	return isfinite(best) ? best : 0;
}

int perimeter_least(const struct product *p, uint32_t size, double *bytes,
		    struct weft_error *err)
{
	struct lines l;

	*bytes = 0;
	if (!p->n)
		return 0;
	if (lines_build(p, PRICE_LEAVES, size, &l, err))
		return -1;
	if (lines_work(&l, size) <= MAX_WORK)
		*bytes = lines_least(&l, size);
	free(l.memory);
	return 0;
}

/* Two bounds, of which the larger is taken.  A rank in a part of at most c
 * ranks pays at least the least price per rank of any size up to c.  And each
 * part pays at least the least price of any size. */
static double price_parts(struct lines *l, uint32_t step, const uint32_t *size,
			  uint32_t n_sizes)
{
	double work = 0, per_rank = INFINITY, per_part = INFINITY, bytes;

	for (uint32_t s = step; s <= size[0]; s += step)
		work += lines_work(l, s);
	for (uint32_t s = step; s <= size[0] && work <= MAX_WORK; s += step) {
		double least = lines_least(l, s);

		per_rank = fmin(per_rank, least / s);
		per_part = fmin(per_part, least);
	}
	if (!isfinite(per_rank))
		return 0;
	bytes = fmax(per_rank * l->n_ranks, per_part * n_sizes);
	for (uint32_t i = 0; i < l->k; i++)
		bytes -= l->whole[i] * (l->n_ranks / l->length[i]);
	return bytes;
}

int perimeter_cut(const struct product *p, uint32_t step, const uint32_t *size,
		  uint32_t n_sizes, double *bytes, struct weft_error *err)
{
	static const enum pricing pricings[] = {PRICE_SHARES, PRICE_PIECES};
	struct lines l;

	*bytes = 0;
	if (!p->n || n_sizes < 2)
		return 0;
	for (uint32_t i = 0; i < 2; i++) {
		if (lines_build(p, pricings[i], size[0], &l, err))
			return -1;
		*bytes = fmax(*bytes, price_parts(&l, step, size, n_sizes));
		free(l.memory);
	}
	return 0;
}
