/* SPDX-License-Identifier: GPL-3.0-or-later */
/* span_meet.c - how much longer calls take beside other jobs */
#include "costmodel/time/span.h"

#include "costmodel/time/cost.h"
#include "costmodel/time/span_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Raises met_s to what the kind takes beside those of `load` on this link. */
static double link_meet(const struct weft_spans *spans,
			const struct weft_span_meeting *m,
			const struct weft_span_link *link)
{
	uint32_t n_stages = spans->flows.n_stages;
	const double *sent = spans->flows.kinds[m->kind].sent;
	struct weft_load_call call = {
		.link = link->link,
		.n_flows = link->n_flows * link->weight,
	};
	double most_gpu_s = 0;

	if (!(m->load->link[link->link].duty > 0))
		return 0;
	for (uint32_t p = weft_stage_next(link->stages, 0, n_stages);
	     p < n_stages; p = weft_stage_next(link->stages, p + 1, n_stages)) {
		double lost_gpu_s, call_s;

		call.alone_s = m->alone_s[p];
		call.bytes =
			fmin(link->bytes, link->n_flows * link->unit * sent[p]);
		call_s = weft_load_call_s(m->load, &call, &lost_gpu_s);
		m->met_s[p] = fmax(m->met_s[p], call_s);
		most_gpu_s = fmax(most_gpu_s, lost_gpu_s);
	}
	return most_gpu_s / 2;
}

/* ---- hashed routes ---- */

/* Flows of other jobs that are put on the same uplinks, though all of them
 * together had room; what they send meanwhile is added to the link. */
static double others_hashed(const struct weft_load *load, uint32_t link,
			    struct weft_hashed_link *hashed)
{
	const struct weft_load_link *others = &load->link[link];
	double share =
		others->rate_bytes_per_s / weft_load_capacity(load, link / 2);

	hashed->pooled_s += fmin(share, 1) * hashed->floor_s;
	return others->flows;
}

/* Time of the kind's flows where each of them is put on one uplink of several;
 * all that leaves a host's domain along a ring enters one other, so one choice
 * sets both ways. */
static double hashed_s(const struct weft_spans *spans,
		       const struct weft_span_meeting *m)
{
	const struct weft_fabric *f = spans->flows.fabric;
	bool ring = spans->flows.kinds[m->kind].way != WEFT_WAY_ALL;
	uint32_t n = 0, n_parallel;

	for (uint32_t i = 0; i < m->n_links; i++) {
		const struct weft_span_link *l = &m->links[i];
		uint32_t domain = l->link / 2;
		double n_flows = l->n_flows, capacity;

		if ((ring && l->link % 2) || !weft_routing_hashed(f, domain))
			continue;
		capacity = m->load ? weft_load_capacity(m->load, domain)
				   : weft_cost_uplink_rate(f, domain);
		m->hashed[n] = (struct weft_hashed_link){
			.pooled_s = l->bytes / capacity,
			.floor_s = m->own_s,
			.n_uplinks =
				weft_routing_uplinks(f, domain, &n_parallel),
		};
		if (m->load)
			n_flows +=
				others_hashed(m->load, l->link, &m->hashed[n]);
		n_flows *= weft_routing_flows(f);
		n_flows /= n_parallel;
		m->hashed[n].n_flows = (uint32_t)fmin(fmax(n_flows, 1), 1e9);
		m->hashed[n++].n_draws = n_parallel;
	}
	return n ? weft_routing_links_s(m->hashed, n) : 0;
}

/* What hashed routes add to the time of the kind. */
static void routes_lose(struct weft_spans *spans,
			const struct weft_span_meeting *m)
{
	const struct weft_flows *flows = &spans->flows;
	const double *sent = flows->kinds[m->kind].sent;
	double longest_s = 0, lost_s;

	if (flows->fabric->routing == WEFT_ROUTING_ADAPTIVE)
		return;
	for (uint32_t p = 0; p < flows->n_stages; p++)
		longest_s = fmax(longest_s, m->met_s[p]);
	lost_s = fmax(hashed_s(spans, m) - longest_s, 0);
	for (uint32_t p = 0; p < flows->n_stages; p++)
		if (sent[p] > 0)
			spans->span[(size_t)m->kind * flows->n_stages + p]
				.s_per_byte_lost =
				lost_s / longest_s * m->met_s[p] / sent[p];
}

double weft_spans_kind_meet(struct weft_spans *spans,
			    const struct weft_span_meeting *m)
{
	double lost_gpu_s = 0;

	memcpy(m->met_s, m->alone_s, spans->flows.n_stages * sizeof(*m->met_s));
	for (uint32_t i = 0; m->load && i < m->n_links; i++)
		lost_gpu_s += link_meet(spans, m, &m->links[i]);
	routes_lose(spans, m);
	return lost_gpu_s;
}

void weft_span_links_free(struct weft_span_links *links)
{
	int saved = errno;

	free(links->link);
	free(links->alone_s);
	free(links->own_s);
	free(links->hashed);
	memset(links, 0, sizeof(*links));
	errno = saved;
}

void weft_spans_meet(struct weft_spans *spans,
		     const struct weft_span_links *links,
		     const struct weft_load *load)
{
	uint32_t n = spans->flows.n_stages, first = 0;
	double *met_s = &links->alone_s[(size_t)spans->flows.n_kinds * n];

	spans->lost_gpu_s = 0;
	for (uint32_t k = 0; k < spans->flows.n_kinds; k++) {
		struct weft_span_meeting meeting = {
			.load = load,
			.kind = k,
			.links = &links->link[first],
			.alone_s = &links->alone_s[(size_t)k * n],
			.own_s = links->own_s[k],
			.met_s = met_s,
			.hashed = links->hashed,
		};
		const double *sent = spans->flows.kinds[k].sent;
		struct weft_span *span = &spans->span[(size_t)k * n];

		for (; first < links->n && links->link[first].kind == k;
		     first++)
			meeting.n_links++;
		spans->lost_gpu_s += weft_spans_kind_meet(spans, &meeting);
		for (uint32_t p = 0; p < n; p++) {
			double by = span[p].unlike > 0 ? span[p].unlike : 1;

			if (sent[p] > 0)
				span[p].s_per_byte = by * met_s[p] / sent[p];
		}
	}
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
static int links_add(const struct span_measure *m, uint32_t kind,
		     struct weft_span_links *links, struct weft_error *err)
{
	uint32_t n_stages = m->spans->flows.n_stages;

	if (links_reserve(links, m->n_touched, err))
		return -1;
	links->n += span_links_list(m, kind, &links->link[links->n]);
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
	struct span_measure m = {.spans = spans};
	int rc = -1;

	links->alone_s =
		weft_calloc(((size_t)flows->n_kinds + 1) * flows->n_stages,
			    sizeof(*links->alone_s), err);
	links->own_s =
		weft_calloc(flows->n_kinds + (size_t)1, sizeof(double), err);
	if (links->alone_s && links->own_s)
		rc = span_measure_reserve(&m, err);
	for (uint32_t k = 0; rc == 0 && k < flows->n_kinds; k++) {
		rc = span_kind_collect(&m, k, err);
		if (rc == 0)
			rc = links_add(&m, k, links, err);
		span_kind_clear(&m);
	}
	span_measure_free(&m);
	links->hashed =
		weft_calloc(links->n + (size_t)1, sizeof(*links->hashed), err);
	if (!links->hashed)
		rc = -1;
	return rc;
}

/* Seconds of a step that a kind sends, in the stages on one of its links. */
static double longest_s(const struct weft_spans *spans,
			const struct weft_span_link *link)
{
	uint32_t n = spans->flows.n_stages;
	const double *sent = spans->flows.kinds[link->kind].sent;
	const struct weft_span *span = &spans->span[(size_t)link->kind * n];
	double longest_s = 0;

	for (uint32_t p = weft_stage_next(link->stages, 0, n); p < n;
	     p = weft_stage_next(link->stages, p + 1, n))
		longest_s = fmax(longest_s, span[p].s_per_byte * sent[p]);
	return longest_s;
}

int weft_span_links_load(const struct weft_spans *spans,
			 const struct weft_span_links *links, double step_s,
			 uint32_t n_gpus, struct weft_load_parts *parts,
			 struct weft_error *err)
{
	if (!(step_s > 0) || !isfinite(step_s))
		return weft_fail(err, WEFT_EINVAL,
				 "a step of %g s says nothing of the load",
				 step_s);
	for (uint32_t i = 0; i < links->n; i++) {
		const struct weft_span_link *l = &links->link[i];
		double duty = fmin(longest_s(spans, l) / step_s, 1);
		const struct weft_load_part part = {
			.link = l->link,
			.add = {.duty = duty,
				.flows = duty * l->n_flows * l->weight,
				.rate_bytes_per_s = l->bytes / step_s,
				.gpus = duty * n_gpus},
		};

		if (weft_load_parts_add(parts, &part, err))
			return -1;
	}
	return 0;
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
