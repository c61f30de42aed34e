/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay_summary.c - from every job's fate to the few numbers of a policy */
#include "lab/replay/replay_summary.h"

#include <stdlib.h>
#include <string.h>

static double ratio(double value, double ideal)
{
	return ideal > 0 ? value / ideal : 1;
}

static void means_add(const struct weft_replay *r,
		      const struct weft_replay_kind *kind,
		      const struct weft_replay_job *job,
		      struct weft_replay_means *m)
{
	m->n++;
	m->cost_ratio += ratio(job->cost, kind->ideal_cost);
	for (uint32_t l = 0; l < r->fabric->n_levels; l++)
		m->domains[l] += job->domains[l];
	if (!kind->timed)
		return;
	m->n_timed++;
	m->step_ratio += ratio(job->step_s, kind->ideal_step_s);
	m->alone_step_ratio += ratio(job->alone_step_s, kind->ideal_step_s);
	m->step_s += job->step_s;
	m->ideal_step_s += kind->ideal_step_s;
}

static void means_finish(struct weft_replay_means *m)
{
	double n = m->n ? m->n : 1, n_timed = m->n_timed ? m->n_timed : 1;

	m->cost_ratio /= n;
	m->step_ratio /= n_timed;
	m->alone_step_ratio /= n_timed;
	m->step_s /= n_timed;
	m->ideal_step_s /= n_timed;
	for (uint32_t l = 0; l < WEFT_MAX_LEVELS; l++)
		m->domains[l] /= n;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

/* Sorts values[n]. */
static void spread_find(double *values, uint32_t n,
			struct weft_replay_spread *spread)
{
	const struct {
		double *to;
		uint64_t percent;
	} shares[] = {{&spread->p50, 50},
		      {&spread->p90, 90},
		      {&spread->p95, 95},
		      {&spread->p99, 99},
		      {&spread->max, 100}};
	double sum = 0;

	if (!n)
		return;
	for (uint32_t i = 0; i < n; i++)
		sum += values[i];
	qsort(values, n, sizeof(*values), by_size);
	spread->mean = sum / n;
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
		*shares[i].to = values[(n - 1) * shares[i].percent / 100];
}

static int spreads_find(const struct weft_replay *r,
			struct weft_replay_outcome *outcome,
			struct weft_error *err)
{
	uint32_t n = 0, n_multi = 0, room = r->stream->n;
	double *waits = weft_calloc(3 * (size_t)room, sizeof(*waits), err);
	double *train = waits + room, *ratios = train + room;

	if (!waits)
		return -1;
	for (uint32_t i = 0; i < room; i++) {
		const struct weft_replay_job *job = &outcome->jobs[i];
		const struct weft_stream_job *asked = &r->stream->jobs[i];

		if (r->kind_of[i] == WEFT_NONE)
			continue;
		waits[n++] = job->start_s - asked->submit_s;
		if (r->kinds[r->kind_of[i]].n_nodes == 1)
			continue;
		train[n_multi] = job->end_s - job->start_s;
		ratios[n_multi] = ratio(train[n_multi], asked->duration_s);
		n_multi++;
	}
	spread_find(waits, n, &outcome->wait_s);
	spread_find(train, n_multi, &outcome->train_s);
	spread_find(ratios, n_multi, &outcome->train_ratio);
	free(waits);
	return 0;
}

/* Seconds of [start, end] before `until`. */
static double before(double start_s, double end_s, double until_s)
{
	if (start_s >= until_s)
		return 0;
	return (end_s < until_s ? end_s : until_s) - start_s;
}

static void use_summarise(const struct weft_replay *r,
			  struct weft_replay_outcome *outcome)
{
	const struct weft_stream *s = r->stream;
	double last_s = s->n ? s->jobs[s->n - 1].submit_s : 0;
	double busy = 0, busy_arrivals = 0, useful = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		const struct weft_replay_job *job = &outcome->jobs[i];
		uint32_t gpus;

		if (r->kind_of[i] == WEFT_NONE)
			continue;
		gpus = r->kinds[r->kind_of[i]].job.n_gpus;
		busy += gpus * (job->end_s - job->start_s);
		busy_arrivals +=
			gpus * before(job->start_s, job->end_s, last_s);
		useful += gpus * s->jobs[i].duration_s;
		if (job->end_s > outcome->makespan_s)
			outcome->makespan_s = job->end_s;
	}
	if (outcome->makespan_s > 0) {
		double room = outcome->makespan_s * r->fabric->n_gpus;

		outcome->sor = busy / room;
		outcome->goodput = useful / room;
	}
	if (last_s > 0) {
		outcome->gar = busy_arrivals / (last_s * r->fabric->n_gpus);
		outcome->gfr = outcome->parted_s / last_s;
	}
}

int replay_summarise(const struct weft_replay *r,
		     struct weft_replay_outcome *outcome,
		     struct weft_error *err)
{
	for (uint32_t i = 0; i < r->stream->n; i++) {
		const struct weft_replay_kind *kind;

		if (r->kind_of[i] == WEFT_NONE)
			continue;
		kind = &r->kinds[r->kind_of[i]];
		means_add(r, kind, &outcome->jobs[i], &outcome->all);
		if (kind->n_nodes > 1)
			means_add(r, kind, &outcome->jobs[i], &outcome->multi);
	}
	means_finish(&outcome->all);
	means_finish(&outcome->multi);
	use_summarise(r, outcome);
	return spreads_find(r, outcome, err);
}
