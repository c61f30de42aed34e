/* SPDX-License-Identifier: GPL-3.0-or-later */
/* span.c - how long the calls of a step take on a placement */
#include "costmodel/time/span.h"

#include "base/clock.h"
#include "costmodel/time/span_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Between two looks at the clock, about. */
#define RANKS_UNTIMED UINT64_C(256)

/* A bound looks at no groups of a kind that has fewer in a stage. */
#define GROUPS_MANY 4

static uint64_t stage_bit(uint32_t stage)
{
	return UINT64_C(1) << stage % 64;
}

static void told_keep(struct span_measure *m, struct told told)
{
	if (m->n_told == m->told_room && !m->forgetful) {
		uint32_t room = 2 * m->told_room + 64;
		struct told *grown =
			weft_realloc(m->told, room, sizeof(*grown), NULL);

		m->forgetful = !grown;
		if (!grown)
			return;
		m->told = grown;
		m->told_room = room;
	}
	if (!m->forgetful)
		m->told[m->n_told++] = told;
}

/* Adds what was visited to c, its link; true: nothing was there before. */
static inline bool carried_add(struct carried *c,
			       const struct weft_flow_visited *v, double unit)
{
	bool first = c->stages == 0;

	c->bytes += v->bytes;
	c->n_flows += v->n_flows;
	if (unit > c->unit)
		c->unit = unit;
	c->stages |= stage_bit(v->stage);
	return first;
}

static void link_add(void *data, const struct weft_flow_visited *v)
{
	struct span_measure *m = data;
	uint32_t at, end;
	double unit;

	/* A port has no more than one flow of a kind in each direction. */
	if (v->link >= m->first_port) {
		if (v->bytes > m->port_bytes[v->stage])
			m->port_bytes[v->stage] = v->bytes;
		return;
	}
	unit = carried_unit(&m->unit, v->bytes, v->n_flows, m->sent[v->stage]);
	if (v->link >= m->pages.n_links) {
		at = 2 * v->member + v->link % 2;
		for (end = at + 1 + v->both; at < end; at++)
			if (carried_add(&m->nics[at], v, unit))
				m->nics_touched[m->n_nics_touched++] = at;
		return;
	}
	at = carried_at(&m->pages, v->link);
	if (v->link < m->first_nic)
		told_keep(m, (struct told){&m->pages.carried[at], v->both,
					   v->bytes, v->n_flows});
	for (uint32_t d = 0; d <= v->both; d++)
		if (carried_add(&m->pages.carried[at + d], v, unit))
			m->touched[m->n_touched++] =
				(struct touched){at + d, v->link + d};
}

static double capacity_of(const struct span_measure *m, uint32_t link)
{
	const struct weft_fabric *f = m->spans->flows.fabric;

	if (m->load && link < 2 * f->n_domains)
		return weft_load_capacity(m->load, link / 2);
	if (m->nic_rate > 0 && link >= 2 * f->n_domains)
		return m->nic_rate;
	return weft_flows_capacity(f, link);
}

/* Raises the times of all stages that a link carries bytes of.  Flows share it
 * evenly: those of a stage that sends less than others end when each of them
 * has had as much. */
static void stages_raise(const struct span_measure *m, const struct carried *c,
			 double *time_s, double capacity)
{
	uint32_t n = m->spans->flows.n_stages;
	uint64_t lowest = c->stages & (~c->stages + 1);

	if (c->stages == lowest && n <= 64) {
		uint32_t p = (uint32_t)__builtin_ctzll(lowest);

		if (c->bytes > time_s[p] * capacity)
			time_s[p] = c->bytes / capacity;
		return;
	}
	for (uint32_t p = weft_stage_next(c->stages, 0, n); p < n;
	     p = weft_stage_next(c->stages, p + 1, n)) {
		double bytes = c->n_flows * c->unit * m->sent[p];
		double link_s = fmin(c->bytes, bytes) / capacity;

		if (link_s > time_s[p])
			time_s[p] = link_s;
	}
}

/* Each message waits until what others keep in the queue is through, and then
 * gets as much as each of them: while m bytes of it pass, a flow that always
 * has more to send passes m and its part q of the queue. */
static double weight_of(const struct span_measure *m,
			const struct touched *touched, uint32_t kind)
{
	const struct carried *c = &m->pages.carried[touched->at];
	const struct weft_fabric *f = m->spans->flows.fabric;
	double message = c->unit * m->spans->flows.kinds[kind].message, queue;
	uint32_t link = touched->link;

	if (link >= 2 * f->n_domains)
		return 1;
	queue = f->levels[f->domains[link / 2].level + 1].queue_bytes;
	return queue > 0 ? message / (message + queue) : 1;
}

static struct weft_span_link span_link(const struct span_measure *m,
				       const struct touched *touched,
				       uint32_t kind)
{
	const struct carried *c = &m->pages.carried[touched->at];

	return (struct weft_span_link){
		.kind = kind,
		.link = touched->link,
		.stages = c->stages,
		.bytes = c->bytes,
		.n_flows = c->n_flows,
		.unit = c->unit,
		.weight = weight_of(m, touched, kind),
	};
}

/* Whether other jobs can be met there. */
static bool is_shared(const struct span_measure *m, uint32_t link)
{
	return link < 2 * m->spans->flows.fabric->n_domains &&
	       !isinf(capacity_of(m, link));
}

/* Links of the kind at hand where other jobs can be met. */
uint32_t span_links_list(const struct span_measure *m, uint32_t kind,
			 struct weft_span_link *links)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < m->n_touched; i++) {
		if (is_shared(m, m->touched[i].link))
			links[n++] = span_link(m, &m->touched[i], kind);
	}
	return n;
}

/* Room for all links of the kind at hand. */
static int links_room(struct span_measure *m, struct weft_error *err)
{
	if (m->n_touched <= m->links_room)
		return 0;
	free(m->links);
	free(m->hashed);
	m->links_room = m->n_touched;
	m->links = weft_realloc(NULL, m->n_touched, sizeof(*m->links), err);
	m->hashed = weft_realloc(NULL, m->n_touched, sizeof(*m->hashed), err);
	return m->links && m->hashed ? 0 : -1;
}

/* What other jobs and hashed routes add. */
static int others_meet(struct span_measure *m, uint32_t kind,
		       struct weft_error *err)
{
	const struct weft_flows *flows = &m->spans->flows;
	size_t size = flows->n_stages * sizeof(*m->met_s);
	struct weft_span_meeting meeting = {
		.load = m->load,
		.kind = kind,
		.alone_s = m->time_s,
		.met_s = m->met_s,
	};

	if (m->is_bound) {
		memcpy(m->met_s, m->time_s, size);
		return 0;
	}
	for (uint32_t p = 0; p < flows->n_stages; p++)
		meeting.own_s = fmax(meeting.own_s, m->own_s[p]);
	if (m->load || flows->fabric->routing != WEFT_ROUTING_ADAPTIVE) {
		if (links_room(m, err))
			return -1;
		meeting.links = m->links;
		meeting.hashed = m->hashed;
		meeting.n_links = span_links_list(m, kind, m->links);
	}
	m->spans->lost_gpu_s += weft_spans_kind_meet(m->spans, &meeting);
	return 0;
}

/* For the next kind. */
void span_kind_clear(struct span_measure *m)
{
	for (uint32_t i = 0; i < m->n_touched; i++) {
		const struct touched *touched = &m->touched[i];
		struct carried *c = &m->pages.carried[touched->at];

		m->pages.total[touched->at] += c->bytes;
		*c = (struct carried){0};
	}
	m->n_touched = 0;
}

/* For the next group. */
static void nics_clear(struct span_measure *m)
{
	for (uint32_t i = 0; i < m->n_nics_touched; i++)
		m->nics[m->nics_touched[i]] = (struct carried){0};
	m->n_nics_touched = 0;
}

static void kind_finish(struct span_measure *m, uint32_t kind)
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
static void hops_keep(struct span_measure *m, uint32_t kind,
		      const struct weft_flow_hops *hops,
		      const struct weft_flow_seen *seen)
{
	const struct weft_flows *flows = &m->spans->flows;
	const struct weft_fabric *f = flows->fabric;
	bool one = seen->stage != WEFT_NONE;
	uint32_t first = one ? seen->stage : 0;

	for (uint32_t p = first; p < (one ? first + 1 : flows->n_stages); p++) {
		struct weft_span *span =
			&m->spans->span[(size_t)kind * flows->n_stages + p];

		m->spans->hops_differ |=
			span->has_hops &&
			(span->hops.n_inside != hops->n_inside ||
			 span->hops.n_between != hops->n_between);
		span->has_hops = true;
		if (hops->inside_s + hops->between_s >=
		    span->hops.inside_s + span->hops.between_s)
			span->hops = *hops;
		if (seen->n_hosts > 1 && f->node_level + 1 < f->n_levels)
			span->s_per_byte_alone =
				1 / f->levels[f->node_level + 1]
					    .link.rate_bytes_per_s;
	}
}

/* Adds what NICs carry of this kind. */
static void nics_add(struct span_measure *m,
		     const struct weft_flow_twins *twins)
{
	for (uint32_t k = 0; m->nics_total && k < twins->n; k++) {
		uint32_t member = twins->member ? twins->member[k] : k;
		const struct carried *from = &m->nics[2 * (size_t)member];
		double *to = &m->nics_total[2 * (size_t)(twins->rank[k] +
							 twins->by)];

		to[0] += from[0].bytes;
		to[1] += from[1].bytes;
	}
}

/* Those of the group visited last. */
static void nics_finish(struct span_measure *m, uint32_t kind)
{
	struct weft_flow_twins own = weft_flows_nics(&m->spans->flows, kind);

	for (uint32_t i = 0; i < m->n_nics_touched; i++)
		stages_raise(m, &m->nics[m->nics_touched[i]], m->own_s,
			     m->nic_rate);
	nics_add(m, &own);
}

/* Adds group i as a twin of the one visited last, if it is one: what its NICs
 * carry of this kind takes as long as of the other.  NICs of members are used
 * by no other group of the kind. */
static bool twin_add(struct span_measure *m, uint32_t kind, uint32_t i)
{
	struct weft_flow_twins twins;

	if (m->forgetful || !weft_flows_twin(&m->spans->flows, kind, i, &twins))
		return false;
	for (uint32_t k = 0; k < m->n_told; k++) {
		const struct told *told = &m->told[k];

		for (uint32_t d = 0; d <= told->both; d++) {
			told->carried[d].bytes += told->bytes;
			told->carried[d].n_flows += told->n_flows;
		}
	}
	nics_add(m, &twins);
	return true;
}

/* Whether a bound leaves out group i: it looks at the first one of each stage,
 * where that is a small part of all. */
static bool is_left_out(const struct span_measure *m, uint32_t kind, uint32_t i)
{
	const struct weft_flows *flows = &m->spans->flows;
	const struct weft_flow_kind *k = &flows->kinds[kind];
	bool *looked;

	if (k->n_groups < GROUPS_MANY * flows->n_stages)
		return true;
	looked = &m->looked[weft_flows_stage(
		flows, weft_grid_lowest(k->grid, &k->groups, i))];
	if (*looked)
		return true;
	*looked = true;
	return false;
}

/* Whether the ranks of group i are of a stage that sends nothing of the kind.
 * Then it counts as visited, without hops. */
static bool is_silent(struct span_measure *m, uint32_t kind, uint32_t i)
{
	const struct weft_flows *flows = &m->spans->flows;
	const struct weft_flow_kind *k = &flows->kinds[kind];
	uint32_t stage;

	if (k->way >= WEFT_WAY_NEXT)
		return false;
	stage = weft_flows_stage(flows,
				 weft_grid_lowest(k->grid, &k->groups, i));
	if (k->sent[stage] > 0)
		return false;
	m->spans->span[(size_t)kind * flows->n_stages + stage].has_hops = true;
	return true;
}

/* What all groups of a kind put on links. */
static int groups_collect(struct span_measure *m, uint32_t kind,
			  struct weft_error *err)
{
	struct weft_spans *spans = m->spans;
	const struct weft_flow_kind *k = &spans->flows.kinds[kind];
	uint32_t n_ranks = spans->flows.schedule->dense.n_ranks;
	uint32_t look =
		1 + (uint32_t)(RANKS_UNTIMED * k->n_groups / (n_ranks + 1));
	bool visited = false;

	memset(m->looked, 0, spans->flows.n_stages * sizeof(*m->looked));
	for (uint32_t i = 0; i < k->n_groups; i++) {
		struct weft_flow_hops hops;
		struct weft_flow_seen seen;

		if (i % look == 0 && weft_deadline_check(err))
			return -1;
		if (m->is_bound ? is_left_out(m, kind, i)
				: is_silent(m, kind, i) ||
					  (visited && twin_add(m, kind, i)))
			continue;
		m->n_told = 0;
		nics_clear(m);
		if (weft_flows_group(&spans->flows, kind, i, link_add, m, &hops,
				     err))
			return -1;
		visited = true;
		nics_finish(m, kind);
		if (m->is_bound)
			continue;
		seen = weft_flows_seen(&spans->flows, kind);
		hops_keep(m, kind, &hops, &seen);
	}
	nics_clear(m);
	return 0;
}

/* The same, and how long they take. */
int span_kind_collect(struct span_measure *m, uint32_t kind,
		      struct weft_error *err)
{
	struct weft_flows *flows = &m->spans->flows;
	uint32_t n_stages = flows->n_stages, n = 2 * flows->fabric->n_domains;
	double port_rate = flows->fabric->levels[0].link.rate_bytes_per_s;

	flows->one_nic = true;
	m->sent = flows->kinds[kind].sent;
	memset(m->time_s, 0, n_stages * sizeof(*m->time_s));
	memset(m->own_s, 0, n_stages * sizeof(*m->own_s));
	memset(m->port_bytes, 0, n_stages * sizeof(*m->port_bytes));
	if (groups_collect(m, kind, err))
		return -1;
	for (uint32_t i = 0; i < m->n_touched; i++) {
		uint32_t link = m->touched[i].link, at = m->touched[i].at;
		double *capacity = &m->pages.capacity[at / 2];

		if (!(*capacity > 0))
			*capacity = capacity_of(m, link);
		stages_raise(m, &m->pages.carried[at],
			     link < n ? m->time_s : m->own_s, *capacity);
	}
	for (uint32_t p = 0; p < n_stages; p++) {
		m->port_s[p] = m->port_bytes[p] / port_rate;
		m->own_s[p] = fmax(m->own_s[p], m->port_s[p]);
		m->time_s[p] = fmax(m->time_s[p], m->own_s[p]);
	}
	return 0;
}

/* Seconds that a link needs for its share of the step. */
static double full_s(const struct span_measure *m, uint32_t link, double bytes)
{
	uint32_t n = 2 * m->spans->flows.fabric->n_domains;

	if (m->load && link < n)
		return bytes / weft_load_rate(m->load, link / 2, link % 2 == 0);
	return bytes / capacity_of(m, link);
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

/* Notes the link if it is the fullest so far. */
static void fullest_note(struct span_measure *m, uint32_t link, double bytes)
{
	struct weft_fullest *fullest = &m->spans->fullest;
	double time_s = full_s(m, link, bytes);
	bool equal = fabs(time_s - fullest->time_s) <= 1e-12 * fullest->time_s;

	if (!(time_s > 0) ||
	    (equal &&
	     !names_better(m->spans->flows.fabric, link, fullest->link)) ||
	    (!equal && time_s < fullest->time_s))
		return;
	*fullest = (struct weft_fullest){link, bytes, time_s};
}

static void fullest_find(struct span_measure *m)
{
	const struct weft_flows *flows = &m->spans->flows;
	double most = 0;

	for (uint32_t i = 0; i < m->pages.n * CARRIED_PAGE; i++)
		if (m->pages.total[i] > 0)
			fullest_note(m, carried_link(&m->pages, i),
				     m->pages.total[i]);
	/* of NICs, which are alike, the fullest ones */
	for (uint32_t i = 0; i < 2 * flows->schedule->dense.n_ranks; i++)
		most = m->nics_total[i] > most ? m->nics_total[i] : most;
	for (uint32_t i = 0; i < 2 * flows->schedule->dense.n_ranks; i++)
		if (m->nics_total[i] > most * (1 - 1e-9))
			fullest_note(m,
				     m->first_nic + 2 * flows->where[i / 2] +
					     i % 2,
				     m->nics_total[i]);
}

int span_measure_reserve(struct span_measure *m, struct weft_error *err)
{
	const struct weft_flows *flows = &m->spans->flows;
	uint32_t n_stages = flows->n_stages, most = 0;

	for (uint32_t k = 0; k < flows->n_kinds; k++)
		if (flows->kinds[k].groups.n > most)
			most = flows->kinds[k].groups.n;
	m->first_nic = 2 * flows->fabric->n_domains;
	m->first_port = m->first_nic + 2 * flows->fabric->n_gpus;
	/* shared NICs have as many times as much as share them */
	if (flows->fabric->n_rails < 2)
		m->nic_rate = weft_flows_capacity(flows->fabric,
						  2 * flows->fabric->n_domains);
	m->time_s = weft_calloc(n_stages, sizeof(*m->time_s), err);
	m->own_s = weft_calloc(n_stages, sizeof(*m->own_s), err);
	m->port_s = weft_calloc(n_stages, sizeof(*m->port_s), err);
	m->port_bytes = weft_calloc(n_stages, sizeof(*m->port_bytes), err);
	m->met_s = weft_calloc(n_stages, sizeof(*m->met_s), err);
	m->looked = weft_calloc(n_stages, sizeof(*m->looked), err);
	m->nics = weft_calloc(2 * (size_t)most, sizeof(*m->nics), err);
	m->nics_touched =
		weft_calloc(2 * (size_t)most, sizeof(*m->nics_touched), err);
	if (!m->looked || !m->time_s || !m->own_s || !m->port_s ||
	    !m->port_bytes || !m->met_s || !m->nics || !m->nics_touched ||
	    carried_pages_build(flows->fabric, flows->where,
				flows->schedule->dense.n_ranks, &m->pages, err))
		return -1;
	m->touched = weft_realloc(NULL, (size_t)m->pages.n * CARRIED_PAGE,
				  sizeof(*m->touched), err);
	return m->touched ? 0 : -1;
}

static int kinds_measure(struct span_measure *m, struct weft_error *err)
{
	for (uint32_t k = 0; k < m->spans->flows.n_kinds; k++) {
		if (span_kind_collect(m, k, err) || others_meet(m, k, err))
			return -1;
		kind_finish(m, k);
		span_kind_clear(m);
	}
	if (!m->is_bound)
		fullest_find(m);
	return 0;
}

void span_measure_free(struct span_measure *m)
{
	carried_pages_free(&m->pages);
	free(m->touched);
	free(m->nics);
	free(m->nics_touched);
	free(m->nics_total);
	free(m->told);
	free(m->time_s);
	free(m->own_s);
	free(m->port_s);
	free(m->port_bytes);
	free(m->met_s);
	free(m->looked);
	free(m->links);
	free(m->hashed);
}

static int spans_build(struct span_measure *m, const struct weft_fabric *f,
		       const struct weft_schedule *schedule,
		       const uint32_t *where,
		       enum weft_choice_of_algorithm algorithm,
		       struct weft_error *err)
{
	struct weft_spans *spans = m->spans;
	int rc = -1;

	memset(spans, 0, sizeof(*spans));
	spans->fullest.link = WEFT_NONE;
	if (weft_deadline_check(err) ||
	    weft_flows_build(f, schedule, where, algorithm, &spans->flows, err))
		return -1;
	spans->span = weft_calloc(
		(size_t)spans->flows.n_kinds * spans->flows.n_stages + 1,
		sizeof(*spans->span), err);
	if (!m->is_bound)
		m->nics_total = weft_calloc(2 * (size_t)schedule->dense.n_ranks,
					    sizeof(*m->nics_total), err);
	if (spans->span && (m->is_bound || m->nics_total) &&
	    span_measure_reserve(m, err) == 0)
		rc = kinds_measure(m, err);
	span_measure_free(m);
	return rc;
}

int weft_spans_build(const struct weft_fabric *f,
		     const struct weft_schedule *schedule,
		     const uint32_t *where,
		     enum weft_choice_of_algorithm algorithm,
		     const struct weft_load *load, struct weft_spans *spans,
		     struct weft_error *err)
{
	struct span_measure m = {.spans = spans, .load = load};

	return spans_build(&m, f, schedule, where, algorithm, err);
}

int weft_spans_bound(const struct weft_fabric *f,
		     const struct weft_schedule *schedule,
		     const uint32_t *where,
		     enum weft_choice_of_algorithm algorithm,
		     struct weft_spans *spans, struct weft_error *err)
{
	struct span_measure m = {.spans = spans, .is_bound = true};

	return spans_build(&m, f, schedule, where, algorithm, err);
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
	return link < 2 * f->n_domains &&
	       f->domains[link / 2].level < f->node_level;
}

/* Of the kind at hand. */
static int kind_share(struct span_measure *m, uint32_t kind, uint64_t *visits,
		      struct weft_error *err)
{
	struct weft_spans *spans = m->spans;
	uint32_t n_stages = spans->flows.n_stages;
	double *end_s = m->met_s, more_s = 0;
	int rc = weft_sharing_ends(&spans->flows, kind, sharing_capacity, m,
				   end_s, visits, err);

	for (uint32_t p = 0; rc == 1 && p < n_stages; p++)
		end_s[p] = fmax(end_s[p], m->port_s[p]);
	for (uint32_t i = 0; rc == 1 && i < m->n_touched; i++) {
		uint32_t link = m->touched[i].link;

		if (is_inside(spans->flows.fabric, link))
			stages_raise(m, &m->pages.carried[m->touched[i].at],
				     end_s, capacity_of(m, link));
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
	struct span_measure m = {.spans = spans, .load = load};
	uint64_t visits = SHARING_VISITS;
	int rc = span_measure_reserve(&m, err);

	for (uint32_t k = 0; rc == 0 && k < spans->flows.n_kinds; k++) {
		rc = span_kind_collect(&m, k, err);
		if (rc == 0)
			rc = kind_share(&m, k, &visits, err);
		span_kind_clear(&m);
	}
	span_measure_free(&m);
	return rc;
}
