/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nccl_model.c - latency and bandwidth of NCCL's algorithms, as it sees them
 *
 * One function for each algorithm's rate and latency; what a release changed in
 * a rule stands at that rule, what it changed in a figure in nccl_tables.c.
 */
#include "lab/nccl/nccl_model.h"

#include <math.h>

#define US 1e-6
#define GB 1e9

static bool since(const struct weft_nccl_model *m, uint32_t minor)
{
	return m->graph->version >= WEFT_NCCL_VERSION(2, minor);
}

/* Of zero: zero. */
static uint32_t log2_floor(uint64_t x)
{
	uint32_t k = 0;

	while (x >>= 1)
		k++;
	return k;
}

static bool gathers(enum weft_collective c)
{
	return c == WEFT_ALL_GATHER || c == WEFT_REDUCE_SCATTER;
}

/* Steps of a ring, each moving 1/n of the data. */
static uint32_t ring_steps(const struct weft_nccl_model *m,
			   enum weft_collective c)
{
	if (c == WEFT_ALL_REDUCE)
		return 2 * (m->n_ranks - 1);
	return gathers(c) ? m->n_ranks - 1 : m->n_ranks;
}

/* Ring bandwidth in units of the collective's size. */
static double ring_ratio(const struct weft_nccl_model *m,
			 enum weft_collective c)
{
	return weft_nccl_single((double)m->n_ranks / ring_steps(m, c));
}

/* All channels together.  Over one or two nodes the rate inside a node is
 * already the slower of both. */
static double bus_gb(const struct weft_nccl_model *m,
		     const struct weft_nccl_channels *channels)
{
	double rate = m->n_nodes <= 2 ? channels->intra_bytes_per_s
				      : channels->inter_bytes_per_s;

	return weft_nccl_single(channels->n_channels *
				weft_nccl_single(rate / GB));
}

/* ---- bandwidth: 10^9 bytes of the collective's size per second; 0 where the
 * algorithm does not do the collective ---- */

static double ring_gb(const struct weft_nccl_model *m, enum weft_collective c,
		      enum weft_nccl_protocol p)
{
	const uint32_t n_channels = m->graph->ring.n_channels;
	const bool adds_up = c == WEFT_ALL_REDUCE || c == WEFT_REDUCE;
	double bus = bus_gb(m, &m->graph->ring);
	double part;

	if (p == WEFT_NCCL_LL) {
		/* Every other word is a flag; before 2.21 more was taken off.
		 */
		part = m->n_nodes > 1 || adds_up ? 1.0 / 4 : 1.0 / 3;
		bus = fmin(m->ll_limit_gb, bus * (since(m, 21) ? 0.5 : part));
	}
	if (p == WEFT_NCCL_LL128) {
		part = !since(m, 23) && m->ranks_per_node < 2 ? 0.7 : 0.92;
		bus = fmin(bus * part,
			   n_channels *
				   m->k.ring_ll128_gb[m->generation][m->span]);
	}
	return weft_nccl_single(bus) * ring_ratio(m, c);
}

static double tree_gb(const struct weft_nccl_model *m, enum weft_collective c,
		      enum weft_nccl_protocol p)
{
	const uint32_t n_channels = m->graph->tree.n_channels;
	double bus = bus_gb(m, &m->graph->tree);

	if (c != WEFT_ALL_REDUCE)
		return 0;
	bus = weft_nccl_single(fmin(
		bus * 0.92, n_channels * m->k.tree_gb[m->generation][m->span]));
	if (p == WEFT_NCCL_LL)
		bus = weft_nccl_single(fmin(bus / 3.8, m->ll_limit_gb));
	if (p == WEFT_NCCL_LL128)
		bus = weft_nccl_single(fmin(
			bus * (m->n_nodes == 1 ? 7.0 / 9 : 120.0 / 128),
			n_channels *
				m->k.tree_ll128_gb[m->generation][m->span]));
	if (m->graph->tree_on_one_gpu)
		bus = weft_nccl_single(bus * 0.85);
	return bus / 2;
}

/* Multicast of 2.28 and newer: one channel is lost to control, both halves of
 * an all-reduce overlap. */
static double nvls_efficient_gb(const struct weft_nccl_model *m,
				enum weft_collective c, bool tree)
{
	const struct weft_nccl_channels *channels = &m->graph->nvls;
	const uint32_t n = channels->n_channels;
	double intra = channels->intra_bytes_per_s / GB;
	double rate = channels->inter_bytes_per_s / GB;

	if (n < 2)
		return 0;
	intra = weft_nccl_single(intra * m->k.nvls_efficiency[m->generation] *
				 (n - 1) / n);
	intra *= c == WEFT_ALL_REDUCE
			 ? 2
			 : (m->ranks_per_node - 1) / m->ranks_per_node;
	if (tree && m->n_nodes <= 2)
		rate *= 2;
	rate = fmin(rate, intra);
	if (tree)
		rate = fmin(rate, m->k.nvls_tree_gb[m->generation][m->span]);
	return weft_nccl_single(n * weft_nccl_single(rate)) *
	       (c == WEFT_ALL_REDUCE ? ring_ratio(m, c) : 1);
}

/* 2.19 to 2.27: the slower side, less a sixth. */
static double nvls_narrow_gb(const struct weft_nccl_model *m,
			     enum weft_collective c, bool tree)
{
	const struct weft_nccl_channels *channels = &m->graph->nvls;
	double intra = channels->intra_bytes_per_s / GB;
	double inter = channels->inter_bytes_per_s / GB;

	if (tree && m->n_nodes > 2)
		inter /= 2;
	if (gathers(c) && since(m, 27)) {
		intra *= (m->ranks_per_node - 1) / m->ranks_per_node;
		inter *= 0.9;
	}
	return weft_nccl_single(channels->n_channels *
				weft_nccl_single(fmin(intra, inter))) *
	       (gathers(c) && since(m, 23) ? 1 : 5.0 / 6);
}

static double nvls_any_gb(const struct weft_nccl_model *m,
			  enum weft_collective c, enum weft_nccl_protocol p,
			  bool tree)
{
	const double n = m->n_nodes;

	if (p != WEFT_NCCL_SIMPLE || m->graph->nvls.n_channels == 0 ||
	    m->generation < WEFT_HOPPER)
		return 0;
	if (c != WEFT_ALL_REDUCE && (tree || !gathers(c) || !since(m, 19)))
		return 0;
	if (since(m, 28))
		return nvls_efficient_gb(m, c, tree);
	if (since(m, 19))
		return nvls_narrow_gb(m, c, tree);
	return bus_gb(m, &m->graph->nvls) *
	       (tree ? 0.7 * n / (2 * (n - 1)) : 5.0 / 6);
}

static double nvls_gb(const struct weft_nccl_model *m, enum weft_collective c,
		      enum weft_nccl_protocol p)
{
	/* Between nodes NVLS has only CollNet to go on with. */
	return m->n_nodes > 1 ? 0 : nvls_any_gb(m, c, p, false);
}

static double nvls_tree_gb(const struct weft_nccl_model *m,
			   enum weft_collective c, enum weft_nccl_protocol p)
{
	return m->n_nodes == 1 ? 0 : nvls_any_gb(m, c, p, true);
}

/* One GPU per node only; runs on the channels of the tree. */
static double pat_gb(const struct weft_nccl_model *m, enum weft_collective c,
		     enum weft_nccl_protocol p)
{
	if (!gathers(c) || p != WEFT_NCCL_SIMPLE || m->n_nodes != m->n_ranks ||
	    m->graph->compute_capability < 60)
		return 0;
	return weft_nccl_single(bus_gb(m, &m->graph->tree) *
				m->k.pat_efficiency);
}

/* ---- latency, microseconds ---- */

/* Between nodes; with one GPU per node nothing hides the tree's own.  Simple
 * waits for the data to be flushed as well. */
static double net_us(const struct weft_nccl_model *m,
		     enum weft_nccl_algorithm a, enum weft_nccl_protocol p)
{
	if (since(m, 23) && m->n_nodes == m->n_ranks)
		a = WEFT_NCCL_TREE;
	return m->k.hop_us[WEFT_WIRE_NET][a][p] +
	       m->graph->net_latency_s / US * (p == WEFT_NCCL_SIMPLE ? 2 : 1);
}

/* A rooted collective streams along the ring: as all channels run alike, only
 * one hop shows. */
static double rooted_us(const struct weft_nccl_model *m,
			enum weft_nccl_protocol p)
{
	const enum weft_nccl_wire wire =
		m->n_nodes == 1 ? WEFT_WIRE_NVLINK : WEFT_WIRE_NET;

	return m->k.hop_us[wire][WEFT_NCCL_RING][p];
}

static double ring_us(const struct weft_nccl_model *m, enum weft_collective c,
		      enum weft_nccl_protocol p)
{
	const uint32_t passes = c == WEFT_ALL_REDUCE ? 2 : 1;
	double inside = m->k.hop_us[WEFT_WIRE_NVLINK][WEFT_NCCL_RING][p];
	uint32_t far = passes * (m->n_nodes - 1);

	if (!gathers(c) && c != WEFT_ALL_REDUCE)
		return rooted_us(m, p);
	if (m->n_nodes > 1) {
		/* A proxy posts each step to the NIC meanwhile. */
		inside = fmax(inside, (m->graph->cpu == WEFT_CPU_AMD ? 2 : 1) *
					      (p == WEFT_NCCL_SIMPLE ? 3 : 1));
		if (c == WEFT_ALL_REDUCE && !since(m, 23))
			far = 2 * m->n_nodes;
	}
	return ((double)ring_steps(m, c) - far) * inside +
	       far * net_us(m, WEFT_NCCL_RING, p);
}

/* A chain inside the node, a tree over nodes, up and down. */
static double tree_us(const struct weft_nccl_model *m, enum weft_collective c,
		      enum weft_nccl_protocol p)
{
	(void)c;
	return 2 * (m->others_here *
			    m->k.hop_us[WEFT_WIRE_NVLINK][WEFT_NCCL_TREE][p] +
		    log2_floor(m->n_nodes) * net_us(m, WEFT_NCCL_TREE, p));
}

static double nvls_us(const struct weft_nccl_model *m, enum weft_collective c,
		      enum weft_nccl_protocol p)
{
	(void)c;
	return m->k.hop_us[WEFT_WIRE_NVLINK][WEFT_NCCL_NVLS][p];
}

static double nvls_tree_us(const struct weft_nccl_model *m,
			   enum weft_collective c, enum weft_nccl_protocol p)
{
	(void)c;
	if (!since(m, 19))
		return 2 * (m->n_nodes - 1) *
		       m->k.hop_us[WEFT_WIRE_NET][WEFT_NCCL_NVLS_TREE][p];
	return m->k.hop_us[WEFT_WIRE_NVLINK][WEFT_NCCL_NVLS_TREE][p] +
	       2 * log2_floor(m->n_nodes) * net_us(m, WEFT_NCCL_NVLS_TREE, p);
}

/* log n exchanges, and a part that still grows with the ranks. */
static double pat_us(const struct weft_nccl_model *m, enum weft_collective c,
		     enum weft_nccl_protocol p)
{
	(void)c;
	return log2_floor(m->n_nodes) * (net_us(m, WEFT_NCCL_PAT, p) / 3.5) +
	       m->n_ranks * 2.8;
}

static const struct {
	double (*rate_gb)(const struct weft_nccl_model *m,
			  enum weft_collective c, enum weft_nccl_protocol p);
	double (*latency_us)(const struct weft_nccl_model *m,
			     enum weft_collective c, enum weft_nccl_protocol p);
} formulas[WEFT_N_NCCL_ALGORITHMS] = {
	[WEFT_NCCL_TREE] = {tree_gb, tree_us},
	[WEFT_NCCL_RING] = {ring_gb, ring_us},
	[WEFT_NCCL_NVLS] = {nvls_gb, nvls_us},
	[WEFT_NCCL_NVLS_TREE] = {nvls_tree_gb, nvls_tree_us},
	[WEFT_NCCL_PAT] = {pat_gb, pat_us},
};

/* ---- which pairs are used at all ---- */

/* LL128 relies on 128-byte stores arriving whole. */
static bool has_ll128(const struct weft_nccl_model *m)
{
	const uint32_t cc = m->graph->compute_capability;
	const bool known = cc == 70 || cc == 80 || cc == 90 ||
			   (since(m, 25) && (cc == 100 || cc == 120));

	return !m->graph->torn_stores && (since(m, 27) ? cc >= 70 : known);
}

struct weft_nccl_line weft_nccl_model_line(const struct weft_nccl_model *m,
					   enum weft_collective c,
					   enum weft_nccl_algorithm a,
					   enum weft_nccl_protocol p)
{
	struct weft_nccl_line line = {0};

	if (p == WEFT_NCCL_LL128 && !has_ll128(m))
		return line;
	line.rate_bytes_per_s =
		weft_nccl_single(formulas[a].rate_gb(m, c, p)) * GB;
	if (line.rate_bytes_per_s > 0)
		line.latency_s =
			weft_nccl_single(m->k.base_us[a][p] +
					 formulas[a].latency_us(m, c, p)) *
			US;
	return line;
}

/* Releases before 2.25 take a Blackwell for a Hopper. */
static enum weft_nccl_generation generation_of(uint32_t version, uint32_t cc)
{
	if (cc >= 100 && version >= WEFT_NCCL_VERSION(2, 25))
		return WEFT_BLACKWELL;
	if (cc >= 90)
		return WEFT_HOPPER;
	return cc >= 80 ? WEFT_AMPERE : WEFT_VOLTA;
}

void weft_nccl_model_build(const struct weft_nccl_graph *graph,
			   struct weft_nccl_model *m)
{
	uint32_t row;

	*m = (struct weft_nccl_model){
		.graph = graph,
		.n_nodes = graph->n_nodes,
		.n_ranks = graph->n_ranks,
		.others_here = graph->n_ranks / graph->n_nodes - 1,
		.ranks_per_node = weft_nccl_single((double)graph->n_ranks /
						   graph->n_nodes),
		.generation = generation_of(graph->version,
					    graph->compute_capability),
		.span = graph->n_nodes <= 2 ? graph->n_nodes - 1 : 2,
	};
	weft_nccl_constants(graph->version, &m->k);
	/* LL goes through the host's memory once it leaves the node. */
	row = graph->cpu == WEFT_CPU_AMD ? WEFT_AMPERE : WEFT_VOLTA;
	m->ll_limit_gb =
		m->k.ll_gb[m->n_nodes == 1 ? m->generation : row][m->span];
}
