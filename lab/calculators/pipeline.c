/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pipeline.c - pipeline stages, right and as the seeds print them */
#include "lab/calculators/pipeline.h"

#include <math.h>

/* Bytes that the seeds' "MB" has. */
#define MIB 1048576.0

static double or_default(double value, double standard)
{
	return value > 0 ? value : standard;
}

/* The job with every default in its place. */
static struct weft_pipeline_job job_fill(const struct weft_pipeline_job *given)
{
	struct weft_pipeline_job job = *given;

	job.interleave = job.interleave ? job.interleave : 1;
	job.layers_per_stage = job.layers_per_stage ? job.layers_per_stage
						    : WEFT_PIPELINE_LAYERS;
	job.tensor = job.tensor ? job.tensor : 1;
	job.sequences = or_default(job.sequences, 1);
	job.tokens = or_default(job.tokens, 4096);
	job.hidden = or_default(job.hidden, 8192);
	job.element_bytes = or_default(job.element_bytes, 2);
	job.threshold = or_default(job.threshold, WEFT_PIPELINE_EFFICIENCY);
	job.memory_bytes = or_default(job.memory_bytes, WEFT_PIPELINE_MEMORY);
	if (job.forward_s > 0)
		job.compute_s =
			(job.forward_s + job.backward_s) * job.micro_batches;
	job.compute_s =
		or_default(job.compute_s, job.layers_per_stage * job.tokens *
						  WEFT_PIPELINE_LAYER_TOKEN_S);
	if (!(job.forward_s > 0)) {
		/* A backward pass is two matrix products for each forward. */
		job.forward_s = job.compute_s / job.micro_batches / 3;
		job.backward_s = 2 * job.forward_s;
	}
	return job;
}

static int job_check(const struct weft_pipeline_job *job,
		     struct weft_error *err)
{
	if (job->stages < 1 || job->micro_batches < 1)
		return weft_fail(err, WEFT_EINVAL,
				 "stages and micro-batches start at 1");
	if (!(job->forward_s > 0) != !(job->backward_s > 0))
		return weft_fail(err, WEFT_EINVAL,
				 "forward and backward time go together");
	if (job->interleave > 1 && job->micro_batches % job->stages)
		return weft_fail(err, WEFT_EINVAL,
				 "interleaving needs micro-batches in whole "
				 "rounds of %u stages, not %u",
				 job->stages, job->micro_batches);
	if (!(job->threshold >= 0 && job->threshold < 1))
		return weft_fail(err, WEFT_EINVAL,
				 "the efficiency asked for is below 1");
	return 0;
}

/* Micro-batches (of one chunk's layers each) that stage 0 has begun and not
 * ended: one per stage in 1F1B; with V chunks, those of the warm-up, 2(P-1) +
 * (V-1)P, and the one at work (arXiv:2104.04473 section 2.2).  The seeds count
 * all, as GPipe does, which starts no backward pass before the last forward. */
static double in_flight(const struct weft_pipeline_job *job,
			enum weft_convention convention)
{
	double all = (double)job->interleave * job->micro_batches;
	double p = job->stages;

	if (convention == WEFT_SEED)
		return job->micro_batches;
	if (job->interleave == 1)
		return fmin(p, all);
	return fmin((job->interleave + 1) * p - 1, all);
}

static void bubble_fill(const struct weft_pipeline_job *job,
			enum weft_convention convention,
			struct weft_pipeline *pipeline)
{
	double v = convention == WEFT_SEED ? 1 : job->interleave;
	double m = v * job->micro_batches, idle = job->stages - 1.0;

	pipeline->bubble_of_ideal = idle / m;
	pipeline->bubble_of_total = idle / (m + idle);
	pipeline->efficiency = m / (m + idle);
}

/* The seeds count one boundary, and take MiB for MB. */
static void bytes_fill(const struct weft_pipeline_job *job,
		       enum weft_convention convention,
		       struct weft_pipeline *pipeline)
{
	/* A tensor rank sends its part (arXiv:2104.04473 section 4.1). */
	double size = job->sequences * job->tokens * job->hidden *
		      job->element_bytes / job->tensor;
	double crossings = 2.0 * job->micro_batches;

	if (convention == WEFT_SEED)
		size = job->sequences * job->tokens * job->hidden *
		       job->element_bytes * 1e6 / MIB;
	pipeline->activation_bytes = size;
	pipeline->in_flight = in_flight(job, convention);
	pipeline->peak_activation_bytes = size * pipeline->in_flight;
	if (convention == WEFT_SEED) {
		/* "GB" of 1024 "MB". */
		pipeline->boundary_bytes = size * crossings * 1000 / 1024;
		pipeline->transfer_bytes = pipeline->boundary_bytes;
		return;
	}
	/* With V chunks a micro-batch crosses every boundary V times, and the
	 * one from the last stage back to the first V - 1 times. */
	pipeline->boundary_bytes =
		job->stages > 1 ? size * crossings * job->interleave : 0;
	pipeline->transfer_bytes =
		job->stages > 1
			? size * crossings *
				  (job->interleave * (job->stages - 1.0) +
				   (job->interleave - 1.0))
			: 0;
}

/* A chunk has 1/V of the stage's layers.  The seeds keep every layer of the
 * model for every micro-batch on one GPU. */
static void kept_fill(const struct weft_pipeline_job *job,
		      enum weft_convention convention,
		      struct weft_pipeline *pipeline)
{
	double layers =
		convention == WEFT_SEED
			? pipeline->layers
			: (double)job->layers_per_stage / job->interleave;

	pipeline->kept_bytes =
		job->layer_bytes > 0
			? pipeline->in_flight * layers * job->layer_bytes
			: (double)NAN;
	pipeline->kept_share = pipeline->kept_bytes / job->memory_bytes;
}

/* Right: (M + (P-1)/V)(tf + tb) and what follows (arXiv:2104.04473 eq. 1).  The
 * seeds use one letter for stages and micro-batches, and so get a step of
 * hardly two micro-batches. */
static double step_s(const struct weft_pipeline_job *job,
		     enum weft_convention convention)
{
	double pair_s = job->forward_s + job->backward_s;
	double m = job->micro_batches;

	if (convention == WEFT_SEED)
		return pair_s * (m - 1) / m + pair_s + job->sync_s;
	return (m + (job->stages - 1.0) / job->interleave) * pair_s +
	       job->sync_s;
}

/* E = VM/(VM+P-1) solved for M and for P.  The seeds double the one and take
 * one off the other.  A hair below the threshold is the threshold: 8/10 is. */
static void advice_fill(const struct weft_pipeline_job *job,
			enum weft_convention convention,
			struct weft_pipeline *pipeline)
{
	double e = job->threshold, v = job->interleave;
	double m = job->micro_batches, p = job->stages;

	pipeline->inefficient = pipeline->efficiency < e * (1 - 1e-12);
	if (convention == WEFT_SEED) {
		pipeline->advised_micro_batches = 2 * m;
		pipeline->advised_stages = p - 1;
		return;
	}
	m = ceil(e / (1 - e) * (p - 1) / v * (1 - 1e-12));
	if (v > 1)
		m = ceil(m / p) * p;
	pipeline->advised_micro_batches = fmax(m, 1);
	pipeline->advised_stages = fmin(
		p,
		floor((1 - e) / e * v * job->micro_batches * (1 + 1e-12)) + 1);
}

int weft_pipeline(const struct weft_pipeline_job *given,
		  enum weft_convention convention,
		  struct weft_pipeline *pipeline, struct weft_error *err)
{
	struct weft_pipeline_job job;

	*pipeline = (struct weft_pipeline){0};
	if (job_check(given, err))
		return -1;
	job = job_fill(given);
	pipeline->operations = (double)job.stages * job.micro_batches;
	pipeline->layers = (double)job.stages * job.layers_per_stage;
	bubble_fill(&job, convention, pipeline);
	bytes_fill(&job, convention, pipeline);
	kept_fill(&job, convention, pipeline);
	pipeline->compute_s = job.compute_s;
	pipeline->step_s = step_s(&job, convention);
	pipeline->min_link_bytes_per_s =
		pipeline->boundary_bytes / job.compute_s;
	advice_fill(&job, convention, pipeline);
	return 0;
}
