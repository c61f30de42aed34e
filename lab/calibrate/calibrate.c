/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibrate.c - gathers rows into entries and fits them */
#include "lab/calibrate/calibrate.h"

#include "base/compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- from a collective's time to the rate of a GPU's link ---- */

/* Of a time, what is not latency: less is lost in the noise of the latency. */
#define MIN_TRANSFER 0.25

static double gpus_per_node(const struct weft_calibration_entry *entry)
{
	return (double)entry->n_ranks / entry->n_nodes;
}

/* Bytes per second and direction that one GPU's links to others carried at the
 * entry's peak; *bound: a narrower link elsewhere may have set it.
 *
 * Inside one node every GPU sends what bus bandwidth counts.  Between nodes a
 * ring enters and leaves each node once per channel, so that the GPUs of a node
 * share the bus bandwidth; in an all-to-all each GPU sends the part of its data
 * that is for other nodes; a send-recv goes to the next rank, and only the last
 * of a node crosses. */
static double entry_rate(const struct weft_calibration_entry *entry,
			 bool *bound)
{
	double bus = entry->bus_factor * entry->curve.peak_bytes_per_s;
	double n = entry->n_ranks, g = gpus_per_node(entry);

	*bound = false;
	if (entry->n_nodes == 1)
		return bus;
	switch (entry->collective) {
	case WEFT_ALL_TO_ALL:
		return entry->curve.peak_bytes_per_s * (n - g) / n;
	case WEFT_SEND_RECV:
		return bus;
	case WEFT_ALL_REDUCE:
		/* Two nodes exchange their sums: less than a ring would. */
		*bound = true;
		return entry->n_nodes == 2 ? entry->curve.peak_bytes_per_s / g
					   : bus / g;
	default:
		*bound = true;
		return bus / g;
	}
}

static bool is_level(const struct weft_calibration_entry *entry,
		     enum weft_calibration_level level)
{
	return entry->fitted && entry->n_nodes && entry->n_ranks > 1 &&
	       (entry->n_nodes == 1) == (level == WEFT_CALIBRATION_NVLINK);
}

/* A switch that adds up makes the all-reduce of one node faster than its links
 * are: other collectives tell better. */
static bool is_plain(const struct weft_calibration_entry *entry,
		     enum weft_calibration_level level)
{
	return level != WEFT_CALIBRATION_NVLINK ||
	       entry->collective != WEFT_ALL_REDUCE;
}

/* What a collective got through a link is a lower bound of the link: the
 * greatest is nearest to it. */
static bool link_rate(const struct weft_calibration *c,
		      struct weft_calibration_link *link)
{
	bool plain = false, found = false;

	for (uint32_t i = 0; i < c->n_entries; i++)
		plain |= is_level(&c->entries[i], link->level) &&
			 is_plain(&c->entries[i], link->level);
	for (uint32_t i = 0; i < c->n_entries; i++) {
		const struct weft_calibration_entry *e = &c->entries[i];
		bool bound;
		double rate;

		if (!is_level(e, link->level) ||
		    (plain && !is_plain(e, link->level)))
			continue;
		rate = entry_rate(e, &bound);
		if (found && rate <= link->rate_bytes_per_s)
			continue;
		found = true;
		link->rate_bytes_per_s = rate;
		link->rate_is_bound = bound || !e->curve.rate_reached;
		link->rate_entry = i;
	}
	return found;
}

/* A launch costs the same on any number of nodes, so that only growth over
 * nodes is the network's: an all-reduce goes up and down a tree, which has one
 * level more when the nodes double.  NAN without two numbers of nodes. */
static double net_latency(const struct weft_calibration *c)
{
	const struct weft_calibration_entry *least = NULL, *most = NULL;
	double growth;

	for (uint32_t i = 0; i < c->n_entries; i++) {
		const struct weft_calibration_entry *e = &c->entries[i];

		if (!is_level(e, WEFT_CALIBRATION_NET) ||
		    e->collective != WEFT_ALL_REDUCE || !e->curve.latency_seen)
			continue;
		if (!least || e->n_nodes < least->n_nodes)
			least = e;
		if (!most || e->n_nodes > most->n_nodes)
			most = e;
	}
	if (!least || least->n_nodes == most->n_nodes)
		return (double)NAN;
	growth = most->curve.latency_s - least->curve.latency_s;
	growth /= 2 * log2((double)most->n_nodes / least->n_nodes);
	return growth > 0 ? growth : (double)NAN;
}

/* Links of different systems are not one fabric's. */
static bool one_system(const struct weft_calibration *c)
{
	for (uint32_t i = 1; i < c->n_entries; i++) {
		if (strcmp(c->entries[i].label, c->entries[0].label) != 0)
			return false;
	}
	return true;
}

/* Fills links of a calibration whose entries are fitted. */
static void calibrate_links(struct weft_calibration *calibration)
{
	static const enum weft_calibration_level levels[] = {
		WEFT_CALIBRATION_NVLINK, WEFT_CALIBRATION_NET};

	for (uint32_t i = 0; i < 2 && one_system(calibration); i++) {
		struct weft_calibration_link link = {.level = levels[i],
						     .latency_s = (double)NAN};

		if (!link_rate(calibration, &link))
			continue;
		if (link.level == WEFT_CALIBRATION_NET)
			link.latency_s = net_latency(calibration);
		calibration->links[calibration->n_links++] = link;
	}
}

/* The share at one size; false where latency hides it. */
static bool share_at(const struct weft_calibration_entry *e, double size_bytes,
		     struct weft_rate_share *share)
{
	const struct weft_curve *curve = &e->curve;
	double latency_s = curve->latency_seen ? curve->latency_s : 0;
	double time_s = weft_curve_time(curve, size_bytes);

	if (!(time_s - latency_s > MIN_TRANSFER * time_s))
		return false;
	share->size_bytes = size_bytes;
	share->share = fmin(1, size_bytes / curve->peak_bytes_per_s /
				       (time_s - latency_s));
	return true;
}

uint32_t weft_calibration_shares(const struct weft_calibration *calibration,
				 const struct weft_calibration_link *link,
				 struct weft_rate_share shares[WEFT_MAX_SHARES])
{
	const struct weft_calibration_entry *e =
		&calibration->entries[link->rate_entry];
	double largest = e->curve.largest_bytes, size;
	uint32_t n = 0;

	size = exp2(ceil(log2(e->curve.smallest_bytes)));
	/* more than a fabric takes would begin below a byte */
	size = fmax(size, exp2(ceil(log2(largest)) - (WEFT_MAX_SHARES - 1)));
	for (; size < largest; size *= 2) {
		if (share_at(e, size, &shares[n]))
			n++;
		else
			n = 0;
	}
	return n + share_at(e, largest, &shares[n]);
}

/* ---- rows into entries ---- */

/* A run with what its log says, or else the options. */
struct source {
	const struct weft_nccl_log *log;
	const struct weft_nccl_run *run;
	enum weft_collective collective;
	uint32_t n_ranks, n_nodes;
};

/* Unknown collectives stay apart by the programs' names. */
static const char *own_name(const struct source *s)
{
	return s->collective == WEFT_N_COLLECTIVES ? s->run->program : "";
}

WEFT_COMPARATOR(compare_sources, struct source,
		WEFT_TEXT(run->label) WEFT_UP(collective)
			WEFT_KEY(strcmp(own_name(a), own_name(b)))
				WEFT_UP(n_nodes) WEFT_UP(n_ranks));

static struct source source_of(const struct weft_nccl_log *log,
			       const struct weft_nccl_run *run,
			       const struct weft_calibrate_options *options)
{
	struct source s = {log, run, run->collective, run->n_ranks,
			   run->n_nodes};

	if (s.collective == WEFT_N_COLLECTIVES && !run->program[0])
		s.collective = options->collective;
	if (!s.n_ranks)
		s.n_ranks = options->n_ranks;
	if (!s.n_nodes)
		s.n_nodes = options->n_nodes;
	/* One NVLink domain is one node to NCCL and to this. */
	if (options->domain_gpus && s.n_ranks)
		s.n_nodes = (s.n_ranks + options->domain_gpus - 1) /
			    options->domain_gpus;
	return s;
}

static struct source *
sources_build(const struct weft_nccl_log *logs, size_t n,
	      const struct weft_calibrate_options *options, uint32_t *n_sources,
	      struct weft_error *err)
{
	struct source *sources;
	size_t total = 0, k = 0;

	for (size_t i = 0; i < n; i++)
		total += logs[i].n_runs;
	sources = weft_calloc(total, sizeof(*sources), err);
	if (!sources)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		for (uint32_t r = 0; r < logs[i].n_runs; r++)
			sources[k++] =
				source_of(&logs[i], &logs[i].runs[r], options);
	}
	qsort(sources, total, sizeof(*sources), compare_sources);
	*n_sources = (uint32_t)total;
	return sources;
}

/* Points of the entry's runs; in place is a second measurement of the same. */
static uint32_t points_fill(const struct source *sources, uint32_t n,
			    struct weft_curve_point *points)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct weft_nccl_run *run = sources[i].run;

		for (uint32_t r = 0; r < run->n_rows; r++) {
			const struct weft_nccl_row *row =
				&sources[i].log->rows[run->first_row + r];
			double size = (double)row->size_bytes;

			if (row->time_s > 0)
				points[k++] = (struct weft_curve_point){
					size, row->time_s};
			if (row->time_in_place_s > 0)
				points[k++] = (struct weft_curve_point){
					size, row->time_in_place_s};
		}
	}
	return k;
}

WEFT_COMPARATOR(compare_points, struct weft_curve_point, WEFT_UP(size_bytes));

static double median_or_nan(double *values, uint32_t n)
{
	return n ? weft_median(values, n) : (double)NAN;
}

/* Room for the check of n points: one half, and errors of both kinds. */
struct holdout {
	struct weft_curve_point *half;
	double *small, *large;
	uint32_t n_small, n_large;
};

/* Fits the sizes of one parity, and adds the errors on the others. */
static int holdout_half(struct holdout *h,
			const struct weft_curve_point *sorted, uint32_t n,
			uint32_t parity, struct weft_error *err)
{
	struct weft_curve curve;
	char refusal[160];
	uint32_t size = 0, k = 0;

	for (uint32_t i = 0; i < n; i++) {
		size += i > 0 &&
			sorted[i].size_bytes != sorted[i - 1].size_bytes;
		if (size % 2 == parity)
			h->half[k++] = sorted[i];
	}
	if (weft_curve_fit(h->half, k, &curve, refusal, sizeof(refusal), err))
		return -1;
	if (refusal[0])
		return 0;
	size = 0;
	for (uint32_t i = 0; i < n; i++) {
		double e = weft_curve_error_pct(&curve, &sorted[i]);

		size += i > 0 &&
			sorted[i].size_bytes != sorted[i - 1].size_bytes;
		if (size % 2 == parity)
			continue;
		if (sorted[i].size_bytes < WEFT_CALIBRATE_LARGE_BYTES)
			h->small[h->n_small++] = e;
		else
			h->large[h->n_large++] = e;
	}
	return 0;
}

static int holdout_check(struct weft_calibration_entry *entry,
			 struct weft_curve_point *points, uint32_t n,
			 struct weft_error *err)
{
	struct holdout h = {0};
	int rc = -1;

	qsort(points, n, sizeof(*points), compare_points);
	h.half = weft_calloc(n, sizeof(*h.half), err);
	h.small = weft_calloc(n, sizeof(*h.small), err);
	h.large = weft_calloc(n, sizeof(*h.large), err);
	if (h.half && h.small && h.large &&
	    !holdout_half(&h, points, n, 0, err) &&
	    !holdout_half(&h, points, n, 1, err)) {
		entry->holdout_small_pct = median_or_nan(h.small, h.n_small);
		entry->holdout_large_pct = median_or_nan(h.large, h.n_large);
		rc = 0;
	}
	free(h.half);
	free(h.small);
	free(h.large);
	return rc;
}

/* Reasons that lie in the runs, not in the figures. */
static bool entry_refuse(struct weft_calibration_entry *entry,
			 const struct source *sources, uint32_t n)
{
	uint32_t failed = 0;

	for (uint32_t i = 0; i < n; i++)
		failed += sources[i].run->failed && !sources[i].run->n_wrong;
	if (entry->collective == WEFT_N_COLLECTIVES)
		snprintf(entry->refusal, sizeof(entry->refusal),
			 sources[0].run->program[0]
				 ? "%s is no collective that weft knows"
				 : "which collective%s? the log does not tell",
			 sources[0].run->program);
	else if (entry->n_ranks == 1)
		snprintf(entry->refusal, sizeof(entry->refusal),
			 "a single rank sends nothing");
	else if (!entry->n_ranks)
		snprintf(entry->refusal, sizeof(entry->refusal),
			 "how many ranks? the log does not tell");
	else if (entry->n_nodes > entry->n_ranks)
		snprintf(entry->refusal, sizeof(entry->refusal),
			 "%u ranks cannot be on %u nodes", entry->n_ranks,
			 entry->n_nodes);
	else if (failed)
		snprintf(entry->refusal, sizeof(entry->refusal),
			 "nccl-tests reports values out of bounds, in %u of %u "
			 "runs",
			 failed, n);
	else if (entry->n_wrong > entry->n_rows)
		snprintf(entry->refusal, sizeof(entry->refusal),
			 "%u of %u rows have wrong results", entry->n_wrong,
			 entry->n_wrong + entry->n_rows);
	return entry->refusal[0] != '\0';
}

static int entry_fit(struct weft_calibration_entry *entry,
		     const struct source *sources, uint32_t n,
		     struct weft_error *err)
{
	struct weft_curve_point *points;
	uint32_t n_points;
	int rc = 0;

	if (entry_refuse(entry, sources, n))
		return 0;
	entry->bus_factor =
		weft_collective_bus_factor(entry->collective, entry->n_ranks);
	points = weft_calloc(2 * (size_t)entry->n_rows, sizeof(*points), err);
	if (!points)
		return -1;
	n_points = points_fill(sources, n, points);
	rc = weft_curve_fit(points, n_points, &entry->curve, entry->refusal,
			    sizeof(entry->refusal), err);
	entry->fitted = !rc && !entry->refusal[0];
	if (entry->fitted)
		rc = holdout_check(entry, points, n_points, err);
	free(points);
	return rc;
}

static int entry_build(struct weft_calibration_entry *entry,
		       const struct source *sources, uint32_t n,
		       struct weft_error *err)
{
	*entry = (struct weft_calibration_entry){
		.collective = sources->collective,
		.n_ranks = sources->n_ranks,
		.n_nodes = sources->n_nodes,
		.n_runs = n,
		.bus_factor = 1,
		.holdout_small_pct = (double)NAN,
		.holdout_large_pct = (double)NAN,
	};
	memcpy(entry->label, sources->run->label, sizeof(entry->label));
	for (uint32_t i = 0; i < n; i++) {
		entry->n_rows += sources[i].run->n_rows;
		entry->n_wrong += sources[i].run->n_wrong;
	}
	return entry_fit(entry, sources, n, err);
}

static void totals_fill(struct weft_calibration *c)
{
	double sum = 0, weight = 0;

	for (uint32_t i = 0; i < c->n_entries; i++) {
		const struct weft_calibration_entry *e = &c->entries[i];

		if (!e->fitted)
			continue;
		c->n_fitted++;
		sum += e->curve.mape_pct * e->curve.n_sizes;
		weight += e->curve.n_sizes;
	}
	c->mape_pct = weight > 0 ? sum / weight : (double)NAN;
}

int weft_calibrate(const struct weft_nccl_log *logs, size_t n,
		   const struct weft_calibrate_options *options,
		   struct weft_calibration *calibration, struct weft_error *err)
{
	struct weft_calibration *c = calibration;
	uint32_t n_sources = 0;
	struct source *sources;
	int rc = -1;

	*c = (struct weft_calibration){.network_bytes_per_s =
					       options->network_bytes_per_s};
	sources = sources_build(logs, n, options, &n_sources, err);
	if (!sources)
		return -1;
	c->entries = weft_calloc(n_sources, sizeof(*c->entries), err);
	if (!c->entries)
		goto out;
	for (uint32_t i = 0, j; i < n_sources; i = j) {
		for (j = i + 1; j < n_sources &&
				compare_sources(&sources[i], &sources[j]) == 0;)
			j++;
		if (entry_build(&c->entries[c->n_entries++], &sources[i], j - i,
				err))
			goto out;
	}
	totals_fill(c);
	calibrate_links(c);
	rc = 0;
out:
	if (rc)
		weft_calibration_free(c);
	free(sources);
	return rc;
}

void weft_calibration_free(struct weft_calibration *calibration)
{
	free(calibration->entries);
	*calibration = (struct weft_calibration){0};
}
