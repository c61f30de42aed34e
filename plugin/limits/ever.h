/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ever.h - whether a job with limits can run here at all
 *
 * "No" has Slurm refuse the job, or hold it if it is queued already: it is said
 * only of nodes that the fabric knows all of.
 */
#ifndef WEFT_PLUGIN_LIMITS_EVER_H
#define WEFT_PLUGIN_LIMITS_EVER_H

#include "plugin/plan_request.h"

/* The answer to TEST_ONLY for a job that stock could run: not so, where its
 * limits cannot hold on the nodes of its partition even if no job ran. */
int weft_ever(const struct weft_plan_request *query);

/* The same for a job that is for weft_parts_ask, by what features nodes have
 * now: Slurm looks again when these change. */
int weft_ever_by_feature(const struct weft_plan_request *query);

/* How many of the nodes that the job could have, now or later, the fabric does
 * not know, or not all GPUs of. */
uint32_t weft_ever_unknown(const struct weft_job_test *test);

/* Nodes or partitions have changed: Slurm looks again at the jobs that it holds
 * because of a "no". */
void weft_ever_changed(void);

#endif
