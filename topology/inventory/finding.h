/* SPDX-License-Identifier: GPL-3.0-or-later */
/* finding.h - what is wrong, or worth knowing, about a cluster: code, severity,
 * place, reason and remedy
 *
 * Codes are stable: scripts filter by them.  finding_kinds.def is the one list
 * of them, weft-audit(1) explains each.
 */
#ifndef WEFT_TOPOLOGY_INVENTORY_FINDING_H
#define WEFT_TOPOLOGY_INVENTORY_FINDING_H

#include "base/arena.h"
#include "base/error.h"

#include <stdarg.h>
#include <stdint.h>

/* At most this many findings of one kind are kept in full; further ones are
 * counted, so that a file that is wrong throughout stays readable. */
#define WEFT_FINDINGS_OF_A_KIND 1000

enum weft_severity {
	WEFT_INFO,    /* worth knowing; nothing to do */
	WEFT_WARNING, /* works, but not as it should */
	WEFT_ERROR,   /* wrong: jobs are placed badly, or fail */
	WEFT_N_SEVERITIES,
};

enum weft_finding_id {
#define KIND(id, code, severity, remedy) WEFT_FINDING_##id,
#include "topology/inventory/finding_kinds.def"
#undef KIND
	WEFT_N_FINDINGS
};

struct weft_finding_kind {
	const char *code; /* "cable-moved" */
	enum weft_severity severity;
	const char *remedy;
};
extern const struct weft_finding_kind weft_finding_kinds[WEFT_N_FINDINGS];

/* "info", "warning", "error". */
extern const char *const weft_severity_names[WEFT_N_SEVERITIES];

struct weft_finding {
	enum weft_finding_id id;
	enum weft_severity severity; /* its kind's, or what add was told */
	const char *place;  /* "leaf07", "n012:mlx5_3"; "": the whole */
	const char *text;   /* the reason, one sentence */
	const char *source; /* file or "", */
	int line;	    /* and line, or 0 */
	double weight;	    /* how much it explains; higher comes first */
};

struct weft_findings {
	struct weft_finding *item;
	uint32_t n, room;
	uint32_t of_kind[WEFT_N_FINDINGS]; /* all that were added */
	struct weft_arena arena;	   /* owns the texts */
};

/* Where a finding is: all may be NULL or 0. */
struct weft_finding_at {
	const char *place, *source;
	int line;
	double weight;
};

/* Adds a finding of kind `id`; texts are copied, bytes that no terminal should
 * get become "?".  -1 with err only when out of memory. */
int weft_findings_add(struct weft_findings *findings, enum weft_finding_id id,
		      struct weft_finding_at at, struct weft_error *err,
		      const char *format, ...)
	__attribute__((format(printf, 5, 6)));
int weft_findings_vadd(struct weft_findings *findings, enum weft_finding_id id,
		       struct weft_finding_at at, struct weft_error *err,
		       const char *format, va_list args)
	__attribute__((format(printf, 5, 0)));

/* Errors first, then warnings; inside, by falling weight, then kind, place (as
 * people count), source and line.  Equal ones are dropped. */
void weft_findings_sort(struct weft_findings *findings);

/* How many of that severity. */
uint32_t weft_findings_count(const struct weft_findings *findings,
			     enum weft_severity severity);

void weft_findings_free(struct weft_findings *findings);

#endif
