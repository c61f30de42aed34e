/* SPDX-License-Identifier: GPL-3.0-or-later */
/* span_time.c - seconds of a call, from what its links carry and its hops */
#include "costmodel/time/span.h"

#include "costmodel/time/scaling.h"
#include "costmodel/traffic/collective.h"

#include <math.h>

/* Bus bandwidth of reductions in switches over that of rings: 480 over 366 GB/s
 * measured on eight H100, 838 over 682 on eight B200. */
#define SWITCH_GAIN 1.29

static const struct weft_span *span_of(const struct weft_spans *spans,
				       uint32_t call, uint32_t stage)
{
	return &spans->span[(size_t)spans->flows.kind_of[call] *
				    spans->flows.n_stages +
			    stage];
}

static struct weft_hops hops_of(const struct weft_span *span, double transfer_s)
{
	const struct weft_flow_hops *hops = &span->hops;

	return (struct weft_hops){
		.n_inside = hops->n_inside,
		.n_between = hops->n_between,
		.inside_s =
			hops->n_inside ? hops->inside_s / hops->n_inside : 0,
		.between_s =
			hops->n_between ? hops->between_s / hops->n_between : 0,
		.transfer_s = transfer_s,
	};
}

static double ring_latency_s(const struct weft_call *c,
			     const struct weft_span *span, double transfer_s)
{
	struct weft_hops hops = hops_of(span, transfer_s);
	uint32_t rounds = c->collective == WEFT_ALL_REDUCE ? 2 : 1;

	/* Inside a host software has faster ways than NCCL's rings: multicast,
	 * copies that run behind products. */
	if (hops.n_between == 0)
		return rounds * span->hops.inside_s;
	return weft_scaling_ring_s(&hops, rounds) - transfer_s;
}

/* Chains inside the hosts, then the height of the trees over them.  A tree over
 * m hosts has 4 (m - 1) hops, both ways of two trees. */
static double trees_latency_s(const struct weft_fabric *f,
			      const struct weft_call *c,
			      const struct weft_span *span, double transfer_s)
{
	struct weft_hops hops = hops_of(span, transfer_s);
	uint32_t n_hosts = hops.n_between / 4 + 1;

	hops.n_inside = (c->n - 1) / n_hosts;
	hops.n_between = (uint32_t)ceil(log2(n_hosts));
	hops.tree_share = weft_scaling_tree_share(
		f->levels[0].link.rate_bytes_per_s, n_hosts);
	return weft_scaling_tree_s(&hops) - transfer_s;
}

/* Bytes that weft_span's seconds are of. */
static double sent_of(const struct weft_flows *flows, uint32_t call)
{
	const struct weft_call *c = &flows->schedule->calls[call];
	double sent =
		weft_volume_collective(c->collective, c->n, c->size_bytes);

	if (flows->kinds[flows->kind_of[call]].way == WEFT_WAY_TREES)
		return c->size_bytes;
	if (flows->algorithm == WEFT_BY_SWITCH &&
	    c->collective != WEFT_ALL_TO_ALL && c->collective != WEFT_SEND_RECV)
		return sent / SWITCH_GAIN;
	return sent;
}

static double latency_s(const struct weft_spans *spans, uint32_t call,
			const struct weft_span *span, double transfer_s)
{
	const struct weft_flows *flows = &spans->flows;
	const struct weft_call *c = &flows->schedule->calls[call];
	double rounds = c->collective == WEFT_ALL_REDUCE ? 2 : 1;

	/* An all-to-all sends to all at once. */
	if (c->collective == WEFT_ALL_TO_ALL || c->collective == WEFT_SEND_RECV)
		return span->hops.longest_s;
	if (flows->kinds[flows->kind_of[call]].way == WEFT_WAY_TREES)
		return trees_latency_s(flows->fabric, c, span, transfer_s);
	if (flows->algorithm == WEFT_BY_HALVING_DOUBLING)
		return rounds * ceil(log2(c->n)) * span->hops.longest_s;
	if (flows->algorithm == WEFT_BY_SWITCH)
		return 2 * span->hops.longest_s;
	return ring_latency_s(c, span, transfer_s);
}

struct weft_call_time weft_spans_call(const struct weft_spans *spans,
				      uint32_t call, uint32_t stage)
{
	const struct weft_call *c = &spans->flows.schedule->calls[call];
	const struct weft_span *span = span_of(spans, call, stage);
	double sent = sent_of(&spans->flows, call);
	double share = weft_fabric_rate_share(spans->flows.fabric,
					      span->hops.level, c->size_bytes);
	struct weft_call_time time = {.transfer_s = sent * span->s_per_byte};

	if (!span->has_hops)
		return time;
	time.loss_s =
		sent * (span->s_per_byte + span->s_per_byte_lost) / share -
		time.transfer_s;
	time.latency_s =
		latency_s(spans, call, span, time.transfer_s + time.loss_s);
	return time;
}

double weft_spans_call_s(const struct weft_spans *spans, uint32_t call,
			 uint32_t stage)
{
	struct weft_call_time time = weft_spans_call(spans, call, stage);

	return time.transfer_s + time.loss_s + time.latency_s;
}

void weft_spans_hop(struct weft_spans *spans, uint32_t level, bool nearest)
{
	const struct weft_flows *flows = &spans->flows;
	double latency_s = flows->fabric->levels[level].link.latency_s;

	for (size_t i = 0; i < (size_t)flows->n_kinds * flows->n_stages; i++) {
		struct weft_flow_hops *hops = &spans->span[i].hops;

		if (!hops->n_between)
			continue;
		hops->between_s = hops->n_between * latency_s;
		hops->longest_s = nearest ? fmin(hops->longest_s, latency_s)
					  : fmax(hops->longest_s, latency_s);
	}
}

double weft_spans_one_ring_s(const struct weft_spans *spans, uint32_t call,
			     uint32_t stage)
{
	const struct weft_call *c = &spans->flows.schedule->calls[call];
	const struct weft_span *span = span_of(spans, call, stage);
	double sent =
		weft_volume_collective(c->collective, c->n, c->size_bytes);
	double transfer_s =
		sent * fmax(span->s_per_byte + span->s_per_byte_lost,
			    span->s_per_byte_alone);

	return transfer_s + ring_latency_s(c, span, transfer_s);
}
