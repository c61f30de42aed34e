/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hold.h - the answer to a job that does not start now though stock might
 * start it: limits of its spec that must hold, and waiting for a better place
 */
#ifndef WEFT_PLUGIN_LIMITS_HOLD_H
#define WEFT_PLUGIN_LIMITS_HOLD_H

#include "plugin/bridge/answers.h"
#include "plugin/plan_request.h"

/* What a question is known by: the job's request, its candidates and what is
 * free (generation of the nodes; 0: whatever that is).  Never 0. */
uint64_t weft_hold_signature(const struct weft_plan_request *query,
			     uint64_t generation);

/* The answer to the same question when nothing has changed since, else NULL.
 * *signature: what to keep the next one under. */
const struct weft_answer *
weft_hold_recall(const struct weft_plan_request *query, uint64_t *signature);

/* Whether the job should rather wait than take a place of this cost: true when
 * running jobs that end within the time it still waits make room for a better
 * one.  Then *answer has that place and when.  reason: why it does not wait,
 * for the user; empty where it never meant to. */
bool weft_hold_better(const struct weft_plan_request *query, double cost,
		      struct weft_answer *answer,
		      char reason[WEFT_REASON_SIZE]);

/* Where and when a job with limits that must hold can start: fills *answer's
 * nodes and start; leaves them empty where running jobs' ends do not help. */
void weft_hold_room(const struct weft_plan_request *query,
		    struct weft_answer *answer);

/* Answers Slurm: not now (RUN_NOW), or then and there (WILL_RUN).  Takes over
 * *answer, which is kept under signature; until 0: for the usual time.
 * recalled: it was, and stock was asked then. */
int weft_hold_reply(const struct weft_plan_request *query,
		    struct weft_answer *answer, uint64_t signature,
		    bool recalled);

#endif
