/* SPDX-License-Identifier: GPL-3.0-or-later */
/* waiting.h - the reason that a waiting job shows in squeue */
#ifndef WEFT_PLUGIN_WAITING_H
#define WEFT_PLUGIN_WAITING_H

#include "plugin/bridge/decision.h"
#include "plugin/slurm/stock.h"

/* weft has no nodes for the job, or an error that keeps it from looking:
 * explains that, now and then, in what squeue shows as the job's reason. Called
 * before stock is asked, which changes test->nodes. */
void weft_waiting_tell(const struct weft_job_test *test,
		       const struct weft_request *request,
		       const struct weft_frame *frame, enum weft_cause cause,
		       const struct weft_error *err);

/* Called after stock was asked, which holds jobs that it cannot make sense of:
 * what keeps such a job is Slurm's own reason. */
void weft_waiting_heed(job_record_t *job);

#endif
