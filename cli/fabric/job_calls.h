/* SPDX-License-Identifier: GPL-3.0-or-later */
/* job_calls.h - what a job's GPUs send each other, as tables for simulators */
#ifndef WEFT_CLI_FABRIC_JOB_CALLS_H
#define WEFT_CLI_FABRIC_JOB_CALLS_H

#include "costmodel/time/flows.h"
#include "topology/fabric.h"

#include <stdio.h>

/* A schedule on a placement: rank r runs on GPU where[r] of the fabric. */
struct job_calls {
	const struct weft_fabric *fabric;
	const struct weft_schedule *schedule;
	const uint32_t *where;
	enum weft_choice_of_algorithm algorithm; /* as in the spec */
};

/* CSV with a header, as weft-export(1) has it: a row for each call, pipeline
 * stage and group.  -1 with err. */
int job_calls_write(const struct job_calls *job, FILE *out,
		    struct weft_error *err);

#endif
