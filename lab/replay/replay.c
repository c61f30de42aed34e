/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay.c - the kinds of jobs in a stream, and the best each could have */
#include "lab/replay/replay.h"

#include "lab/replay/ledger.h"
#include "lab/replay/mix.h"
#include "lab/replay/pricing.h"
#include "placement/mapping/effort.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

const char *const weft_queue_names[WEFT_N_QUEUES] = {"backfill", "fifo"};

/* What a job of the stream is to be built from. */
struct wish {
	const char *spec; /* NULL: the job is larger than the fabric */
	uint32_t job;	  /* of the stream */
	struct weft_mix_shape shape;
};

/* GPUs that most nodes have. */
static uint32_t node_gpus(const struct weft_fabric *f)
{
	uint32_t n[WEFT_MAX_GPUS_PER_NODE + 1] = {0}, most = 0;

	for (uint32_t i = 0; i < f->n_nodes; i++)
		n[f->nodes[i].n_gpus]++;
	for (uint32_t k = 0; k <= WEFT_MAX_GPUS_PER_NODE; k++) {
		if (n[k] > n[most])
			most = k;
	}
	return most;
}

static int wishes_fill(struct weft_replay *r, const struct ledger *empty,
		       struct wish *wishes, struct weft_error *err)
{
	uint32_t per_node = node_gpus(r->fabric);
	char text[WEFT_SPEC_MAX_BYTES];

	for (uint32_t i = 0; i < r->stream->n; i++) {
		const struct weft_stream_job *job = &r->stream->jobs[i];
		struct effort dice = {.random = r->options->seed + i};
		struct wish *w = &wishes[i];

		if (job->gpus == 0)
			return weft_fail(err, WEFT_EINVAL, "job %u has no GPU",
					 i);
		w->job = i;
		w->shape = weft_mix_shape(job->gpus, per_node);
		if (job->gpus > r->fabric->n_gpus ||
		    empty->n_slots[w->shape.per_node] < w->shape.n_nodes) {
			r->n_left_out++;
			continue;
		}
		weft_mix_spec(&w->shape, job->axes, effort_random(&dice),
			      r->gpu, text, sizeof(text));
		w->spec = weft_arena_text(&r->texts, text, strlen(text), err);
		if (!w->spec)
			return -1;
	}
	return 0;
}

/* Jobs left out come last. */
static int by_spec(const void *a, const void *b)
{
	const struct wish *x = a, *y = b;

	if (!x->spec || !y->spec)
		return !x->spec - !y->spec;
	return strcmp(x->spec, y->spec);
}

static int kind_build(struct weft_replay *r, const struct wish *w,
		      struct weft_replay_kind *kind, struct weft_error *err)
{
	struct weft_error why = {0};

	kind->spec = w->spec;
	kind->n_nodes = w->shape.n_nodes;
	kind->per_node = w->shape.per_node;
	if (weft_job_build(w->spec, 0, false, r->fabric, &kind->job, &why))
		return weft_fail(err, why.code, "job \"%.40s\": \"%.80s\": %s",
				 r->stream->jobs[w->job].name, w->spec,
				 why.text);
	if (!r->gpu)
		return 0;
	/* a step that cannot be predicted is an answer */
	kind->timed = weft_schedule_build(&kind->job.spec, &kind->job.model,
					  &kind->schedule, &why) == 0;
	if (!kind->timed && why.code == WEFT_ENOMEM)
		return weft_fail(err, why.code, "%s", why.text);
	return 0;
}

/* One kind per different spec. */
static int kinds_build(struct weft_replay *r, struct wish *wishes,
		       struct weft_error *err)
{
	uint32_t n = r->stream->n;

	r->kinds = weft_calloc(n, sizeof(*r->kinds), err);
	r->kind_of = weft_calloc(n, sizeof(*r->kind_of), err);
	if (!r->kinds || !r->kind_of)
		return -1;
	if (n)
		qsort(wishes, n, sizeof(*wishes), by_spec);
	for (uint32_t i = 0; i < n; i++) {
		const struct wish *w = &wishes[i];

		r->kind_of[w->job] = WEFT_NONE;
		if (!w->spec)
			continue;
		if (i == 0 || strcmp(wishes[i - 1].spec, w->spec) != 0) {
			r->n_kinds++;
			if (kind_build(r, w, &r->kinds[r->n_kinds - 1], err))
				return -1;
		}
		r->kind_of[w->job] = r->n_kinds - 1;
	}
	return 0;
}

/* The kind under one policy on the empty fabric. */
static int ideal_try(const struct weft_replay *r,
		     const struct weft_policy_request *q,
		     const struct weft_policy *policy, struct pricing *pricing,
		     struct weft_replay_kind *k, struct weft_error *err)
{
	const struct pricing_job job = {&k->job, k->timed ? &k->schedule : NULL,
					(uint32_t)(k - r->kinds)};
	uint32_t *where = weft_calloc(k->job.n_gpus, sizeof(*where), err);
	struct price price;
	bool yes = false;
	int rc = -1;

	if (!where || policy->place(q, where, &yes, err))
		goto out;
	rc = yes ? pricing_find(pricing, &job, where, &price, err) : 0;
	if (rc || !yes)
		goto out;
	if (!k->placed || price.cost < k->ideal_cost)
		k->ideal_cost = price.cost;
	if (!k->placed || price.step_s < k->ideal_step_s)
		k->ideal_step_s = price.step_s;
	k->placed = true;
out:
	free(where);
	return rc;
}

static int ideal_find(const struct weft_replay *r, const struct ledger *empty,
		      struct pricing *pricing, struct weft_replay_kind *k,
		      struct weft_error *err)
{
	const struct weft_place_options options = {
		.seed = r->options->seed,
		.work_limit = r->options->work_limit,
	};
	const struct weft_policy_request q = {
		.rule = {.fabric = r->fabric,
			 .occupancy = &empty->o,
			 .n_nodes = k->n_nodes,
			 .per_node = k->per_node},
		.job = &k->job,
		.random = r->options->seed,
		.options = &options,
		.gpu = k->timed ? r->gpu : NULL,
	};

	for (uint32_t p = 0; p < weft_n_policies; p++) {
		if (ideal_try(r, &q, &weft_policies[p], pricing, k, err))
			return -1;
	}
	if (k->placed)
		return 0;
	return weft_fail(err, WEFT_EINVAL,
			 "\"%.80s\" has no place on the empty fabric", k->spec);
}

static int ideals_find(struct weft_replay *r, const struct ledger *empty,
		       struct weft_error *err)
{
	struct pricing pricing = {0};
	int rc = pricing_build(r->fabric, r->gpu, &pricing, err);

	for (uint32_t k = 0; rc == 0 && k < r->n_kinds; k++)
		rc = ideal_find(r, empty, &pricing, &r->kinds[k], err);
	pricing_free(&pricing);
	return rc;
}

int weft_replay_build(const struct weft_fabric *f,
		      const struct weft_stream *stream,
		      const struct weft_replay_options *options,
		      struct weft_replay *r, struct weft_error *err)
{
	struct ledger empty = {0};
	struct wish *wishes = NULL;
	int rc = -1;

	memset(r, 0, sizeof(*r));
	r->fabric = f;
	r->stream = stream;
	r->options = options;
	r->gpu = options->gpu ? options->gpu : weft_gpu_of_profile(f->profile);
	if (!f->connected)
		return weft_fail(err, WEFT_EINVAL,
				 "the fabric is not connected: some jobs would "
				 "span parts that cannot reach each other");
	wishes = weft_calloc(stream->n, sizeof(*wishes), err);
	if (!wishes || ledger_build(f, &empty, err) ||
	    wishes_fill(r, &empty, wishes, err) ||
	    kinds_build(r, wishes, err) || ideals_find(r, &empty, err))
		goto out;
	rc = 0;
out:
	free(wishes);
	ledger_free(&empty);
	return rc;
}

void weft_replay_free(struct weft_replay *r)
{
	int saved = errno;

	if (r) {
		for (uint32_t k = 0; k < r->n_kinds; k++) {
			weft_job_free(&r->kinds[k].job);
			weft_schedule_free(&r->kinds[k].schedule);
		}
		free(r->kinds);
		free(r->kind_of);
		weft_arena_free(&r->texts);
		memset(r, 0, sizeof(*r));
	}
	errno = saved;
}

void weft_replay_outcome_free(struct weft_replay_outcome *outcome)
{
	int saved = errno;

	if (outcome) {
		free(outcome->jobs);
		memset(outcome, 0, sizeof(*outcome));
	}
	errno = saved;
}
