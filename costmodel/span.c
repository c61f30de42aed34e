/* SPDX-License-Identifier: GPL-3.0-or-later */
/* span.c - how long the calls of a step take on a placement */
#include "costmodel/span.h"

#include "costmodel/volume.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bus bandwidth of reductions in switches over that of rings: 480 over 366 GB/s
 * measured on eight H100, 838 over 682 on eight B200. */
#define SWITCH_GAIN 1.29

/* What one kind of call puts on a link. */
struct carried {
	double bytes, n_flows;
	uint64_t stages; /* bit p % 64: of stage p */
};

/* The kind at hand; carried is all zeros between. */
struct measure {
	struct weft_spans *spans;
	const struct weft_load *load;
	struct carried *carried; /* [n_links] */
	double *total;		 /* [n_links] bytes of all kinds */
	uint32_t *touched;	 /* [n_links] by the kind at hand */
	uint32_t *used;		 /* [n_links] by any kind */
	uint32_t n_touched, n_used;
	double *time_s; /* [n_stages] of the slowest link */
	double *met_s;	/* [n_stages] the same with other jobs */
};

static uint64_t stage_bit(uint32_t stage)
{
	return UINT64_C(1) << stage % 64;
}

static void link_add(void *data, uint32_t stage, uint32_t link, double bytes,
		     double n_flows)
{
	struct measure *m = data;
	struct carried *c = &m->carried[link];

	if (c->stages == 0)
		m->touched[m->n_touched++] = link;
	c->bytes += bytes;
	c->n_flows += n_flows;
	c->stages |= stage_bit(stage);
}

static double capacity_of(const struct measure *m, uint32_t link)
{
	const struct weft_fabric *f = m->spans->flows.fabric;

	if (m->load && link < 2 * f->n_domains)
		return weft_load_capacity(m->load, link / 2);
	return weft_flows_capacity(f, link);
}

/* Raises the times of all stages that a link carries bytes of. */
static void stages_raise(const struct measure *m, uint64_t stages,
			 double *time_s, double link_s)
{
	for (uint32_t p = 0; p < m->spans->flows.n_stages; p++)
		if (stages & stage_bit(p))
			time_s[p] = fmax(time_s[p], link_s);
}

static double longest_of(const struct measure *m, uint64_t stages)
{
	double longest_s = 0;

	for (uint32_t p = 0; p < m->spans->flows.n_stages; p++)
		if (stages & stage_bit(p))
			longest_s = fmax(longest_s, m->time_s[p]);
	return longest_s;
}

/* Notes what the kind puts on the links above domains, for other jobs to meet.
 */
static int parts_note(struct measure *m, struct weft_error *err)
{
	uint32_t n = 2 * m->spans->flows.fabric->n_domains;

	for (uint32_t i = 0; i < m->n_touched; i++) {
		uint32_t link = m->touched[i];
		const struct carried *c = &m->carried[link];
		double longest_s = longest_of(m, c->stages);
		const struct weft_load_part part = {
			.link = link,
			.add = {.duty = longest_s,
				.flows = longest_s * c->n_flows,
				.rate_bytes_per_s = c->bytes},
		};

		if (link < n &&
		    weft_load_parts_add(&m->spans->parts, &part, err))
			return -1;
	}
	return 0;
}

/* Who crosses a link also crosses another one, up or down: half of the loss is
 * that of each. */
static void others_meet(struct measure *m)
{
	uint32_t n = 2 * m->spans->flows.fabric->n_domains;

	memcpy(m->met_s, m->time_s,
	       m->spans->flows.n_stages * sizeof(*m->met_s));
	for (uint32_t i = 0; m->load && i < m->n_touched; i++) {
		const struct carried *c = &m->carried[m->touched[i]];
		struct weft_load_call call = {
			.link = m->touched[i],
			.bytes = c->bytes,
			.n_flows = c->n_flows,
			.alone_s = longest_of(m, c->stages),
		};
		double lost_gpu_s;

		if (call.link >= n || isinf(capacity_of(m, call.link)))
			continue;
		stages_raise(m, c->stages, m->met_s,
			     weft_load_call_s(m->load, &call, &lost_gpu_s));
		m->spans->lost_gpu_s += lost_gpu_s / 2;
	}
}

static void kind_finish(struct measure *m, uint32_t kind)
{
	const struct weft_flows *flows = &m->spans->flows;
	const double *sent = flows->kinds[kind].sent;
	struct weft_span *span =
		&m->spans->span[(size_t)kind * flows->n_stages];

	for (uint32_t p = 0; p < flows->n_stages; p++)
		if (sent[p] > 0)
			span[p].s_per_byte = m->met_s[p] / sent[p];
	for (uint32_t i = 0; i < m->n_touched; i++) {
		struct carried *c = &m->carried[m->touched[i]];

		if (!(m->total[m->touched[i]] > 0))
			m->used[m->n_used++] = m->touched[i];
		m->total[m->touched[i]] += c->bytes;
		*c = (struct carried){0};
	}
	m->n_touched = 0;
}

/* Latencies of the group just visited: its stage's, or where its ranks are of
 * several, all stages'. */
static void latency_keep(struct measure *m, uint32_t kind,
			 const struct weft_flow_latency *latency, bool crosses,
			 uint32_t stage)
{
	const struct weft_flows *flows = &m->spans->flows;
	const struct weft_fabric *f = flows->fabric;
	bool leaves = f->node_level + 1 < f->n_levels && crosses;

	for (uint32_t p = 0; p < flows->n_stages; p++) {
		struct weft_span *span =
			&m->spans->span[(size_t)kind * flows->n_stages + p];

		if (stage != WEFT_NONE && p != stage)
			continue;
		span->round_s = fmax(span->round_s, latency->round_s);
		span->hop_s = fmax(span->hop_s, latency->hop_s);
		if (leaves)
			span->s_per_byte_alone =
				1 / f->levels[f->node_level + 1]
					    .link.rate_bytes_per_s;
	}
}

static int kind_measure(struct measure *m, uint32_t kind,
			struct weft_error *err)
{
	struct weft_spans *spans = m->spans;
	const struct weft_flow_kind *k = &spans->flows.kinds[kind];

	memset(m->time_s, 0, spans->flows.n_stages * sizeof(*m->time_s));
	for (uint32_t i = 0; i < k->n_groups; i++) {
		struct weft_flow_latency latency;
		struct weft_flow_seen seen;

		if (weft_flows_group(&spans->flows, kind, i, link_add, m,
				     &latency, err))
			return -1;
		seen = weft_flows_seen(&spans->flows, kind);
		latency_keep(m, kind, &latency, seen.n_hosts > 1, seen.stage);
	}
	for (uint32_t i = 0; i < m->n_touched; i++) {
		const struct carried *c = &m->carried[m->touched[i]];

		stages_raise(m, c->stages, m->time_s,
			     c->bytes / capacity_of(m, m->touched[i]));
	}
	others_meet(m);
	if (parts_note(m, err))
		return -1;
	kind_finish(m, kind);
	return 0;
}

/* Seconds that a link needs for its share of the step. */
static double full_s(const struct measure *m, uint32_t link)
{
	uint32_t n = 2 * m->spans->flows.fabric->n_domains;

	if (m->load && link < n)
		return m->total[link] /
		       weft_load_rate(m->load, link / 2, link % 2 == 0);
	return m->total[link] / capacity_of(m, link);
}

/* Whether link a rather than b is the one to name when both are as full. */
static bool names_better(const struct weft_fabric *f, uint32_t a, uint32_t b)
{
	bool domain_a = a < 2 * f->n_domains, domain_b = b < 2 * f->n_domains;
	uint32_t level_a = domain_a ? f->domains[a / 2].level : 0;
	uint32_t level_b = domain_b ? f->domains[b / 2].level : 0;

	if (domain_a != domain_b)
		return domain_a;
	return level_a > level_b || (level_a == level_b && a < b);
}

static void fullest_find(struct measure *m)
{
	const struct weft_fabric *f = m->spans->flows.fabric;
	struct weft_fullest *fullest = &m->spans->fullest;
	uint32_t n = 2 * (f->n_domains + f->n_gpus);

	for (uint32_t i = 0; i < m->n_used; i++) {
		uint32_t link = m->used[i];
		double time_s = link < n ? full_s(m, link) : 0;
		bool equal = fabs(time_s - fullest->time_s) <=
			     1e-12 * fullest->time_s;

		if (!(time_s > 0) ||
		    (equal && !names_better(f, link, fullest->link)) ||
		    (!equal && time_s < fullest->time_s))
			continue;
		*fullest = (struct weft_fullest){link, m->total[link], time_s};
	}
}

static int kinds_measure(struct measure *m, struct weft_error *err)
{
	for (uint32_t k = 0; k < m->spans->flows.n_kinds; k++)
		if (kind_measure(m, k, err))
			return -1;
	fullest_find(m);
	return 0;
}

int weft_spans_build(const struct weft_fabric *f,
		     const struct weft_schedule *schedule,
		     const uint32_t *where,
		     enum weft_choice_of_algorithm algorithm,
		     const struct weft_load *load, struct weft_spans *spans,
		     struct weft_error *err)
{
	size_t n_links = weft_flows_n_links(f);
	struct measure m = {.spans = spans, .load = load};
	uint32_t n_stages;
	int rc = -1;

	memset(spans, 0, sizeof(*spans));
	spans->fullest.link = WEFT_NONE;
	if (weft_flows_build(f, schedule, where, algorithm, &spans->flows, err))
		return -1;
	n_stages = spans->flows.n_stages;
	spans->span = weft_calloc((size_t)spans->flows.n_kinds * n_stages + 1,
				  sizeof(*spans->span), err);
	m.carried = weft_calloc(n_links, sizeof(*m.carried), err);
	m.total = weft_calloc(n_links, sizeof(*m.total), err);
	m.touched = weft_calloc(n_links, sizeof(*m.touched), err);
	m.used = weft_calloc(n_links, sizeof(*m.used), err);
	m.time_s = weft_calloc(n_stages, sizeof(*m.time_s), err);
	m.met_s = weft_calloc(n_stages, sizeof(*m.met_s), err);
	if (spans->span && m.carried && m.total && m.touched && m.used &&
	    m.time_s && m.met_s)
		rc = kinds_measure(&m, err);
	free(m.carried);
	free(m.total);
	free(m.touched);
	free(m.used);
	free(m.time_s);
	free(m.met_s);
	return rc;
}

void weft_spans_free(struct weft_spans *spans)
{
	int saved = errno;

	if (spans) {
		weft_flows_free(&spans->flows);
		weft_load_parts_free(&spans->parts);
		free(spans->span);
		memset(spans, 0, sizeof(*spans));
	}
	errno = saved;
}

int weft_spans_load(const struct weft_spans *spans, double step_s,
		    uint32_t n_gpus, struct weft_load_parts *parts,
		    struct weft_error *err)
{
	if (!(step_s > 0) || !isfinite(step_s))
		return weft_fail(err, WEFT_EINVAL,
				 "a step of %g s says nothing of the load",
				 step_s);
	for (uint32_t i = 0; i < spans->parts.n; i++) {
		struct weft_load_part part = spans->parts.part[i];
		double duty = fmin(part.add.duty / step_s, 1);

		part.add.flows *= duty / part.add.duty;
		part.add.duty = duty;
		part.add.rate_bytes_per_s /= step_s;
		part.add.gpus = duty * n_gpus;
		if (weft_load_parts_add(parts, &part, err))
			return -1;
	}
	return 0;
}

/* ---- seconds ---- */

static const struct weft_span *span_of(const struct weft_spans *spans,
				       uint32_t call, uint32_t stage)
{
	return &spans->span[(size_t)spans->flows.kind_of[call] *
				    spans->flows.n_stages +
			    stage];
}

double weft_spans_one_ring_s(const struct weft_spans *spans, uint32_t call,
			     uint32_t stage)
{
	const struct weft_call *c = &spans->flows.schedule->calls[call];
	const struct weft_span *span = span_of(spans, call, stage);
	double sent =
		weft_volume_collective(c->collective, c->n, c->size_bytes);

	return span->round_s +
	       sent * fmax(span->s_per_byte, span->s_per_byte_alone);
}

double weft_spans_latency_s(const struct weft_spans *spans, uint32_t call,
			    uint32_t stage)
{
	const struct weft_flows *flows = &spans->flows;
	const struct weft_call *c = &flows->schedule->calls[call];
	const struct weft_span *span = span_of(spans, call, stage);
	bool trees = flows->kinds[flows->kind_of[call]].way == WEFT_WAY_TREES;
	double rounds = c->collective == WEFT_ALL_REDUCE ? 2 : 1;

	/* An all-to-all sends to all at once. */
	if (c->collective == WEFT_ALL_TO_ALL || c->collective == WEFT_SEND_RECV)
		return span->hop_s;
	if (trees || flows->algorithm == WEFT_BY_HALVING_DOUBLING)
		return rounds * ceil(log2(c->n)) * span->hop_s;
	if (flows->algorithm == WEFT_BY_SWITCH)
		return 2 * span->hop_s;
	return rounds * span->round_s;
}

double weft_spans_transfer_s(const struct weft_spans *spans, uint32_t call,
			     uint32_t stage)
{
	const struct weft_flows *flows = &spans->flows;
	const struct weft_call *c = &flows->schedule->calls[call];
	const struct weft_span *span = span_of(spans, call, stage);
	double sent =
		weft_volume_collective(c->collective, c->n, c->size_bytes);

	if (flows->kinds[flows->kind_of[call]].way == WEFT_WAY_TREES)
		sent = c->size_bytes;
	else if (flows->algorithm == WEFT_BY_SWITCH &&
		 c->collective != WEFT_ALL_TO_ALL &&
		 c->collective != WEFT_SEND_RECV)
		sent /= SWITCH_GAIN;
	return sent * span->s_per_byte;
}

double weft_spans_call_s(const struct weft_spans *spans, uint32_t call,
			 uint32_t stage)
{
	return weft_spans_latency_s(spans, call, stage) +
	       weft_spans_transfer_s(spans, call, stage);
}
