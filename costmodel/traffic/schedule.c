/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schedule.c - the calls of a step, from a spec and a model */
#include "costmodel/traffic/schedule.h"

#include "costmodel/traffic/schedule_parts.h"

#include <stdlib.h>
#include <string.h>

/* Calls that room is made for at a time. */
#define GROW 64

const char *const weft_phase_names[WEFT_N_PHASES] = {
	[WEFT_FORWARD] = "forward",	  [WEFT_BACKWARD] = "backward",
	[WEFT_RECOMPUTE] = "recompute",	  [WEFT_STEP_END] = "step-end",
	[WEFT_STEP_BEGIN] = "step-begin",
};

/* Whether b is a's call on the next stages; names are static texts. */
static bool continues(const struct weft_call *a, const struct weft_call *b)
{
	return a->first_stage + a->n_stages == b->first_stage &&
	       a->axis == b->axis && a->phase == b->phase &&
	       a->collective == b->collective && a->overlap == b->overlap &&
	       a->expert_grid == b->expert_grid && a->n == b->n &&
	       a->size_bytes == b->size_bytes && a->count == b->count &&
	       a->what == b->what && strcmp(a->group, b->group) == 0;
}

static void add_call(struct builder *b, const struct weft_call *call)
{
	struct weft_schedule *s = b->schedule;
	struct weft_call *grown;

	for (uint32_t i = 0; i < s->n_calls; i++) {
		if (continues(&s->calls[i], call)) {
			s->calls[i].n_stages += call->n_stages;
			return;
		}
	}
	if (s->n_calls % GROW == 0) {
		grown = weft_realloc(s->calls, s->n_calls + (size_t)GROW,
				     sizeof(*grown), b->err);
		if (!grown) {
			b->failed = true;
			return;
		}
		s->calls = grown;
	}
	s->calls[s->n_calls++] = *call;
}

/* Whether a repeated forward pass makes the calls of an axis once more. */
static bool repeats(const struct weft_spec *spec, enum weft_axis axis)
{
	/* Context parallelism is inside the core of attention. */
	if (spec->recompute == WEFT_RECOMPUTE_SELECTIVE)
		return axis == WEFT_AXIS_CP;
	return spec->recompute == WEFT_RECOMPUTE_FULL;
}

void schedule_add(struct builder *b, const struct batch *batch,
		  const struct row *rows)
{
	const struct group *group = batch->group;
	struct weft_call call = {
		.axis = batch->axis,
		.expert_grid = group->expert,
		.n = group->n,
		.first_stage = batch->first_stage,
		.n_stages = batch->n_stages,
		.size_bytes = batch->size_bytes,
	};

	memcpy(call.group, group->token, sizeof(call.group));
	if (group->n < 2 || !(batch->size_bytes > 0) || batch->n_stages == 0)
		return;
	for (; rows->what && !b->failed; rows++) {
		call.what = rows->what;
		call.collective = rows->collective;
		call.phase = rows->phase;
		call.overlap = rows->overlap;
		call.count = rows->count * batch->times;
		if (!(call.count > 0) || (call.phase == WEFT_RECOMPUTE &&
					  !repeats(b->spec, call.axis)))
			continue;
		add_call(b, &call);
	}
}

/* By axis, then phase; equal ones as they were added. */
static void calls_sort(struct weft_schedule *s)
{
	for (uint32_t i = 1; i < s->n_calls; i++) {
		struct weft_call call = s->calls[i];
		uint32_t k = i;

		for (; k > 0 && (s->calls[k - 1].axis > call.axis ||
				 (s->calls[k - 1].axis == call.axis &&
				  s->calls[k - 1].phase > call.phase));
		     k--)
			s->calls[k] = s->calls[k - 1];
		s->calls[k] = call;
	}
}

/* What spec and model must have to do with each other. */
static int builder_check(const struct weft_spec *spec,
			 const struct weft_model *model, struct weft_error *err)
{
	if (weft_spec_deal_check(spec, model, err))
		return -1;
	if (spec->ep > 1 && !model->experts)
		return weft_fail(err, WEFT_EINVAL,
				 "job spec: ep = %u, but model %s has no "
				 "experts",
				 spec->ep, model->name);
	if (spec->ep > 1 && model->experts % spec->ep)
		return weft_fail(err, WEFT_EINVAL,
				 "job spec: ep = %u does not divide the %u "
				 "experts of model %s",
				 spec->ep, model->experts, model->name);
	if (spec->cp_comm == WEFT_CP_ALL_TO_ALL &&
	    model->heads % ((uint64_t)spec->tp * spec->cp))
		return weft_fail(err, WEFT_EINVAL,
				 "job spec: cp_comm = a2a, but tp*cp = %u*%u "
				 "does not divide the %u heads of model %s",
				 spec->tp, spec->cp, model->heads, model->name);
	return 0;
}

int weft_schedule_build(const struct weft_spec *spec,
			const struct weft_model *model,
			struct weft_schedule *schedule, struct weft_error *err)
{
	struct builder b = {
		.spec = spec,
		.model = model,
		.schedule = schedule,
		.b = spec->mbs,
		.s = (double)(spec->seq ? spec->seq : model->seq) / spec->cp,
		.h = model->hidden,
		/* No collective sends four bits. */
		.e = weft_dtype_bytes(spec->dtype == WEFT_NVFP4 ? WEFT_BF16
								: spec->dtype),
		.m = weft_spec_micro_batches(spec),
		.err = err,
	};
	int rc = -1;

	memset(schedule, 0, sizeof(*schedule));
	if (builder_check(spec, model, err) || schedule_group(&b) ||
	    schedule_runs(&b))
		goto out;
	for (uint32_t i = 0; i < b.n_runs; i++) {
		schedule_tensor(&b, &b.runs[i]);
		schedule_context(&b, &b.runs[i]);
		schedule_experts(&b, &b.runs[i]);
		schedule_replicas(&b, &b.runs[i]);
	}
	schedule_pipeline(&b);
	calls_sort(schedule);
	rc = b.failed ? -1 : 0;
out:
	free(b.runs);
	return rc;
}

bool weft_call_has(const struct weft_call *call, const char *axis)
{
	const char *token = call->group;
	size_t length = strlen(axis);

	while (*token) {
		size_t word = strcspn(token, "-");

		if (word == length && memcmp(token, axis, length) == 0)
			return true;
		token += word + (token[word] == '-');
	}
	return false;
}

void weft_schedule_free(struct weft_schedule *schedule)
{
	if (!schedule)
		return;
	free(schedule->calls);
	memset(schedule, 0, sizeof(*schedule));
}
