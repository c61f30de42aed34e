/* SPDX-License-Identifier: GPL-3.0-or-later */
/* waivers.h - findings that a person has accepted: by an earlier answer, or one
 * by one until a day
 */
#ifndef WEFT_CLI_AUDIT_WAIVERS_H
#define WEFT_CLI_AUDIT_WAIVERS_H

#include "topology/inventory/finding.h"

#include <jansson.h>

struct waiver {
	char code[48];	    /* of the findings */
	const char *place;  /* a pattern, as of the shell; the caller's text */
	uint32_t n_place;   /* its bytes */
	char until[16];	    /* the last day, "2026-12-31"; "": for ever */
	uint32_t n_applied; /* findings */
};

/* Zero-initialise; waivers_free in any case. */
struct waivers {
	struct waiver *item;
	uint32_t n;
	json_t *baseline;		 /* {"CODE PLACE": true}, or NULL */
	struct weft_finding *accepted;	 /* taken out by waivers_apply */
	uint32_t n_accepted, n_baseline; /* the latter by the baseline */
};

/* "CODE:PLACE", "CODE:PLACE:2026-12-31"; places may have colons of their own.
 * -1 with err where it is neither, or names a code that there is not. */
int waivers_add(struct waivers *waivers, const char *text,
		struct weft_error *err);

/* What "weft audit --json" has answered: its findings are known, as long as
 * they say the same. */
int waivers_baseline(struct waivers *waivers, const char *path,
		     struct weft_error *err);

/* Takes what is accepted on that day ("2026-11-23") out of the findings, whose
 * texts it keeps, and adds one for each waiver that is over or meets nothing.
 */
int waivers_apply(struct waivers *waivers, const char *today,
		  struct weft_findings *findings, struct weft_error *err);
void waivers_free(struct waivers *waivers);

#endif
