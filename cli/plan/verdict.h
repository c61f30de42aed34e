/* SPDX-License-Identifier: GPL-3.0-or-later */
/* verdict.h - the value of a placement by what was asked for */
#ifndef WEFT_CLI_PLAN_VERDICT_H
#define WEFT_CLI_PLAN_VERDICT_H

#include "cli/plan/request.h"
#include "placement/objective/judge.h"
#include "placement/placement.h"

#include <jansson.h>

struct verdict {
	struct weft_measure measure;
	double bound; /* of the value; NAN: none is known */
};

/* What was free before the job of a placement came: its own GPUs besides.  -1
 * with err; free with weft_occupancy_free in either case. */
int verdict_occupancy(const struct request *request,
		      const struct weft_placement *p, struct weft_occupancy *o,
		      struct weft_error *err);

/* Of a placement that exists.  GPUs of it that are taken count as free before
 * it: they are its own.  -1 with err. */
int verdict_find(const struct request *request, const struct weft_placement *p,
		 struct verdict *verdict, struct weft_error *err);

/* {"goal": ..., "metric": ..., "value": ..., ...} */
json_t *verdict_json(const struct request *request,
		     const struct verdict *verdict);

/* A line for people, and one about other jobs' traffic where it counts. */
void verdict_print(const struct request *request,
		   const struct verdict *verdict);

#endif
