/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sequence.c - ring attention and gathered sequences */
#include "lab/calculators/sequence.h"

#include <math.h>

/* The seeds write microseconds where milliseconds came out. */
#define SEED_TIME_SLIP 1e-3

static int job_check(const struct weft_sequence_job *job,
		     struct weft_error *err)
{
	if (job->ways < 1)
		return weft_fail(err, WEFT_EINVAL,
				 "a sequence needs a GPU at least");
	if (!(job->tokens >= job->ways))
		return weft_fail(err, WEFT_EINVAL,
				 "%g tokens cannot be split over %u GPUs",
				 job->tokens, job->ways);
	if (!(job->hidden > 0) || !(job->link_bytes_per_s > 0))
		return weft_fail(err, WEFT_EINVAL,
				 "the width and the link's rate must be above "
				 "0");
	return 0;
}

static double compute_s(const struct weft_sequence_job *job)
{
	double width = job->query_width > 0 ? job->query_width : job->hidden;

	if (job->compute_s > 0)
		return job->compute_s;
	if (!(job->flops > 0))
		return (double)NAN;
	/* QK^T and PV, two operations a multiply-add each. */
	return 4 * job->tokens * job->tokens * width / job->ways / job->flops;
}

/* 4 (S/N)^2 H_q / F = 2 (S/N) H_kv e / B, solved for S/N. */
static double min_block_tokens(const struct weft_sequence_job *job, double e)
{
	double width = job->query_width > 0 ? job->query_width : job->hidden;

	if (!(job->flops > 0))
		return (double)NAN;
	return job->flops * e * job->hidden /
	       (2 * job->link_bytes_per_s * width);
}

static void bytes_fill(const struct weft_sequence_job *job, double e,
		       struct weft_sequence *q)
{
	q->hop_elements = 2 * job->tokens / job->ways * job->hidden;
	q->hop_bytes = q->hop_elements * e;
	q->hops = job->ways - 1.0;
	q->ring_elements = q->hops * q->hop_elements;
	q->buffer_bytes = q->hop_bytes;
	q->double_buffer_bytes = 2 * q->hop_bytes;
	q->gather_bytes = 2 * job->tokens * job->hidden * e;
}

/* N blocks are computed on; N - 1 have to arrive first.  Without a second
 * buffer a block cannot arrive while one is computed on. */
static void bars_fill(const struct weft_sequence_job *job,
		      struct weft_sequence *q)
{
	double sync_s = fmax(job->sync_s, 0);

	q->block_step_s = fmax(q->block_s, q->hop_s) + sync_s;
	q->serial_s = q->compute_s + q->ring_s + q->hops * sync_s;
	q->overlapped_s = q->hops * q->block_step_s + q->block_s;
	q->gather_serial_s = q->compute_s + q->gather_s + sync_s;
	q->gather_overlapped_s = fmax(q->compute_s, q->gather_s) + sync_s;
	if (isnan(q->compute_s)) {
		q->block_step_s = (double)NAN;
		q->overlapped_s = (double)NAN;
		q->gather_overlapped_s = (double)NAN;
	}
}

int weft_sequence(const struct weft_sequence_job *job,
		  enum weft_convention convention,
		  struct weft_sequence *sequence, struct weft_error *err)
{
	double e = job->element_bytes > 0 ? job->element_bytes : 2;
	struct weft_sequence *q = sequence;

	*q = (struct weft_sequence){0};
	if (job_check(job, err))
		return -1;
	bytes_fill(job, e, q);
	q->hop_s = q->hop_bytes / job->link_bytes_per_s + job->latency_s;
	q->ring_s = q->hops * q->hop_s;
	q->gather_s = q->gather_bytes / job->link_bytes_per_s + job->latency_s;
	if (convention == WEFT_SEED) {
		q->gather_s *= SEED_TIME_SLIP;
		q->buffer_bytes = weft_seed_bytes(q->buffer_bytes);
		q->double_buffer_bytes = q->buffer_bytes;
	}
	q->compute_s = compute_s(job);
	q->block_s = q->compute_s / job->ways;
	q->ratio = q->hop_s / q->block_s;
	q->gather_ratio = q->gather_s / q->compute_s;
	q->hidden = q->ratio <= 1;
	q->min_block_tokens = min_block_tokens(job, e);
	bars_fill(job, q);
	return 0;
}
