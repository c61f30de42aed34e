/* SPDX-License-Identifier: GPL-3.0-or-later */
/* audit.h - what weft audit has found, and saying it */
#ifndef WEFT_CLI_AUDIT_AUDIT_H
#define WEFT_CLI_AUDIT_AUDIT_H

#include "cli/slurm/capacity.h"
#include "placement/capacity/fragmentation.h"
#include "placement/capacity/running.h"
#include "topology/audit/audit.h"

struct audit {
	const struct weft_fabric *fabric;
	const struct weft_survey *survey;
	const struct weft_scheme *scheme;
	struct weft_findings findings; /* of all that was looked at */
	struct weft_tiers tiers;
	/* where an occupancy was given */
	bool occupied;
	struct weft_occupancy occupancy;
	struct weft_running_list running;
	struct capacity capacity;
	struct weft_fragmentation fragmentation;
};

/* For people: a summary that is read in ten seconds, then the findings by
 * severity, equal ones of many places as one.  colour: of severities. */
int audit_text(const struct audit *audit, bool colour, struct weft_error *err);

int audit_json(const struct audit *audit, struct weft_error *err);

#endif
