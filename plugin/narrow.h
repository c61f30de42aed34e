/* SPDX-License-Identifier: GPL-3.0-or-later */
/* narrow.h - proposing nodes to stock */
#ifndef WEFT_PLUGIN_NARROW_H
#define WEFT_PLUGIN_NARROW_H

#include "plugin/plan_request.h"

/* Stock's answer to the test: on the nodes that weft chose where it has an
 * opinion and stock agrees, else on all candidates as if weft were not there.
 */
int weft_narrow(const struct weft_job_test *test);

/* A job begins: weft's nodes suited Slurm.  Until it does, every second
 * question whether it can start now is left to stock. */
void weft_narrow_begun(uint32_t job_id);

/* Reads the query's job and spec; WEFT_CAUSE_NARROWED: it can be planned, else
 * why not, with err or static text in *unclear where there is more to say. */
enum weft_cause weft_narrow_read(struct weft_plan_request *query,
				 const char **unclear, struct weft_error *err);

/* How often weft narrowed and, by cause, did not: into the log. */
void weft_narrow_summary(void);

#endif
