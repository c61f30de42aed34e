/* SPDX-License-Identifier: GPL-3.0-or-later */
/* wishes.h - what a job pays for its wishes */
#ifndef WEFT_CLI_PLAN_WISHES_H
#define WEFT_CLI_PLAN_WISHES_H

#include "cli/plan/request.h"
#include "placement/place.h"

/* Adds to the placement's reasons what each wish of the spec costs: the job
 * placed once more without it.  Wishes that cost nothing are not told.  -1 with
 * err when out of memory. */
int wishes_explain(const struct request *request,
		   const struct weft_place_options *options,
		   struct weft_placement *placement, struct weft_error *err);

#endif
