/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collective.c - who sends what share of a collective to whom */
#include "costmodel/traffic/collective.h"

const char *const weft_collective_names[WEFT_N_COLLECTIVES] = {
	[WEFT_ALL_REDUCE] = "all_reduce",
	[WEFT_ALL_GATHER] = "all_gather",
	[WEFT_REDUCE_SCATTER] = "reduce_scatter",
	[WEFT_BROADCAST] = "broadcast",
	[WEFT_REDUCE] = "reduce",
	[WEFT_ALL_TO_ALL] = "all_to_all",
	[WEFT_SEND_RECV] = "send_recv",
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

double weft_volume_collective(enum weft_collective collective, uint32_t n,
			      double size_bytes)
{
	/* Times size for a message, times (n-1)/n size for the rest. */
	static const double shares[WEFT_N_COLLECTIVES] = {
		[WEFT_ALL_REDUCE] = 2,	   [WEFT_ALL_GATHER] = 1,
		[WEFT_REDUCE_SCATTER] = 1, [WEFT_ALL_TO_ALL] = 1,
		[WEFT_BROADCAST] = 1,	   [WEFT_REDUCE] = 1,
		[WEFT_SEND_RECV] = 1,
	};

	if (n < 2)
		return 0;
	if (collective == WEFT_SEND_RECV)
		return size_bytes;
	return shares[collective] * (n - 1) / n * size_bytes;
}

double weft_volume_all_reduce(uint32_t n, double size_bytes)
{
	double once = n < 2 ? 0 : (double)(n - 1) / n * size_bytes;

	return once + once;
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

static uint32_t ranks(const struct weft_group *g)
{
	return g->local * g->n_nodes;
}

bool weft_collective_applies(enum weft_collective c, enum weft_algorithm a,
			     const struct weft_group *g)
{
	bool shards = c == WEFT_ALL_GATHER || c == WEFT_REDUCE_SCATTER;

	if (c != WEFT_ALL_REDUCE && !shards)
		return false;
	switch (a) {
	case WEFT_DOUBLE_TREE:
		return !shards;
	case WEFT_HIERARCHICAL:
		return g->local > 1 && g->n_nodes > 1;
	case WEFT_HALVING_DOUBLING:
		return (ranks(g) & (ranks(g) - 1)) == 0;
	case WEFT_SHARP:
		return false;
	default:
		return true;
	}
}

/* One expansion. */
struct expansion {
	const struct weft_group *group;
	enum weft_collective collective;
	uint32_t n;
	weft_collective_flow flow;
	void *data;
};

static void emit(const struct expansion *x, uint32_t from, uint32_t to,
		 double share)
{
	if (from != to && share > 0)
		x->flow(x->data, from, to, share);
}

static void exchange(const struct expansion *x, uint32_t a, uint32_t b,
		     double share)
{
	emit(x, a, b, share);
	emit(x, b, a, share);
}

/* The rank at a position of a channel's ring. */
static uint32_t ring_rank(const struct expansion *x, uint32_t channel,
			  uint32_t position)
{
	const uint32_t local = position % x->group->local;

	return position - local + (local + channel) % x->group->local;
}

static void ring_flows(const struct expansion *x)
{
	const uint32_t n_channels = x->group->n_channels;
	const double share =
		weft_collective_bus_factor(x->collective, x->n) / n_channels;

	for (uint32_t c = 0; c < n_channels; c++)
		for (uint32_t i = 0; i < x->n; i++)
			emit(x, ring_rank(x, c, i),
			     ring_rank(x, c, (i + 1) % x->n), share);
}

/* Each rank of a node heads one chain of it and an equal share of the trees
 * over the nodes. */
static void double_tree_flows(const struct expansion *x)
{
	const uint32_t chain = x->group->local, k = x->group->n_nodes;
	const double share = 0.5 / chain;
	uint32_t parent, a, b;

	for (uint32_t head = 0; head < chain; head++) {
		for (uint32_t v = 1; v < k; v++) {
			parent = weft_tree_parent(v, k);
			exchange(x, v * chain + head, parent * chain + head,
				 share);
			a = weft_tree_second(v, k);
			b = weft_tree_second(parent, k);
			exchange(x, a * chain + head, b * chain + head, share);
		}
		for (uint32_t r = 0; r < x->n; r++) {
			if (r % chain == chain - 1)
				continue;
			a = r - r % chain + (r + head) % chain;
			b = r - r % chain + (r + head + 1) % chain;
			exchange(x, a, b, 2 * share);
		}
	}
}

/* The ring of the n ranks that differ by multiples of stride, which have a
 * share of what the rings inside have reduced. */
static void stride_rings(const struct expansion *x, uint32_t stride, uint32_t n)
{
	const double share =
		weft_collective_bus_factor(x->collective, n) / stride;

	for (uint32_t r = 0; r < x->n; r++) {
		const uint32_t c = r / stride % n;

		emit(x, r, r - c * stride + (c + 1) % n * stride, share);
	}
}

/* Once for each of reduce-scatter and all-gather. */
static void halving_doubling_flows(const struct expansion *x)
{
	double share = x->collective == WEFT_ALL_REDUCE ? 2 : 1;

	for (uint32_t d = 1; d < x->n; d *= 2) {
		share /= 2;
		for (uint32_t r = 0; r < x->n; r++)
			emit(x, r, r ^ d, share);
	}
}

void weft_collective_flows(enum weft_collective c, enum weft_algorithm a,
			   const struct weft_group *g,
			   weft_collective_flow flow, void *data)
{
	const struct expansion x = {
		.group = g,
		.collective = c,
		.n = ranks(g),
		.flow = flow,
		.data = data,
	};

	switch (a) {
	case WEFT_RING:
		ring_flows(&x);
		break;
	case WEFT_DOUBLE_TREE:
		double_tree_flows(&x);
		break;
	case WEFT_HIERARCHICAL:
		stride_rings(&x, 1, g->local);
		stride_rings(&x, g->local, g->n_nodes);
		break;
	case WEFT_HALVING_DOUBLING:
		halving_doubling_flows(&x);
		break;
	default:
		break;
	}
}
