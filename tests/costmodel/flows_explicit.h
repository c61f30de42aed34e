/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flows_explicit.h - every flow of a step by itself: an oracle for flows.h
 *
 * Flow by flow, from a GPU to a GPU, with the list of links on its path, after
 * what flows.h says of rings, trees, pairs and rails.  Slow and plain on
 * purpose; shares with the library the schedule, the groups of ranks and the
 * numbers of links.
 */
#ifndef WEFT_TESTS_COSTMODEL_FLOWS_EXPLICIT_H
#define WEFT_TESTS_COSTMODEL_FLOWS_EXPLICIT_H

#include "costmodel/time/cost.h"
#include "costmodel/time/flows.h"
#include "costmodel/traffic/collective.h"
#include "tests/costmodel/simulation.h"

#define EXPLICIT_MAX_RANKS 64

/* One flow.  A message that is spread over more GPUs of one host than of the
 * other is fewer flows than it has pieces: each counts for `weight`. */
struct explicit_flow {
	uint32_t path[MAX_PATH], n_path, stage;
	double bytes, weight;
};

struct explicit_flows {
	const struct weft_fabric *f;
	const struct weft_schedule *schedule;
	const uint32_t *where;
	enum weft_choice_of_algorithm algorithm;
	uint32_t n, room;
	struct explicit_flow *flow;
};

static inline void explicit_free(struct explicit_flows *x)
{
	free(x->flow);
	x->flow = NULL;
	x->n = x->room = 0;
}

static inline struct explicit_flow *explicit_add(struct explicit_flows *x,
						 uint32_t stage, double bytes,
						 double weight)
{
	if (x->n == x->room) {
		x->room = 2 * x->room + 64;
		x->flow = realloc(x->flow, x->room * sizeof(*x->flow));
		assert_non_null(x->flow);
	}
	x->flow[x->n] = (struct explicit_flow){
		.stage = stage, .bytes = bytes, .weight = weight};
	return &x->flow[x->n++];
}

/* ---- where things are, by looking through the tree ---- */

static inline uint32_t domain_at(const struct weft_fabric *f, uint32_t level,
				 uint32_t gpu)
{
	const struct weft_level *l = &f->levels[level];

	for (uint32_t d = l->first_domain; d < l->first_domain + l->n_domains;
	     d++) {
		if (gpu - f->domains[d].first_gpu < f->domains[d].n_gpus)
			return d;
	}
	fail_msg("GPU %u is in no domain of level %u", gpu, level);
	return WEFT_NONE;
}

static inline uint32_t meeting(const struct weft_fabric *f, uint32_t a,
			       uint32_t b)
{
	uint32_t l = 0;

	while (domain_at(f, l, a) != domain_at(f, l, b))
		l++;
	return l;
}

static inline uint32_t host_at(const struct weft_fabric *f, uint32_t gpu)
{
	return domain_at(f, f->node_level, gpu);
}

static inline uint32_t rail_at(const struct weft_fabric *f, uint32_t gpu)
{
	const struct weft_node *node = &f->nodes[f->gpu_node[gpu]];

	return (gpu - node->first_gpu) * f->n_rails / node->n_gpus;
}

/* The GPU whose number the NIC of a host on a rail bears: the first one of the
 * host's first node that shares it. */
static inline uint32_t nic_of_rail(const struct weft_fabric *f, uint32_t host,
				   uint32_t rail)
{
	const struct weft_node *node = &f->nodes[f->domains[host].first_node];
	uint32_t found = node->first_gpu, at;

	for (uint32_t k = 0; k < node->n_gpus; k++) {
		at = rail_at(f, node->first_gpu + k);
		if (at <= rail && at > rail_at(f, found))
			found = node->first_gpu + k;
	}
	return found;
}

/* Whether the GPUs of a host share the NICs of their rails: not those of an
 * NVLink domain of several nodes. */
static inline bool shares_rails(const struct weft_fabric *f, uint32_t gpu)
{
	return f->n_rails > 1 && f->domains[host_at(f, gpu)].n_nodes == 1;
}

static inline uint32_t nic_at(const struct weft_fabric *f, uint32_t gpu)
{
	if (!shares_rails(f, gpu))
		return gpu;
	return nic_of_rail(f, host_at(f, gpu), rail_at(f, gpu));
}

/* ---- paths ---- */

static inline void cross_domain(struct explicit_flow *flow, uint32_t domain,
				bool up)
{
	assert_true(flow->n_path < MAX_PATH);
	flow->path[flow->n_path++] = 2 * domain + !up;
}

static inline void cross_nic(const struct weft_fabric *f,
			     struct explicit_flow *flow, uint32_t gpu, bool up)
{
	cross_domain(flow, f->n_domains + gpu, up);
}

static inline void cross_port(const struct weft_fabric *f,
			      struct explicit_flow *flow, uint32_t gpu, bool up)
{
	cross_domain(flow, f->n_domains + f->n_gpus + gpu, up);
}

/* From one host to another, above both. */
static inline void cross_network(const struct weft_fabric *f,
				 struct explicit_flow *flow, uint32_t from,
				 uint32_t to)
{
	uint32_t meet = meeting(f, from, to), leaf = f->node_level + 1;
	bool changes = f->n_rails > 1 && rail_at(f, from) != rail_at(f, to);

	cross_nic(f, flow,
		  changes && f->pxn && shares_rails(f, from) &&
				  shares_rails(f, to)
			  ? nic_of_rail(f, host_at(f, from), rail_at(f, to))
			  : nic_at(f, from),
		  true);
	cross_nic(f, flow, nic_at(f, to), false);
	for (uint32_t l = f->node_level; l < meet; l++) {
		cross_domain(flow, domain_at(f, l, from), true);
		cross_domain(flow, domain_at(f, l, to), false);
	}
	if (changes && !f->pxn && meet == leaf && leaf + 1 < f->n_levels) {
		cross_domain(flow, domain_at(f, leaf, from), true);
		cross_domain(flow, domain_at(f, leaf, to), false);
	}
}

static inline void message_add(struct explicit_flows *x, uint32_t stage,
			       uint32_t from, uint32_t to, double bytes)
{
	const struct weft_fabric *f = x->f;
	uint32_t meet = meeting(f, from, to);
	struct explicit_flow *flow = explicit_add(x, stage, bytes, 1);

	if (meet == 0) {
		cross_port(f, flow, from, true);
		cross_port(f, flow, to, false);
	}
	for (uint32_t l = 0; l < meet && l < f->node_level; l++) {
		cross_domain(flow, domain_at(f, l, from), true);
		cross_domain(flow, domain_at(f, l, to), false);
	}
	if (meet > f->node_level)
		cross_network(f, flow, from, to);
}

/* ---- groups ---- */

/* GPUs of a group, those of a host together: hosts in the order in which ranks
 * first appear on them; inside a host, by rail and number, so that those of an
 * NVLink domain are together. */
struct explicit_group {
	uint32_t n, n_hosts, stage;
	bool passes; /* what enters a host goes through all of it */
	uint32_t gpu[EXPLICIT_MAX_RANKS];
	uint32_t first[EXPLICIT_MAX_RANKS + 1]; /* of each host */
};

static inline void gather_at(const struct weft_fabric *f, uint32_t level,
			     uint32_t *gpus, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++) {
		uint32_t to = i, gpu = gpus[i];

		for (uint32_t k = 0; k < i; k++) {
			if (domain_at(f, level, gpus[k]) ==
			    domain_at(f, level, gpu))
				to = k + 1;
		}
		memmove(&gpus[to + 1], &gpus[to], (i - to) * sizeof(*gpus));
		gpus[to] = gpu;
	}
}

static inline void sort_by_rail(const struct weft_fabric *f, uint32_t *gpus,
				uint32_t n)
{
	for (uint32_t i = 0; i < n * n; i++) {
		uint32_t *a = &gpus[i / n], *b = &gpus[i % n], kept = *a;
		uint32_t rail_a = rail_at(f, *a), rail_b = rail_at(f, *b);

		if (i / n < i % n &&
		    (rail_a > rail_b || (rail_a == rail_b && *a > *b))) {
			*a = *b;
			*b = kept;
		}
	}
}

static inline struct explicit_group
explicit_group(const struct explicit_flows *x, const uint32_t *ranks,
	       uint32_t n, uint32_t stage)
{
	struct explicit_group g = {.n = n, .stage = stage};

	for (uint32_t i = 0; i < n; i++)
		g.gpu[i] = x->where[ranks[i]];
	gather_at(x->f, x->f->node_level, g.gpu, n);
	for (uint32_t i = 0; i < n; i++) {
		if (i == 0 ||
		    host_at(x->f, g.gpu[i]) != host_at(x->f, g.gpu[i - 1]))
			g.first[g.n_hosts++] = i;
	}
	g.first[g.n_hosts] = n;
	for (uint32_t h = 0; h < g.n_hosts; h++)
		sort_by_rail(x->f, g.gpu + g.first[h],
			     g.first[h + 1] - g.first[h]);
	return g;
}

/* One piece of what a host sends to another.  It enters the host of `to` by
 * that GPU's NIC.  A ring that ends its way through the host in `to` begins it
 * in the NVLink domain after the one of `to`. */
static inline void piece_add(struct explicit_flows *x,
			     const struct explicit_group *g, uint32_t b,
			     uint32_t from, uint32_t to, double bytes,
			     double weight)
{
	const struct weft_fabric *f = x->f;
	struct explicit_flow *flow = explicit_add(x, g->stage, bytes, weight);
	uint32_t last = g->first[b], begin = g->first[b];

	while (g->gpu[last] != to)
		last++;
	while (last < g->first[b + 1] &&
	       domain_at(f, 0, g->gpu[last]) == domain_at(f, 0, to))
		last++;
	if (last < g->first[b + 1])
		begin = last;
	for (uint32_t l = 0; l < f->node_level; l++) {
		cross_domain(flow, domain_at(f, l, from), true);
		cross_domain(flow,
			     domain_at(f, l, g->passes ? g->gpu[begin] : to),
			     false);
	}
	cross_network(f, flow, from, to);
}

/* All that host a sends to host b: each GPU of a sends, and each of b receives,
 * as much as the others of it, first from GPU to GPU of one rail. */
static inline void hop_add(struct explicit_flows *x,
			   const struct explicit_group *g, uint32_t a,
			   uint32_t b, double bytes)
{
	const uint32_t *from = g->gpu + g->first[a], *to = g->gpu + g->first[b];
	uint32_t n_from = g->first[a + 1] - g->first[a];
	uint32_t n_to = g->first[b + 1] - g->first[b];
	double sends[EXPLICIT_MAX_RANKS], takes[EXPLICIT_MAX_RANKS];
	double channels = n_from > n_to ? n_from : n_to;

	for (uint32_t i = 0; i < n_from; i++)
		sends[i] = 1.0 / n_from;
	for (uint32_t i = 0; i < n_to; i++)
		takes[i] = 1.0 / n_to;
	for (int pass = x->f->n_rails > 1 ? 0 : 1; pass < 2; pass++) {
		for (uint32_t k = 0; k < n_from * n_to; k++) {
			uint32_t i = k / n_to, j = k % n_to;
			double share = fmin(sends[i], takes[j]);

			if (share < 1e-12 ||
			    (pass == 0 &&
			     rail_at(x->f, from[i]) != rail_at(x->f, to[j])))
				continue;
			piece_add(x, g, b, from[i], to[j], bytes * share,
				  channels * share);
			sends[i] -= share;
			takes[j] -= share;
		}
	}
}

enum chain_way {
	CHAIN_RING, /* closed */
	CHAIN_PATH, /* of a ring that comes from and goes to other hosts: it
		     * ends at each GPU equally often */
	CHAIN_TREE, /* cut between NVLink domains, anywhere equally often */
};

/* n GPUs of one host, NVLink domain after NVLink domain. */
static inline void chain_add(struct explicit_flows *x, uint32_t stage,
			     const uint32_t *gpu, uint32_t n,
			     enum chain_way way, double bytes)
{
	const struct weft_fabric *f = x->f;
	bool closed = way == CHAIN_RING;
	uint32_t n_domains = 1;

	for (uint32_t i = 1; i < n; i++)
		n_domains +=
			domain_at(f, 0, gpu[i]) != domain_at(f, 0, gpu[i - 1]);

	for (uint32_t first = 0, end; first < n; first = end) {
		uint32_t next, k;
		double ends, inside;

		for (end = first + 1;
		     end < n &&
		     domain_at(f, 0, gpu[end]) == domain_at(f, 0, gpu[first]);)
			end++;
		k = end - first;
		next = end < n ? end : 0;
		/* of a path, the share that ends in this domain */
		ends = closed ? 0 : (double)k / n;
		if (way == CHAIN_TREE)
			ends = 1.0 / n_domains;
		inside = closed && k == n ? bytes : bytes * (k - 1) / k;
		for (uint32_t i = first; k > 1 && i < end; i++)
			message_add(x, stage, gpu[i],
				    gpu[i + 1 < end ? i + 1 : first], inside);
		if (k == n || !(ends < 1))
			continue;
		for (uint32_t l = 0; l < f->node_level; l++) {
			struct explicit_flow *flow =
				explicit_add(x, stage, bytes * (1 - ends), 0);

			cross_domain(flow, domain_at(f, l, gpu[first]), true);
			cross_domain(flow, domain_at(f, l, gpu[next]), false);
		}
	}
}

static inline void ring_add(struct explicit_flows *x,
			    const struct explicit_group *g, double sent)
{
	for (uint32_t h = 0; h < g->n_hosts; h++) {
		chain_add(x, g->stage, g->gpu + g->first[h],
			  g->first[h + 1] - g->first[h],
			  g->n_hosts == 1 ? CHAIN_RING : CHAIN_PATH, sent);
		if (g->n_hosts > 1)
			hop_add(x, g, h, (h + 1) % g->n_hosts, sent);
	}
}

/* A ring in each host, of all the data; then one over the hosts for each share
 * of what the host has reduced, all of which are the same bytes from every
 * host. */
static inline void hierarchy_add(struct explicit_flows *x,
				 const struct explicit_group *g, double sent)
{
	double all = sent * g->n / (g->n - 1);
	double between = all * (g->n_hosts - 1) / g->n_hosts;

	for (uint32_t h = 0; h < g->n_hosts; h++) {
		uint32_t k = g->first[h + 1] - g->first[h];

		chain_add(x, g->stage, g->gpu + g->first[h], k, CHAIN_RING,
			  all * (k - 1) / k);
		if (g->n_hosts > 1)
			hop_add(x, g, h, (h + 1) % g->n_hosts, between);
	}
}

/* Children of v, of height h, in NCCL's binary tree over hosts 0..k-1: v - h/2
 * and v + h/2, or where there is none the next lower one; the root, 0, has the
 * largest power of two. */
static inline void tree_walk(struct explicit_flows *x,
			     const struct explicit_group *g, bool second,
			     uint32_t v, uint32_t height, double bytes)
{
	uint32_t k = g->n_hosts, child[2] = {0, 0}, reach[2] = {0, 0};

	if (v == 0) {
		for (height = 1; 2 * height < k; height *= 2)
			continue;
		child[1] = height;
		reach[1] = height;
	} else if (height > 1) {
		child[0] = v - height / 2;
		reach[0] = height / 2;
		for (uint32_t d = height / 2; d && !child[1]; d /= 2) {
			if (v + d < k) {
				child[1] = v + d;
				reach[1] = d;
			}
		}
	}
	for (int c = 0; c < 2; c++) {
		uint32_t from = v, to = child[c];

		if (!reach[c])
			continue;
		if (second) {
			from = k % 2 ? (from + 1) % k : k - 1 - from;
			to = k % 2 ? (to + 1) % k : k - 1 - to;
		}
		hop_add(x, g, from, to, bytes);
		hop_add(x, g, to, from, bytes);
		tree_walk(x, g, second, child[c], reach[c], bytes);
	}
}

static inline void trees_add(struct explicit_flows *x,
			     const struct explicit_group *g, double reduced)
{
	/* on one host the same chain on every channel */
	for (uint32_t i = 1; g->n_hosts == 1 && i < g->n; i++) {
		message_add(x, g->stage, g->gpu[i], g->gpu[i - 1], reduced);
		message_add(x, g->stage, g->gpu[i - 1], g->gpu[i], reduced);
	}
	if (g->n_hosts == 1)
		return;
	for (uint32_t h = 0; h < g->n_hosts; h++)
		chain_add(x, g->stage, g->gpu + g->first[h],
			  g->first[h + 1] - g->first[h], CHAIN_TREE,
			  2 * reduced);
	tree_walk(x, g, false, 0, 0, reduced / 2);
	tree_walk(x, g, true, 0, 0, reduced / 2);
}

/* ---- calls ---- */

/* Adds all the flows of one call in a step. */
static inline void explicit_call(struct explicit_flows *x,
				 const struct weft_call *call)
{
	const struct weft_schedule *s = x->schedule;
	const struct weft_grid *grid =
		call->expert_grid ? &s->expert : &s->dense;
	uint32_t pp = weft_grid_axis(&s->dense, "pp");
	bool along_pp = call->axis == WEFT_AXIS_PP;
	bool ends = along_pp && call->collective == WEFT_ALL_REDUCE;
	uint32_t n = along_pp ? s->dense.size[pp] : call->n;
	double sent =
		call->count * weft_volume_collective(call->collective, call->n,
						     call->size_bytes);

	for (uint32_t i = 0; i < grid->n_ranks / n; i++) {
		uint32_t rank[EXPLICIT_MAX_RANKS];
		uint32_t stage[EXPLICIT_MAX_RANKS] = {0};
		struct explicit_group g;
		bool pairs = call->collective == WEFT_SEND_RECV || ends;

		assert_int_equal(
			weft_grid_group(grid, call->group, i, rank, NULL), n);
		for (uint32_t r = 0; r < n; r++)
			stage[r] = pp == WEFT_MAX_AXES
					   ? 0
					   : weft_grid_coordinate(&s->dense,
								  rank[r], pp);
		for (uint32_t r = 0; pairs && r < n; r++) {
			bool back = along_pp && call->phase == WEFT_BACKWARD;
			uint32_t to = (r + (back ? n - 1 : 1)) % n;

			if (ends)
				to = n - 1 - r;
			if (stage[r] - call->first_stage < call->n_stages)
				message_add(x, stage[r], x->where[rank[r]],
					    x->where[rank[to]], sent);
		}
		if (pairs || stage[0] - call->first_stage >= call->n_stages)
			continue;
		g = explicit_group(x, rank, n, stage[0]);
		if (call->collective == WEFT_ALL_TO_ALL) {
			for (uint32_t k = 0; k < n * n; k++)
				if (k / n != k % n)
					message_add(x, g.stage, g.gpu[k / n],
						    g.gpu[k % n],
						    sent / (n - 1));
		} else if (x->algorithm == WEFT_BY_HIERARCHY) {
			hierarchy_add(x, &g, sent);
		} else if (x->algorithm == WEFT_BY_TREE && n > 2 &&
			   call->collective == WEFT_ALL_REDUCE) {
			trees_add(x, &g, call->count * call->size_bytes);
		} else {
			g.passes = true;
			ring_add(x, &g, sent);
		}
	}
}

#endif
