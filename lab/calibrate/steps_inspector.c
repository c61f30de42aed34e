/* SPDX-License-Identifier: GPL-3.0-or-later */
/* steps_inspector.c - how long a job's steps took, from the calls that the
 * Inspector plugins of NCCL and RCCL log
 *
 * A log does not say where a step begins.  But a rank makes the same calls in
 * each step, so that the sizes of its calls of one kind on one communicator,
 * in the order of their numbers, repeat.  A lane is such a series.  Its period
 * is the least after which all sizes come again, over as long a stretch as can
 * be found; the lane with the longest period in time is taken, since calls
 * inside layers repeat sooner.  Where each micro-batch has the same calls (FSDP
 * without no_sync), that is the period of a micro-batch; the predicted step
 * tells the two apart.
 */
#include "base/compare.h"
#include "cli/json.h"
#include "lab/calibrate/steps.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A stretch has as many periods at least. */
#define MIN_PERIODS 8
/* Calls may be missing (the plugin leaves out small ones, and those without a
 * kernel's time), but not more than so many for each that is there. */
#define MAX_GAPS 1
/* Where stretches are looked for: first steps differ, evaluations come between.
 */
static const double starts[] = {0, 0.1, 0.25, 0.5};
#define N_STARTS (sizeof(starts) / sizeof(starts[0]))
/* The step is within this factor of the predicted one, or it is none. */
#define PLAUSIBLE 2.5

#define NAME_SIZE 96

struct call {
	uint64_t number, size;
	double time_s;
};

struct lane {
	char name[NAME_SIZE]; /* communicator, rank and kind of call */
	struct call *calls;
	uint32_t n, room;
};

struct lanes {
	struct lane *lanes;
	uint32_t n, room, last; /* of the call before */
};

/* ---- reading ---- */

static struct lane *lane_find(struct lanes *all, const char *name,
			      struct weft_error *err)
{
	if (all->n && strcmp(all->lanes[all->last].name, name) == 0)
		return &all->lanes[all->last];
	for (uint32_t i = 0; i < all->n; i++) {
		if (strcmp(all->lanes[i].name, name) == 0) {
			all->last = i;
			return &all->lanes[i];
		}
	}
	if (WEFT_GROW(all->lanes, all->n, all->room, err))
		return NULL;
	all->last = all->n++;
	all->lanes[all->last] = (struct lane){.n = 0};
	memcpy(all->lanes[all->last].name, name, NAME_SIZE);
	return &all->lanes[all->last];
}

static int call_add(struct lane *lane, const struct call *call,
		    struct weft_error *err)
{
	if (WEFT_GROW(lane->calls, lane->n, lane->room, err))
		return -1;
	lane->calls[lane->n++] = *call;
	return 0;
}

/* A record of a collective; others are left out. */
static int record_take(const json_t *record, struct lanes *all,
		       struct weft_error *err)
{
	const json_t *header = json_object_get(record, "header");
	const json_t *perf = json_object_get(record, "coll_perf");
	const json_t *at = json_object_get(
		json_object_get(perf, "event_trace_ts"), "coll_start_ts");
	const json_t *number = json_object_get(perf, "coll_sn");
	const json_t *size = json_object_get(perf, "coll_msg_size_bytes");
	char name[NAME_SIZE] = "";
	struct lane *lane;
	struct call call;

	if (!json_is_number(at))
		at = json_object_get(json_object_get(record, "metadata"),
				     "dump_timestamp_us");
	if (!json_is_integer(number) || !json_is_integer(size) ||
	    !json_is_number(at) || !*json_text_of(perf, "coll"))
		return 0;
	snprintf(name, sizeof(name),
		 "%.40s of rank %" JSON_INTEGER_FORMAT ", %.24s",
		 json_text_of(header, "id"),
		 json_integer_value(json_object_get(header, "rank")),
		 json_text_of(perf, "coll"));
	call = (struct call){
		.number = (uint64_t)json_integer_value(number),
		.size = (uint64_t)json_integer_value(size) + 1,
		.time_s = json_number_value(at) * 1e-6,
	};
	lane = lane_find(all, name, err);
	return lane ? call_add(lane, &call, err) : -1;
}

/* Objects one behind the other; the last one may be cut off, and what is none
 * is passed over line by line. */
static int records_read(const char *text, size_t size, struct lanes *all,
			struct weft_error *err)
{
	const char *end = text + size;
	int rc = 0;

	while (rc == 0 && text && text < end) {
		json_error_t why;
		json_t *record;

		if (*text != '{') {
			text++;
			continue;
		}
		record = json_loadb(text, (size_t)(end - text),
				    JSON_DISABLE_EOF_CHECK, &why);
		if (!record) {
			text = memchr(text, '\n', (size_t)(end - text));
			continue;
		}
		rc = record_take(record, all, err);
		text += why.position;
		json_decref(record);
	}
	return rc;
}

/* ---- periods ---- */

WEFT_COMPARATOR(call_compare, struct call, WEFT_UP(number));

/* The lane as an array by number, in which calls that are missing have size 0
 * and fit anything. */
static int lane_spread(struct lane *lane, struct weft_error *err)
{
	uint64_t first, after; /* the last one's number after the first */
	struct call *calls;

	qsort(lane->calls, lane->n, sizeof(*lane->calls), call_compare);
	first = lane->calls[0].number;
	after = lane->calls[lane->n - 1].number - first;
	if (after >= (1 + MAX_GAPS) * (uint64_t)lane->n) {
		lane->n = 0; /* too little is known */
		return 0;
	}
	calls = weft_calloc((size_t)after + 1, sizeof(*calls), err);
	if (!calls)
		return -1;
	for (uint32_t i = 0; i < lane->n; i++)
		calls[lane->calls[i].number - first] = lane->calls[i];
	free(lane->calls);
	lane->calls = calls;
	lane->n = (uint32_t)after + 1;
	return 0;
}

/* How many calls from `first` on are those `period` calls later. */
static uint32_t repeated(const struct lane *lane, uint32_t first,
			 uint32_t period)
{
	const struct call *c = lane->calls;
	uint32_t i = first;

	while (i + period < lane->n && (c[i].size == c[i + period].size ||
					!c[i].size || !c[i + period].size))
		i++;
	return i - first;
}

struct stretch {
	uint32_t first, n, period; /* in calls */
};

/* Twice a period is one, too, and fits where a missing call hides that the
 * period does not; what repeats inside a step does so over a part of it. */
static bool longer(const struct stretch *s, const struct stretch *than)
{
	if (s->period > than->period && than->n)
		return s->n > 2 * than->n;
	if (s->period < than->period)
		return 2 * s->n > than->n;
	return s->n > than->n;
}

/* The longest stretch that is MIN_PERIODS periods at least; n 0: none. */
static struct stretch stretch_find(const struct lane *lane)
{
	struct stretch best = {0};

	for (size_t k = 0; k < N_STARTS; k++) {
		uint32_t first = (uint32_t)(starts[k] * lane->n);
		uint32_t left = lane->n - first;

		for (uint32_t p = 1; p <= left / MIN_PERIODS; p++) {
			struct stretch s = {first, repeated(lane, first, p) + p,
					    p};

			if (s.n / p >= MIN_PERIODS && longer(&s, &best))
				best = s;
			if (s.n == left)
				break;
		}
	}
	return best;
}

/* The place in the period at which most calls are known. */
static uint32_t phase_find(const struct lane *lane, const struct stretch *s)
{
	uint32_t best = 0, most = 0;

	for (uint32_t phase = 0; phase < s->period; phase++) {
		uint32_t n = 0;

		for (uint32_t i = phase; i < s->n; i += s->period)
			n += lane->calls[s->first + i].size > 0;
		if (n > most) {
			most = n;
			best = phase;
		}
	}
	return best;
}

/* Seconds of each period, of those beside a missing call their mean; how many.
 */
static uint32_t periods_read(const struct lane *lane, const struct stretch *s,
			     double *period_s)
{
	uint32_t n = 0, behind = 0;
	double last_s = 0;

	for (uint32_t i = phase_find(lane, s); i < s->n; i += s->period) {
		const struct call *c = &lane->calls[s->first + i];

		behind++;
		if (!c->size)
			continue;
		for (uint32_t k = 0; last_s > 0 && k < behind; k++)
			period_s[n++] = (c->time_s - last_s) / behind;
		last_s = c->time_s;
		behind = 0;
	}
	return n;
}

/* ---- steps ---- */

static int seldom_written(struct weft_error *err)
{
	return weft_fail(
		err, WEFT_EINVAL,
		"the Inspector wrote its calls more seldom than once "
		"a step, so their times are not known: run it with "
		"NCCL_INSPECTOR_DUMP_VERBOSE=1, or with "
		"NCCL_INSPECTOR_DUMP_THREAD_INTERVAL_MICROSECONDS=500");
}

struct repeats {
	double *period_s, median_s;
	uint32_t n;
};

/* The periods of the lane, if they are longer than those found before. */
static int lane_try(struct lane *lane, struct repeats *found,
		    struct weft_error *err)
{
	struct repeats own = {0};
	struct stretch s;

	if (lane->n < MIN_PERIODS || lane_spread(lane, err))
		return lane->n < MIN_PERIODS ? 0 : -1;
	s = stretch_find(lane);
	if (!s.n)
		return 0;
	own.period_s = weft_calloc(s.n, sizeof(*own.period_s), err);
	if (!own.period_s)
		return -1;
	own.n = periods_read(lane, &s, own.period_s);
	own.median_s = steps_median(own.period_s, own.n, err);
	if (own.median_s < 0 ||
	    (found->n && own.median_s <= found->median_s * 1.01)) {
		free(own.period_s);
		return own.median_s < 0 ? -1 : 0;
	}
	free(found->period_s);
	*found = own;
	return 0;
}

/* Appends the steps: `each` periods together are one. */
static int steps_append(const struct repeats *found, uint32_t each,
			struct steps *steps, struct weft_error *err)
{
	for (uint32_t i = 0; i + each <= found->n; i += each) {
		double sum_s = 0;

		for (uint32_t k = 0; k < each; k++)
			sum_s += found->period_s[i + k];
		if (steps_add(steps, sum_s, err))
			return -1;
	}
	return 0;
}

static int repeats_take(const struct repeats *found,
			const struct steps_job *job, struct steps *steps,
			struct weft_error *err)
{
	double off = log(found->median_s / job->predicted_s);
	double batch = log((double)job->micro_batches);
	uint32_t each = fabs(off + batch) < fabs(off) ? job->micro_batches : 1;

	if (!(found->median_s > 1e-4))
		return seldom_written(err);
	if (fabs(off + log((double)each)) > log(PLAUSIBLE))
		return weft_fail(err, WEFT_EINVAL,
				 "calls repeat every %.3g s at most, but a "
				 "step is predicted to take %.3g s: none of "
				 "them is made once a step, or the job is "
				 "another one",
				 found->median_s, job->predicted_s);
	return steps_append(found, each, steps, err);
}

int steps_inspector_read(const char *text, size_t size,
			 const struct steps_job *job, struct steps *steps,
			 struct weft_error *err)
{
	struct repeats found = {0};
	struct lanes all = {0};
	int rc = records_read(text, size, &all, err);

	for (uint32_t i = 0; i < all.n && rc == 0; i++)
		rc = lane_try(&all.lanes[i], &found, err);
	/* One rank is as good as all. */
	if (rc == 0 && found.n && !steps->n)
		rc = repeats_take(&found, job, steps, err);
	for (uint32_t i = 0; i < all.n; i++)
		free(all.lanes[i].calls);
	free(all.lanes);
	free(found.period_s);
	return rc;
}
