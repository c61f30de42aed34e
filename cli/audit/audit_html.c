/* SPDX-License-Identifier: GPL-3.0-or-later */
/* audit_html.c - what an audit has found, as a page of its own
 *
 * One file without scripts, so that a mail or a wiki takes it.  The findings
 * that are alike are one row, the gravest first, what has changed before what
 * may always have been so.
 */
#include "cli/audit/audit.h"
#include "cli/page.h"

#include <stdio.h>
#include <stdlib.h>

static void title_print(const struct audit *a, const char *name)
{
	uint32_t errors = weft_findings_count(&a->findings, WEFT_ERROR);
	uint32_t warnings = weft_findings_count(&a->findings, WEFT_WARNING);

	page_open("weft audit: ", name);
	fputs("<h1>", stdout);
	page_text(name);
	if (errors || warnings)
		printf(": %u error%s, %u warning%s", errors,
		       errors == 1 ? "" : "s", warnings,
		       warnings == 1 ? "" : "s");
	else
		fputs(": nothing wrong was found", stdout);
	printf("</h1>\n<p class=\"dim\">%u hosts, %u switches, %u cables",
	       a->inventory->n_hosts, a->inventory->n_switches,
	       a->inventory->n_cables);
	if (a->n_accepted)
		printf("; %u findings are accepted", a->n_accepted);
	puts("</p>");
}

static void row_print(const struct weft_finding *f, const char *places,
		      uint32_t n)
{
	const struct weft_finding_kind *kind = &weft_finding_kinds[f->id];
	const char *severity = weft_severity_names[f->severity];

	printf("<tr><td class=\"%s\">%s<br><span class=\"dim\">%s</span></td>"
	       "<td>",
	       severity, severity, kind->code);
	page_text(places);
	if (n > 1)
		printf(" <span class=\"dim\">(%u)</span>", n);
	fputs("</td><td>", stdout);
	page_text(f->text);
	if (f->source[0]) {
		fputs("<br><span class=\"dim\">", stdout);
		page_text(f->source);
		if (f->line)
			printf(":%d", f->line);
		fputs("</span>", stdout);
	}
	fputs("</td><td class=\"dim\">", stdout);
	page_text(kind->remedy);
	puts("</td></tr>");
}

static int rows_print(const struct audit *a, bool drift, struct weft_error *err)
{
	const struct weft_findings *f = &a->findings;
	bool *done = weft_calloc(f->n, sizeof(*done), err);
	const char **names = weft_calloc(f->n, sizeof(*names), err);
	double weight;
	uint32_t n;
	bool some = false;

	for (uint32_t i = 0; done && names && i < f->n; i++) {
		char *places;

		if (done[i] || audit_is_drift(&f->item[i]) != drift)
			continue;
		if (!some)
			printf("<h2>%s</h2>\n<table><tr><th>Severity</th>"
			       "<th>Where</th><th>What</th><th>Remedy</th>"
			       "</tr>\n",
			       drift ? "What has changed" : "What is wrong");
		some = true;
		places = audit_places_fold(f, i, done, names, &n, &weight);
		row_print(&f->item[i], places ? places : "", n);
		free(places);
	}
	if (some)
		puts("</table>");
	free(done);
	free(names);
	return done && names ? 0 : -1;
}

int audit_html(const struct audit *a, const char *name, struct weft_error *err)
{
	title_print(a, name);
	if (rows_print(a, true, err) || rows_print(a, false, err))
		return -1;
	page_close();
	return 0;
}
