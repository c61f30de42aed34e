/* SPDX-License-Identifier: GPL-3.0-or-later */
/* simulation.h - flows that share links fairly: an oracle for closed forms
 *
 * Every message is a fluid flow over the links of its path; at any time the
 * flows share the links max-min fairly, and whenever one ends the shares are
 * computed anew.  Slow and plain on purpose.
 */
#ifndef WEFT_TESTS_COSTMODEL_SIMULATION_H
#define WEFT_TESTS_COSTMODEL_SIMULATION_H

#include "costmodel/time/cost.h"
#include "tests/lib/fabric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PATH (2 * (WEFT_MAX_LEVELS + 2))

/* One direction of one link. */
struct wire {
	double rate, free; /* bytes/s: whole, and not shared out yet */
	uint32_t waiting;  /* flows over it that have no share yet */
	double load;	   /* bytes it carries in all */
};

struct flow {
	uint32_t path[MAX_PATH], n_path;
	double left, share;
	bool shared; /* its share is known */
	uint32_t from, to;
};

/* Wires, up then down: of each domain, each GPU's NIC, each GPU's port. */
struct simulation {
	struct wire *wires;
	uint32_t n_wires;
	struct flow *flows;
	uint32_t n_flows;
	bool nic_beside_port; /* the NIC is not behind the NVLink port */
};

static inline bool is_over(const struct flow *flow, uint32_t wire)
{
	for (uint32_t k = 0; k < flow->n_path; k++) {
		if (flow->path[k] == wire)
			return true;
	}
	return false;
}

/* The wire that can give least to each of its flows that have no share yet. */
static inline uint32_t tightest(const struct simulation *s, double *share)
{
	uint32_t found = WEFT_NONE;

	*share = (double)INFINITY;
	for (uint32_t w = 0; w < s->n_wires; w++) {
		const struct wire *wire = &s->wires[w];

		if (wire->waiting && wire->free / wire->waiting < *share) {
			*share = wire->free / wire->waiting;
			found = w;
		}
	}
	return found;
}

/* Progressive filling: the tightest wire decides the shares of its flows, again
 * and again, until each flow has its own. */
static inline void shares_fill(struct simulation *s)
{
	double share;
	uint32_t wire;

	for (uint32_t w = 0; w < s->n_wires; w++) {
		s->wires[w].free = s->wires[w].rate;
		s->wires[w].waiting = 0;
	}
	for (uint32_t i = 0; i < s->n_flows; i++) {
		struct flow *flow = &s->flows[i];

		flow->shared = flow->left <= 0;
		for (uint32_t k = 0; !flow->shared && k < flow->n_path; k++)
			s->wires[flow->path[k]].waiting++;
	}
	while ((wire = tightest(s, &share)) != WEFT_NONE) {
		for (uint32_t i = 0; i < s->n_flows; i++) {
			struct flow *flow = &s->flows[i];

			if (flow->shared || !is_over(flow, wire))
				continue;
			flow->shared = true;
			flow->share = share;
			for (uint32_t k = 0; k < flow->n_path; k++) {
				s->wires[flow->path[k]].free -= share;
				s->wires[flow->path[k]].waiting--;
			}
		}
	}
}

/* Seconds until the last flow has ended; ends[i], if asked for, flow i. */
static inline double simulation_run(struct simulation *s, double *ends)
{
	double now_s = 0;

	for (;;) {
		double next_s = (double)INFINITY;

		shares_fill(s);
		for (uint32_t i = 0; i < s->n_flows; i++) {
			const struct flow *flow = &s->flows[i];

			if (flow->left > 0)
				next_s = fmin(next_s, flow->left / flow->share);
		}
		if (!isfinite(next_s))
			return now_s;
		now_s += next_s;
		for (uint32_t i = 0; i < s->n_flows; i++) {
			struct flow *flow = &s->flows[i];

			if (flow->left <= 0)
				continue;
			/* Rounding must not leave a crumb that is an event of
			 * its own. */
			if (flow->left / flow->share <= next_s * (1 + 1e-12))
				flow->left = 0;
			else
				flow->left -= flow->share * next_s;
			if (flow->left <= 0 && ends)
				ends[i] = now_s;
		}
	}
}

static inline void path_add(struct simulation *s, struct flow *flow,
			    uint32_t wire)
{
	assert_true(wire < s->n_wires && flow->n_path < MAX_PATH);
	flow->path[flow->n_path++] = wire;
	s->wires[wire].load += flow->left;
}

static inline void flow_route(struct simulation *s, const struct weft_fabric *f,
			      struct flow *flow)
{
	uint32_t level = weft_fabric_meet(f, flow->from, flow->to);
	uint32_t nics = 2 * f->n_domains, ports = nics + 2 * f->n_gpus;

	if (level <= f->node_level || !s->nic_beside_port) {
		path_add(s, flow, ports + 2 * flow->from);
		path_add(s, flow, ports + 2 * flow->to + 1);
	}
	if (level > f->node_level) {
		path_add(s, flow, nics + 2 * flow->from);
		path_add(s, flow, nics + 2 * flow->to + 1);
	}
	for (uint32_t l = 0; l < level; l++) {
		path_add(s, flow, 2 * f->gpu_domain[l][flow->from]);
		path_add(s, flow, 2 * f->gpu_domain[l][flow->to] + 1);
	}
}

static inline void simulation_open(struct simulation *s,
				   const struct weft_fabric *f,
				   uint32_t max_flows)
{
	uint32_t first_network = f->node_level + 1;

	memset(s, 0, sizeof(*s));
	s->n_wires = 2 * (f->n_domains + 2 * f->n_gpus);
	s->wires = calloc(s->n_wires, sizeof(*s->wires));
	s->flows = calloc(max_flows + 1, sizeof(*s->flows));
	assert_true(s->wires && s->flows);
	for (uint32_t w = 0; w < s->n_wires; w++) {
		uint32_t thing = w / 2;
		double rate = f->levels[0].link.rate_bytes_per_s;

		if (thing < f->n_domains)
			rate = weft_cost_uplink_rate(f, thing);
		else if (thing < f->n_domains + f->n_gpus &&
			 first_network < f->n_levels)
			rate = f->levels[first_network].link.rate_bytes_per_s;
		s->wires[w].rate = rate;
	}
}

static inline void simulation_add(struct simulation *s,
				  const struct weft_fabric *f, uint32_t from,
				  uint32_t to, double bytes)
{
	struct flow *flow = &s->flows[s->n_flows++];

	*flow = (struct flow){.from = from, .to = to, .left = bytes};
	flow_route(s, f, flow);
}

static inline void simulation_close(struct simulation *s)
{
	free(s->wires);
	free(s->flows);
}

#endif
