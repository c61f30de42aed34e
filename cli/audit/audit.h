/* SPDX-License-Identifier: GPL-3.0-or-later */
/* audit.h - what weft audit has found, and saying it */
#ifndef WEFT_CLI_AUDIT_AUDIT_H
#define WEFT_CLI_AUDIT_AUDIT_H

#include "cli/status/room.h"
#include "placement/capacity/fragmentation.h"
#include "placement/capacity/running.h"
#include "topology/audit/audit.h"

struct audit {
	const struct weft_fabric *fabric;
	const struct weft_inventory *inventory;
	const struct weft_hierarchy *hierarchy;
	struct weft_findings findings; /* of all that was looked at */
	struct weft_tiers tiers;
	/* taken out of the findings, by waivers.h */
	const struct weft_finding *accepted;
	uint32_t n_accepted;
	/* where an occupancy was given */
	bool occupied;
	struct weft_occupancy occupancy;
	struct weft_running_list running;
	struct room room;
	struct weft_fragmentation fragmentation;
};

/* For people: a summary that is read in ten seconds, then the findings by
 * severity, equal ones of many places as one.  colour: of severities. */
int audit_text(const struct audit *audit, bool colour, struct weft_error *err);

/* As a page, of that title. */
int audit_html(const struct audit *audit, const char *title,
	       struct weft_error *err);

/* What has changed, as --against reports. */
bool audit_is_drift(const struct weft_finding *finding);

/* Places of item[i] and those alike after it, which it marks in done[n], as one
 * short text, malloc'ed; names[n] is room.  *n: how many alike there are,
 * *weight: what they explain together. */
char *audit_places_fold(const struct weft_findings *findings, uint32_t i,
			bool *done, const char **names, uint32_t *n,
			double *weight);

int audit_json(const struct audit *audit, struct weft_error *err);

#endif
