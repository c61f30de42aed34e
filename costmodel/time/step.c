/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step.c - how long one training step takes on a placement
 *
 * Each stage of the pipeline is timed on its own: its layers, and the calls of
 * the schedule that it makes, each of them on the links its groups cross.
 */
#include "costmodel/time/step_parts.h"

#include "costmodel/job/flops.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Once a step, whatever the job: the norm of the gradients is agreed on and
 * read by the host, which logs and fetches the next batch. */
#define HOST_S 0.03

static uint32_t slowest_stage(const struct step_build *b)
{
	uint32_t slowest = 0;

	for (uint32_t p = 1; p < b->spec->pp; p++) {
		if (stage_s(&b->stages[p]) > stage_s(&b->stages[slowest]))
			slowest = p;
	}
	return slowest;
}

/* What filling and draining idles for each stage before or behind.  Gradients
 * of weights, half of the backward products, need not be passed on: with them a
 * stage fills as much of it again (arXiv:2401.10241, table 2: F + B - W). */
static double stage_idle_s(const struct step_build *b,
			   const struct step_stage *s)
{
	if (b->spec->pipeline != WEFT_ZERO_BUBBLE)
		return stage_s(s);
	return fmax(0, stage_s(s) - s->backward.products_s);
}

/* Parts of M passes through the slowest stage, then what fills and drains. */
static void step_sum(const struct step_build *b, struct weft_step *step)
{
	uint32_t pp = b->spec->pp, p = slowest_stage(b);
	const struct step_stage *s = &b->stages[p];
	double m = b->micro_batches, all_s = 0, end_s = 0;

	step->slowest_stage = p;
	step->products_s = m * (s->forward.products_s + s->backward.products_s);
	step->attention_s =
		m * (s->forward.attention_s + s->backward.attention_s);
	step->memory_s = m * (s->forward.memory_s + s->backward.memory_s);
	step->recompute_s = m * s->recompute;
	step->host_s = m * s->host;
	step->logits_s = m * (s->logits_forward + s->logits_backward);
	for (uint32_t i = 0; i < pp; i++)
		all_s += stage_idle_s(b, &b->stages[i]);
	step->bubble_s = (pp - 1.0) / b->spec->vpp * all_s / pp;
	step->bubble_of_ideal = (pp - 1.0) / (b->spec->vpp * m);
	if (b->spec->pipeline == WEFT_ZERO_BUBBLE && all_s > 0)
		step->bubble_of_ideal *= all_s / pp / stage_s(s);
	/* Stages end their step on their own, all wait for the last one. */
	for (uint32_t i = 0; i < pp; i++) {
		const struct step_stage *other = &b->stages[i];
		double sum = other->optimizer;

		for (int a = 0; a < WEFT_N_AXES; a++)
			sum += other->end[a];
		if (sum < end_s)
			continue;
		end_s = sum;
		step->optimizer_s = other->optimizer + HOST_S;
		for (int a = 0; a < WEFT_N_AXES; a++) {
			step->exposed_s[a] = other->end[a];
			step->exposed_stage[a] = i;
		}
	}
	for (int a = 0; a < WEFT_N_AXES; a++) {
		if (m * s->exposed[a] >= step->exposed_s[a])
			step->exposed_stage[a] = p;
		step->exposed_s[a] += m * s->exposed[a];
	}
	step->latency_s[WEFT_AXIS_DP] += m * stage_scales_s(b);
}

/* Every time is a part of the step, so it is divided by the efficiency. */
static void step_scale(struct weft_step *step, double by)
{
	double *const parts[] = {
		&step->products_s,  &step->attention_s, &step->memory_s,
		&step->recompute_s, &step->logits_s,	&step->bubble_s,
		&step->optimizer_s, &step->host_s,
	};

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		*parts[i] /= by;
	for (int a = 0; a < WEFT_N_AXES; a++) {
		step->exposed_s[a] /= by;
		step->communication_s[a] /= by;
		step->loss_s[a] /= by;
		step->latency_s[a] /= by;
	}
}

double weft_step_parts(const struct weft_step *step)
{
	double sum = step->products_s + step->attention_s + step->memory_s +
		     step->recompute_s + step->logits_s + step->bubble_s +
		     step->optimizer_s + step->straggler_s + step->host_s;

	for (int a = 0; a < WEFT_N_AXES; a++)
		sum += step->exposed_s[a];
	return sum;
}

static void step_rates(const struct step_build *b, struct weft_step *step)
{
	const struct weft_spec *spec = b->spec;
	uint32_t seq = spec->seq ? spec->seq : b->model->seq;
	struct weft_flops flops = weft_flops(b->model, seq);
	uint32_t gbs = spec->gbs;

	step->model_flops = weft_flops_model(&flops, gbs, false);
	step->model_flops_causal = weft_flops_model(&flops, gbs, true);
	step->hardware_flops =
		weft_flops_hardware(&flops, gbs, spec->recompute) +
		b->recomputed * gbs * (flops.products + flops.attention);
	step->flops_per_s = step->model_flops / spec->gpus / step->step_s;
	step->peak_flops_per_s =
		b->compute.gpu->flops_per_s[b->compute.precision];
	step->mfu = step->flops_per_s / step->peak_flops_per_s;
	step->hfu = step->mfu * step->hardware_flops / step->model_flops;
	step->recomputed =
		spec->recompute == WEFT_RECOMPUTE_FULL ? 1 : b->recomputed;
}

static void step_fill(const struct step_build *b, struct weft_step *step)
{
	const struct weft_step_options *options = b->options;
	double straggler = fmax(options->straggler, 1);

	step_sum(b, step);
	step_scale(step, options->efficiency > 0 ? options->efficiency : 1);
	step->straggler_s =
		(straggler - 1) *
		(step->products_s + step->attention_s + step->memory_s +
		 step->recompute_s + step->logits_s + step->bubble_s);
	step->step_s = weft_step_parts(step);
	step->bubble_of_total = step->bubble_s / step->step_s;
	step_rates(b, step);
}

static void axis_keep(struct weft_step *step, int axis, uint32_t stage,
		      const struct weft_call_time *time)
{
	if (!(time->transfer_s + time->loss_s + time->latency_s >
	      step->communication_s[axis] + step->loss_s[axis] +
		      step->latency_s[axis]))
		return;
	step->communication_s[axis] = time->transfer_s;
	step->loss_s[axis] = time->loss_s;
	step->latency_s[axis] = time->latency_s;
	step->communication_stage[axis] = stage;
}

/* Each axis in the stage that sends longest. */
static void communication_sum(const struct weft_spans *spans,
			      struct weft_step *step)
{
	const struct weft_schedule *s = spans->flows.schedule;

	for (uint32_t p = 0; p < spans->flows.n_stages; p++) {
		struct weft_call_time sum[WEFT_N_AXES] = {{0}};

		for (uint32_t i = 0; i < s->n_calls; i++) {
			const struct weft_call *call = &s->calls[i];
			struct weft_call_time one;

			if (p < call->first_stage ||
			    p - call->first_stage >= call->n_stages)
				continue;
			one = weft_spans_call(spans, i, p);
			sum[call->axis].transfer_s +=
				call->count * one.transfer_s;
			sum[call->axis].loss_s += call->count * one.loss_s;
			sum[call->axis].latency_s +=
				call->count * one.latency_s;
		}
		for (int a = 0; a < WEFT_N_AXES; a++)
			axis_keep(step, a, p, &sum[a]);
	}
	step->fullest = spans->fullest;
	step->congestion_s = spans->congestion_s;
	step->lost_gpu_s = spans->lost_gpu_s;
}

static int spans_measure(const struct weft_step_job *job,
			 const struct weft_schedule *schedule,
			 struct weft_spans *spans, struct weft_error *err)
{
	if (weft_spans_build(job->fabric, schedule, job->where,
			     job->spec->algorithm, job->load, spans, err))
		return -1;
	return job->exact_sharing ? weft_spans_share(spans, job->load, err) : 0;
}

/* All of a build but what the spans depend on other jobs for. */
static int build_start(const struct weft_step_job *job, struct step_build *b,
		       struct weft_error *err)
{
	b->spec = job->spec;
	b->model = job->model;
	b->schedule = job->schedule;
	b->micro_batches = weft_spec_micro_batches(job->spec);
	b->stages = weft_calloc(job->spec->pp, sizeof(*b->stages), err);
	if (!b->stages || stage_compute_prepare(b, err))
		return -1;
	if (b->is_bound ? weft_spans_bound(job->fabric, b->schedule, job->where,
					   job->spec->algorithm, &b->spans, err)
			: spans_measure(job, b->schedule, &b->spans, err))
		return -1;
	for (uint32_t p = 0; p < b->spec->pp; p++)
		stage_compute(b, p, &b->stages[p]);
	return 0;
}

static void build_free(struct step_build *b)
{
	weft_spans_free(&b->spans);
	free(b->stages);
}

/* The step with the spans as they are. */
static void step_time(struct step_build *b, struct weft_step *step)
{
	for (uint32_t p = 0; p < b->spec->pp; p++) {
		struct step_stage *s = &b->stages[p];
		struct step_calls calls = {0};

		memset(s->exposed, 0, sizeof(s->exposed));
		memset(s->end, 0, sizeof(s->end));
		stage_calls(b, p, s, &calls);
		s->host = 0;
		stage_exposed(b, &calls, s);
		s->host = stage_host_s(b, s);
		stage_end(b, &calls, s);
	}
	step_fill(b, step);
}

/* The step with all hops between hosts those of a level. */
static double hop_time(struct step_build *b, uint32_t level, bool nearest)
{
	struct weft_step step = {0};

	weft_spans_hop(&b->spans, level, nearest);
	step_time(b, &step);
	return step.step_s;
}

/* Hosts that meet elsewhere have other hops, but as many. */
static void hop_range(struct step_build *b, struct weft_step *step)
{
	const struct weft_fabric *f = b->spans.flows.fabric;
	uint32_t near = f->node_level + 1, far = near;

	step->nearest_s = step->farthest_s = (double)NAN;
	if (b->spans.hops_differ || near >= f->n_levels || f->has_steps)
		return;
	for (uint32_t l = near; l < f->n_levels; l++) {
		double latency_s = f->levels[l].link.latency_s;

		if (f->levels[l].n_shares)
			return;
		if (latency_s < f->levels[near].link.latency_s)
			near = l;
		if (latency_s > f->levels[far].link.latency_s)
			far = l;
	}
	step->farthest_s = hop_time(b, far, false);
	step->nearest_s = hop_time(b, near, true);
}

static int stages_time(struct step_build *b, const struct weft_step_job *job,
		       struct weft_step *step, struct weft_error *err)
{
	if (build_start(job, b, err))
		return -1;
	communication_sum(&b->spans, step);
	step_time(b, step);
	if (b->options->hop_range && !job->parts)
		hop_range(b, step);
	if (!job->parts)
		return 0;
	return weft_spans_load(&b->spans,
			       job->step_s > 0 ? job->step_s : step->step_s,
			       b->spec->gpus, job->parts, err);
}

/* Seconds of the step that makes the load; 0: of none. */
static double load_step_s(const struct weft_step_job *job,
			  const struct weft_step *step)
{
	double sum_s = 0;

	if (job->step_s > 0 || !(job->communication_share > 0))
		return job->step_s;
	for (int a = 0; a < WEFT_N_AXES; a++)
		sum_s += step->communication_s[a] + step->loss_s[a] +
			 step->latency_s[a];
	return sum_s / job->communication_share;
}

int weft_step_communication(const struct weft_step_job *job,
			    struct weft_step *step, struct weft_error *err)
{
	struct weft_schedule own = {0};
	struct weft_spans spans = {0};
	double step_s;
	int rc = -1;

	memset(step, 0, sizeof(*step));
	if ((job->schedule ||
	     weft_schedule_build(job->spec, job->model, &own, err) == 0) &&
	    spans_measure(job, job->schedule ? job->schedule : &own, &spans,
			  err) == 0) {
		communication_sum(&spans, step);
		step_s = load_step_s(job, step);
		rc = 0;
		if (job->parts && step_s > 0)
			rc = weft_spans_load(&spans, step_s, job->spec->gpus,
					     job->parts, err);
	}
	weft_spans_free(&spans);
	weft_schedule_free(&own);
	return rc;
}

int weft_step(const struct weft_step_job *job,
	      const struct weft_step_options *options, struct weft_step *step,
	      struct weft_error *err)
{
	struct weft_step_job scheduled = *job;
	struct step_build b = {.options = options};
	struct weft_schedule own = {0};
	int rc = 0;

	memset(step, 0, sizeof(*step));
	if (!job->schedule) {
		scheduled.schedule = &own;
		rc = weft_schedule_build(job->spec, job->model, &own, err);
	}
	if (rc == 0)
		rc = stages_time(&b, &scheduled, step, err);
	weft_schedule_free(&own);
	build_free(&b);
	return rc;
}

int weft_step_bound(const struct weft_step_job *job,
		    const struct weft_step_options *options, double *step_s,
		    struct weft_error *err)
{
	struct step_build b = {.options = options, .is_bound = true};
	struct weft_step step = {0};
	int rc = build_start(job, &b, err);

	if (rc == 0)
		step_time(&b, &step);
	*step_s = step.step_s;
	build_free(&b);
	return rc;
}

struct weft_step_kept {
	struct weft_step_options options;
	struct step_build build;
	struct weft_span_links links;
};

struct weft_step_kept *weft_step_keep(const struct weft_step_job *job,
				      const struct weft_step_options *options,
				      struct weft_error *err)
{
	struct weft_step_kept *kept = weft_calloc(1, sizeof(*kept), err);

	if (!kept)
		return NULL;
	kept->options = *options;
	kept->build.options = &kept->options;
	if (build_start(job, &kept->build, err) == 0 &&
	    weft_spans_links(&kept->build.spans, &kept->links, err) == 0)
		return kept;
	weft_step_kept_free(kept);
	return NULL;
}

void weft_step_kept_free(struct weft_step_kept *kept)
{
	int saved = errno;

	if (kept) {
		build_free(&kept->build);
		weft_span_links_free(&kept->links);
	}
	free(kept);
	errno = saved;
}

double weft_step_again(struct weft_step_kept *kept,
		       const struct weft_load *load)
{
	struct weft_step step = {0};

	weft_spans_meet(&kept->build.spans, &kept->links, load);
	step_time(&kept->build, &step);
	return step.step_s;
}

int weft_step_load(const struct weft_step_kept *kept, double step_s,
		   struct weft_load_parts *parts, struct weft_error *err)
{
	return weft_span_links_load(&kept->build.spans, &kept->links, step_s,
				    kept->build.spec->gpus, parts, err);
}
