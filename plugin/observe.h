/* SPDX-License-Identifier: GPL-3.0-or-later */
/* observe.h - jobs that weft decides on and leaves alone: weft.yaml, mode */
#ifndef WEFT_PLUGIN_OBSERVE_H
#define WEFT_PLUGIN_OBSERVE_H

#include "plugin/bridge/bridge.h"
#include "plugin/bridge/decision.h"
#include "plugin/slurm/stock.h"

/* Weft is on, and must not act on this job. */
bool weft_observe_only(const job_record_t *job);

/* Stock's answer, untouched.  Where it starts the job, weft then plans on what
 * was free and was offered to stock. */
int weft_observe(const struct weft_job_test *test);

/* The job has its GPUs, account->where in the order of Slurm's ranks: compares
 * them with the plan, into account->gain, and tells the log. */
void weft_observe_started(const struct weft_decision *decision,
			  struct weft_account *account);

#endif
