/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tensor.c - all-reduces of tensor parallelism, beside the work they wait for
 */
#include "lab/calculators/tensor.h"
#include "costmodel/traffic/collective.h"

#include <math.h>

/* Multiply-adds of a GPT layer's forward pass, b s (24 h^2 + 4 s h)
 * (arXiv:2104.04473, appendix). */
static double forward_flops(const struct weft_tensor_job *job)
{
	double s = job->sequence > 0 ? job->sequence : job->tokens;
	double h = job->hidden;

	return job->tokens * (24 * h * h + 4 * s * h);
}

/* Two in each direction, after attention and after the MLP; repeating the
 * forward pass repeats its two (arXiv:2104.04473 section 2.3).  The seeds count
 * the forward pass alone. */
static double all_reduces(const struct weft_tensor_job *job,
			  enum weft_convention convention)
{
	if (convention == WEFT_SEED)
		return 2;
	return job->full_recompute ? 6 : 4;
}

int weft_tensor(const struct weft_tensor_job *job,
		enum weft_convention convention, struct weft_tensor *tensor,
		struct weft_error *err)
{
	double e = job->element_bytes > 0 ? job->element_bytes : 2;
	double sent;

	*tensor = (struct weft_tensor){0};
	if (job->ways < 1 || !(job->tokens > 0) || !(job->hidden > 0) ||
	    !(job->link_bytes_per_s > 0))
		return weft_fail(err, WEFT_EINVAL,
				 "ways, tokens, width and the link's rate must "
				 "be above 0");
	tensor->all_reduces = all_reduces(job, convention);
	tensor->all_reduce_bytes = job->tokens * job->hidden * e;
	sent = weft_volume_all_reduce(job->ways, tensor->all_reduce_bytes);
	tensor->all_reduce_s = sent / job->link_bytes_per_s +
			       2 * (job->ways - 1.0) * job->latency_s;
	tensor->layer_bytes = tensor->all_reduces * sent;
	if (convention == WEFT_SEED)
		tensor->layer_bytes = 2 * tensor->all_reduce_bytes / job->ways;
	tensor->step_s = tensor->all_reduces * tensor->all_reduce_s *
			 (job->layers ? job->layers : 1) *
			 (job->micro_batches ? job->micro_batches : 1);
	tensor->forward_comm_s = 2 * tensor->all_reduce_s;
	tensor->forward_compute_s =
		job->flops > 0 ? forward_flops(job) / job->ways / job->flops
			       : (double)NAN;
	tensor->ratio = tensor->forward_comm_s / tensor->forward_compute_s;
	return 0;
}
