/* SPDX-License-Identifier: GPL-3.0-or-later */
/* traffic.h - traffic of specs, and closed forms of the bytes that a rank sends
 *
 * Symbols: b sequences per micro-batch, s tokens per sequence, h hidden width,
 * e bytes per element, t/c/d ways of tensor/context/data parallelism.
 */
#ifndef WEFT_TESTS_LIB_TRAFFIC_H
#define WEFT_TESTS_LIB_TRAFFIC_H

#include "costmodel/traffic/schedule.h"
#include "costmodel/traffic/traffic.h"

/* All pairs of a resolved spec. */
static inline int traffic_of_spec(const struct weft_spec *spec,
				  const struct weft_model *model,
				  struct weft_traffic *traffic,
				  struct weft_error *err)
{
	struct weft_schedule schedule;
	int rc = -1;

	*traffic = (struct weft_traffic){0};
	if (weft_schedule_build(spec, model, &schedule, err) == 0)
		rc = weft_traffic_of_schedule(spec, &schedule, WEFT_ALL_PAIRS,
					      traffic, err);
	weft_schedule_free(&schedule);
	return rc;
}

/* Bytes that a rank of a pipeline stage sends per step for an axis, by rings.
 */
static inline double schedule_bytes(const struct weft_schedule *schedule,
				    enum weft_axis axis, uint32_t stage)
{
	double sum = 0;

	for (uint32_t i = 0; i < schedule->n_calls; i++) {
		const struct weft_call *call = &schedule->calls[i];

		if (call->axis == axis && stage >= call->first_stage &&
		    stage - call->first_stage < call->n_stages)
			sum += call->count *
			       weft_volume_collective(call->collective, call->n,
						      call->size_bytes);
	}
	return sum;
}

static inline double gather_bytes(uint32_t n, double size_bytes)
{
	return weft_volume_collective(WEFT_ALL_GATHER, n, size_bytes);
}

/* One layer and micro-batch, two all-reduces each way (arXiv:2104.04473 section
 * 3.2). */
static inline double tp_layer_bytes(uint32_t t, double b, double s, double h,
				    double e)
{
	return 4 * weft_volume_all_reduce(t, b * s * h * e);
}

/* A ring of K and V blocks, of one layer and micro-batch: forward, and twice
 * that backward; kv_width is the K (or V) width of this tensor rank. */
static inline double cp_layer_bytes(uint32_t c, double b, double s,
				    double kv_width, double e)
{
	return c < 2 ? 0 : 3 * (c - 1) * 2 * b * (s / c) * kv_width * e;
}

/* A step's gradients and parameters by the stage of ZeRO, m micro-batches
 * (arXiv:1910.02054 section 7).  Stages 2 and 3 reduce in each micro-batch;
 * stage 3 also gathers for each forward and each backward. */
static inline double dp_step_bytes(uint32_t d, double parameters, uint32_t zero,
				   uint32_t m, double gradient_bytes,
				   double parameter_bytes)
{
	const double reduces[] = {2, 1, m, m};
	const double gathers[] = {0, 1, 1, 2.0 * m};

	return gather_bytes(d, parameters * (reduces[zero] * gradient_bytes +
					     gathers[zero] * parameter_bytes));
}

#endif
