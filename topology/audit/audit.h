/* SPDX-License-Identifier: GPL-3.0-or-later */
/* audit.h - what is wrong with a cluster, as its survey tells
 *
 * One file audit_SUBJECT.c per subject, one row in the table of audit.c.
 */
#ifndef WEFT_TOPOLOGY_AUDIT_AUDIT_H
#define WEFT_TOPOLOGY_AUDIT_AUDIT_H

#include "topology/survey/scheme.h"

/* What is looked at.  scheme may be NULL where a survey has no levels. */
struct weft_audit {
	const struct weft_survey *survey;
	const struct weft_scheme *scheme;
	const struct weft_fabric *fabric; /* or NULL */
	struct weft_findings *findings;
};

struct weft_audit_check {
	const char *name, *help;
	int (*run)(const struct weft_audit *audit, struct weft_error *err);
};
extern const struct weft_audit_check weft_audit_checks[];
extern const uint32_t weft_n_audit_checks;

/* Every check of the table, then sorted. */
int weft_audit_run(const struct weft_audit *audit, struct weft_error *err);

/* Where two sources of the same cluster differ: "drift-..." findings.  now is
 * the newer, what the cluster says of itself. */
int weft_audit_drift(const struct weft_survey *wanted,
		     const struct weft_survey *now,
		     struct weft_findings *findings, struct weft_error *err);

#endif
