/* SPDX-License-Identifier: GPL-3.0-or-later */
/* findings.h - findings said to people and to programs */
#ifndef WEFT_CLI_FABRIC_FINDINGS_H
#define WEFT_CLI_FABRIC_FINDINGS_H

#include "topology/inventory/finding.h"

#include <jansson.h>

/* One line each on stderr, "weft: FILE:LINE: warning: PLACE: text [code]",
 * those of at least `least`; of each kind the first few, then how many more. */
void findings_print(const struct weft_findings *findings,
		    enum weft_severity least);

/* [{code, severity, where, text, remedy, source, line}]; new. */
json_t *findings_json(const struct weft_findings *findings);

/* {"error": 1, "warning": 0, "info": 3}; new. */
json_t *findings_counts(const struct weft_findings *findings);

#endif
