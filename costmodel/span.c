/* SPDX-License-Identifier: GPL-3.0-or-later */
/* span.c - how long the calls of a step take on a placement */
#include "costmodel/span.h"

#include "costmodel/routing.h"
#include "costmodel/scaling.h"
#include "costmodel/sharing.h"
#include "costmodel/volume.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Bus bandwidth of reductions in switches over that of rings: 480 over 366 GB/s
 * measured on eight H100, 838 over 682 on eight B200. */
#define SWITCH_GAIN 1.29

/* Visits of links in sharing, in all: some 0.3 s. */
#define SHARING_VISITS 30000000

/* What calls put on a directed link. */
struct carried {
	uint32_t link; /* of weft_flows_end */
	double total;  /* bytes of all kinds */
	double bytes;  /* of the kind at hand, as the next two */
	double n_flows;
	double unit;	 /* bytes of a flow for one that its rank sends */
	uint64_t stages; /* bit p % 64: of stage p */
};

/* A job uses few of a fabric's links: they are numbered as they come.  slot is
 * a table of open addressing, of a power of two. */
struct measure {
	struct weft_spans *spans;
	const struct weft_load *load;
	struct carried *carried; /* [n_carried] */
	uint32_t n_carried, room;
	uint32_t *slot; /* [n_slots] index + 1 into carried; 0: free */
	uint32_t n_slots;
	const double *sent; /* [n_stages] of the kind at hand */
	uint32_t *touched;  /* [n_touched] into carried, by that kind */
	uint32_t n_touched;
	double *time_s; /* [n_stages] of the slowest link */
	double *own_s;	/* [n_stages] of the slowest NIC or port */
	double *met_s;	/* [n_stages] the same with other jobs */
	struct weft_hashed_link *hashed; /* [room] */
};

/* Multiplicative hashing, D. Knuth, The Art of Computer Programming 3, 6.4. */
static struct carried *carried_get(struct measure *m, uint32_t link)
{
	uint32_t at = (link * UINT32_C(2654435769)) >> 7;

	for (;; at++) {
		uint32_t *slot = &m->slot[at & (m->n_slots - 1)];

		if (*slot == 0) {
			m->carried[m->n_carried].link = link;
			*slot = ++m->n_carried;
		}
		if (m->carried[*slot - 1].link == link)
			return &m->carried[*slot - 1];
	}
}

static uint64_t stage_bit(uint32_t stage)
{
	return UINT64_C(1) << stage % 64;
}

static void link_add(void *data, uint32_t stage, uint32_t link, double bytes,
		     double n_flows)
{
	struct measure *m = data;
	struct carried *c = carried_get(m, link);

	if (c->stages == 0)
		m->touched[m->n_touched++] = (uint32_t)(c - m->carried);
	c->bytes += bytes;
	c->n_flows += n_flows;
	c->unit = fmax(c->unit, bytes / n_flows / m->sent[stage]);
	c->stages |= stage_bit(stage);
}

static double capacity_of(const struct measure *m, uint32_t link)
{
	const struct weft_fabric *f = m->spans->flows.fabric;

	if (m->load && link < 2 * f->n_domains)
		return weft_load_capacity(m->load, link / 2);
	return weft_flows_capacity(f, link);
}

/* Raises the times of all stages that a link carries bytes of.  Flows share it
 * evenly: those of a stage that sends less than others end when each of them
 * has had as much. */
static void stages_raise(const struct measure *m, const struct carried *c,
			 double *time_s, double capacity)
{
	uint32_t n = m->spans->flows.n_stages;

	for (uint32_t p = weft_stage_next(c->stages, 0, n); p < n;
	     p = weft_stage_next(c->stages, p + 1, n)) {
		double bytes = c->n_flows * c->unit * m->sent[p];
		double link_s = fmin(c->bytes, bytes) / capacity;

		if (link_s > time_s[p])
			time_s[p] = link_s;
	}
}

static struct weft_span_link span_link(const struct carried *c, uint32_t kind)
{
	return (struct weft_span_link){
		.kind = kind,
		.link = c->link,
		.stages = c->stages,
		.bytes = c->bytes,
		.n_flows = c->n_flows,
		.unit = c->unit,
	};
}

/* Whether other jobs can be met there. */
static bool is_shared(const struct measure *m, const struct carried *c)
{
	return c->link < 2 * m->spans->flows.fabric->n_domains &&
	       !isinf(capacity_of(m, c->link));
}

static void others_meet(struct measure *m, uint32_t kind)
{
	uint32_t n_stages = m->spans->flows.n_stages;

	memcpy(m->met_s, m->time_s, n_stages * sizeof(*m->met_s));
	for (uint32_t i = 0; m->load && i < m->n_touched; i++) {
		const struct carried *c = &m->carried[m->touched[i]];
		const struct weft_span_link link = span_link(c, kind);

		if (is_shared(m, c))
			m->spans->lost_gpu_s += weft_span_link_meet(
				m->load, &link, n_stages, m->sent, m->time_s,
				m->met_s);
	}
}

/* For the next kind. */
static void kind_clear(struct measure *m)
{
	for (uint32_t i = 0; i < m->n_touched; i++) {
		struct carried *c = &m->carried[m->touched[i]];

		c->total += c->bytes;
		c->bytes = c->n_flows = c->unit = 0;
		c->stages = 0;
	}
	m->n_touched = 0;
}

static void kind_finish(struct measure *m, uint32_t kind)
{
	const struct weft_flows *flows = &m->spans->flows;
	const double *sent = flows->kinds[kind].sent;
	struct weft_span *span =
		&m->spans->span[(size_t)kind * flows->n_stages];
	double congestion_s = 0;

	for (uint32_t p = 0; p < flows->n_stages; p++) {
		if (!(sent[p] > 0))
			continue;
		span[p].s_per_byte = m->met_s[p] / sent[p];
		congestion_s = fmax(congestion_s, m->met_s[p] - m->own_s[p]);
	}
	m->spans->congestion_s += congestion_s;
}

/* Hops of the group just visited: its stage's, or where its ranks are of
 * several, all stages'. */
static void hops_keep(struct measure *m, uint32_t kind,
		      const struct weft_flow_hops *hops,
		      const struct weft_flow_seen *seen)
{
	const struct weft_flows *flows = &m->spans->flows;
	const struct weft_fabric *f = flows->fabric;

	for (uint32_t p = 0; p < flows->n_stages; p++) {
		struct weft_span *span =
			&m->spans->span[(size_t)kind * flows->n_stages + p];

		if (seen->stage != WEFT_NONE && p != seen->stage)
			continue;
		if (hops->inside_s + hops->between_s >=
		    span->hops.inside_s + span->hops.between_s)
			span->hops = *hops;
		if (seen->n_hosts > 1 && f->node_level + 1 < f->n_levels)
			span->s_per_byte_alone =
				1 / f->levels[f->node_level + 1]
					    .link.rate_bytes_per_s;
	}
}

/* Flows of other jobs that are put on the same uplinks, though all of them
 * together had room; what they send meanwhile is added to the link. */
static double others_hashed(const struct measure *m, const struct carried *c,
			    struct weft_hashed_link *hashed)
{
	const struct weft_load_link *others = &m->load->link[c->link];
	double share = others->rate_bytes_per_s / capacity_of(m, c->link);

	hashed->pooled_s += fmin(share, 1) * hashed->floor_s;
	return others->flows;
}

/* Time of the kind's flows where each of them is put on one uplink of several;
 * all that leaves a host's domain along a ring enters one other, so one choice
 * sets both ways. */
static double hashed_s(const struct measure *m, uint32_t kind, double floor_s)
{
	const struct weft_fabric *f = m->spans->flows.fabric;
	bool ring = m->spans->flows.kinds[kind].way != WEFT_WAY_ALL;
	uint32_t n = 0, n_parallel;

	for (uint32_t i = 0; i < m->n_touched; i++) {
		const struct carried *c = &m->carried[m->touched[i]];
		uint32_t domain = c->link / 2;
		double n_flows;

		if (domain >= f->n_domains || (ring && c->link % 2) ||
		    !weft_routing_hashed(f, domain))
			continue;
		m->hashed[n] = (struct weft_hashed_link){
			.pooled_s = c->bytes / capacity_of(m, c->link),
			.floor_s = floor_s,
			.n_uplinks =
				weft_routing_uplinks(f, domain, &n_parallel),
		};
		n_flows = c->n_flows;
		if (m->load)
			n_flows += others_hashed(m, c, &m->hashed[n]);
		n_flows *= weft_routing_flows(f);
		n_flows /= n_parallel;
		m->hashed[n].n_flows = (uint32_t)fmin(fmax(n_flows, 1), 1e9);
		m->hashed[n++].n_draws = n_parallel;
	}
	return n ? weft_routing_links_s(m->hashed, n) : 0;
}

/* What hashed routes add to the time of the kind at hand. */
static void routes_lose(struct measure *m, uint32_t kind)
{
	const struct weft_flows *flows = &m->spans->flows;
	const double *sent = flows->kinds[kind].sent;
	double longest_s = 0, own_s = 0, lost_s;

	if (flows->fabric->routing == WEFT_ROUTING_ADAPTIVE)
		return;
	for (uint32_t p = 0; p < flows->n_stages; p++) {
		longest_s = fmax(longest_s, m->met_s[p]);
		own_s = fmax(own_s, m->own_s[p]);
	}
	lost_s = hashed_s(m, kind, own_s) - longest_s;
	for (uint32_t p = 0; p < flows->n_stages; p++) {
		struct weft_span *span =
			&m->spans->span[(size_t)kind * flows->n_stages + p];

		if (!(sent[p] > 0) || !(lost_s > 0))
			continue;
		span->s_per_byte_lost =
			lost_s / longest_s * m->met_s[p] / sent[p];
		span->s_per_byte_hashed =
			span->s_per_byte_lost + m->met_s[p] / sent[p];
	}
}

/* What all groups of a kind put on links, and how long these take. */
static int kind_collect(struct measure *m, uint32_t kind,
			struct weft_error *err)
{
	struct weft_spans *spans = m->spans;
	const struct weft_flow_kind *k = &spans->flows.kinds[kind];
	uint32_t n_stages = spans->flows.n_stages;
	uint32_t n = 2 * spans->flows.fabric->n_domains;

	m->sent = k->sent;
	memset(m->time_s, 0, n_stages * sizeof(*m->time_s));
	memset(m->own_s, 0, n_stages * sizeof(*m->own_s));
	for (uint32_t i = 0; i < k->n_groups; i++) {
		struct weft_flow_hops hops;
		struct weft_flow_seen seen;

		if (weft_flows_group(&spans->flows, kind, i, link_add, m, &hops,
				     err))
			return -1;
		seen = weft_flows_seen(&spans->flows, kind);
		hops_keep(m, kind, &hops, &seen);
	}
	for (uint32_t i = 0; i < m->n_touched; i++) {
		const struct carried *c = &m->carried[m->touched[i]];
		double capacity = capacity_of(m, c->link);

		stages_raise(m, c, m->time_s, capacity);
		if (c->link >= n)
			stages_raise(m, c, m->own_s, capacity);
	}
	return 0;
}

/* Seconds that a link needs for its share of the step. */
static double full_s(const struct measure *m, const struct carried *c)
{
	uint32_t n = 2 * m->spans->flows.fabric->n_domains;

	if (m->load && c->link < n)
		return c->total /
		       weft_load_rate(m->load, c->link / 2, c->link % 2 == 0);
	return c->total / capacity_of(m, c->link);
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

	for (uint32_t i = 0; i < m->n_carried; i++) {
		const struct carried *c = &m->carried[i];
		double time_s = c->link < n ? full_s(m, c) : 0;
		bool equal = fabs(time_s - fullest->time_s) <=
			     1e-12 * fullest->time_s;

		if (!(time_s > 0) ||
		    (equal && !names_better(f, c->link, fullest->link)) ||
		    (!equal && time_s < fullest->time_s))
			continue;
		*fullest = (struct weft_fullest){c->link, c->total, time_s};
	}
}

/* Links that the ranks may use, both ways: a port, a NIC and one a level, and
 * on rails the NICs of all rails of their hosts. */
static uint64_t links_at_most(const struct weft_flows *flows)
{
	const struct weft_fabric *f = flows->fabric;
	const uint32_t *host = f->gpu_domain[f->node_level];
	uint64_t n_ranks = flows->schedule->dense.n_ranks, hosts = 1;

	for (uint32_t r = 1; r < n_ranks; r++)
		hosts += host[flows->where[r]] != host[flows->where[r - 1]];
	return 2 * (n_ranks * (f->n_levels + 2) + hosts * f->n_rails);
}

static int measure_reserve(struct measure *m, struct weft_error *err)
{
	const struct weft_flows *flows = &m->spans->flows;
	const struct weft_fabric *f = flows->fabric;
	uint64_t links = links_at_most(flows);

	if (links > weft_flows_n_links(f))
		links = weft_flows_n_links(f);
	m->room = (uint32_t)links;
	for (m->n_slots = 64; m->n_slots < 2 * m->room;)
		m->n_slots *= 2;
	m->carried = weft_calloc(m->room, sizeof(*m->carried), err);
	m->touched = weft_calloc(m->room, sizeof(*m->touched), err);
	m->slot = weft_calloc(m->n_slots, sizeof(*m->slot), err);
	m->time_s = weft_calloc(flows->n_stages, sizeof(*m->time_s), err);
	m->own_s = weft_calloc(flows->n_stages, sizeof(*m->own_s), err);
	m->met_s = weft_calloc(flows->n_stages, sizeof(*m->met_s), err);
	m->hashed =
		weft_calloc(f->routing == WEFT_ROUTING_ADAPTIVE ? 1 : m->room,
			    sizeof(*m->hashed), err);
	return m->carried && m->touched && m->slot && m->time_s && m->own_s &&
			       m->met_s && m->hashed
		       ? 0
		       : -1;
}

static int kinds_measure(struct measure *m, struct weft_error *err)
{
	for (uint32_t k = 0; k < m->spans->flows.n_kinds; k++) {
		if (kind_collect(m, k, err))
			return -1;
		others_meet(m, k);
		routes_lose(m, k);
		kind_finish(m, k);
		kind_clear(m);
	}
	fullest_find(m);
	return 0;
}

static void measure_free(struct measure *m)
{
	free(m->carried);
	free(m->slot);
	free(m->touched);
	free(m->time_s);
	free(m->own_s);
	free(m->met_s);
	free(m->hashed);
}

int weft_spans_build(const struct weft_fabric *f,
		     const struct weft_schedule *schedule,
		     const uint32_t *where,
		     enum weft_choice_of_algorithm algorithm,
		     const struct weft_load *load, struct weft_spans *spans,
		     struct weft_error *err)
{
	struct measure m = {.spans = spans, .load = load};
	int rc = -1;

	memset(spans, 0, sizeof(*spans));
	spans->fullest.link = WEFT_NONE;
	if (weft_flows_build(f, schedule, where, algorithm, &spans->flows, err))
		return -1;
	spans->span = weft_calloc(
		(size_t)spans->flows.n_kinds * spans->flows.n_stages + 1,
		sizeof(*spans->span), err);
	if (spans->span && measure_reserve(&m, err) == 0)
		rc = kinds_measure(&m, err);
	measure_free(&m);
	return rc;
}

void weft_spans_free(struct weft_spans *spans)
{
	int saved = errno;

	if (spans) {
		weft_flows_free(&spans->flows);
		free(spans->span);
		memset(spans, 0, sizeof(*spans));
	}
	errno = saved;
}

/* ---- flows that are not alike ---- */

static double sharing_capacity(const void *data, uint32_t link)
{
	return capacity_of(data, link);
}

static bool is_inside(const struct weft_fabric *f, uint32_t link)
{
	uint32_t n = 2 * f->n_domains;

	return link < n ? f->domains[link / 2].level < f->node_level
			: link >= n + 2 * f->n_gpus;
}

/* Of the kind at hand. */
static int kind_share(struct measure *m, uint32_t kind, uint64_t *visits,
		      struct weft_error *err)
{
	struct weft_spans *spans = m->spans;
	uint32_t n_stages = spans->flows.n_stages;
	double *end_s = m->met_s, more_s = 0;
	int rc = weft_sharing_ends(&spans->flows, kind, sharing_capacity, m,
				   end_s, visits, err);

	for (uint32_t i = 0; rc == 1 && i < m->n_touched; i++) {
		const struct carried *c = &m->carried[m->touched[i]];

		if (is_inside(spans->flows.fabric, c->link))
			stages_raise(m, c, end_s, capacity_of(m, c->link));
	}
	for (uint32_t p = 0; rc == 1 && p < n_stages; p++) {
		struct weft_span *span =
			&spans->span[(size_t)kind * n_stages + p];
		double before = span->s_per_byte;

		if (!(end_s[p] > 0))
			continue;
		span->unlike = end_s[p] / m->time_s[p];
		span->s_per_byte *= span->unlike;
		more_s = fmax(more_s, (span->s_per_byte - before) * m->sent[p]);
	}
	spans->congestion_s += more_s;
	return rc < 0 ? -1 : 0;
}

int weft_spans_share(struct weft_spans *spans, const struct weft_load *load,
		     struct weft_error *err)
{
	struct measure m = {.spans = spans, .load = load};
	uint64_t visits = SHARING_VISITS;
	int rc = measure_reserve(&m, err);

	for (uint32_t k = 0; rc == 0 && k < spans->flows.n_kinds; k++) {
		rc = kind_collect(&m, k, err);
		if (rc == 0)
			rc = kind_share(&m, k, &visits, err);
		kind_clear(&m);
	}
	measure_free(&m);
	return rc;
}

/* ---- load on others ---- */

static int links_reserve(struct weft_span_links *links, uint32_t n,
			 struct weft_error *err)
{
	struct weft_span_link *grown;

	if (links->n + (uint64_t)n <= links->room)
		return 0;
	grown = weft_realloc(links->link, 2 * ((size_t)links->n + n),
			     sizeof(*grown), err);
	if (!grown)
		return -1;
	links->link = grown;
	links->room = 2 * (links->n + n);
	return 0;
}

/* Those of the kind at hand. */
static int links_add(const struct measure *m, uint32_t kind,
		     struct weft_span_links *links, struct weft_error *err)
{
	uint32_t n_stages = m->spans->flows.n_stages;

	if (links_reserve(links, m->n_touched, err))
		return -1;
	for (uint32_t i = 0; i < m->n_touched; i++) {
		const struct carried *c = &m->carried[m->touched[i]];

		if (is_shared(m, c))
			links->link[links->n++] = span_link(c, kind);
	}
	memcpy(&links->alone_s[(size_t)kind * n_stages], m->time_s,
	       n_stages * sizeof(*m->time_s));
	return 0;
}

int weft_spans_links(struct weft_spans *spans, struct weft_span_links *links,
		     struct weft_error *err)
{
	const struct weft_flows *flows = &spans->flows;
	struct measure m = {.spans = spans};
	int rc = -1;

	links->alone_s =
		weft_calloc(((size_t)flows->n_kinds + 1) * flows->n_stages,
			    sizeof(*links->alone_s), err);
	if (links->alone_s)
		rc = measure_reserve(&m, err);
	for (uint32_t k = 0; rc == 0 && k < flows->n_kinds; k++) {
		rc = kind_collect(&m, k, err);
		if (rc == 0)
			rc = links_add(&m, k, links, err);
		kind_clear(&m);
	}
	measure_free(&m);
	return rc;
}

int weft_spans_load(struct weft_spans *spans, double step_s, uint32_t n_gpus,
		    struct weft_load_parts *parts, struct weft_error *err)
{
	struct weft_span_links links = {0};
	int rc = weft_spans_links(spans, &links, err);

	if (rc == 0)
		rc = weft_span_links_load(spans, &links, step_s, n_gpus, parts,
					  err);
	weft_span_links_free(&links);
	return rc;
}

/* ---- seconds ---- */

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
