/* SPDX-License-Identifier: GPL-3.0-or-later */
/* finding.c - a list of findings, and the table of their kinds */
#include "topology/inventory/finding.h"
#include "base/compare.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct weft_finding_kind weft_finding_kinds[WEFT_N_FINDINGS] = {
#define KIND(id, code, severity, remedy) {code, WEFT_##severity, remedy},
#include "topology/inventory/finding_kinds.def"
#undef KIND
};

const char *const weft_severity_names[WEFT_N_SEVERITIES] = {"info", "warning",
							    "error"};

/* A copy of text from outside that any terminal may be shown. */
static const char *text_keep(struct weft_findings *findings, const char *text,
			     struct weft_error *err)
{
	char *copy = weft_arena_copy(&findings->arena, text, err);

	for (char *c = copy; c && *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			*c = '?';
	return copy;
}

int weft_findings_vadd(struct weft_findings *findings, enum weft_finding_id id,
		       struct weft_finding_at at, struct weft_error *err,
		       const char *format, va_list args)
{
	struct weft_finding finding = {
		.id = id,
		.severity = weft_finding_kinds[id].severity,
		.line = at.line,
		.weight = at.weight,
	};
	char text[512];

	if (findings->of_kind[id]++ >= WEFT_FINDINGS_OF_A_KIND)
		return 0;
	vsnprintf(text, sizeof(text), format, args);
	finding.text = text_keep(findings, text, err);
	finding.place = text_keep(findings, at.place ? at.place : "", err);
	finding.source = text_keep(findings, at.source ? at.source : "", err);
	if (!finding.text || !finding.place || !finding.source ||
	    WEFT_GROW(findings->item, findings->n, findings->room, err))
		return -1;
	findings->item[findings->n++] = finding;
	return 0;
}

int weft_findings_add(struct weft_findings *findings, enum weft_finding_id id,
		      struct weft_finding_at at, struct weft_error *err,
		      const char *format, ...)
{
	va_list args;
	int rc;

	va_start(args, format);
	rc = weft_findings_vadd(findings, id, at, err, format, args);
	va_end(args);
	return rc;
}

WEFT_COMPARATOR(compare_findings, struct weft_finding,
		WEFT_DOWN(severity) WEFT_DOWN(weight) WEFT_UP(id)
			WEFT_NAME(place) WEFT_TEXT(source) WEFT_UP(line)
				WEFT_TEXT(text));

void weft_findings_sort(struct weft_findings *findings)
{
	uint32_t kept = 0;

	WEFT_SORT(findings->item, findings->n, compare_findings);
	for (uint32_t i = 0; i < findings->n; i++) {
		if (kept && compare_findings(&findings->item[kept - 1],
					     &findings->item[i]) == 0)
			continue;
		findings->item[kept++] = findings->item[i];
	}
	findings->n = kept;
}

uint32_t weft_findings_count(const struct weft_findings *findings,
			     enum weft_severity severity)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < findings->n; i++)
		n += findings->item[i].severity == severity;
	return n;
}

void weft_findings_free(struct weft_findings *findings)
{
	free(findings->item);
	weft_arena_free(&findings->arena);
	*findings = (struct weft_findings){0};
}
