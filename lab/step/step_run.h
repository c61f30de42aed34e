/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_run.h - the step of a job on a usual cluster of its GPU */
#ifndef WEFT_LAB_STEP_STEP_RUN_H
#define WEFT_LAB_STEP_STEP_RUN_H

#include "costmodel/time/step.h"
#include "placement/job.h"

/* false: one word that is none of what step_fabric takes, such as a misspelt
 * profile. */
bool step_cluster_known(const char *cluster);

/* A cluster of gpus GPUs with the links that their kind usually has.
 * node_size 0: the kind's.  cluster: the name of a profile; a fabric file,
 * known by a slash or ".yaml", below `folder` unless it begins with a slash; or
 * words that name a node's NICs ("4x100G RoCE", "8xNDR400", "1600 Gbps") and
 * change the usual rate; "" and other words change nothing.  NULL with err. */
struct weft_fabric *step_fabric(const struct weft_gpu *gpu, uint32_t gpus,
				uint32_t node_size, const char *cluster,
				const char *folder, struct weft_error *err);

/* The step with rank r on GPU r of f. */
int step_run(const struct weft_fabric *f, const struct weft_spec *spec,
	     const struct weft_model *model,
	     const struct weft_step_options *options, struct weft_step *step,
	     struct weft_error *err);

/* The GPU of each of the job's ranks on the empty fabric, as weft plan places
 * it.
 */
int step_place(const struct weft_fabric *f, const struct weft_job *job,
	       uint32_t *where, struct weft_error *err);

#endif
