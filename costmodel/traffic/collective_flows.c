/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collective_flows.c - who sends how many bytes to whom in a collective */
#include "base/bitset.h"
#include "costmodel/traffic/collective.h"

#include <math.h>
#include <stdlib.h>

/* One expansion. */
struct expansion {
	const struct weft_group *group;
	enum weft_collective collective;
	uint32_t n;	/* ranks */
	uint32_t local; /* of an innermost domain; 1 where that is all */
	double size;
	weft_collective_flow flow;
	void *data;
};

static void emit(const struct expansion *x, uint32_t from, uint32_t to,
		 double bytes)
{
	if (from != to && bytes > 0)
		x->flow(x->data, from, to, bytes);
}

static void exchange(const struct expansion *x, uint32_t a, uint32_t b,
		     double bytes)
{
	emit(x, a, b, bytes);
	emit(x, b, a, bytes);
}

static bool has_root(enum weft_collective c)
{
	return c == WEFT_BROADCAST || c == WEFT_REDUCE;
}

/* The rank at a position of a channel's ring. */
static uint32_t ring_rank(const struct expansion *x, uint32_t channel,
			  uint32_t position)
{
	const uint32_t local = position % x->local;

	if (x->group->order)
		return x->group->order[(size_t)channel * x->n + position];
	return position - local + (local + channel) % x->local;
}

/* Data of a rooted collective travels n - 1 hops, from or towards the root. */
static void rooted_ring(const struct expansion *x, uint32_t channel,
			double bytes)
{
	const bool away = x->collective == WEFT_BROADCAST;
	uint32_t start = 0, a, b;

	while (ring_rank(x, channel, start) != 0)
		start++;
	for (uint32_t i = 0; i + 1 < x->n; i++) {
		a = ring_rank(x, channel, (start + i) % x->n);
		b = ring_rank(x, channel, (start + i + 1) % x->n);
		emit(x, away ? a : b, away ? b : a, bytes);
	}
}

static void ring_flows(const struct expansion *x)
{
	const uint32_t wanted = x->group->n_channels;
	const uint32_t n_channels = wanted ? wanted : x->local;
	const double bytes = weft_collective_bus_factor(x->collective, x->n) *
			     x->size / n_channels;

	for (uint32_t c = 0; c < n_channels; c++) {
		if (has_root(x->collective)) {
			rooted_ring(x, c, bytes);
			continue;
		}
		for (uint32_t i = 0; i < x->n; i++)
			emit(x, ring_rank(x, c, i),
			     ring_rank(x, c, (i + 1) % x->n), bytes);
	}
}

uint32_t weft_tree_parent(uint32_t v, uint32_t k)
{
	const uint32_t lowest = v & (~v + 1);
	const uint32_t parent = (v & ~lowest) | lowest << 1;

	return parent < k ? parent : v & ~lowest;
}

uint32_t weft_tree_second(uint32_t v, uint32_t k)
{
	return k % 2 ? (v + 1) % k : k - 1 - v;
}

/* Each rank of an innermost domain heads one chain of it and an equal share of
 * the trees over the domains. */
static void double_tree_flows(const struct expansion *x)
{
	const uint32_t chain = x->local, k = x->n / chain;
	const double bytes = x->size / 2 / chain;
	uint32_t parent, a, b;

	for (uint32_t head = 0; head < chain; head++) {
		for (uint32_t v = 1; v < k; v++) {
			parent = weft_tree_parent(v, k);
			exchange(x, v * chain + head, parent * chain + head,
				 bytes);
			a = weft_tree_second(v, k);
			b = weft_tree_second(parent, k);
			exchange(x, a * chain + head, b * chain + head, bytes);
		}
		for (uint32_t r = 0; r < x->n; r++) {
			if (r % chain == chain - 1)
				continue;
			a = r - r % chain + (r + head) % chain;
			b = r - r % chain + (r + head + 1) % chain;
			exchange(x, a, b, 2 * bytes);
		}
	}
}

/* Rings among the ranks that differ in one level's number only, which have a
 * share of what the rings further in have reduced. */
static void level_rings(const struct expansion *x, uint32_t n_levels)
{
	uint32_t stride = 1;

	for (uint32_t l = 0; l < n_levels; l++) {
		const uint32_t n = x->group->level[l].n;
		const double bytes =
			weft_collective_bus_factor(x->collective, n) * x->size /
			stride;

		for (uint32_t r = 0; r < x->n; r++) {
			const uint32_t c = r / stride % n;

			emit(x, r, r - c * stride + (c + 1) % n * stride,
			     bytes);
		}
		stride *= n;
	}
}

static void hierarchical_flows(const struct expansion *x)
{
	level_rings(x, x->group->n_levels);
}

/* Once for each of reduce-scatter and all-gather. */
static void halving_doubling_flows(const struct expansion *x)
{
	const double times = x->collective == WEFT_ALL_REDUCE ? 2 : 1;
	double bytes = x->size * times;

	for (uint32_t d = 1; d < x->n; d *= 2) {
		bytes /= 2;
		for (uint32_t r = 0; r < x->n; r++)
			emit(x, r, r ^ d, bytes);
	}
}

static void recursive_doubling_flows(const struct expansion *x)
{
	for (uint32_t d = 1; d < x->n; d *= 2)
		for (uint32_t r = 0; r < x->n; r++)
			emit(x, r, r ^ d, x->size);
}

/* Gathering sends the blocks held so far ahead, as far as they are wanted;
 * scattering is the same backwards. */
static void pat_flows(const struct expansion *x)
{
	const bool ahead = x->collective == WEFT_ALL_GATHER;

	for (uint32_t d = 1; d < x->n; d *= 2) {
		const uint32_t blocks = d < x->n - d ? d : x->n - d;
		const uint32_t by = ahead ? d : x->n - d;

		for (uint32_t r = 0; r < x->n; r++)
			emit(x, r, (uint32_t)(((uint64_t)r + by) % x->n),
			     x->size / x->n * blocks);
	}
}

/* Leaders of the domains first, then inside each; among the domains of a level
 * the parent's number lacks the lowest bit. */
static void binomial_flows(const struct expansion *x)
{
	for (uint32_t r = 1; r < x->n; r++) {
		uint32_t stride = 1, l = 0, c, parent;

		while ((c = r / stride % x->group->level[l].n) == 0)
			stride *= x->group->level[l++].n;
		parent = r - c * stride + (c & (c - 1)) * stride;
		if (x->collective == WEFT_BROADCAST)
			emit(x, parent, r, x->size);
		else
			emit(x, r, parent, x->size);
	}
}

static void sharp_flows(const struct expansion *x)
{
	if (x->local > 1)
		level_rings(x, 1);
	for (uint32_t r = 0; r < x->n; r++)
		exchange(x, r, x->n, x->size / x->local);
}

/* The switch reads every rank's vector, each rank takes its share reduced and
 * gives it back, and the switch writes all shares to everyone. */
static void nvls_flows(const struct expansion *x)
{
	for (uint32_t r = 0; r < x->n; r++)
		exchange(x, r, x->n, x->size + x->size / x->n);
}

static void direct_flows(const struct expansion *x)
{
	if (x->collective == WEFT_SEND_RECV) {
		emit(x, 0, 1, x->size);
		return;
	}
	for (uint32_t r = 0; r < x->n; r++)
		for (uint32_t to = 0; to < x->n; to++)
			emit(x, r, to, x->size / x->n);
}

static void (*const expand[WEFT_N_ALGORITHMS])(const struct expansion *x) = {
	[WEFT_RING] = ring_flows,
	[WEFT_DOUBLE_TREE] = double_tree_flows,
	[WEFT_HIERARCHICAL] = hierarchical_flows,
	[WEFT_HALVING_DOUBLING] = halving_doubling_flows,
	[WEFT_RECURSIVE_DOUBLING] = recursive_doubling_flows,
	[WEFT_PAT] = pat_flows,
	[WEFT_BINOMIAL] = binomial_flows,
	[WEFT_SHARP] = sharp_flows,
	[WEFT_NVLS] = nvls_flows,
	[WEFT_DIRECT] = direct_flows,
};

/* Every channel passes every rank once. */
static int check_order(const struct weft_group *g, uint32_t n,
		       struct weft_error *err)
{
	uint64_t *seen;
	int rc = 0;

	if (!g->order)
		return 0;
	if (g->n_channels == 0)
		return weft_fail(err, WEFT_EINVAL,
				 "a ring order is given for 0 channels");
	seen = weft_calloc(weft_bitset_words(n), sizeof(*seen), err);
	if (!seen)
		return -1;
	for (uint32_t c = 0; c < g->n_channels && rc == 0; c++) {
		for (uint32_t i = 0; i < n && rc == 0; i++) {
			const uint32_t r = g->order[(size_t)c * n + i];

			/* All were set by the channel before, or none. */
			if (r >= n || weft_bitset_has(seen, r) != (c % 2))
				rc = weft_fail(err, WEFT_EINVAL,
					       "channel %u of the ring order "
					       "has rank %u at position %u, "
					       "expected each of %u ranks once",
					       c, r, i, n);
			else if (c % 2)
				weft_bitset_remove(seen, r);
			else
				weft_bitset_add(seen, r);
		}
	}
	free(seen);
	return rc;
}

int weft_collective_flows(enum weft_collective c, enum weft_algorithm a,
			  const struct weft_group *g, double size_bytes,
			  weft_collective_flow flow, void *data,
			  struct weft_error *err)
{
	struct expansion x = {
		.group = g,
		.collective = c,
		.n = weft_group_ranks(g, err),
		.local = g->n_levels > 1 ? g->level[0].n : 1,
		.size = size_bytes,
		.flow = flow,
		.data = data,
	};

	if (x.n == 0)
		return -1;
	if (!(size_bytes >= 0) || !isfinite(size_bytes))
		return weft_fail(err, WEFT_EINVAL,
				 "a collective of %g bytes, expected 0 or more",
				 size_bytes);
	if (!weft_collective_applies(c, a, g))
		return weft_fail(err, WEFT_EINVAL,
				 "%s cannot be done by %s among %u ranks",
				 c < WEFT_N_COLLECTIVES
					 ? weft_collective_names[c]
					 : "this collective",
				 a < WEFT_N_ALGORITHMS ? weft_algorithm_names[a]
						       : "this algorithm",
				 x.n);
	if (a == WEFT_RING && check_order(g, x.n, err))
		return -1;
	if (x.n > 1)
		expand[a](&x);
	return 0;
}
