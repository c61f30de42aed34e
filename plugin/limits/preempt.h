/* SPDX-License-Identifier: GPL-3.0-or-later */
/* preempt.h - which jobs make room for one that may preempt
 *
 * Stock takes victims until the job fits anywhere.  Weft plans on what is free
 * and what they hold, and has stock preempt on just those nodes: but only where
 * that ends no more jobs, and frees no more GPUs, than stock's own choice.
 */
#ifndef WEFT_PLUGIN_LIMITS_PREEMPT_H
#define WEFT_PLUGIN_LIMITS_PREEMPT_H

#include "plugin/plan_request.h"

/* Is there anybody to preempt? */
bool weft_preempt_may(const struct weft_job_test *test);

/* Stock's answer to a job that has no place without preemption, on the nodes
 * that weft wants where their victims are no more than stock's own; a job whose
 * limits must hold gets them there, or on stock's own choice in a domain, or
 * not at all. */
int weft_preempt(const struct weft_plan_request *query);

#endif
