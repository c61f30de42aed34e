/* SPDX-License-Identifier: GPL-3.0-or-later */
/* advice_fit.c - latency and rate of a trace's collectives, where the trace
 * supports them */
#include "base/compare.h"
#include "lab/trace/advice.h"

#include <math.h>
#include <stdlib.h>

/* More distinct sizes than this say no more about a line. */
#define MAX_SIZES 256
#define MAX_ERROR 0.2

bool weft_advice_is_gradient(const struct weft_trace *t,
			     const struct weft_trace_collective *c)
{
	enum weft_axis axis = c->group == WEFT_TRACE_NONE
				      ? WEFT_N_AXES
				      : t->groups[c->group].axis;

	return (c->op == WEFT_OP_ALL_REDUCE ||
		c->op == WEFT_OP_REDUCE_SCATTER) &&
	       (axis == WEFT_N_AXES || axis == WEFT_AXIS_DP);
}

double weft_advice_transfer_s(const struct weft_advice_input *in, uint32_t a,
			      uint32_t i)
{
	if (in->waits && in->waits->transfer_s[a][i] >= 0)
		return in->waits->transfer_s[a][i];
	return in->overlaps[a].time_each_s[i];
}

struct sample {
	double size_bytes, time_s;
};

WEFT_COMPARATOR(by_size, struct sample, WEFT_UP(size_bytes) WEFT_UP(time_s));

static size_t samples_take(const struct weft_advice_input *in,
			   enum weft_trace_op op, uint32_t n_ranks,
			   struct sample *samples)
{
	size_t n = 0;

	for (uint32_t a = 0; a < in->n_traces; a++) {
		const struct weft_trace *t = &in->traces[a];

		for (uint32_t i = 0; i < t->n_collectives; i++) {
			const struct weft_trace_collective *c =
				&t->collectives[i];
			double time = weft_advice_transfer_s(in, a, i);

			if (c->op == op && c->n_ranks == n_ranks &&
			    weft_advice_is_gradient(t, c) &&
			    c->size_bytes > 0 && time > 0)
				samples[n++] =
					(struct sample){c->size_bytes, time};
		}
	}
	return n;
}

/* The fastest of each size; at most MAX_SIZES, evenly chosen. */
static size_t samples_thin(struct sample *samples, size_t n)
{
	size_t kept = 0, step;

	if (n)
		qsort(samples, n, sizeof(*samples), by_size);
	for (size_t i = 0; i < n; i++) {
		if (!kept ||
		    samples[i].size_bytes != samples[kept - 1].size_bytes)
			samples[kept++] = samples[i];
	}
	step = (kept + MAX_SIZES - 1) / MAX_SIZES;
	if (step < 2)
		return kept;
	n = 0;
	for (size_t i = 0; i < kept; i += step)
		samples[n++] = samples[i];
	return n;
}

static void line_fit(const struct sample *s, size_t n, double *scratch,
		     struct weft_trace_fit *fit)
{
	size_t k = 0;
	double slope, miss;

	for (size_t i = 0; i < n; i++) {
		for (size_t j = i + 1; j < n; j++)
			scratch[k++] = (s[j].time_s - s[i].time_s) /
				       (s[j].size_bytes - s[i].size_bytes);
	}
	slope = weft_median(scratch, k);
	for (size_t i = 0; i < n; i++)
		scratch[i] = s[i].time_s - slope * s[i].size_bytes;
	fit->alpha_s = weft_median(scratch, n);
	for (size_t i = 0; i < n; i++)
		scratch[i] = fabs(fit->alpha_s + slope * s[i].size_bytes -
				  s[i].time_s);
	miss = weft_median(scratch, n);
	for (size_t i = 0; i < n; i++)
		scratch[i] = fabs(fit->alpha_s + slope * s[i].size_bytes -
				  s[i].time_s) /
			     s[i].time_s;
	fit->error = weft_median(scratch, n);
	fit->rate_bytes_per_s = slope > 0 ? 1 / slope : 0;
	fit->is_supported =
		slope > 0 && fit->alpha_s >= 0 && fit->error < MAX_ERROR &&
		slope * (s[n - 1].size_bytes - s[0].size_bytes) > 2 * miss;
}

int weft_trace_fit(const struct weft_advice_input *in, enum weft_trace_op op,
		   uint32_t n_ranks, struct weft_trace_fit *fit,
		   struct weft_error *err)
{
	struct sample *samples;
	double *scratch = NULL;
	size_t n = 0;
	int code = -1;

	*fit = (struct weft_trace_fit){.n_ranks = n_ranks};
	for (uint32_t a = 0; a < in->n_traces; a++)
		n += in->traces[a].n_collectives;
	samples = weft_calloc(n, sizeof(*samples), err);
	if (!samples)
		return -1;
	n = samples_thin(samples, samples_take(in, op, n_ranks, samples));
	fit->n_sizes = (uint32_t)n;
	scratch = weft_calloc(n * n, sizeof(*scratch), err);
	if (scratch) {
		if (n >= WEFT_TRACE_FIT_SIZES)
			line_fit(samples, n, scratch, fit);
		code = 0;
	}
	free(samples);
	free(scratch);
	return code;
}
