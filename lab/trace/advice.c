/* SPDX-License-Identifier: GPL-3.0-or-later */
/* advice.c - gains, each bounded by the exposed time that it removes */
#include "lab/trace/advice.h"

#include "base/compare.h"
#include "cli/in_unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const weft_advice_names[WEFT_N_ADVICES] = {
	[WEFT_ADVICE_STRAGGLERS] = "stragglers",
	[WEFT_ADVICE_STREAM_PRIORITY] = "stream_priority",
	[WEFT_ADVICE_BUCKET_SIZE] = "bucket_size",
	[WEFT_ADVICE_ACCUMULATION] = "accumulation",
	[WEFT_ADVICE_COMPRESSION] = "compression",
	[WEFT_ADVICE_ALGORITHM] = "algorithm",
	[WEFT_ADVICE_LAUNCH_GAPS] = "launch_gaps",
};

/* ---- gains ---- */

/* Sums of one advice while its calls are walked over. */
struct gain {
	const struct weft_advice_input *in;
	/* of the gradients' kind with the most exposed time, per group size */
	struct weft_trace_fit fit;
	enum weft_trace_op op;
	double sum_s, exposed_s;
	double bytes, buckets; /* of gradients of that kind, a step */
	uint32_t n, n_known;
};

/* Traces that have times; means are over these. */
static double timed_count(const struct weft_advice_input *in)
{
	uint32_t n = 0;

	for (uint32_t a = 0; a < in->n_traces; a++)
		n += in->overlaps[a].span_s > 0;
	return n ? n : 1;
}

static double exposed_of(const struct weft_advice_input *in, uint32_t a,
			 uint32_t i)
{
	return in->overlaps[a].exposed_each_s[i];
}

static void gain_add(struct gain *g, double most_s, double removed_s)
{
	g->n_known++;
	g->sum_s += removed_s < most_s ? removed_s : most_s;
}

/* What each advice makes of one call. */
static void straggler_call(struct gain *g, uint32_t a, uint32_t i)
{
	if (g->in->waits && g->in->waits->wait_s[a][i] >= 0)
		gain_add(g, exposed_of(g->in, a, i),
			 g->in->waits->wait_s[a][i]);
}

static void priority_call(struct gain *g, uint32_t a, uint32_t i)
{
	if (g->in->overlaps[a].delay_each_s[i] >= 0)
		gain_add(g, exposed_of(g->in, a, i),
			 g->in->overlaps[a].delay_each_s[i]);
}

/* Fewer syncs transfer less; who is late is late all the same. */
static void accumulation_call(struct gain *g, uint32_t a, uint32_t i)
{
	const struct weft_trace *t = &g->in->traces[a];
	double saved = fmin(exposed_of(g->in, a, i),
			    weft_advice_transfer_s(g->in, a, i));

	if (weft_advice_is_gradient(t, &t->collectives[i]))
		gain_add(g, saved, saved / 2);
}

/* Bytes halve, what does not depend on them stays. */
static void compression_call(struct gain *g, uint32_t a, uint32_t i)
{
	const struct weft_trace_collective *c =
		&g->in->traces[a].collectives[i];
	double time = weft_advice_transfer_s(g->in, a, i);
	double fixed = g->fit.is_supported && c->op == g->op &&
				       c->n_ranks == g->fit.n_ranks
			       ? g->fit.alpha_s
			       : 0;

	if (c->is_float && c->element_bytes >= 2 && c->size_bytes > 0 &&
	    time > fixed)
		gain_add(g, exposed_of(g->in, a, i), (time - fixed) / 2);
}

/* 2 ceil(log2 n) steps instead of 2(n-1), 2S instead of 2(n-1)/n S; both with
 * the latency and rate that the fit to the ring gives. */
static double tree_s(const struct weft_trace_fit *fit, double size_bytes)
{
	double n = fit->n_ranks;
	double each = fit->alpha_s /
		      weft_overlap_ring_steps(WEFT_OP_ALL_REDUCE, fit->n_ranks);

	return 2 * ceil(log2(n)) * each +
	       n / (n - 1) * size_bytes / fit->rate_bytes_per_s;
}

static void algorithm_call(struct gain *g, uint32_t a, uint32_t i)
{
	const struct weft_trace_collective *c =
		&g->in->traces[a].collectives[i];
	double ring = g->fit.alpha_s + c->size_bytes / g->fit.rate_bytes_per_s;

	if (!weft_advice_is_gradient(&g->in->traces[a], c) ||
	    c->op != WEFT_OP_ALL_REDUCE || c->n_ranks != g->fit.n_ranks ||
	    strncmp(c->how, "RING", 4) != 0)
		return;
	gain_add(g, exposed_of(g->in, a, i),
		 fmax(0, ring - tree_s(&g->fit, c->size_bytes)));
}

static void calls_walk(struct gain *g,
		       void (*call)(struct gain *, uint32_t, uint32_t))
{
	g->sum_s = 0;
	g->n = g->n_known = 0;
	for (uint32_t a = 0; a < g->in->n_traces; a++) {
		for (uint32_t i = 0; i < g->in->traces[a].n_collectives; i++) {
			g->n++;
			call(g, a, i);
		}
	}
	g->sum_s /= timed_count(g->in);
}

/* The kind of gradient calls that is exposed longest, its largest group, and
 * its bytes. */
static int gradients_find(struct gain *g, struct weft_error *err)
{
	const struct weft_advice_input *in = g->in;
	struct {
		double exposed_s, bytes;
		uint32_t n, n_ranks;
	} sums[WEFT_N_OPS] = {0}, *sum;

	for (uint32_t a = 0; a < in->n_traces; a++) {
		const struct weft_trace *t = &in->traces[a];

		for (uint32_t i = 0; i < t->n_collectives; i++) {
			const struct weft_trace_collective *c =
				&t->collectives[i];

			if (!weft_advice_is_gradient(t, c))
				continue;
			sum = &sums[c->op];
			sum->exposed_s += exposed_of(in, a, i);
			sum->bytes += c->size_bytes;
			sum->n++;
			if (c->n_ranks > sum->n_ranks)
				sum->n_ranks = c->n_ranks;
		}
	}
	g->op = sums[WEFT_OP_REDUCE_SCATTER].exposed_s >
				sums[WEFT_OP_ALL_REDUCE].exposed_s
			? WEFT_OP_REDUCE_SCATTER
			: WEFT_OP_ALL_REDUCE;
	sum = &sums[g->op];
	g->exposed_s = sum->exposed_s / timed_count(in);
	g->bytes = sum->bytes / in->n_traces / in->n_steps;
	g->buckets = (double)sum->n / in->n_traces / in->n_steps;
	return weft_trace_fit(in, g->op, sum->n_ranks, &g->fit, err);
}

static const char *fit_text(const struct gain *g, char *text, size_t size)
{
	if (g->fit.is_supported)
		snprintf(text, size,
			 "%s over %u ranks takes %s + size / (%s) (%u sizes, "
			 "median error %.0f %%)",
			 weft_trace_op_names[g->op], g->fit.n_ranks,
			 IN_UNIT(g->fit.alpha_s, "s"),
			 IN_UNIT(g->fit.rate_bytes_per_s, "B/s"),
			 g->fit.n_sizes, 100 * g->fit.error);
	else if (g->fit.n_sizes < WEFT_TRACE_FIT_SIZES)
		snprintf(text, size,
			 "%u sizes of %s are too few for latency and rate",
			 g->fit.n_sizes, weft_trace_op_names[g->op]);
	else
		snprintf(text, size,
			 "the times of %u sizes of %s do not give latency and "
			 "rate: %s",
			 g->fit.n_sizes, weft_trace_op_names[g->op],
			 g->fit.rate_bytes_per_s > 0 && g->fit.alpha_s < 0
				 ? "the line through them begins below zero"
				 : "they hardly follow the size");
	return text;
}

static void stragglers_say(struct gain *g, struct weft_advice *advice)
{
	const struct weft_waits *w = g->in->waits;
	uint32_t worst = 0;

	calls_walk(g, straggler_call);
	if (!w || !g->n_known) {
		snprintf(advice->basis, sizeof(advice->basis),
			 "needs traces of at least two ranks with collectives "
			 "in common");
		return;
	}
	for (uint32_t a = 1; a < w->n_traces; a++) {
		if (w->ranks[a].caused_s > w->ranks[worst].caused_s)
			worst = a;
	}
	advice->has_basis = true;
	advice->gain_s = g->sum_s;
	if (!(w->ranks[worst].caused_s > 0)) {
		snprintf(advice->what, sizeof(advice->what),
			 "nothing: no rank is waited for");
		snprintf(advice->basis, sizeof(advice->basis),
			 "all ranks begin their %u collectives in common at "
			 "the same time",
			 w->n_matches);
		return;
	}
	snprintf(advice->what, sizeof(advice->what),
		 "find out why rank %u begins last (%u of %u collectives)",
		 w->ranks[worst].rank, w->ranks[worst].n_last,
		 w->ranks[worst].n_matched);
	snprintf(advice->basis, sizeof(advice->basis),
		 "others waited %s for it; exposed waiting of all ranks, "
		 "mean per rank",
		 IN_UNIT(w->ranks[worst].caused_s, "s"));
}

static const char no_launches[] =
	"the trace has no launches (no CUDA runtime events)";

/* Gives `what` the gain of all calls; false, with `lacking` as the basis, where
 * that of none is known. */
static bool calls_say(struct gain *g,
		      void (*call)(struct gain *, uint32_t, uint32_t),
		      const char *lacking, const char *what,
		      struct weft_advice *advice)
{
	calls_walk(g, call);
	advice->has_basis = g->n_known > 0;
	if (advice->has_basis) {
		advice->gain_s = g->sum_s;
		snprintf(advice->what, sizeof(advice->what), "%s", what);
	} else {
		snprintf(advice->basis, sizeof(advice->basis), "%s", lacking);
	}
	return advice->has_basis;
}

static void priority_say(struct gain *g, struct weft_advice *advice)
{
	if (!calls_say(g, priority_call, no_launches,
		       "give communication a stream of high priority", advice))
		return;
	snprintf(advice->basis, sizeof(advice->basis),
		 "at most: from when a collective was launched, its stream "
		 "free and earlier kernels done, until it started, where it is "
		 "exposed (%u collectives)",
		 g->n_known);
}

static void accumulation_say(struct gain *g, struct weft_advice *advice)
{
	if (!calls_say(g, accumulation_call,
		       "no all-reduce and no reduce-scatter in the trace",
		       "synchronise gradients every second micro-batch",
		       advice))
		return;
	snprintf(advice->basis, sizeof(advice->basis),
		 "half of the exposed time without waits of %u all-reduces and "
		 "reduce-scatters, if these are of gradients; every k-th: "
		 "(k-1)/k of %s",
		 g->n_known, IN_UNIT(2 * g->sum_s, "s"));
}

static void compression_say(struct gain *g, struct weft_advice *advice)
{
	char fit[200];

	if (!calls_say(g, compression_call,
		       "no collective of floating point numbers of two or "
		       "more bytes is recorded",
		       "send elements of half the size", advice))
		return;
	snprintf(advice->basis, sizeof(advice->basis),
		 "at most: half of the time that depends on size, where it is "
		 "exposed (%u collectives); %s",
		 g->n_known,
		 g->fit.is_supported ? fit_text(g, fit, sizeof(fit))
				     : "all of it taken to depend on size");
}

/* Time that n buckets of G bytes keep a step: each its latency, and the last
 * one whole, since nothing is left to hide it. */
static double buckets_s(const struct weft_trace_fit *fit, double bytes,
			double n)
{
	return n * fit->alpha_s + bytes / n / fit->rate_bytes_per_s;
}

static void bucket_say(struct gain *g, struct weft_advice *advice)
{
	double bytes = g->bytes, n = g->buckets, best, gain;
	char fit[200];

	fit_text(g, fit, sizeof(fit));
	if (!g->fit.is_supported || !(bytes > 0) || !(g->fit.alpha_s > 0)) {
		snprintf(advice->basis, sizeof(advice->basis), "%s", fit);
		return;
	}
	best = fmax(1, round(sqrt(bytes / g->fit.rate_bytes_per_s /
				  g->fit.alpha_s)));
	gain = g->in->n_steps *
	       (buckets_s(&g->fit, bytes, n) - buckets_s(&g->fit, bytes, best));
	advice->has_basis = true;
	advice->gain_s = fmax(0, fmin(gain, g->exposed_s));
	snprintf(advice->what, sizeof(advice->what),
		 "%s a bucket (%.0f a step) instead of %s (%.3g)",
		 IN_UNIT(bytes / best, "B"), best, IN_UNIT(bytes / n, "B"), n);
	snprintf(advice->basis, sizeof(advice->basis),
		 "n latencies and the last bucket whole; %s", fit);
}

static void algorithm_say(struct gain *g, struct weft_advice *advice)
{
	char fit[200];

	fit_text(g, fit, sizeof(fit));
	if (g->op != WEFT_OP_ALL_REDUCE || !g->fit.is_supported) {
		snprintf(advice->basis, sizeof(advice->basis), "%s",
			 g->op == WEFT_OP_ALL_REDUCE
				 ? fit
				 : "no all-reduce is exposed longest");
		return;
	}
	if (g->fit.n_ranks < 3) {
		snprintf(advice->basis, sizeof(advice->basis),
			 "a ring and a tree of %u ranks are the same",
			 g->fit.n_ranks);
		return;
	}
	if (!calls_say(g, algorithm_call,
		       "no all-reduce is known to run as a ring",
		       "a tree for small all-reduces (NCCL_ALGO=Tree, or a "
		       "tuner)",
		       advice))
		return;
	snprintf(advice->basis, sizeof(advice->basis),
		 "2 log2(n) instead of 2(n-1) latencies, n/(n-1) times the "
		 "bytes; %s",
		 fit);
}

static void gaps_say(struct gain *g, struct weft_advice *advice)
{
	double sum = 0, idle = 0;
	uint32_t n = 0;

	for (uint32_t a = 0; a < g->in->n_traces; a++) {
		const struct weft_overlap *o = &g->in->overlaps[a];

		if (o->unlaunched_s < 0)
			continue;
		sum += o->unlaunched_s;
		idle += o->idle_s;
		n++;
	}
	if (!n) {
		snprintf(advice->basis, sizeof(advice->basis), "%s",
			 no_launches);
		return;
	}
	advice->has_basis = true;
	advice->gain_s = sum / n;
	snprintf(advice->what, sizeof(advice->what),
		 "launch earlier: CUDA graphs, fewer kernels, less CPU work");
	snprintf(advice->basis, sizeof(advice->basis),
		 "at most: the GPU idles %s, in %s of these the next "
		 "kernel is not launched yet",
		 IN_UNIT(idle / n, "s"), IN_UNIT(sum / n, "s"));
}

static void (*const says[WEFT_N_ADVICES])(struct gain *,
					  struct weft_advice *) = {
	[WEFT_ADVICE_STRAGGLERS] = stragglers_say,
	[WEFT_ADVICE_STREAM_PRIORITY] = priority_say,
	[WEFT_ADVICE_BUCKET_SIZE] = bucket_say,
	[WEFT_ADVICE_ACCUMULATION] = accumulation_say,
	[WEFT_ADVICE_COMPRESSION] = compression_say,
	[WEFT_ADVICE_ALGORITHM] = algorithm_say,
	[WEFT_ADVICE_LAUNCH_GAPS] = gaps_say,
};

WEFT_COMPARATOR(by_gain, struct weft_advice,
		WEFT_DOWN(has_basis) WEFT_DOWN(gain_s) WEFT_UP(kind));

int weft_advice_build(const struct weft_advice_input *in,
		      struct weft_advice *advice, struct weft_error *err)
{
	struct gain g = {.in = in};

	if (gradients_find(&g, err))
		return -1;
	for (int kind = 0; kind < WEFT_N_ADVICES; kind++) {
		advice[kind] = (struct weft_advice){.kind = kind};
		says[kind](&g, &advice[kind]);
	}
	qsort(advice, WEFT_N_ADVICES, sizeof(*advice), by_gain);
	return 0;
}
