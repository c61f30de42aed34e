/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flows_ways.c - the links that one group of ranks loads, way by way */
#include "costmodel/time/flows/flows_tour.h"

#include "base/clock.h"

#include <math.h>
#include <string.h>

/* ---- links ---- */

uint32_t flow_rail_of(const struct flow_tour *t, uint32_t gpu)
{
	return weft_fabric_rail(t->f, gpu);
}

int flow_unconnected(const struct flow_tour *t, uint32_t a, uint32_t b)
{
	const struct weft_fabric *f = t->f;
	uint32_t rank[2] = {0, 0};

	for (uint32_t i = 0; i < t->g->n; i++) {
		if (t->g->gpu[i] == a)
			rank[0] = t->g->rank[i];
		if (t->g->gpu[i] == b)
			rank[1] = t->g->rank[i];
	}
	return weft_fail(t->err, WEFT_EINVAL,
			 "ranks %u and %u are in one group, but no link joins "
			 "their nodes %s and %s",
			 rank[0], rank[1], f->nodes[f->gpu_node[a]].name,
			 f->nodes[f->gpu_node[b]].name);
}

static double pair_latency(const struct weft_fabric *f, uint32_t level,
			   uint32_t a, uint32_t b)
{
	return f->levels[level].link.latency_s +
	       weft_fabric_further(f, level, a, b) *
		       f->levels[level].hop_latency_s;
}

void flow_hops_count(const struct flow_tour *t, uint32_t level,
		     double latency_s, uint32_t n)
{
	struct weft_flow_hops *hops = t->hops;

	if (!hops || n == 0)
		return;
	if (level > t->f->node_level) {
		hops->n_between += n;
		hops->between_s += n * latency_s;
	} else {
		hops->n_inside += n;
		hops->inside_s += n * latency_s;
	}
	if (latency_s > hops->longest_s)
		hops->longest_s = latency_s;
	if (level > hops->level)
		hops->level = level;
}

/* What goes past a domain of a ring or torus enters and leaves it, too. */
void flow_tell_passed(const struct flow_tour *t, uint32_t a, uint32_t b,
		      uint32_t meet, double bytes, double n_flows)
{
	uint32_t passed[WEFT_FLOW_PASSED];
	uint32_t n = flow_passed(t->f, meet, a, b, passed, WEFT_FLOW_PASSED);

	for (uint32_t i = 0; i < n; i++) {
		flow_tell(t, passed[i], FLOW_BOTH, bytes, n_flows);
	}
}

/* Domains of hosts a and b below the level where they meet, upwards from the
 * hosts themselves; and, where messages change rails without crossing NVLink,
 * the domain inside which they would have met. */
static void tell_between(const struct flow_tour *t, uint32_t a, uint32_t b,
			 uint32_t meet, double bytes, double n_flows,
			 double off_rail)
{
	const struct weft_fabric *f = t->f;
	uint32_t leaf = f->node_level + 1;

	if (f->has_steps)
		flow_tell_passed(t, a, b, meet, bytes, n_flows);

	for (uint32_t l = f->node_level; l < meet; l++) {
		flow_tell(t, f->gpu_domain[l][a], FLOW_UP, bytes, n_flows);
		flow_tell(t, f->gpu_domain[l][b], FLOW_DOWN, bytes, n_flows);
	}
	if (meet != leaf || f->pxn || leaf + 1 >= f->n_levels)
		return;
	flow_tell(t, f->gpu_domain[leaf][a], FLOW_UP, bytes * off_rail,
		  n_flows * off_rail);
	flow_tell(t, f->gpu_domain[leaf][b], FLOW_DOWN, bytes * off_rail,
		  n_flows * off_rail);
}

struct flow_sink flow_sink_of(const struct flow_tour *t)
{
	return (struct flow_sink){t->f, t->path, t->data, t->stage};
}

/* ---- rings ---- */

/* Shares of host h's members on each rail. */
void flow_rails_count(const struct flow_tour *t, uint32_t h, uint32_t *on_rail)
{
	const struct flow_group *g = t->g;

	memset(on_rail, 0, t->f->n_rails * sizeof(*on_rail));
	for (uint32_t i = g->first[h]; i < g->first[h + 1]; i++)
		on_rail[flow_rail_of(t, g->member[i])]++;
}

/* Share of what goes from host a to b that arrives on another rail. */
static double off_rail_share(const struct flow_tour *t, uint32_t a, uint32_t b)
{
	const struct flow_group *g = t->g;
	double k_a = g->first[a + 1] - g->first[a];
	double k_b = g->first[b + 1] - g->first[b], off = 0;

	if (t->f->n_rails < 2 || t->f->pxn)
		return 0;
	flow_rails_count(t, a, t->g->on_rail);
	flow_rails_count(t, b, t->g->here);
	for (uint32_t r = 0; r < t->f->n_rails; r++)
		off += fmax(0, g->here[r] / k_b - g->on_rail[r] / k_a);
	return off;
}

/* NICs of a hop: out of host a by its members' or, with PXN, by those of its
 * own on the rails of b's; into b by its members'. */
static void tell_hop_nics(const struct flow_tour *t, uint32_t a, uint32_t b,
			  double bytes, double n_flows)
{
	const struct flow_group *g = t->g;
	uint32_t from = a;
	double k;

	if (flow_passes(t->f, g->host[a], g->host[b]))
		from = b;
	k = g->first[from + 1] - g->first[from];
	for (uint32_t i = g->first[from]; i < flow_nics_end(t, from); i++)
		flow_tell_nic(t, flow_nic_of(t, g->host[a], g->member[i], i),
			      FLOW_UP, bytes / k, n_flows / k);
	k = g->first[b + 1] - g->first[b];
	for (uint32_t i = g->first[b]; i < flow_nics_end(t, b); i++)
		flow_tell_nic(t, flow_nic_of(t, g->host[b], g->member[i], i),
			      FLOW_DOWN, bytes / k, n_flows / k);
}

/* All that one host sends to another, by all of its members' NICs. */
static int tell_hop(const struct flow_tour *t, uint32_t a, uint32_t b,
		    double bytes)
{
	const struct flow_group *g = t->g;
	uint32_t k_a = g->first[a + 1] - g->first[a];
	uint32_t k_b = g->first[b + 1] - g->first[b];
	uint32_t n_flows = k_a > k_b ? k_a : k_b;
	uint32_t from = g->member[g->first[a]], to = g->member[g->first[b]];
	uint32_t meet = weft_fabric_meet(t->f, from, to);

	if (meet >= t->f->n_levels)
		return flow_unconnected(t, from, to);
	if (t->path) {
		struct flow_sink sink = flow_sink_of(t);

		return flow_path_hop(&sink, g, a, b, t->sent * bytes);
	}
	flow_hops_count(t, meet, pair_latency(t->f, meet, from, to), 1);
	tell_hop_nics(t, a, b, bytes, n_flows);
	tell_between(t, from, to, meet, bytes, n_flows,
		     off_rail_share(t, a, b));
	return 0;
}

/* The same, and as much back, told at once where both ways are alike. */
static int tell_hop_and_back(const struct flow_tour *t, uint32_t a, uint32_t b,
			     double bytes)
{
	const struct weft_fabric *f = t->f;
	const struct flow_group *g = t->g;
	uint32_t host[2] = {a, b}, lead[2], size[2], n_flows, meet;

	if (t->path || f->n_rails > 1 || f->has_steps)
		return tell_hop(t, a, b, bytes) || tell_hop(t, b, a, bytes) ? -1
									    : 0;
	for (uint32_t i = 0; i < 2; i++) {
		lead[i] = g->member[g->first[host[i]]];
		size[i] = g->first[host[i] + 1] - g->first[host[i]];
	}
	n_flows = size[0] > size[1] ? size[0] : size[1];
	meet = weft_fabric_meet(f, lead[0], lead[1]);
	if (meet >= f->n_levels)
		return flow_unconnected(t, lead[0], lead[1]);
	for (uint32_t i = 0; i < 2; i++) {
		double k = size[i];

		flow_hops_count(t, meet,
				pair_latency(f, meet, lead[0], lead[1]), 1);
		for (uint32_t m = g->first[host[i]];
		     m < flow_nics_end(t, host[i]); m++)
			flow_tell_nic(t,
				      flow_nic_of(t, g->host[host[i]],
						  g->member[m], m),
				      FLOW_BOTH, bytes / k, n_flows / k);
		for (uint32_t l = f->node_level; l < meet; l++)
			flow_tell(t, f->gpu_domain[l][lead[i]], FLOW_BOTH,
				  bytes, n_flows);
	}
	return 0;
}

/* What the members of each host send among themselves, all of them equally
 * often at each place. */
enum inside_way {
	INSIDE_RING,  /* of the host's own: each sends what all but one have */
	INSIDE_PATH,  /* from where a ring enters the host to where it leaves
		       * it; the last one has nothing to send over its port */
	INSIDE_CHAIN, /* of a tree, which enters and leaves at one end */
};
struct inside {
	enum inside_way way;
	double bytes;
};

static double inside_bytes(const struct inside *inside, double host_size)
{
	return inside->way == INSIDE_RING
		       ? inside->bytes * (host_size - 1) / host_size
		       : inside->bytes;
}

static void tell_ports(const struct flow_tour *t, uint32_t h,
		       const struct inside *inside)
{
	const struct flow_group *g = t->g;
	double size = g->first[h + 1] - g->first[h];
	double bytes = inside_bytes(inside, size);

	/* all are alike where a host is one domain */
	uint32_t end = t->f->node_level ? g->first[h + 1] : flow_nics_end(t, h);

	for (uint32_t i = g->first[h]; i < end; i++) {
		double k = g->count[t->f->gpu_domain[0][g->member[i]]];
		bool whole = inside->way == INSIDE_RING && !(k < size);
		double sends = whole ? bytes : bytes * (k - 1) / k;

		flow_tell_port(t, g->member[i], FLOW_BOTH, sends);
	}
}

/* Domains inside a host: a ring leaves and enters each of them once, as does a
 * path with its ends; a chain is cut between any two of them.  Clears the
 * counts. */
static void tell_domains_inside(const struct flow_tour *t, uint32_t l,
				uint32_t h, const struct inside *inside)
{
	struct flow_group *g = t->g;
	double size = g->first[h + 1] - g->first[h], n = 0;
	double bytes = inside_bytes(inside, size);

	for (uint32_t i = g->first[h]; i < g->first[h + 1]; i++)
		n += 1.0 / g->count[t->f->gpu_domain[l][g->member[i]]];
	if (inside->way == INSIDE_CHAIN)
		bytes *= 1 - 1 / round(n);
	for (uint32_t i = g->first[h]; i < g->first[h + 1]; i++) {
		uint32_t d = t->f->gpu_domain[l][g->member[i]];
		double k = g->count[d];

		g->count[d] = 0;
		if (l == t->f->node_level || !(k > 0) ||
		    (inside->way != INSIDE_PATH && !(k < size)))
			continue;
		flow_tell(t, d, FLOW_BOTH, bytes, k);
	}
}

static int tell_inside(const struct flow_tour *t, const struct inside *inside)
{
	const struct weft_fabric *f = t->f;
	struct flow_group *g = t->g;
	uint32_t below = g->n;

	for (uint32_t l = 0; l <= f->node_level; l++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < g->n; i++)
			n += g->count[f->gpu_domain[l][g->gpu[i]]]++ == 0;
		flow_hops_count(t, l, f->levels[l].link.latency_s, below - n);
		for (uint32_t h = 0; h < g->n_hosts; h++) {
			if (weft_deadline_check_turn(h, t->err))
				return -1;
			if (l == 0)
				tell_ports(t, h, inside);
			tell_domains_inside(t, l, h, inside);
		}
		below = n;
	}
	return 0;
}

/* What the members of host h send over its NICs, and as much that they receive,
 * leaves and enters the domains that they are in. */
static void tell_to_nics(const struct flow_tour *t, uint32_t h, double bytes)
{
	const struct flow_group *g = t->g;
	double k = g->first[h + 1] - g->first[h];

	for (uint32_t l = 0; l < t->f->node_level; l++)
		for (uint32_t i = g->first[h]; i < g->first[h + 1]; i++) {
			uint32_t d = t->f->gpu_domain[l][g->member[i]];

			flow_tell(t, d, FLOW_BOTH, bytes / k, 1);
		}
}

/* bytes: that go from host to host, for one that a rank sends. */
static int ring_around(const struct flow_tour *t, double bytes)
{
	const struct flow_group *g = t->g;

	for (uint32_t h = 0; g->n_hosts > 1 && h < g->n_hosts; h++)
		if (weft_deadline_check_turn(h, t->err) ||
		    tell_hop(t, h, (h + 1) % g->n_hosts, bytes))
			return -1;
	if (g->n_hosts == 1 && t->hops)
		flow_hops_count(t, t->hops->level, t->hops->longest_s, 1);
	return 0;
}

static int tour_ring(const struct flow_tour *t)
{
	double n = t->g->n;
	const struct inside path = {INSIDE_PATH, 1};
	const struct inside ring = {INSIDE_RING, n / (n - 1)};

	if (tell_inside(t, t->g->n_hosts > 1 ? &path : &ring))
		return -1;
	return ring_around(t, 1);
}

/* Rings inside hosts first; between them each rank has a share of what those
 * have reduced, and sends it from where it is. */
static int tour_hierarchy(const struct flow_tour *t)
{
	const struct flow_group *g = t->g;
	double n = g->n, m = g->n_hosts, between = (m - 1) / m * n / (n - 1);
	const struct inside ring = {INSIDE_RING, n / (n - 1)};

	if (tell_inside(t, &ring))
		return -1;
	for (uint32_t h = 0; h < g->n_hosts; h++)
		tell_to_nics(t, h, between);
	return ring_around(t, between);
}

/* ---- trees ---- */

/* On one host every channel repeats the chain that was found first (NCCL,
 * src/graph/search.cc): all of the data goes up and down each of its edges. */
static void tour_chain(const struct flow_tour *t)
{
	const struct weft_fabric *f = t->f;
	const uint32_t *member = t->g->member;
	/* where a member meets the one before and the one after; -1: none */
	int64_t before = -1, after = -1;

	flow_group_sort(f, t->g);
	for (uint32_t i = 0; i < t->g->n; i++, before = after) {
		bool last = i + 1 == t->g->n;
		double inside;

		after = last ? -1
			     : (int64_t)weft_fabric_meet(f, member[i],
							 member[i + 1]);
		if (!last)
			flow_hops_count(t, (uint32_t)after,
					f->levels[after].link.latency_s, 1);
		inside = (before == 0) + (after == 0);
		flow_tell_port(t, member[i], FLOW_BOTH, inside);
		for (uint32_t l = 0; l < f->node_level; l++) {
			uint32_t d = f->gpu_domain[l][member[i]];
			double leaving = (before > l) + (after > l);

			flow_tell(t, d, FLOW_BOTH, leaving, leaving);
		}
	}
}

/* Half of the data goes up and down each tree over the hosts, all of it up and
 * down the chains inside, which begin where the hosts' NICs are: at each member
 * equally often. */
static int tour_trees(const struct flow_tour *t)
{
	const struct flow_group *g = t->g;
	const struct inside chain = {INSIDE_CHAIN, 2};
	uint32_t k = g->n_hosts;

	if (k == 1) {
		tour_chain(t);
		return 0;
	}
	if (tell_inside(t, &chain))
		return -1;
	for (uint32_t v = 1; v < k; v++) {
		uint32_t edge[2][2] = {
			{v, weft_tree_parent(v, k)},
			{weft_tree_second(v, k),
			 weft_tree_second(weft_tree_parent(v, k), k)}};

		if (weft_deadline_check_turn(v, t->err))
			return -1;
		for (uint32_t tree = 0; tree < 2; tree++) {
			if (tell_hop_and_back(t, edge[tree][0], edge[tree][1],
					      0.5))
				return -1;
			tell_to_nics(t, edge[tree][0], 0.5);
			tell_to_nics(t, edge[tree][1], 0.5);
		}
	}
	return 0;
}

/* ---- pairs ---- */

/* One flow between two ranks of the group. */
static int tell_pair(const struct flow_tour *t, uint32_t from, uint32_t to)
{
	const struct weft_fabric *f = t->f;
	uint32_t a = t->g->gpu[from], b = t->g->gpu[to];
	uint32_t cross, meet = weft_fabric_relation(f, a, b, &cross);
	bool passed;

	if (meet >= f->n_levels)
		return flow_unconnected(t, a, b);
	if (t->path && meet > f->node_level) {
		struct flow_sink sink = flow_sink_of(t);

		return flow_path_pair(&sink, a, b, t->sent);
	}
	flow_hops_count(t, meet, pair_latency(f, meet, a, b), 1);
	if (meet == 0) {
		flow_tell_port(t, a, FLOW_UP, 1);
		flow_tell_port(t, b, FLOW_DOWN, 1);
	}
	for (uint32_t l = 0; l < meet && l < f->node_level; l++) {
		flow_tell(t, f->gpu_domain[l][a], FLOW_UP, 1, 1);
		flow_tell(t, f->gpu_domain[l][b], FLOW_DOWN, 1, 1);
	}
	if (meet <= f->node_level)
		return 0;
	passed =
		cross && flow_passes(f, flow_host_of(f, a), flow_host_of(f, b));
	flow_tell_nic(t,
		      flow_nic_of(t, flow_host_of(f, a), passed ? b : a, from),
		      FLOW_UP, 1, 1);
	flow_tell_nic(t, flow_nic_of(t, flow_host_of(f, b), b, to), FLOW_DOWN,
		      1, 1);
	tell_between(t, a, b, meet, 1, 1, cross);
	return 0;
}

/* The group of weft_flows_group, rank by rank: each sends as its stage does. */
static int tour_pairs(const struct weft_flows *flows,
		      const struct weft_flow_kind *kind, struct flow_tour *t)
{
	const struct flow_group *g = t->g;
	uint32_t step = kind->way == WEFT_WAY_NEXT ? 1 : g->n - 1;

	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t to = (i + step) % g->n;

		if (kind->way == WEFT_WAY_ENDS) {
			to = i ? 0 : g->n - 1;
			if (i && i != g->n - 1)
				continue;
		}
		t->stage = weft_flows_stage(flows, g->rank[i]);
		t->sent = kind->sent[t->stage];
		if (t->sent > 0 && tell_pair(t, i, to))
			return -1;
	}
	return 0;
}

/* Reads the group and tours it. */
static int group_tour(const struct weft_flows *flows, uint32_t kind,
		      uint32_t index, struct flow_tour *t)
{
	static int (*const ways[])(const struct flow_tour *) = {
		[WEFT_WAY_RING] = tour_ring,
		[WEFT_WAY_TREES] = tour_trees,
		[WEFT_WAY_HIERARCHY] = tour_hierarchy,
		[WEFT_WAY_ALL] = flow_tour_all,
	};
	const struct weft_flow_kind *k = &flows->kinds[kind];

	t->f = flows->fabric;
	t->g = flows->group;
	t->one_nic = flow_one_nic(flows, k);
	flow_group_read(flows, k->grid, &k->groups, index);
	if (t->path)
		flow_group_sort(t->f, t->g);
	if (k->way >= WEFT_WAY_NEXT)
		return tour_pairs(flows, k, t);
	t->stage = weft_flows_stage(flows, t->g->rank[0]);
	t->sent = k->sent[t->stage];
	return t->sent > 0 ? ways[k->way](t) : 0;
}

int weft_flows_group(const struct weft_flows *flows, uint32_t kind,
		     uint32_t index, weft_flow_visit visit, void *data,
		     struct weft_flow_hops *hops, struct weft_error *err)
{
	struct flow_tour t = {
		.visit = visit, .data = data, .hops = hops, .err = err};

	if (hops)
		*hops = (struct weft_flow_hops){0};
	return group_tour(flows, kind, index, &t);
}

int weft_flows_paths(const struct weft_flows *flows, uint32_t kind,
		     uint32_t index, weft_flow_path_visit visit, void *data,
		     struct weft_error *err)
{
	struct flow_tour t = {.path = visit, .data = data, .err = err};

	return group_tour(flows, kind, index, &t);
}
