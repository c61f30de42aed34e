/* SPDX-License-Identifier: GPL-3.0-or-later */
/* span_meet.c - how much longer calls take beside other jobs */
#include "costmodel/span.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double weft_span_link_meet(const struct weft_load *load,
			   const struct weft_span_link *link, uint32_t n_stages,
			   const double *sent, const double *alone_s,
			   double *met_s)
{
	struct weft_load_call call = {
		.link = link->link,
		.n_flows = link->n_flows,
	};
	double most_gpu_s = 0;

	if (!(load->link[link->link].duty > 0))
		return 0;
	for (uint32_t p = weft_stage_next(link->stages, 0, n_stages);
	     p < n_stages; p = weft_stage_next(link->stages, p + 1, n_stages)) {
		double lost_gpu_s, call_s;

		call.alone_s = alone_s[p];
		call.bytes =
			fmin(link->bytes, link->n_flows * link->unit * sent[p]);
		call_s = weft_load_call_s(load, &call, &lost_gpu_s);
		met_s[p] = fmax(met_s[p], call_s);
		most_gpu_s = fmax(most_gpu_s, lost_gpu_s);
	}
	return most_gpu_s / 2;
}

void weft_span_links_free(struct weft_span_links *links)
{
	int saved = errno;

	free(links->link);
	free(links->alone_s);
	memset(links, 0, sizeof(*links));
	errno = saved;
}

void weft_spans_meet(struct weft_spans *spans,
		     const struct weft_span_links *links,
		     const struct weft_load *load)
{
	uint32_t n = spans->flows.n_stages, i = 0;
	double *met_s = &links->alone_s[(size_t)spans->flows.n_kinds * n];

	spans->lost_gpu_s = 0;
	for (uint32_t k = 0; k < spans->flows.n_kinds; k++) {
		const double *alone_s = &links->alone_s[(size_t)k * n];
		const double *sent = spans->flows.kinds[k].sent;
		struct weft_span *span = &spans->span[(size_t)k * n];

		memcpy(met_s, alone_s, n * sizeof(*met_s));
		for (; load && i < links->n && links->link[i].kind == k; i++)
			spans->lost_gpu_s += weft_span_link_meet(
				load, &links->link[i], n, sent, alone_s, met_s);
		for (uint32_t p = 0; p < n; p++) {
			double by = span[p].unlike > 0 ? span[p].unlike : 1;

			if (!(sent[p] > 0))
				continue;
			span[p].s_per_byte = by * met_s[p] / sent[p];
			span[p].s_per_byte_lost = fmax(
				span[p].s_per_byte_hashed - met_s[p] / sent[p],
				0);
		}
	}
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
				.flows = duty * l->n_flows,
				.rate_bytes_per_s = l->bytes / step_s,
				.gpus = duty * n_gpus},
		};

		if (weft_load_parts_add(parts, &part, err))
			return -1;
	}
	return 0;
}
