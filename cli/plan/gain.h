/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gain.h - what a placement brings, said to people and to programs */
#ifndef WEFT_CLI_PLAN_GAIN_H
#define WEFT_CLI_PLAN_GAIN_H

#include "cli/plan/request.h"
#include "placement/objective/gain.h"
#include "placement/placement.h"

#include <jansson.h>

struct verdict; /* verdict.h */

struct gain {
	struct weft_gain values;
	struct weft_baselines baselines;
};

/* Of a placement that exists, on what was free before it.  verdict: of it;
 * searched: it is what a search for the least step found itself.  -1 with err;
 * gain_free in either case. */
int gain_find(const struct request *request, const struct weft_placement *p,
	      const struct verdict *verdict, bool searched, struct gain *gain,
	      struct weft_error *err);
void gain_free(struct gain *gain);

/* The object "gain" of weft-plan(1). */
json_t *gain_json(const struct request *request, const struct gain *gain);

/* A few lines for people. */
void gain_print(const struct gain *gain);

#endif
