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

struct measure {
	struct weft_spans *spans;
	const struct weft_load *load;
	bool is_bound; /* of weft_spans_bound */
	bool *looked;  /* [n_stages] it has looked at a group of the kind */
	struct carried_pages pages;
	double nic_rate;    /* of every NIC; 0: they differ */
	const double *sent; /* [n_stages] of the kind at hand */
	struct carried_unit unit;
	struct touched *touched; /* [n_touched] by that kind */
	struct told *told;	 /* [n_told] of the group visited last */
	uint32_t n_told, told_room;
	bool forgetful; /* no memory for more of them */
	uint32_t n_touched;
	double *time_s;	    /* [n_stages] of the slowest link */
	double *own_s;	    /* [n_stages] of the slowest NIC or port */
	double *port_s;	    /* [n_stages] of the slowest port */
	double *port_bytes; /* [n_stages] of the same */
	double *met_s;	    /* [n_stages] the same with other jobs */
	struct weft_span_link *links;	 /* [n_touched] */
	struct weft_hashed_link *hashed; /* [n_touched] */
	uint32_t links_room;		 /* of the last two */
};

static uint64_t stage_bit(uint32_t stage)
{
	return UINT64_C(1) << stage % 64;
}

static void told_keep(struct measure *m, struct told told)
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

static void link_add(void *data, uint32_t stage, uint32_t link, bool both,
		     double bytes, double n_flows)
{
	struct measure *m = data;
	const struct weft_fabric *f = m->spans->flows.fabric;
	struct carried *c;
	double unit;

	/* A port has no more than one flow of a kind in each direction. */
	if (link >= 2 * (f->n_domains + f->n_gpus)) {
		if (bytes > m->port_bytes[stage])
			m->port_bytes[stage] = bytes;
		return;
	}
	c = carried_of(&m->pages, link);
	if (link < 2 * f->n_domains)
		told_keep(m, (struct told){c, both, bytes, n_flows});
	unit = carried_unit(&m->unit, bytes, n_flows, m->sent[stage]);
	for (const struct carried *end = c + 1 + both; c < end; c++, link++) {
		if (c->stages == 0)
			m->touched[m->n_touched++] = (struct touched){
				(uint32_t)(c - m->pages.carried), link};
		c->bytes += bytes;
		c->n_flows += n_flows;
		if (unit > c->unit)
			c->unit = unit;
		c->stages |= stage_bit(stage);
	}
}

static double capacity_of(const struct measure *m, uint32_t link)
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
static void stages_raise(const struct measure *m, const struct carried *c,
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
static double weight_of(const struct measure *m, const struct touched *touched,
			uint32_t kind)
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

static struct weft_span_link
span_link(const struct measure *m, const struct touched *touched, uint32_t kind)
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
static bool is_shared(const struct measure *m, uint32_t link)
{
	return link < 2 * m->spans->flows.fabric->n_domains &&
	       !isinf(capacity_of(m, link));
}

/* Links of the kind at hand where other jobs can be met. */
static uint32_t links_list(const struct measure *m, uint32_t kind,
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
static int links_room(struct measure *m, struct weft_error *err)
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
static int others_meet(struct measure *m, uint32_t kind, struct weft_error *err)
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
		meeting.n_links = links_list(m, kind, m->links);
	}
	m->spans->lost_gpu_s += weft_spans_kind_meet(m->spans, &meeting);
	return 0;
}

/* For the next kind. */
static void kind_clear(struct measure *m)
{
	for (uint32_t i = 0; i < m->n_touched; i++) {
		const struct touched *touched = &m->touched[i];
		struct carried *c = &m->pages.carried[touched->at];

		if (m->pages.total)
			m->pages.total[carried_at(&m->pages, touched->link)] +=
				c->bytes;
		*c = (struct carried){0};
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

/* Adds what NICs carry of this kind that are not visited because others carry
 * as much. */
static void nics_add(struct measure *m, const struct weft_flow_twins *twins)
{
	uint32_t nics = 2 * m->spans->flows.fabric->n_domains;

	for (uint32_t k = 0; m->pages.total && k < twins->n; k++) {
		uint32_t a = twins->gpu[k], b = twins->twin[k];
		const struct carried *from =
			carried_of(&m->pages, nics + 2 * a);
		uint32_t to = carried_at(&m->pages, nics + 2 * b);

		for (uint32_t d = 0; a != b && d < 2; d++)
			m->pages.total[to + d] += from[d].bytes;
	}
}

/* Adds group i as a twin of the one visited last, if it is one: what its NICs
 * carry of this kind takes as long as of the other.  NICs of members are used
 * by no other group of the kind. */
static bool twin_add(struct measure *m, uint32_t kind, uint32_t i)
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
static bool is_left_out(const struct measure *m, uint32_t kind, uint32_t i)
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

/* What all groups of a kind put on links. */
static int groups_collect(struct measure *m, uint32_t kind,
			  struct weft_error *err)
{
	struct weft_spans *spans = m->spans;
	const struct weft_flow_kind *k = &spans->flows.kinds[kind];
	uint32_t n_ranks = spans->flows.schedule->dense.n_ranks;
	uint32_t look =
		1 + (uint32_t)(RANKS_UNTIMED * k->n_groups / (n_ranks + 1));

	memset(m->looked, 0, spans->flows.n_stages * sizeof(*m->looked));
	for (uint32_t i = 0; i < k->n_groups; i++) {
		struct weft_flow_twins followers;
		struct weft_flow_hops hops;
		struct weft_flow_seen seen;

		if (i % look == 0 && weft_deadline_check(err))
			return -1;
		if (m->is_bound ? is_left_out(m, kind, i)
				: i > 0 && twin_add(m, kind, i))
			continue;
		m->n_told = 0;
		if (weft_flows_group(&spans->flows, kind, i, link_add, m, &hops,
				     err))
			return -1;
		followers = weft_flows_followers(&spans->flows, kind);
		nics_add(m, &followers);
		if (m->is_bound)
			continue;
		seen = weft_flows_seen(&spans->flows, kind);
		hops_keep(m, kind, &hops, &seen);
	}
	return 0;
}

/* The same, and how long they take. */
static int kind_collect(struct measure *m, uint32_t kind,
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
static double full_s(const struct measure *m, uint32_t link, double bytes)
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

static void fullest_find(struct measure *m)
{
	const struct weft_fabric *f = m->spans->flows.fabric;
	struct weft_fullest *fullest = &m->spans->fullest;

	for (uint32_t i = 0; i < m->pages.n * CARRIED_PAGE; i++) {
		uint32_t link = carried_link(&m->pages, i);
		double bytes = m->pages.total[i], time_s;
		bool equal;

		if (!(bytes > 0))
			continue;
		time_s = full_s(m, link, bytes);
		equal = fabs(time_s - fullest->time_s) <=
			1e-12 * fullest->time_s;
		if (!(time_s > 0) ||
		    (equal && !names_better(f, link, fullest->link)) ||
		    (!equal && time_s < fullest->time_s))
			continue;
		*fullest = (struct weft_fullest){link, bytes, time_s};
	}
}

static int measure_reserve(struct measure *m, struct weft_error *err)
{
	const struct weft_flows *flows = &m->spans->flows;
	uint32_t n_stages = flows->n_stages;

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
	if (!m->looked || !m->time_s || !m->own_s || !m->port_s ||
	    !m->port_bytes || !m->met_s ||
	    carried_pages_build(flows->fabric, flows->where,
				flows->schedule->dense.n_ranks, &m->pages, err))
		return -1;
	m->touched = weft_realloc(NULL, (size_t)m->pages.n * CARRIED_PAGE,
				  sizeof(*m->touched), err);
	return m->touched ? 0 : -1;
}

static int kinds_measure(struct measure *m, struct weft_error *err)
{
	for (uint32_t k = 0; k < m->spans->flows.n_kinds; k++) {
		if (kind_collect(m, k, err) || others_meet(m, k, err))
			return -1;
		kind_finish(m, k);
		kind_clear(m);
	}
	if (!m->is_bound)
		fullest_find(m);
	return 0;
}

static void measure_free(struct measure *m)
{
	carried_pages_free(&m->pages);
	free(m->touched);
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

static int spans_build(struct measure *m, const struct weft_fabric *f,
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
	if (spans->span && measure_reserve(m, err) == 0 &&
	    (m->is_bound || carried_pages_total(&m->pages, err) == 0))
		rc = kinds_measure(m, err);
	measure_free(m);
	return rc;
}

int weft_spans_build(const struct weft_fabric *f,
		     const struct weft_schedule *schedule,
		     const uint32_t *where,
		     enum weft_choice_of_algorithm algorithm,
		     const struct weft_load *load, struct weft_spans *spans,
		     struct weft_error *err)
{
	struct measure m = {.spans = spans, .load = load};

	return spans_build(&m, f, schedule, where, algorithm, err);
}

int weft_spans_bound(const struct weft_fabric *f,
		     const struct weft_schedule *schedule,
		     const uint32_t *where,
		     enum weft_choice_of_algorithm algorithm,
		     struct weft_spans *spans, struct weft_error *err)
{
	struct measure m = {.spans = spans, .is_bound = true};

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
static int kind_share(struct measure *m, uint32_t kind, uint64_t *visits,
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
	links->n += links_list(m, kind, &links->link[links->n]);
	for (uint32_t p = 0; p < n_stages; p++)
		links->own_s[kind] = fmax(links->own_s[kind], m->own_s[p]);
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
	links->own_s =
		weft_calloc(flows->n_kinds + (size_t)1, sizeof(double), err);
	if (links->alone_s && links->own_s)
		rc = measure_reserve(&m, err);
	for (uint32_t k = 0; rc == 0 && k < flows->n_kinds; k++) {
		rc = kind_collect(&m, k, err);
		if (rc == 0)
			rc = links_add(&m, k, links, err);
		kind_clear(&m);
	}
	measure_free(&m);
	links->hashed =
		weft_calloc(links->n + (size_t)1, sizeof(*links->hashed), err);
	if (!links->hashed)
		rc = -1;
	return rc;
}
