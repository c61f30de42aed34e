/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flows.c - the kinds of calls of a step, and the links of a fabric */
#include "costmodel/time/flows.h"

#include "costmodel/time/cost.h"
#include "costmodel/time/flows/flows_parts.h"
#include "costmodel/time/scaling.h"
#include "costmodel/traffic/collective.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- links ---- */

struct weft_flow_end weft_flows_end(const struct weft_fabric *f, uint32_t link)
{
	struct weft_flow_end end = {
		.domain = WEFT_NONE,
		.gpu = WEFT_NONE,
		.up = link % 2 == 0,
	};
	uint32_t i = link / 2;

	if (i < f->n_domains) {
		end.what = WEFT_LINK_DOMAIN;
		end.domain = i;
	} else if (i - f->n_domains < f->n_gpus) {
		end.what = WEFT_LINK_NIC;
		end.gpu = i - f->n_domains;
	} else {
		end.what = WEFT_LINK_PORT;
		end.gpu = i - f->n_domains - f->n_gpus;
	}
	return end;
}

/* GPUs of a node that share the rail of its GPU number `local`. */
static uint32_t rail_sharers(const struct weft_fabric *f,
			     const struct weft_node *node, uint32_t local)
{
	uint32_t rail = local * f->n_rails / node->n_gpus, n = 0;

	for (uint32_t k = local;
	     k < node->n_gpus && k * f->n_rails / node->n_gpus == rail; k++)
		n++;
	return n;
}

/* A shared NIC is that of the first GPU on the rail. */
static double nic_rate(const struct weft_fabric *f, uint32_t gpu)
{
	const struct weft_node *node = &f->nodes[f->gpu_node[gpu]];
	double rate = f->levels[f->node_level + 1].link.rate_bytes_per_s;
	uint32_t host = f->gpu_domain[f->node_level][gpu];

	if (f->n_rails < 2 || f->domains[host].n_nodes > 1)
		return rate;
	return rate * rail_sharers(f, node, weft_fabric_number(f, gpu));
}

double weft_flows_capacity(const struct weft_fabric *f, uint32_t link)
{
	struct weft_flow_end end = weft_flows_end(f, link);

	if (end.what == WEFT_LINK_DOMAIN)
		return weft_cost_uplink_rate(f, end.domain);
	if (end.what == WEFT_LINK_PORT)
		return f->levels[0].link.rate_bytes_per_s;
	if (f->node_level + 1 >= f->n_levels)
		return (double)INFINITY;
	return nic_rate(f, end.gpu);
}

/* ---- kinds ---- */

uint32_t weft_flows_stage(const struct weft_flows *flows, uint32_t rank)
{
	if (flows->pp_axis == WEFT_MAX_AXES)
		return 0;
	return weft_grid_coordinate(&flows->schedule->dense, rank,
				    flows->pp_axis);
}

struct weft_flow_seen weft_flows_seen(const struct weft_flows *flows,
				      uint32_t kind)
{
	const struct flow_group *g = flows->group;

	return (struct weft_flow_seen){
		.n_hosts = g->n_hosts,
		.stage = flows->kinds[kind].way >= WEFT_WAY_NEXT
				 ? WEFT_NONE
				 : weft_flows_stage(flows, g->rank[0]),
	};
}

static const struct weft_grid *grid_of(const struct weft_schedule *s,
				       const struct weft_call *call)
{
	return call->expert_grid ? &s->expert : &s->dense;
}

/* Steps of a ring and of trees on the hosts of a call's first group, and their
 * time on idle links: which one a library chooses. */
static bool trees_win(const struct weft_flows *flows,
		      const struct weft_call *call)
{
	const struct weft_fabric *f = flows->fabric;
	const struct weft_grid *grid = grid_of(flows->schedule, call);
	uint32_t network = f->node_level + 1;
	struct flow_group *g = flows->group;
	struct weft_grid_groups groups;
	const struct weft_link *link;
	double ring_s, trees_s, rate;

	if (network >= f->n_levels ||
	    weft_grid_groups(grid, call->group, &groups, NULL))
		return false;
	flow_group_read(flows, grid, &groups, 0);
	if (g->n_hosts < 3)
		return false;
	link = &f->levels[network].link;
	rate = fmin(f->levels[0].link.rate_bytes_per_s,
		    link->rate_bytes_per_s * g->n / g->n_hosts);
	ring_s = 2 * (g->n_hosts * link->latency_s +
		      (g->n - g->n_hosts) * f->levels[0].link.latency_s) +
		 weft_volume_all_reduce(call->n, call->size_bytes) / rate;
	trees_s =
		2 * ceil(log2(g->n_hosts)) * link->latency_s +
		2 * call->size_bytes / rate /
			weft_scaling_tree_share(
				f->levels[0].link.rate_bytes_per_s, g->n_hosts);
	return trees_s < ring_s;
}

static enum weft_way reduce_way(const struct weft_flows *flows,
				const struct weft_call *call)
{
	switch (flows->algorithm) {
	case WEFT_BY_TREE:
		return WEFT_WAY_TREES;
	case WEFT_BY_HIERARCHY:
		return WEFT_WAY_HIERARCHY;
	case WEFT_BY_SIZE:
		return trees_win(flows, call) ? WEFT_WAY_TREES : WEFT_WAY_RING;
	default:
		return WEFT_WAY_RING;
	}
}

static enum weft_way way_of(const struct weft_flows *flows,
			    const struct weft_call *call)
{
	if (call->collective == WEFT_ALL_TO_ALL)
		return WEFT_WAY_ALL;
	if (call->collective == WEFT_SEND_RECV)
		return call->axis == WEFT_AXIS_PP &&
				       call->phase == WEFT_BACKWARD
			       ? WEFT_WAY_PREVIOUS
			       : WEFT_WAY_NEXT;
	if (call->axis == WEFT_AXIS_PP)
		return WEFT_WAY_ENDS;
	if (call->collective == WEFT_ALL_REDUCE && call->n > 2)
		return reduce_way(flows, call);
	return flows->algorithm == WEFT_BY_HIERARCHY ? WEFT_WAY_HIERARCHY
						     : WEFT_WAY_RING;
}

/* Bytes of a step: what a rank sends, or what trees reduce. */
static double call_bytes(const struct weft_call *call, enum weft_way way)
{
	if (way == WEFT_WAY_TREES)
		return call->count * call->size_bytes;
	return call->count * weft_volume_collective(call->collective, call->n,
						    call->size_bytes);
}

/* Whether calls run at the same time in different stages: those of one row of
 * the schedule, which has a call for each run of stages. */
static bool same_row(const struct weft_call *a, const struct weft_call *b)
{
	return a->what == b->what && a->phase == b->phase &&
	       a->axis == b->axis && a->expert_grid == b->expert_grid &&
	       strcmp(a->group, b->group) == 0;
}

static bool same_groups(const struct weft_call *a, const struct weft_call *b)
{
	return a->expert_grid == b->expert_grid && a->n == b->n &&
	       strcmp(a->group, b->group) == 0;
}

/* Whether a sends in every stage a multiple of what b sends. */
static bool proportional(const double *a, const double *b, uint32_t n)
{
	double factor = 0;

	for (uint32_t p = 0; p < n; p++) {
		if ((a[p] > 0) != (b[p] > 0))
			return false;
		if (b[p] > 0 && !(factor > 0))
			factor = a[p] / b[p];
		if (b[p] > 0 &&
		    fabs(a[p] - factor * b[p]) > 1e-9 * factor * b[p])
			return false;
	}
	return true;
}

static double sent_sum(const struct weft_flows *flows,
		       const struct weft_flow_kind *kind)
{
	double sum = 0;

	for (uint32_t p = 0; p < flows->n_stages; p++)
		sum += kind->sent[p];
	return sum;
}

static void message_merge(const struct weft_flows *flows,
			  struct weft_flow_kind *kind,
			  const struct weft_flow_kind *add)
{
	double a = sent_sum(flows, kind), b = sent_sum(flows, add);

	if (a > 0 && b > 0)
		kind->message =
			(a + b) / (a / kind->message + b / add->message);
}

/* An earlier kind that the last one loads links like, to which it is added. */
static uint32_t kind_merge(struct weft_flows *flows)
{
	const struct weft_call *calls = flows->schedule->calls;
	uint32_t last = flows->n_kinds - 1;
	const struct weft_flow_kind *kind = &flows->kinds[last];

	for (uint32_t k = 0; k < last; k++) {
		const struct weft_flow_kind *other = &flows->kinds[k];

		if (other->way != kind->way ||
		    !same_groups(&calls[other->call], &calls[kind->call]) ||
		    !proportional(kind->sent, other->sent, flows->n_stages))
			continue;
		message_merge(flows, &flows->kinds[k], kind);
		for (uint32_t p = 0; p < flows->n_stages; p++)
			other->sent[p] += kind->sent[p];
		memset(kind->sent, 0, flows->n_stages * sizeof(*kind->sent));
		flows->n_kinds--;
		return k;
	}
	return last;
}

/* Takes the row of calls that begins with number `first`. */
static void kind_take(struct weft_flows *flows, uint32_t first)
{
	const struct weft_schedule *s = flows->schedule;
	const struct weft_call *call = &s->calls[first];
	struct weft_flow_kind *kind = &flows->kinds[flows->n_kinds];
	double n_calls = 0;
	uint32_t k;

	*kind = (struct weft_flow_kind){
		.call = first,
		.way = way_of(flows, call),
		.grid = grid_of(s, call),
		.n_groups = grid_of(s, call)->n_ranks /
			    flow_group_size(grid_of(s, call), call->group),
		.sent = flows->sent + (size_t)flows->n_kinds * flows->n_stages,
	};
	weft_grid_groups(kind->grid, call->group, &kind->groups, NULL);
	flows->n_kinds++;
	for (uint32_t i = first; i < s->n_calls; i++) {
		const struct weft_call *other = &s->calls[i];
		double bytes = call_bytes(other, kind->way);

		if (flows->kind_of[i] != WEFT_NONE || !same_row(call, other) ||
		    (i > first && way_of(flows, other) != kind->way))
			continue;
		flows->kind_of[i] = flows->n_kinds - 1;
		n_calls += other->count * other->n_stages;
		for (uint32_t p = 0; p < other->n_stages; p++)
			kind->sent[other->first_stage + p] += bytes;
	}
	kind->message = n_calls > 0 ? sent_sum(flows, kind) / n_calls : 0;
	k = kind_merge(flows);
	for (uint32_t i = first; i < s->n_calls; i++)
		if (flows->kind_of[i] != WEFT_NONE &&
		    flows->kind_of[i] >= flows->n_kinds)
			flows->kind_of[i] = k;
}

static int kinds_number(struct weft_flows *flows, struct weft_error *err)
{
	uint32_t n = flows->schedule->n_calls;

	flows->kind_of =
		weft_calloc(n + (size_t)1, sizeof(*flows->kind_of), err);
	flows->kinds = weft_calloc(n + (size_t)1, sizeof(*flows->kinds), err);
	flows->sent = weft_calloc((n + (size_t)1) * flows->n_stages,
				  sizeof(*flows->sent), err);
	if (!flows->kind_of || !flows->kinds || !flows->sent)
		return -1;
	memset(flows->kind_of, 0xff, n * sizeof(*flows->kind_of));
	for (uint32_t i = 0; i < n; i++)
		if (flows->kind_of[i] == WEFT_NONE)
			kind_take(flows, i);
	return 0;
}

/* Ranks of the largest group of a schedule's calls. */
static uint32_t largest_group(const struct weft_schedule *s)
{
	uint32_t most = 1;

	for (uint32_t i = 0; i < s->n_calls; i++) {
		const struct weft_call *call = &s->calls[i];
		uint32_t n = flow_group_size(grid_of(s, call), call->group);

		most = n > most ? n : most;
	}
	return most;
}

int weft_flows_build(const struct weft_fabric *f,
		     const struct weft_schedule *schedule,
		     const uint32_t *where,
		     enum weft_choice_of_algorithm algorithm,
		     struct weft_flows *flows, struct weft_error *err)
{
	uint32_t pp = weft_grid_axis(&schedule->dense, "pp");

	*flows = (struct weft_flows){
		.fabric = f,
		.schedule = schedule,
		.where = where,
		.algorithm = algorithm,
		.pp_axis = pp,
		.n_stages = pp == WEFT_MAX_AXES ? 1 : schedule->dense.size[pp],
	};
	flows->group = flow_group_alloc(f, largest_group(schedule), err);
	return flows->group ? kinds_number(flows, err) : -1;
}

void weft_flows_free(struct weft_flows *flows)
{
	int saved = errno;

	if (flows) {
		free(flows->kind_of);
		free(flows->kinds);
		free(flows->sent);
		flow_group_free(flows->group);
		memset(flows, 0, sizeof(*flows));
	}
	errno = saved;
}
