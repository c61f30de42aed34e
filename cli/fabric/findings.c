/* SPDX-License-Identifier: GPL-3.0-or-later */
/* findings.c - findings said to people and to programs */
#include "cli/fabric/findings.h"
#include "cli/json.h"
#include "cli/report.h"

#include <stdio.h>

/* More lines of a kind tell a person nothing new. */
#define SHOWN_OF_A_KIND 8

static void finding_print(const struct weft_finding *finding)
{
	fputs("weft: ", stderr);
	if (finding->source[0] && finding->line)
		fprintf(stderr, "%s:%d: ", finding->source, finding->line);
	else if (finding->source[0])
		fprintf(stderr, "%s: ", finding->source);
	fprintf(stderr, "%s: ", weft_severity_names[finding->severity]);
	if (finding->place[0])
		fprintf(stderr, "%s: ", finding->place);
	fprintf(stderr, "%s [%s]\n", finding->text,
		weft_finding_kinds[finding->id].code);
}

void findings_print(const struct weft_findings *findings,
		    enum weft_severity least)
{
	uint32_t shown[WEFT_N_FINDINGS] = {0};

	for (uint32_t i = 0; i < findings->n; i++) {
		const struct weft_finding *finding = &findings->item[i];

		if (finding->severity >= least &&
		    shown[finding->id]++ < SHOWN_OF_A_KIND)
			finding_print(finding);
	}
	for (uint32_t id = 0; id < WEFT_N_FINDINGS; id++)
		if (shown[id] > SHOWN_OF_A_KIND)
			fprintf(stderr,
				"weft: %u more of [%s] (--json has all)\n",
				shown[id] - SHOWN_OF_A_KIND,
				weft_finding_kinds[id].code);
}

json_t *findings_json(const struct weft_findings *findings)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < findings->n; i++) {
		const struct weft_finding *finding = &findings->item[i];
		const struct weft_finding_kind *kind =
			&weft_finding_kinds[finding->id];

		json_array_append_new(
			array, json_pack("{s:s, s:s, s:o, s:o, s:s, s:o, s:I}",
					 "code", kind->code, "severity",
					 weft_severity_names[finding->severity],
					 "where", report_string(finding->place),
					 "text", report_string(finding->text),
					 "remedy", kind->remedy, "source",
					 report_string(finding->source), "line",
					 (json_int_t)finding->line));
	}
	return array;
}

json_t *findings_counts(const struct weft_findings *findings)
{
	json_t *counts = json_object();

	for (enum weft_severity s = 0; s < WEFT_N_SEVERITIES; s++)
		JSON_PUT(counts, weft_severity_names[s],
			 weft_findings_count(findings, s));
	return counts;
}
