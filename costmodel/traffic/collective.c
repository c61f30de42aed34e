/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collective.c - closed forms of the time that collectives take
 *
 * Thakur, Rabenseifner, Gropp 2005 for the classic algorithms; Sanders et al.
 * 2009 for the double tree.  With a single level each is the textbook form;
 * with several, every message is charged to the level that it crosses.
 */
#include "costmodel/traffic/collective.h"

#include <math.h>

const char *const weft_collective_names[WEFT_N_COLLECTIVES] = {
	[WEFT_ALL_REDUCE] = "all_reduce",
	[WEFT_ALL_GATHER] = "all_gather",
	[WEFT_REDUCE_SCATTER] = "reduce_scatter",
	[WEFT_BROADCAST] = "broadcast",
	[WEFT_REDUCE] = "reduce",
	[WEFT_ALL_TO_ALL] = "all_to_all",
	[WEFT_SEND_RECV] = "send_recv",
};

const char *const weft_algorithm_names[WEFT_N_ALGORITHMS] = {
	[WEFT_RING] = "ring",
	[WEFT_DOUBLE_TREE] = "double-tree",
	[WEFT_HIERARCHICAL] = "hierarchical",
	[WEFT_HALVING_DOUBLING] = "halving-doubling",
	[WEFT_RECURSIVE_DOUBLING] = "recursive-doubling",
	[WEFT_PAT] = "pat",
	[WEFT_BINOMIAL] = "binomial-tree",
	[WEFT_SHARP] = "sharp",
	[WEFT_NVLS] = "nvls",
	[WEFT_DIRECT] = "direct",
};

/* Times that each byte crosses a link of an optimal algorithm, in units of
 * (n-1)/n; 0: the collective has a root. */
static uint32_t passes(enum weft_collective c)
{
	static const uint32_t of[WEFT_N_COLLECTIVES] = {
		[WEFT_ALL_REDUCE] = 2,
		[WEFT_ALL_GATHER] = 1,
		[WEFT_REDUCE_SCATTER] = 1,
		[WEFT_ALL_TO_ALL] = 1,
	};

	return of[c];
}

/* So that the figure can be held against the link's own rate (nccl-tests,
 * PERFORMANCE). */
double weft_collective_bus_factor(enum weft_collective c, uint32_t n)
{
	if (passes(c) == 0)
		return 1;
	return n < 2 ? 0 : (double)passes(c) * (n - 1) / n;
}

struct weft_group weft_group_flat(uint32_t n, double latency_s,
				  double rate_bytes_per_s)
{
	return (struct weft_group){
		.n_levels = 1,
		.level = {{n, latency_s, rate_bytes_per_s}},
	};
}

/* Ranks of one domain of the level below `level`. */
static uint32_t below(const struct weft_group *g, uint32_t level)
{
	uint32_t n = 1;

	for (uint32_t l = 0; l < level; l++)
		n *= g->level[l].n;
	return n;
}

static uint32_t ranks(const struct weft_group *g)
{
	return below(g, g->n_levels);
}

uint32_t weft_group_ranks(const struct weft_group *g, struct weft_error *err)
{
	uint64_t n = 1;

	if (g->n_levels == 0 || g->n_levels > WEFT_MAX_LEVELS) {
		weft_fail(err, WEFT_EINVAL,
			  "a group of %u levels, expected 1 to %d", g->n_levels,
			  WEFT_MAX_LEVELS);
		return 0;
	}
	for (uint32_t l = 0; l < g->n_levels; l++) {
		n *= g->level[l].n;
		if (n == 0 || n > WEFT_MAX_GPUS) {
			weft_fail(err, WEFT_EINVAL,
				  "level %u of a group joins %u domains, "
				  "expected 1 or more and at most %u ranks in "
				  "all",
				  l, g->level[l].n, WEFT_MAX_GPUS);
			return 0;
		}
	}
	return (uint32_t)n;
}

static uint32_t log2_ceil(uint32_t n)
{
	uint32_t k = 0;

	while (k < 32 && (1ull << k) < n)
		k++;
	return k;
}

/* Innermost level at which ranks 0 and `distance` meet. */
static uint32_t level_of(const struct weft_group *g, uint32_t distance)
{
	uint32_t l = 0;

	while (l + 1 < g->n_levels && below(g, l + 1) <= distance)
		l++;
	return l;
}

/* The slowest rate of a rank from `level` outwards. */
static double rate_from(const struct weft_group *g, uint32_t level)
{
	double rate = INFINITY;

	for (uint32_t l = level; l < g->n_levels; l++)
		if (g->level[l].n > 1)
			rate = fmin(rate, g->level[l].rate_bytes_per_s);
	return rate;
}

static double latency_from(const struct weft_group *g, uint32_t level)
{
	double latency_s = 0;

	for (uint32_t l = level; l < g->n_levels; l++)
		if (g->level[l].n > 1)
			latency_s = fmax(latency_s, g->level[l].latency_s);
	return latency_s;
}

/* Hops of the ring across a level: as many as it has domains below, one less at
 * the outermost since n - 1 hops reach everyone.  One ring leaves a domain by
 * one rank's link; several share the work by leaving from different ranks. */
static void ring_price(enum weft_collective c, const struct weft_group *g,
		       double size, struct weft_collective_price *p)
{
	const uint32_t n = ranks(g), times = passes(c) ? passes(c) : 1;
	uint32_t exits = g->level[0].n;
	double rate = rate_from(g, 0);

	if (g->n_channels > 0 && g->n_channels < exits)
		exits = g->n_channels;
	if (g->n_levels > 1) {
		rate = rate_from(g, 1) * exits;
		if (g->level[0].n > 1)
			rate = fmin(rate, g->level[0].rate_bytes_per_s);
	}
	for (uint32_t l = 0; l < g->n_levels; l++) {
		const uint32_t hops = n / below(g, l) - n / below(g, l + 1);

		p->latency_s += times * hops * g->level[l].latency_s;
	}
	p->n_steps = times * (n - 1);
	p->sent_bytes = passes(c) ? passes(c) * (n - 1.0) / n * size : size;
	p->transfer_s = p->sent_bytes / rate;
}

/* What the busiest of k vertices sends, in units of S: the inner vertex of one
 * tree has a parent and two children and is a leaf of the other. */
static double tree_load(uint32_t k)
{
	static const double few[] = {0, 0, 1, 1.5};

	return k < 4 ? few[k] : 2;
}

static void double_tree_price(enum weft_collective c,
			      const struct weft_group *g, double size,
			      struct weft_collective_price *p)
{
	const uint32_t chain = g->n_levels > 1 ? g->level[0].n : 1;
	const uint32_t first = g->n_levels > 1 ? 1 : 0;
	const double inside = 2.0 * (chain - 1) / chain * size;
	const double outside = tree_load(ranks(g) / chain) / chain * size;
	uint32_t heights;

	(void)c;
	p->n_steps = 2 * (chain - 1);
	if (first)
		p->latency_s = 2 * (chain - 1) * g->level[0].latency_s;
	for (uint32_t l = first; l < g->n_levels; l++) {
		heights = log2_ceil(below(g, l + 1) / chain) -
			  log2_ceil(below(g, l) / chain);
		p->n_steps += 2 * heights;
		p->latency_s += 2 * heights * g->level[l].latency_s;
	}
	p->sent_bytes = inside + outside;
	/* Both run at once, on different links. */
	p->transfer_s = outside / rate_from(g, first);
	if (chain > 1)
		p->transfer_s = fmax(p->transfer_s,
				     inside / g->level[0].rate_bytes_per_s);
}

static void hierarchical_price(enum weft_collective c,
			       const struct weft_group *g, double size,
			       struct weft_collective_price *p)
{
	for (uint32_t l = 0; l < g->n_levels; l++) {
		const uint32_t n = g->level[l].n;
		double bytes =
			weft_collective_bus_factor(c, n) * size / below(g, l);

		if (n == 1)
			continue;
		p->n_steps += passes(c) * (n - 1);
		p->sent_bytes += bytes;
		p->latency_s += passes(c) * (n - 1) * g->level[l].latency_s;
		p->transfer_s += bytes / g->level[l].rate_bytes_per_s;
	}
}

/* Partners at distance 1, 2, 4, ...; the halves go to the nearest. */
static void halving_doubling_price(enum weft_collective c,
				   const struct weft_group *g, double size,
				   struct weft_collective_price *p)
{
	double bytes = size;

	for (uint32_t d = 1; d < ranks(g); d *= 2) {
		const uint32_t l = level_of(g, d);

		bytes /= 2;
		p->n_steps += passes(c);
		p->sent_bytes += passes(c) * bytes;
		p->latency_s += passes(c) * g->level[l].latency_s;
		p->transfer_s +=
			passes(c) * bytes / g->level[l].rate_bytes_per_s;
	}
}

static void recursive_doubling_price(enum weft_collective c,
				     const struct weft_group *g, double size,
				     struct weft_collective_price *p)
{
	(void)c;
	for (uint32_t d = 1; d < ranks(g); d *= 2) {
		const uint32_t l = level_of(g, d);

		p->n_steps++;
		p->sent_bytes += size;
		p->latency_s += g->level[l].latency_s;
		p->transfer_s += size / g->level[l].rate_bytes_per_s;
	}
}

/* In every exchange some pair wraps around the whole group. */
static void pat_price(enum weft_collective c, const struct weft_group *g,
		      double size, struct weft_collective_price *p)
{
	const uint32_t n = ranks(g);

	p->n_steps = log2_ceil(n);
	p->sent_bytes = weft_collective_bus_factor(c, n) * size;
	p->latency_s = p->n_steps * latency_from(g, 0);
	p->transfer_s = p->sent_bytes / rate_from(g, 0);
}

static void binomial_price(enum weft_collective c, const struct weft_group *g,
			   double size, struct weft_collective_price *p)
{
	for (uint32_t l = 0; l < g->n_levels; l++) {
		const uint32_t steps = log2_ceil(g->level[l].n);

		if (steps == 0)
			continue;
		p->n_steps += steps;
		p->latency_s += steps * g->level[l].latency_s;
		p->transfer_s += steps * size / g->level[l].rate_bytes_per_s;
	}
	/* A reduction's inner ranks pass on one sum. */
	p->sent_bytes = c == WEFT_REDUCE ? size : p->n_steps * size;
}

/* Rings inside the innermost domains, so that each rank has its share reduced
 * by the network. */
static void sharp_price(enum weft_collective c, const struct weft_group *g,
			double size, struct weft_collective_price *p)
{
	const uint32_t first = g->n_levels > 1 ? 1 : 0;
	const uint32_t local = first ? g->level[0].n : 1;
	const double inside = weft_collective_bus_factor(c, local) * size;

	p->n_steps = 2 * (local - 1) + 2 * g->sharp_tiers;
	p->sent_bytes = inside + size / local;
	p->latency_s = 2 * g->sharp_tiers * latency_from(g, first);
	p->transfer_s = size / local / rate_from(g, first);
	if (local > 1) {
		p->latency_s += 2 * (local - 1) * g->level[0].latency_s;
		p->transfer_s += inside / g->level[0].rate_bytes_per_s;
	}
}

/* Each rank's share is read from all and written to all by the switch. */
static void nvls_price(enum weft_collective c, const struct weft_group *g,
		       double size, struct weft_collective_price *p)
{
	(void)c;
	p->n_steps = 2;
	p->sent_bytes = size + size / ranks(g);
	p->latency_s = 2 * g->level[0].latency_s;
	p->transfer_s =
		size / (g->level[0].rate_bytes_per_s * g->multicast_efficiency);
}

static void direct_price(enum weft_collective c, const struct weft_group *g,
			 double size, struct weft_collective_price *p)
{
	const uint32_t n = ranks(g);
	const uint32_t at_once = g->in_flight ? g->in_flight : 1;

	if (c == WEFT_SEND_RECV) {
		p->n_steps = 1;
		p->sent_bytes = size;
		p->latency_s = latency_from(g, 0);
		p->transfer_s = size / rate_from(g, 0);
		return;
	}
	p->n_steps = (n - 1 + at_once - 1) / at_once;
	p->sent_bytes = weft_collective_bus_factor(c, n) * size;
	for (uint32_t l = 0; l < g->n_levels; l++) {
		double peers = below(g, l + 1) - below(g, l);

		if (peers == 0)
			continue;
		p->latency_s += peers * g->level[l].latency_s;
		p->transfer_s +=
			peers / n * size / g->level[l].rate_bytes_per_s;
	}
	if (n > 1)
		p->latency_s *= (double)p->n_steps / (n - 1);
}

/* ---- what applies ---- */

static bool is_power_of_two(const struct weft_group *g)
{
	const uint32_t n = ranks(g);

	return (n & (n - 1)) == 0;
}

static bool has_several_levels(const struct weft_group *g)
{
	uint32_t n = 0;

	for (uint32_t l = 0; l < g->n_levels; l++)
		n += g->level[l].n > 1;
	return n > 1;
}

static bool has_sharp(const struct weft_group *g)
{
	return g->sharp_tiers > 0;
}

static bool has_nvls(const struct weft_group *g)
{
	return g->multicast_efficiency > 0 && !has_several_levels(g);
}

#define DOES(collective) (1u << WEFT_##collective)
#define DOES_SHARDS	 (DOES(ALL_GATHER) | DOES(REDUCE_SCATTER))

static const struct {
	uint32_t does;
	bool (*applies)(const struct weft_group *g); /* NULL: always */
	void (*price)(enum weft_collective c, const struct weft_group *g,
		      double size, struct weft_collective_price *p);
} algorithms[WEFT_N_ALGORITHMS] = {
	[WEFT_RING] = {DOES(ALL_REDUCE) | DOES_SHARDS | DOES(BROADCAST) |
			       DOES(REDUCE),
		       NULL, ring_price},
	[WEFT_DOUBLE_TREE] = {DOES(ALL_REDUCE), NULL, double_tree_price},
	[WEFT_HIERARCHICAL] = {DOES(ALL_REDUCE) | DOES_SHARDS,
			       has_several_levels, hierarchical_price},
	[WEFT_HALVING_DOUBLING] = {DOES(ALL_REDUCE) | DOES_SHARDS,
				   is_power_of_two, halving_doubling_price},
	[WEFT_RECURSIVE_DOUBLING] = {DOES(ALL_REDUCE), is_power_of_two,
				     recursive_doubling_price},
	[WEFT_PAT] = {DOES_SHARDS, NULL, pat_price},
	[WEFT_BINOMIAL] = {DOES(BROADCAST) | DOES(REDUCE), NULL,
			   binomial_price},
	[WEFT_SHARP] = {DOES(ALL_REDUCE), has_sharp, sharp_price},
	[WEFT_NVLS] = {DOES(ALL_REDUCE), has_nvls, nvls_price},
	[WEFT_DIRECT] = {DOES(ALL_TO_ALL) | DOES(SEND_RECV), NULL,
			 direct_price},
};

bool weft_collective_applies(enum weft_collective c, enum weft_algorithm a,
			     const struct weft_group *g)
{
	if (c >= WEFT_N_COLLECTIVES || a >= WEFT_N_ALGORITHMS ||
	    !(algorithms[a].does & 1u << c))
		return false;
	if (c == WEFT_SEND_RECV && ranks(g) > 2)
		return false;
	return !algorithms[a].applies || algorithms[a].applies(g);
}

static int check_rates(const struct weft_group *g, double size,
		       struct weft_error *err)
{
	if (weft_group_ranks(g, err) == 0)
		return -1;
	if (!(size >= 0) || !isfinite(size))
		return weft_fail(err, WEFT_EINVAL,
				 "a collective of %g bytes, expected 0 or more",
				 size);
	if (!(g->multicast_efficiency >= 0 && g->multicast_efficiency <= 1))
		return weft_fail(err, WEFT_EINVAL,
				 "multicast_efficiency is %g, expected 0 to 1",
				 g->multicast_efficiency);
	for (uint32_t l = 0; l < g->n_levels; l++) {
		if (g->level[l].n == 1)
			continue;
		if (!(g->level[l].rate_bytes_per_s > 0) ||
		    !(g->level[l].latency_s >= 0) ||
		    !isfinite(g->level[l].latency_s))
			return weft_fail(
				err, WEFT_EINVAL,
				"level %u of a group has %g bytes per second "
				"and %g seconds, expected more than 0 and at "
				"least 0",
				l, g->level[l].rate_bytes_per_s,
				g->level[l].latency_s);
	}
	return 0;
}

/* A group that check_rates() has passed. */
static void price_one(enum weft_collective c, enum weft_algorithm a,
		      const struct weft_group *g, double size,
		      struct weft_collective_price *price)
{
	*price = (struct weft_collective_price){.algorithm = a,
						.time_s = INFINITY};
	if (!weft_collective_applies(c, a, g))
		return;
	if (ranks(g) > 1)
		algorithms[a].price(c, g, size, price);
	price->time_s = price->latency_s + price->transfer_s;
}

int weft_collective_price(enum weft_collective c, enum weft_algorithm a,
			  const struct weft_group *g, double size_bytes,
			  struct weft_collective_price *price,
			  struct weft_error *err)
{
	if (check_rates(g, size_bytes, err))
		return -1;
	price_one(c, a, g, size_bytes, price);
	return 0;
}

int weft_collective_choose(enum weft_collective c, const struct weft_group *g,
			   double size_bytes,
			   struct weft_collective_price *price,
			   struct weft_error *err)
{
	struct weft_collective_price one;

	if (check_rates(g, size_bytes, err))
		return -1;
	price->time_s = INFINITY;
	for (int a = 0; a < WEFT_N_ALGORITHMS; a++) {
		price_one(c, (enum weft_algorithm)a, g, size_bytes, &one);
		if (one.time_s < price->time_s)
			*price = one;
	}
	if (isinf(price->time_s))
		return weft_fail(
			err, WEFT_EINVAL, "no algorithm does %s among %u ranks",
			c < WEFT_N_COLLECTIVES ? weft_collective_names[c]
					       : "this collective",
			ranks(g));
	return 0;
}
