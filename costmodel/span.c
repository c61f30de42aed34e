/* SPDX-License-Identifier: GPL-3.0-or-later */
/* span.c - what the groups of a call cross on a placement
 *
 * A ring over n ranks that visits domain after domain leaves each domain once,
 * so a domain's ranks of one group send together as many bytes out of it as one
 * rank sends, and share their links for it.  In an all-to-all each rank sends
 * an equal share to each other one; a send-recv goes to one neighbour.
 */
#include "costmodel/span.h"

#include "costmodel/cost.h"
#include "costmodel/volume.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bus bandwidth of reductions in switches over that of rings: 480 over 366 GB/s
 * measured on eight H100, 838 over 682 on eight B200. */
#define SWITCH_GAIN 1.29

/* Who sends to whom in a group. */
enum shape {
	SHAPE_RING,	/* all that NCCL does in rings or trees */
	SHAPE_ALL,	/* each to each */
	SHAPE_NEXT,	/* to the next, around */
	SHAPE_PREVIOUS, /* to the one before, around */
	SHAPE_ENDS	/* a ring of the first and the last */
};

struct measure {
	const struct weft_fabric *f;
	const uint32_t *where;
	const struct weft_load *load;
	const struct weft_grid *grid, *dense;
	enum shape shape;
	uint32_t pp; /* axis of the dense grid, or WEFT_MAX_AXES */
	struct weft_span *stages;
	/* scratch */
	double *bytes;	   /* [n_domains] out, per byte of a rank */
	uint32_t *members; /* [n_domains] of the group at hand; zero between */
	uint32_t *ranks;   /* [n_ranks] */
	uint32_t n;	   /* ranks of the group at hand */
};

static enum shape shape_of(const struct weft_schedule *s,
			   const struct weft_call *call)
{
	uint32_t axis = weft_grid_axis(&s->dense, call->group);

	if (call->collective == WEFT_ALL_TO_ALL)
		return SHAPE_ALL;
	if (call->collective == WEFT_SEND_RECV) {
		if (call->axis == WEFT_AXIS_PP && call->phase == WEFT_BACKWARD)
			return SHAPE_PREVIOUS;
		return SHAPE_NEXT;
	}
	if (call->axis == WEFT_AXIS_PP && axis != WEFT_MAX_AXES &&
	    call->n < s->dense.size[axis])
		return SHAPE_ENDS;
	return SHAPE_RING;
}

static bool same_kind(const struct weft_schedule *s, const struct weft_call *a,
		      const struct weft_call *b)
{
	return a->expert_grid == b->expert_grid &&
	       strcmp(a->group, b->group) == 0 &&
	       shape_of(s, a) == shape_of(s, b);
}

static uint32_t stage_of(const struct measure *m, uint32_t rank)
{
	if (m->pp == WEFT_MAX_AXES)
		return 0;
	return weft_grid_coordinate(m->dense, rank, m->pp);
}

/* What can be had of the link above a domain: a group that sends out of it
 * also receives as much. */
static double link_rate(const struct measure *m, uint32_t domain)
{
	if (!m->load)
		return weft_cost_uplink_rate(m->f, domain);
	return fmin(weft_load_rate(m->load, domain, true),
		    weft_load_rate(m->load, domain, false));
}

/* Bytes that a group sends out of a domain with k of its n ranks, per byte that
 * one rank sends. */
static double leaving(const struct measure *m, uint32_t k)
{
	if (k == 0 || k >= m->n)
		return 0;
	if (m->shape == SHAPE_ALL)
		return (double)k * (m->n - k) / (m->n - 1);
	return 1;
}

static void members_count(const struct measure *m, uint32_t level)
{
	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t gpu = m->where[m->ranks[i]];
		uint32_t domain = m->f->gpu_domain[level][gpu];

		m->members[domain]++;
	}
}

/* Adds what the group sends out of each domain. */
static void group_load(const struct measure *m)
{
	for (uint32_t level = 0; level + 1 < m->f->n_levels; level++) {
		members_count(m, level);
		for (uint32_t i = 0; i < m->n; i++) {
			uint32_t gpu = m->where[m->ranks[i]];
			uint32_t domain = m->f->gpu_domain[level][gpu];

			/* once a domain: the first rank zeroes the count */
			m->bytes[domain] += leaving(m, m->members[domain]);
			m->members[domain] = 0;
		}
	}
}

/* Domains of a level with members of the group; the slowest of them sets the
 * span's seconds per byte. */
static uint32_t level_measure(const struct measure *m, uint32_t level,
			      struct weft_span *span)
{
	const struct weft_fabric *f = m->f;
	uint32_t n_domains = 0;

	members_count(m, level);
	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t gpu = m->where[m->ranks[i]];
		uint32_t domain = f->gpu_domain[level][gpu];
		uint32_t k = m->members[domain];
		double own, shared;

		m->members[domain] = 0;
		n_domains += k > 0;
		if (level == 0 && k > 1) {
			double share = m->shape == SHAPE_ALL
					       ? (k - 1.0) / (m->n - 1)
					       : 1;

			span->s_per_byte = fmax(
				span->s_per_byte,
				share / f->levels[0].link.rate_bytes_per_s);
		}
		if (!(leaving(m, k) > 0) || level + 1 >= f->n_levels)
			continue;
		own = leaving(m, k) / k /
		      f->levels[level + 1].link.rate_bytes_per_s;
		shared = m->bytes[domain] / link_rate(m, domain);
		span->s_per_byte = fmax(span->s_per_byte, fmax(own, shared));
		span->s_per_byte_alone = fmax(span->s_per_byte_alone, own * k);
	}
	return n_domains;
}

/* Keeps the slowest group of a stage. */
static void stage_keep(struct weft_span *stage, const struct weft_span *span)
{
	stage->s_per_byte = fmax(stage->s_per_byte, span->s_per_byte);
	stage->s_per_byte_alone =
		fmax(stage->s_per_byte_alone, span->s_per_byte_alone);
	stage->round_s = fmax(stage->round_s, span->round_s);
	stage->hop_s = fmax(stage->hop_s, span->hop_s);
}

static int unconnected(const struct measure *m, struct weft_error *err)
{
	const struct weft_fabric *f = m->f;
	uint32_t a = m->where[m->ranks[0]], b = m->where[m->ranks[m->n - 1]];

	return weft_fail(err, WEFT_EINVAL,
			 "ranks %u and %u are in one group, but no link joins "
			 "their nodes %s and %s",
			 m->ranks[0], m->ranks[m->n - 1],
			 f->nodes[f->gpu_node[a]].name,
			 f->nodes[f->gpu_node[b]].name);
}

static int group_measure(const struct measure *m, struct weft_error *err)
{
	const struct weft_fabric *f = m->f;
	struct weft_span span = {0};
	uint32_t below = m->n;

	for (uint32_t level = 0; level < f->n_levels; level++) {
		uint32_t n = level_measure(m, level, &span);

		/* Hops between the domains that this level joins. */
		if (n < below) {
			span.round_s +=
				(below - n) * f->levels[level].link.latency_s;
			span.hop_s = fmax(span.hop_s,
					  f->levels[level].link.latency_s);
		}
		below = n;
	}
	if (below > 1)
		return unconnected(m, err);
	if (m->shape != SHAPE_ALL)
		span.round_s += span.hop_s; /* back to the first */
	stage_keep(&m->stages[stage_of(m, m->ranks[0])], &span);
	if (m->shape == SHAPE_ENDS)
		stage_keep(&m->stages[stage_of(m, m->ranks[m->n - 1])], &span);
	return 0;
}

/* The peer of the group's rank i in a send-recv. */
static uint32_t peer_of(const struct measure *m, uint32_t i)
{
	uint32_t to = m->shape == SHAPE_NEXT ? i + 1 : i + m->n - 1;

	return m->ranks[to % m->n];
}

static int sends_load(const struct measure *m, struct weft_error *err)
{
	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t a = m->where[m->ranks[i]], b = m->where[peer_of(m, i)];
		uint32_t meet = weft_fabric_meet(m->f, a, b);

		if (meet >= m->f->n_levels)
			return unconnected(m, err);
		for (uint32_t level = 0; level < meet; level++)
			m->bytes[m->f->gpu_domain[level][a]] += 1;
	}
	return 0;
}

static void sends_measure(const struct measure *m)
{
	const struct weft_fabric *f = m->f;

	for (uint32_t i = 0; i < m->n; i++) {
		uint32_t a = m->where[m->ranks[i]];
		uint32_t b = m->where[peer_of(m, i)];
		uint32_t meet = weft_fabric_meet(f, a, b);
		const struct weft_link *link = &f->levels[meet].link;
		double latency_s =
			link->latency_s + weft_fabric_further(f, meet, a, b) *
						  f->levels[meet].hop_latency_s;
		struct weft_span span = {
			.s_per_byte = 1 / link->rate_bytes_per_s,
			.round_s = latency_s,
			.hop_s = latency_s,
		};

		for (uint32_t level = 0; level < meet; level++) {
			uint32_t domain = f->gpu_domain[level][a];

			span.s_per_byte =
				fmax(span.s_per_byte,
				     m->bytes[domain] / link_rate(m, domain));
		}
		stage_keep(&m->stages[stage_of(m, m->ranks[i])], &span);
	}
}

static int group_read(struct measure *m, const struct weft_call *call,
		      uint32_t index, struct weft_error *err)
{
	m->n = weft_grid_group(m->grid, call->group, index, m->ranks, err);
	if (m->shape == SHAPE_ENDS && m->n > 1) {
		m->ranks[1] = m->ranks[m->n - 1];
		m->n = 2;
	}
	return m->n ? 0 : -1;
}

/* All groups of the token: first what they send, then how long it takes. */
static int kind_measure(struct measure *m, const struct weft_call *call,
			struct weft_error *err)
{
	bool sends = m->shape == SHAPE_NEXT || m->shape == SHAPE_PREVIOUS;
	uint32_t size = weft_grid_group(m->grid, call->group, 0, m->ranks, err);
	uint32_t n_groups = size ? m->grid->n_ranks / size : 0;

	memset(m->bytes, 0, m->f->n_domains * sizeof(*m->bytes));
	for (uint32_t i = 0; i < n_groups; i++) {
		if (group_read(m, call, i, err) ||
		    (sends && sends_load(m, err)))
			return -1;
		if (!sends)
			group_load(m);
	}
	for (uint32_t i = 0; i < n_groups; i++) {
		if (group_read(m, call, i, err) ||
		    (!sends && group_measure(m, err)))
			return -1;
		if (sends)
			sends_measure(m);
	}
	return size ? 0 : -1;
}

/* Numbers the kinds of group; calls of one kind share their spans. */
static int kinds_number(struct weft_spans *spans, struct weft_error *err)
{
	const struct weft_schedule *s = spans->schedule;

	spans->kind =
		weft_calloc(s->n_calls + (size_t)1, sizeof(*spans->kind), err);
	if (!spans->kind)
		return -1;
	for (uint32_t i = 0; i < s->n_calls; i++) {
		uint32_t k = 0;

		while (k < i && !same_kind(s, &s->calls[k], &s->calls[i]))
			k++;
		spans->kind[i] = k < i ? spans->kind[k] : spans->n_kinds++;
	}
	spans->span = weft_calloc((size_t)spans->n_kinds * spans->n_stages + 1,
				  sizeof(*spans->span), err);
	return spans->span ? 0 : -1;
}

static int kinds_measure(struct weft_spans *spans, struct measure *m,
			 struct weft_error *err)
{
	const struct weft_schedule *s = spans->schedule;
	uint32_t done = 0;

	for (uint32_t i = 0; i < s->n_calls; i++) {
		const struct weft_call *call = &s->calls[i];

		if (spans->kind[i] < done)
			continue;
		done++;
		m->grid = call->expert_grid ? &s->expert : &s->dense;
		m->shape = shape_of(s, call);
		m->stages =
			&spans->span[(size_t)spans->kind[i] * spans->n_stages];
		if (kind_measure(m, call, err))
			return -1;
	}
	return 0;
}

int weft_spans_build(const struct weft_fabric *f,
		     const struct weft_schedule *schedule,
		     const uint32_t *where, const struct weft_load *load,
		     struct weft_spans *spans, struct weft_error *err)
{
	uint32_t pp = weft_grid_axis(&schedule->dense, "pp");
	struct measure m = {
		.f = f,
		.where = where,
		.load = load,
		.dense = &schedule->dense,
		.pp = pp,
	};
	int rc = -1;

	*spans = (struct weft_spans){
		.fabric = f,
		.schedule = schedule,
		.where = where,
		.n_stages = pp == WEFT_MAX_AXES ? 1 : schedule->dense.size[pp],
	};
	m.bytes = weft_calloc(f->n_domains, sizeof(*m.bytes), err);
	m.members = weft_calloc(f->n_domains, sizeof(*m.members), err);
	m.ranks = weft_calloc(schedule->dense.n_ranks, sizeof(*m.ranks), err);
	if (m.bytes && m.members && m.ranks && kinds_number(spans, err) == 0)
		rc = kinds_measure(spans, &m, err);
	free(m.bytes);
	free(m.members);
	free(m.ranks);
	return rc;
}

void weft_spans_free(struct weft_spans *spans)
{
	if (!spans)
		return;
	free(spans->kind);
	free(spans->span);
	memset(spans, 0, sizeof(*spans));
}

static const struct weft_span *span_of(const struct weft_spans *spans,
				       uint32_t call, uint32_t stage)
{
	return &spans->span[(size_t)spans->kind[call] * spans->n_stages +
			    stage];
}

double weft_spans_one_ring_s(const struct weft_spans *spans, uint32_t call,
			     uint32_t stage)
{
	const struct weft_call *c = &spans->schedule->calls[call];
	const struct weft_span *span = span_of(spans, call, stage);
	double sent =
		weft_volume_collective(c->collective, c->n, c->size_bytes);

	return span->round_s +
	       sent * fmax(span->s_per_byte, span->s_per_byte_alone);
}

/* A ring: all-reduces go around it twice. */
static double ring_s(const struct weft_call *c, const struct weft_span *span,
		     double sent)
{
	double rounds = c->collective == WEFT_ALL_REDUCE ? 2 : 1;

	return rounds * span->round_s + sent * span->s_per_byte;
}

/* All-reduces go up and down two trees of half the data. */
static double tree_s(const struct weft_call *c, const struct weft_span *span,
		     double sent)
{
	if (c->collective != WEFT_ALL_REDUCE)
		return ring_s(c, span, sent);
	return 2 * ceil(log2(c->n)) * span->hop_s +
	       2 * c->size_bytes * span->s_per_byte;
}

static double by_size_s(const struct weft_call *c, const struct weft_span *span,
			double sent)
{
	return fmin(ring_s(c, span, sent), tree_s(c, span, sent));
}

/* The bytes of a ring in log2(n) messages. */
static double halving_s(const struct weft_call *c, const struct weft_span *span,
			double sent)
{
	double rounds = c->collective == WEFT_ALL_REDUCE ? 2 : 1;

	return rounds * ceil(log2(c->n)) * span->hop_s +
	       sent * span->s_per_byte;
}

/* Switches reduce on the way: once up and down. */
static double switch_s(const struct weft_call *c, const struct weft_span *span,
		       double sent)
{
	(void)c;
	return 2 * span->hop_s + sent * span->s_per_byte / SWITCH_GAIN;
}

double weft_spans_call_s(const struct weft_spans *spans, uint32_t call,
			 uint32_t stage)
{
	static double (*const by[WEFT_N_CHOICES_OF_ALGORITHM])(
		const struct weft_call *, const struct weft_span *, double) = {
		[WEFT_BY_SIZE] = by_size_s,
		[WEFT_BY_RING] = ring_s,
		[WEFT_BY_TREE] = tree_s,
		[WEFT_BY_HIERARCHY] = ring_s,
		[WEFT_BY_HALVING_DOUBLING] = halving_s,
		[WEFT_BY_SWITCH] = switch_s,
	};
	const struct weft_call *c = &spans->schedule->calls[call];
	const struct weft_span *span = span_of(spans, call, stage);
	double sent =
		weft_volume_collective(c->collective, c->n, c->size_bytes);

	/* These have no choice of it; an all-to-all sends to all at once. */
	if (c->collective == WEFT_ALL_TO_ALL || c->collective == WEFT_SEND_RECV)
		return span->hop_s + sent * span->s_per_byte;
	return by[spans->algorithm](c, span, sent);
}
