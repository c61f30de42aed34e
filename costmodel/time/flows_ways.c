/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flows_ways.c - the links that one group of ranks loads, way by way */
#include "costmodel/time/flows_parts.h"

#include "base/clock.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- groups ---- */

struct flow_group *flow_group_alloc(const struct weft_fabric *f,
				    uint32_t n_ranks, struct weft_error *err)
{
	size_t ranks = n_ranks, rails = f->n_rails ? f->n_rails : 1;
	size_t words = 7 * ranks + 1 + 2 * (size_t)f->n_domains + 2 * rails;
	struct flow_group *g = weft_calloc(1, sizeof(*g), err);
	uint32_t *next;

	if (!g)
		return NULL;
	g->memory = next = weft_calloc(words, sizeof(*next), err);
	if (!next) {
		free(g);
		return NULL;
	}
	g->rank = next;
	g->gpu = g->rank + ranks;
	g->host = g->gpu + ranks;
	g->member = g->host + ranks;
	g->out = g->member + ranks;
	g->in = g->out + ranks;
	g->first = g->in + ranks;
	g->count = g->first + ranks + 1;
	g->on_rail = g->count + f->n_domains;
	g->here = g->on_rail + rails;
	/* 0: no number, else one more than it */
	g->number = g->here + rails;
	return g;
}

void flow_group_free(struct flow_group *group)
{
	int saved = errno;

	if (group)
		free(group->memory);
	free(group);
	errno = saved;
}

uint32_t flow_group_size(const struct weft_grid *grid, const char *token)
{
	uint32_t n = 1;

	while (*token) {
		size_t length = strcspn(token, "-");

		for (uint32_t a = 0; a < grid->n_axes; a++)
			if (strlen(grid->name[a]) == length &&
			    memcmp(grid->name[a], token, length) == 0)
				n *= grid->size[a];
		token += length + (token[length] == '-');
	}
	return n;
}

static uint32_t host_of(const struct weft_fabric *f, uint32_t gpu)
{
	return f->gpu_domain[f->node_level][gpu];
}

/* Numbers the hosts and sorts the members by them. */
static void hosts_read(const struct weft_fabric *f, struct flow_group *g)
{
	g->n_hosts = 0;
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t host = host_of(f, g->gpu[i]);

		if (g->number[host] == 0) {
			g->host[g->n_hosts++] = host;
			g->number[host] = g->n_hosts;
		}
		g->count[host]++;
	}
	g->first[0] = 0;
	for (uint32_t h = 0; h < g->n_hosts; h++)
		g->first[h + 1] = g->first[h] + g->count[g->host[h]];
	for (uint32_t i = g->n; i-- > 0;) {
		uint32_t host = host_of(f, g->gpu[i]);
		uint32_t h = g->number[host] - 1;

		g->member[g->first[h] + --g->count[host]] = g->gpu[i];
	}
	for (uint32_t h = 0; h < g->n_hosts; h++)
		g->number[g->host[h]] = 0;
}

int flow_group_read(const struct weft_flows *flows,
		    const struct weft_grid *grid, const char *token,
		    uint32_t index, struct weft_error *err)
{
	struct flow_group *g = flows->group;

	g->n = weft_grid_group(grid, token, index, g->rank, err);
	if (g->n == 0)
		return -1;
	for (uint32_t i = 0; i < g->n; i++)
		g->gpu[i] = flows->where[g->rank[i]];
	hosts_read(flows->fabric, g);
	return 0;
}

/* ---- links ---- */

/* One visit of a group: its visitor, and what that gets. */
struct tour {
	const struct weft_fabric *f;
	struct flow_group *g;
	weft_flow_visit visit;
	void *data;
	weft_flow_path_visit path; /* instead: each flow between hosts */
	uint32_t stage;
	double sent; /* bytes of a rank of the stage */
	struct weft_flow_hops *hops;
	struct weft_error *err;
};

static void tell(const struct tour *t, uint32_t link, bool up, double bytes,
		 double n_flows)
{
	if (bytes > 0 && t->visit)
		t->visit(t->data, t->stage, 2 * link + !up, t->sent * bytes,
			 n_flows);
}

static void tell_domain(const struct tour *t, uint32_t domain, bool up,
			double bytes, double n_flows)
{
	tell(t, domain, up, bytes, n_flows);
}

static void tell_port(const struct tour *t, uint32_t gpu, bool up, double bytes)
{
	tell(t, t->f->n_domains + t->f->n_gpus + gpu, up, bytes, 1);
}

static uint32_t rail_of(const struct tour *t, uint32_t gpu)
{
	return weft_fabric_rail(t->f, gpu);
}

static void tell_nic(const struct tour *t, uint32_t host, uint32_t gpu, bool up,
		     double bytes, double n_flows)
{
	uint32_t nic = gpu;

	if (flow_has_rails(t->f, host))
		nic = flow_rail_nic(t->f, host, rail_of(t, gpu));
	tell(t, t->f->n_domains + nic, up, bytes, n_flows);
}

static int unconnected(const struct tour *t, uint32_t a, uint32_t b)
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

static void hops_count(const struct tour *t, uint32_t level, double latency_s,
		       uint32_t n)
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
	hops->longest_s = fmax(hops->longest_s, latency_s);
	if (level > hops->level)
		hops->level = level;
}

/* What goes past a domain of a ring or torus enters and leaves it, too. */
static void tell_passed(const struct tour *t, uint32_t a, uint32_t b,
			uint32_t meet, double bytes, double n_flows)
{
	uint32_t passed[WEFT_FLOW_PASSED];
	uint32_t n = flow_passed(t->f, meet, a, b, passed, WEFT_FLOW_PASSED);

	for (uint32_t i = 0; i < n; i++) {
		tell_domain(t, passed[i], false, bytes, n_flows);
		tell_domain(t, passed[i], true, bytes, n_flows);
	}
}

/* Domains of hosts a and b below the level where they meet, upwards from the
 * hosts themselves; and, where messages change rails without crossing NVLink,
 * the domain inside which they would have met. */
static void tell_between(const struct tour *t, uint32_t a, uint32_t b,
			 uint32_t meet, double bytes, double n_flows,
			 double off_rail)
{
	const struct weft_fabric *f = t->f;
	uint32_t leaf = f->node_level + 1;

	if (f->has_steps)
		tell_passed(t, a, b, meet, bytes, n_flows);

	for (uint32_t l = f->node_level; l < meet; l++) {
		tell_domain(t, f->gpu_domain[l][a], true, bytes, n_flows);
		tell_domain(t, f->gpu_domain[l][b], false, bytes, n_flows);
	}
	if (meet != leaf || f->pxn || leaf + 1 >= f->n_levels)
		return;
	tell_domain(t, f->gpu_domain[leaf][a], true, bytes * off_rail,
		    n_flows * off_rail);
	tell_domain(t, f->gpu_domain[leaf][b], false, bytes * off_rail,
		    n_flows * off_rail);
}

static struct flow_sink sink_of(const struct tour *t)
{
	return (struct flow_sink){t->f, t->path, t->data, t->stage};
}

/* ---- rings ---- */

/* Shares of host h's members on each rail. */
static void rails_count(const struct tour *t, uint32_t h, uint32_t *on_rail)
{
	const struct flow_group *g = t->g;

	memset(on_rail, 0, t->f->n_rails * sizeof(*on_rail));
	for (uint32_t i = g->first[h]; i < g->first[h + 1]; i++)
		on_rail[rail_of(t, g->member[i])]++;
}

/* Share of what goes from host a to b that arrives on another rail. */
static double off_rail_share(const struct tour *t, uint32_t a, uint32_t b)
{
	const struct flow_group *g = t->g;
	double k_a = g->first[a + 1] - g->first[a];
	double k_b = g->first[b + 1] - g->first[b], off = 0;

	if (t->f->n_rails < 2 || t->f->pxn)
		return 0;
	rails_count(t, a, t->g->on_rail);
	rails_count(t, b, t->g->here);
	for (uint32_t r = 0; r < t->f->n_rails; r++)
		off += fmax(0, g->here[r] / k_b - g->on_rail[r] / k_a);
	return off;
}

/* NICs of a hop: out of host a by its members' or, with PXN, by those of its
 * own on the rails of b's; into b by its members'. */
static void tell_hop_nics(const struct tour *t, uint32_t a, uint32_t b,
			  double bytes, double n_flows)
{
	const struct flow_group *g = t->g;
	uint32_t from = a;
	double k;

	if (flow_passes(t->f, g->host[a], g->host[b]))
		from = b;
	k = g->first[from + 1] - g->first[from];
	for (uint32_t i = g->first[from]; i < g->first[from + 1]; i++)
		tell_nic(t, g->host[a], g->member[i], true, bytes / k,
			 n_flows / k);
	k = g->first[b + 1] - g->first[b];
	for (uint32_t i = g->first[b]; i < g->first[b + 1]; i++)
		tell_nic(t, g->host[b], g->member[i], false, bytes / k,
			 n_flows / k);
}

/* All that one host sends to another, by all of its members' NICs. */
static int tell_hop(const struct tour *t, uint32_t a, uint32_t b, double bytes)
{
	const struct flow_group *g = t->g;
	uint32_t k_a = g->first[a + 1] - g->first[a];
	uint32_t k_b = g->first[b + 1] - g->first[b];
	uint32_t n_flows = k_a > k_b ? k_a : k_b;
	uint32_t from = g->member[g->first[a]], to = g->member[g->first[b]];
	uint32_t meet = weft_fabric_meet(t->f, from, to);

	if (meet >= t->f->n_levels)
		return unconnected(t, from, to);
	if (t->path) {
		struct flow_sink sink = sink_of(t);

		return flow_path_hop(&sink, g, a, b, t->sent * bytes);
	}
	hops_count(t, meet, pair_latency(t->f, meet, from, to), 1);
	tell_hop_nics(t, a, b, bytes, n_flows);
	tell_between(t, from, to, meet, bytes, n_flows,
		     off_rail_share(t, a, b));
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

static void tell_ports(const struct tour *t, uint32_t h,
		       const struct inside *inside)
{
	const struct flow_group *g = t->g;
	double size = g->first[h + 1] - g->first[h];
	double bytes = inside_bytes(inside, size);

	for (uint32_t i = g->first[h]; i < g->first[h + 1]; i++) {
		double k = g->count[t->f->gpu_domain[0][g->member[i]]];
		bool whole = inside->way == INSIDE_RING && !(k < size);
		double sends = whole ? bytes : bytes * (k - 1) / k;

		tell_port(t, g->member[i], true, sends);
		tell_port(t, g->member[i], false, sends);
	}
}

/* Domains inside a host: a ring leaves and enters each of them once, as does a
 * path with its ends; a chain is cut between any two of them.  Clears the
 * counts. */
static void tell_domains_inside(const struct tour *t, uint32_t l, uint32_t h,
				const struct inside *inside)
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
		tell_domain(t, d, true, bytes, k);
		tell_domain(t, d, false, bytes, k);
	}
}

static int tell_inside(const struct tour *t, const struct inside *inside)
{
	const struct weft_fabric *f = t->f;
	struct flow_group *g = t->g;
	uint32_t below = g->n;

	for (uint32_t l = 0; l <= f->node_level; l++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < g->n; i++)
			n += g->count[f->gpu_domain[l][g->gpu[i]]]++ == 0;
		hops_count(t, l, f->levels[l].link.latency_s, below - n);
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
static void tell_to_nics(const struct tour *t, uint32_t h, double bytes)
{
	const struct flow_group *g = t->g;
	double k = g->first[h + 1] - g->first[h];

	for (uint32_t l = 0; l < t->f->node_level; l++)
		for (uint32_t i = g->first[h]; i < g->first[h + 1]; i++) {
			uint32_t d = t->f->gpu_domain[l][g->member[i]];

			tell_domain(t, d, true, bytes / k, 1);
			tell_domain(t, d, false, bytes / k, 1);
		}
}

/* bytes: that go from host to host, for one that a rank sends. */
static int ring_around(const struct tour *t, double bytes)
{
	const struct flow_group *g = t->g;

	for (uint32_t h = 0; g->n_hosts > 1 && h < g->n_hosts; h++)
		if (weft_deadline_check_turn(h, t->err) ||
		    tell_hop(t, h, (h + 1) % g->n_hosts, bytes))
			return -1;
	if (g->n_hosts == 1 && t->hops)
		hops_count(t, t->hops->level, t->hops->longest_s, 1);
	return 0;
}

static int tour_ring(const struct tour *t)
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
static int tour_hierarchy(const struct tour *t)
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

/* Parent of host v > 0 in the first tree over k: hosts with h trailing zeros
 * are at height h; a parent beyond the end is the next one down (NCCL,
 * src/graph/trees.cc). */
static uint32_t tree_parent(uint32_t v, uint32_t k)
{
	const uint32_t lowest = v & (~v + 1);
	const uint32_t parent = (v & ~lowest) | lowest << 1;

	return parent < k ? parent : v & ~lowest;
}

static uint32_t second_tree(uint32_t v, uint32_t k)
{
	return k % 2 ? (v + 1) % k : k - 1 - v;
}

/* Half of the data goes up and down each tree over the hosts, all of it up and
 * down the chains inside. */
static int tour_trees(const struct tour *t)
{
	const struct flow_group *g = t->g;
	const struct inside chain = {INSIDE_CHAIN, 2};
	uint32_t k = g->n_hosts;

	if (tell_inside(t, &chain))
		return -1;
	for (uint32_t v = 1; v < k; v++) {
		uint32_t edge[2][2] = {
			{v, tree_parent(v, k)},
			{second_tree(v, k), second_tree(tree_parent(v, k), k)}};

		if (weft_deadline_check_turn(v, t->err))
			return -1;
		for (uint32_t tree = 0; tree < 2; tree++) {
			if (tell_hop(t, edge[tree][0], edge[tree][1], 0.5) ||
			    tell_hop(t, edge[tree][1], edge[tree][0], 0.5))
				return -1;
			tell_to_nics(t, edge[tree][0], 0.5);
			tell_to_nics(t, edge[tree][1], 0.5);
		}
	}
	return 0;
}

/* ---- each to each ---- */

/* Ordered pairs of members of a leaf domain that sit on different hosts and
 * rails, over n - 1: without PXN they cross the level above it. */
static void tell_off_rail(const struct tour *t, uint32_t domain)
{
	const struct weft_fabric *f = t->f;
	struct flow_group *g = t->g;
	uint32_t leaf = f->node_level + 1;
	double pairs = 0, k = 0;

	memset(g->on_rail, 0, f->n_rails * sizeof(*g->on_rail));
	for (uint32_t h = 0; h < g->n_hosts; h++) {
		double here = g->first[h + 1] - g->first[h];

		if (f->gpu_domain[leaf][g->member[g->first[h]]] != domain)
			continue;
		rails_count(t, h, g->here);
		for (uint32_t r = 0; r < f->n_rails; r++) {
			g->on_rail[r] += g->here[r];
			pairs -= g->here[r] * (here - g->here[r]);
		}
		k += here;
	}
	for (uint32_t r = 0; r < f->n_rails; r++)
		pairs += g->on_rail[r] * (k - g->on_rail[r]);
	tell_domain(t, domain, true, pairs / (g->n - 1), pairs);
	tell_domain(t, domain, false, pairs / (g->n - 1), pairs);
}

/* Members of host h on each rail exchange with members elsewhere: those that
 * receive are on the rail of the NIC, and with PXN those that send need not be.
 * passed: members of all hosts with rails, which g->on_rail counts. */
static void tell_all_rails(const struct tour *t, uint32_t h, double passed)
{
	const struct weft_fabric *f = t->f;
	const struct flow_group *g = t->g;
	double k = g->first[h + 1] - g->first[h], others = g->n - 1;

	rails_count(t, h, g->here);
	for (uint32_t r = 0; r < f->n_rails; r++) {
		uint32_t nic = f->n_domains + flow_rail_nic(f, g->host[h], r);
		double in = g->here[r] * (g->n - k);
		double out = in;

		if (f->pxn)
			out = k * (g->on_rail[r] - g->here[r]) +
			      g->here[r] * (g->n - passed);

		tell(t, nic, true, out / others, out);
		tell(t, nic, false, in / others, in);
	}
}

static void tell_all_nics(const struct tour *t)
{
	const struct flow_group *g = t->g;
	double passed = 0;

	if (t->f->n_rails > 1)
		memset(g->on_rail, 0, t->f->n_rails * sizeof(*g->on_rail));
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t host = host_of(t->f, g->gpu[i]);

		if (!flow_passes(t->f, host, host))
			continue;
		g->on_rail[rail_of(t, g->gpu[i])]++;
		passed++;
	}
	for (uint32_t h = 0; h < g->n_hosts; h++) {
		double k = g->first[h + 1] - g->first[h];
		double out = g->n - k;

		if (flow_has_rails(t->f, g->host[h])) {
			tell_all_rails(t, h, passed);
			continue;
		}
		for (uint32_t i = g->first[h]; i < g->first[h + 1]; i++) {
			tell_nic(t, g->host[h], g->member[i], true,
				 out / (g->n - 1), out);
			tell_nic(t, g->host[h], g->member[i], false,
				 out / (g->n - 1), out);
		}
	}
}

/* Pairs of members whose domains of level l have others between them on a ring
 * or torus above; their numbers are in g->count. */
static void tell_all_passed(const struct tour *t, uint32_t l)
{
	const struct weft_fabric *f = t->f;
	const struct flow_group *g = t->g;
	uint32_t gpu[WEFT_FLOW_PASSED], n = 0;
	uint32_t last = WEFT_NONE;

	for (uint32_t i = 0; i < g->n && n < WEFT_FLOW_PASSED; i++) {
		uint32_t d = f->gpu_domain[l][g->gpu[i]];
		bool seen = d == last;

		for (uint32_t k = 0; k < n && !seen; k++)
			seen = f->gpu_domain[l][gpu[k]] == d;
		if (!seen)
			gpu[n++] = g->gpu[i];
		last = d;
	}
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < n; k++) {
			double pairs =
				(double)g->count[f->gpu_domain[l][gpu[i]]] *
				g->count[f->gpu_domain[l][gpu[k]]];

			if (i != k &&
			    weft_fabric_meet(f, gpu[i], gpu[k]) == l + 1)
				tell_passed(t, gpu[i], gpu[k], l + 1,
					    pairs / (g->n - 1), pairs);
		}
}

/* Domains of a level with k of the n members: k * (n - k) pairs leave. */
static uint32_t tell_all_level(const struct tour *t, uint32_t l)
{
	const struct weft_fabric *f = t->f;
	struct flow_group *g = t->g;
	bool leaf_off = l == f->node_level + 1 && f->n_rails > 1 && !f->pxn &&
			l + 1 < f->n_levels;
	uint32_t n_domains = 0;

	for (uint32_t i = 0; i < g->n; i++)
		g->count[f->gpu_domain[l][g->gpu[i]]]++;
	if (f->has_steps && l >= f->node_level && l + 1 < f->n_levels)
		tell_all_passed(t, l);
	for (uint32_t i = 0; l == 0 && i < g->n; i++) {
		double k = g->count[f->gpu_domain[0][g->gpu[i]]];

		tell_port(t, g->gpu[i], true, (k - 1) / (g->n - 1));
		tell_port(t, g->gpu[i], false, (k - 1) / (g->n - 1));
	}
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t d = f->gpu_domain[l][g->gpu[i]];
		double k = g->count[d], pairs = k * (g->n - k);

		g->count[d] = 0;
		if (!(k > 0))
			continue;
		n_domains++;
		tell_domain(t, d, true, pairs / (g->n - 1), pairs);
		tell_domain(t, d, false, pairs / (g->n - 1), pairs);
		if (leaf_off)
			tell_off_rail(t, d);
	}
	return n_domains;
}

/* Pairs of members of different hosts. */
static int all_paths(const struct tour *t)
{
	const struct flow_sink sink = sink_of(t);
	const struct flow_group *g = t->g;
	uint32_t end = 0;

	for (uint32_t h = 0; h < g->n_hosts; h++) {
		uint32_t first = end;

		end = g->first[h + 1];
		for (uint32_t i = first; i < end; i++)
			for (uint32_t k = 0; k < g->n; k++)
				if ((k < first || k >= end) &&
				    flow_path_pair(&sink, g->member[i],
						   g->member[k],
						   t->sent / (g->n - 1)))
					return -1;
	}
	return 0;
}

static int tour_all(const struct tour *t)
{
	struct flow_group *g = t->g;
	uint32_t below = g->n;

	if (t->path)
		return all_paths(t);
	for (uint32_t l = 0; l < t->f->n_levels && below > 1; l++) {
		uint32_t n = tell_all_level(t, l);

		hops_count(t, l, t->f->levels[l].link.latency_s, below - n);
		below = n;
	}
	if (below > 1)
		return unconnected(t, g->gpu[0], g->gpu[g->n - 1]);
	if (g->n_hosts > 1)
		tell_all_nics(t);
	return 0;
}

/* ---- pairs ---- */

/* One flow between two GPUs. */
static int tell_pair(const struct tour *t, uint32_t a, uint32_t b)
{
	const struct weft_fabric *f = t->f;
	uint32_t cross, meet = weft_fabric_relation(f, a, b, &cross);
	bool passed;

	if (meet >= f->n_levels)
		return unconnected(t, a, b);
	if (t->path && meet > f->node_level) {
		struct flow_sink sink = sink_of(t);

		return flow_path_pair(&sink, a, b, t->sent);
	}
	hops_count(t, meet, pair_latency(f, meet, a, b), 1);
	if (meet == 0) {
		tell_port(t, a, true, 1);
		tell_port(t, b, false, 1);
	}
	for (uint32_t l = 0; l < meet && l < f->node_level; l++) {
		tell_domain(t, f->gpu_domain[l][a], true, 1, 1);
		tell_domain(t, f->gpu_domain[l][b], false, 1, 1);
	}
	if (meet <= f->node_level)
		return 0;
	passed = cross && flow_passes(f, host_of(f, a), host_of(f, b));
	tell_nic(t, host_of(f, a), passed ? b : a, true, 1, 1);
	tell_nic(t, host_of(f, b), b, false, 1, 1);
	tell_between(t, a, b, meet, 1, 1, cross);
	return 0;
}

/* The group of weft_flows_group, rank by rank: each sends as its stage does. */
static int tour_pairs(const struct weft_flows *flows,
		      const struct weft_flow_kind *kind, struct tour *t)
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
		if (t->sent > 0 && tell_pair(t, g->gpu[i], g->gpu[to]))
			return -1;
	}
	return 0;
}

/* Reads the group and tours it. */
static int group_tour(const struct weft_flows *flows, uint32_t kind,
		      uint32_t index, struct tour *t)
{
	static int (*const ways[])(const struct tour *) = {
		[WEFT_WAY_RING] = tour_ring,
		[WEFT_WAY_TREES] = tour_trees,
		[WEFT_WAY_HIERARCHY] = tour_hierarchy,
		[WEFT_WAY_ALL] = tour_all,
	};
	const struct weft_flow_kind *k = &flows->kinds[kind];
	const struct weft_call *call = &flows->schedule->calls[k->call];

	t->f = flows->fabric;
	t->g = flows->group;
	if (flow_group_read(flows,
			    call->expert_grid ? &flows->schedule->expert
					      : &flows->schedule->dense,
			    call->group, index, t->err))
		return -1;
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
	struct tour t = {
		.visit = visit, .data = data, .hops = hops, .err = err};

	if (hops)
		*hops = (struct weft_flow_hops){0};
	return group_tour(flows, kind, index, &t);
}

int weft_flows_paths(const struct weft_flows *flows, uint32_t kind,
		     uint32_t index, weft_flow_path_visit visit, void *data,
		     struct weft_error *err)
{
	struct tour t = {.path = visit, .data = data, .err = err};

	return group_tour(flows, kind, index, &t);
}
