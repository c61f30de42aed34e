/* SPDX-License-Identifier: GPL-3.0-or-later */
/* blockers_report.h - what stands between a job and a better place, in JSON */
#ifndef WEFT_CLI_PLAN_BLOCKERS_REPORT_H
#define WEFT_CLI_PLAN_BLOCKERS_REPORT_H

#include "cli/plan/request.h"
#include "placement/blockers.h"

#include <jansson.h>

/* {"ideal_cost", "blockers", "alone", "fits", "good"}; new. */
json_t *blockers_json(const struct request *request,
		      const struct weft_blockers *blockers);

#endif
