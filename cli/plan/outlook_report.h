/* SPDX-License-Identifier: GPL-3.0-or-later */
/* outlook_report.h - what stands between a job and a better place, in JSON */
#ifndef WEFT_CLI_PLAN_OUTLOOK_REPORT_H
#define WEFT_CLI_PLAN_OUTLOOK_REPORT_H

#include "cli/plan/request.h"
#include "placement/outlook.h"

#include <jansson.h>

/* {"ideal_cost", "blockers", "alone", "fits", "good"}; new. */
json_t *outlook_json(const struct request *request,
		     const struct weft_outlook *outlook);

/* A cost or a time; null: none, or not known. */
json_t *outlook_cost_json(double cost);

#endif
