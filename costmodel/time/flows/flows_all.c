/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flows_all.c - the links that a group loads where each sends to each */
#include "costmodel/time/flows/flows_tour.h"

#include <string.h>

/* Ordered pairs of members of a leaf domain that sit on different hosts and
 * rails, over n - 1: without PXN they cross the level above it. */
static void tell_off_rail(const struct flow_tour *t, uint32_t domain)
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
		flow_rails_count(t, h, g->here);
		for (uint32_t r = 0; r < f->n_rails; r++) {
			g->on_rail[r] += g->here[r];
			pairs -= g->here[r] * (here - g->here[r]);
		}
		k += here;
	}
	for (uint32_t r = 0; r < f->n_rails; r++)
		pairs += g->on_rail[r] * (k - g->on_rail[r]);
	flow_tell(t, domain, FLOW_BOTH, pairs / (g->n - 1), pairs);
}

/* Members of host h on each rail exchange with members elsewhere: those that
 * receive are on the rail of the NIC, and with PXN those that send need not be.
 * passed: members of all hosts with rails, which g->on_rail counts. */
static void tell_all_rails(const struct flow_tour *t, uint32_t h, double passed)
{
	const struct weft_fabric *f = t->f;
	const struct flow_group *g = t->g;
	double k = g->first[h + 1] - g->first[h], others = g->n - 1;

	flow_rails_count(t, h, g->here);
	for (uint32_t r = 0; r < f->n_rails; r++) {
		uint32_t nic = f->n_domains + flow_rail_nic(f, g->host[h], r);
		double in = g->here[r] * (g->n - k);
		double out = in;

		if (f->pxn)
			out = k * (g->on_rail[r] - g->here[r]) +
			      g->here[r] * (g->n - passed);

		flow_tell(t, nic, FLOW_UP, out / others, out);
		flow_tell(t, nic, FLOW_DOWN, in / others, in);
	}
}

static void tell_all_nics(const struct flow_tour *t)
{
	const struct flow_group *g = t->g;
	double passed = 0;

	if (t->f->n_rails > 1)
		memset(g->on_rail, 0, t->f->n_rails * sizeof(*g->on_rail));
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t host = flow_host_of(t->f, g->gpu[i]);

		if (!flow_passes(t->f, host, host))
			continue;
		g->on_rail[flow_rail_of(t, g->gpu[i])]++;
		passed++;
	}
	for (uint32_t h = 0; h < g->n_hosts; h++) {
		double k = g->first[h + 1] - g->first[h];
		double out = g->n - k;

		if (flow_has_rails(t->f, g->host[h])) {
			tell_all_rails(t, h, passed);
			continue;
		}
		for (uint32_t i = g->first[h]; i < flow_nics_end(t, h); i++) {
			flow_tell_nic(
				t, flow_nic_of(t, g->host[h], g->member[i], i),
				FLOW_BOTH, out / (g->n - 1), out);
		}
	}
}

/* Pairs of members whose domains of level l have others between them on a ring
 * or torus above; their numbers are in g->count. */
static void tell_all_passed(const struct flow_tour *t, uint32_t l)
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
				flow_tell_passed(t, gpu[i], gpu[k], l + 1,
						 pairs / (g->n - 1), pairs);
		}
}

/* Domains of a level with k of the n members: k * (n - k) pairs leave. */
static uint32_t tell_all_level(const struct flow_tour *t, uint32_t l)
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
	for (uint32_t i = 0; l == 0 && !t->one_nic && i < g->n; i++) {
		double k = g->count[f->gpu_domain[0][g->gpu[i]]];

		flow_tell_port(t, g->gpu[i], FLOW_BOTH, (k - 1) / (g->n - 1));
	}
	for (uint32_t i = 0; i < g->n; i++) {
		uint32_t d = f->gpu_domain[l][g->gpu[i]];
		double k = g->count[d], pairs = k * (g->n - k);

		g->count[d] = 0;
		if (!(k > 0))
			continue;
		if (l == 0 && t->one_nic)
			flow_tell_port(t, g->gpu[i], FLOW_BOTH,
				       (k - 1) / (g->n - 1));
		n_domains++;
		flow_tell(t, d, FLOW_BOTH, pairs / (g->n - 1), pairs);
		if (leaf_off)
			tell_off_rail(t, d);
	}
	return n_domains;
}

/* Pairs of members of different hosts. */
static int all_paths(const struct flow_tour *t)
{
	const struct flow_sink sink = flow_sink_of(t);
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

int flow_tour_all(const struct flow_tour *t)
{
	struct flow_group *g = t->g;
	uint32_t below = g->n;

	if (t->path)
		return all_paths(t);
	for (uint32_t l = 0; l < t->f->n_levels && below > 1; l++) {
		uint32_t n = tell_all_level(t, l);

		flow_hops_count(t, l, t->f->levels[l].link.latency_s,
				below - n);
		below = n;
	}
	if (below > 1)
		return flow_unconnected(t, g->gpu[0], g->gpu[g->n - 1]);
	if (g->n_hosts > 1)
		tell_all_nics(t);
	return 0;
}
