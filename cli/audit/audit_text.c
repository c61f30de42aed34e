/* SPDX-License-Identifier: GPL-3.0-or-later */
/* audit_text.c - what an audit has found, for people */
#include "config.h" /* first: asprintf is GNU */

#include "base/compare.h"
#include "base/hostlist.h"
#include "cli/audit/audit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Findings of one kind that are shown; the rest is counted. */
#define SHOWN_OF_A_KIND 12
/* Places of one finding: a line of so many characters, or so many of them. */
#define PLACES_LENGTH 160
#define PLACES_SHOWN  4
/* No line of a finding has more characters: cron mails them. */
#define LINE_LENGTH 200
/* Room for what stands before the headline. */
#define COUNTS_LENGTH 48

static const struct {
	const char *one, *many, *colour;
} severities[WEFT_N_SEVERITIES] = {
	[WEFT_INFO] = {"note", "notes", "\033[36m"},
	[WEFT_WARNING] = {"warning", "warnings", "\033[33m"},
	[WEFT_ERROR] = {"error", "errors", "\033[31m"},
};
#define PLAIN "\033[0m"

/* ---- the summary ---- */

static void counts_print(const struct audit *a, bool colour)
{
	bool some = false;

	for (int s = WEFT_N_SEVERITIES - 1; s >= 0; s--) {
		uint32_t n = weft_findings_count(&a->findings,
						 (enum weft_severity)s);

		if (!n)
			continue;
		printf("%s%s%u %s%s", some ? ", " : "",
		       colour ? severities[s].colour : "", n,
		       n == 1 ? severities[s].one : severities[s].many,
		       colour ? PLAIN : "");
		some = true;
	}
	if (!some)
		printf("nothing wrong was found");
}

static const char *tier_name(const struct audit *a, const struct weft_tier *t,
			     char *buffer, size_t size)
{
	bool compute = strcmp(t->network, "compute") == 0;

	if (compute && a->hierarchy && t->tier &&
	    t->tier <= a->hierarchy->n_levels)
		snprintf(buffer, size, "%s",
			 a->hierarchy->levels[t->tier - 1].name);
	else if (compute)
		snprintf(buffer, size, "tier %u", t->tier);
	else
		snprintf(buffer, size, "%s tier %u", t->network, t->tier);
	return buffer;
}

static void tiers_print(const struct audit *a)
{
	char name[96];

	if (!a->tiers.n)
		return;
	if (a->tiers.known)
		printf("non-blocking: %s",
		       a->tiers.non_blocking ? "yes" : "no");
	for (uint32_t i = 0; i < a->tiers.n; i++) {
		const struct weft_tier *t = &a->tiers.item[i];

		printf("%s%.2f:1 at %s", i || a->tiers.known ? ", " : "",
		       t->median, tier_name(a, t, name, sizeof(name)));
		if (t->most > 1.01 * t->least)
			printf(" (%.2f to %.2f)", t->least, t->most);
	}
	if (!a->tiers.item[0].by_rate)
		printf(", by number of cables");
	putchar('\n');
}

static void shape_print(const struct audit *a)
{
	const struct weft_inventory *s = a->inventory;
	double gpus = 0;

	for (uint32_t h = 0; h < s->n_hosts; h++)
		gpus += s->hosts[h].gpus.value;
	printf("%u host%s", s->n_hosts, s->n_hosts == 1 ? "" : "s");
	if (gpus > 0)
		printf(", %.0f GPUs", gpus);
	if (s->n_switches)
		printf(", %u switch%s", s->n_switches,
		       s->n_switches == 1 ? "" : "es");
	if (s->n_cables)
		printf(", %u cable lines", s->n_cables);
	if (a->hierarchy && a->hierarchy->n_rails > 1)
		printf(", %u rails", a->hierarchy->n_rails);
	putchar('\n');
}

/* ---- findings ---- */

static bool are_alike(const struct weft_finding *a,
		      const struct weft_finding *b)
{
	return a->id == b->id && a->severity == b->severity &&
	       strcmp(a->text, b->text) == 0 &&
	       strcmp(a->source, b->source) == 0;
}

bool audit_is_drift(const struct weft_finding *f)
{
	return strncmp(weft_finding_kinds[f->id].code, "drift-", 6) == 0;
}

/* names[n], which it sorts: folded, and where that is no line to be read, the
 * first few; malloc'ed. */
static char *places_text(const char **names, uint32_t n)
{
	char *text, *few;

	if (n)
		qsort(names, n, sizeof(*names), weft_compare_names);
	text = weft_hostlist_encode(names, n);
	if (!text || strlen(text) <= PLACES_LENGTH || n <= PLACES_SHOWN)
		return text;
	free(text);
	text = weft_hostlist_encode(names, PLACES_SHOWN);
	if (!text ||
	    asprintf(&few, "%s and %u more", text, n - PLACES_SHOWN) < 0)
		few = NULL;
	free(text);
	return few;
}

char *audit_places_fold(const struct weft_findings *f, uint32_t i, bool *done,
			const char **names, uint32_t *n, double *weight)
{
	uint32_t named = 0;

	*n = 0;
	*weight = 0;
	for (uint32_t k = i; k < f->n; k++) {
		if (done[k] || !are_alike(&f->item[i], &f->item[k]))
			continue;
		done[k] = true;
		++*n;
		*weight += f->item[k].weight;
		if (f->item[k].place[0])
			names[named++] = f->item[k].place;
	}
	return places_text(names, named);
}

/* Prints at most LINE_LENGTH - 1 characters; what is longer is in --json. */
static void line_print(const char *text, size_t more)
{
	size_t room = LINE_LENGTH - 1 - more;

	if (strlen(text) <= room)
		fputs(text, stdout);
	else
		printf("%.*s...", (int)room - 3, text);
}

/* The headline: what explains most of the gravest, or of what has changed. */
static int first_print(const struct audit *a, struct weft_error *err)
{
	const struct weft_findings *f = &a->findings;
	bool *done = weft_calloc(f->n, sizeof(*done), err);
	const char **names = weft_calloc(f->n, sizeof(*names), err);
	double most = -1, weight;
	char *best = NULL, *places;
	uint32_t first = 0, n;

	for (uint32_t i = 0;
	     done && names && i < f->n &&
	     f->item[i].severity == f->item[0].severity &&
	     audit_is_drift(&f->item[i]) == audit_is_drift(&f->item[0]);
	     i++) {
		if (done[i])
			continue;
		places = audit_places_fold(f, i, done, names, &n, &weight);
		if (places && weight > most) {
			free(best);
			best = places;
			most = weight;
			first = i;
		} else {
			free(places);
		}
	}
	if (best && f->item[0].severity != WEFT_INFO) {
		char text[1024];

		snprintf(text, sizeof(text), ": %s%s%s", best,
			 best[0] ? " " : "", f->item[first].text);
		line_print(text, COUNTS_LENGTH);
	}
	free(best);
	free(done);
	free(names);
	return done && names ? 0 : -1;
}

static void group_print(const struct weft_finding *f, const char *places,
			uint32_t n, bool colour)
{
	const struct weft_finding_kind *kind = &weft_finding_kinds[f->id];
	const char *severity = weft_severity_names[f->severity];
	char text[1024], times[48] = "";

	if (n > 1)
		snprintf(times, sizeof(times),
			 places[0] ? " (%u)" : " (%u times)", n);
	snprintf(text, sizeof(text), "%s%s%s%s%s", places,
		 places[0] ? times : "", places[0] ? ": " : "", f->text,
		 places[0] ? "" : times);
	printf("%s%s%s ", colour ? severities[f->severity].colour : "",
	       severity, colour ? PLAIN : "");
	line_print(text, strlen(severity) + strlen(kind->code) + 4);
	printf(" [%s]\n", kind->code);
	if (f->source[0] && f->line && n == 1)
		printf("    at %s:%d\n", f->source, f->line);
	else if (f->source[0] && f->line)
		printf("    first at %s:%d\n", f->source, f->line);
}

/* Prints a remedy once, behind the last finding of its kind. */
static void remedy_print(enum weft_finding_id id, uint32_t hidden)
{
	if (hidden)
		printf("    and %u more like this: --json has all\n", hidden);
	printf("    %s\n", weft_finding_kinds[id].remedy);
}

static bool is_last_of_kind(const struct weft_findings *f, uint32_t i,
			    const bool *done)
{
	for (uint32_t k = i + 1; k < f->n; k++)
		if (!done[k] && f->item[k].id == f->item[i].id &&
		    f->item[k].severity == f->item[i].severity)
			return false;
	return true;
}

static int findings_list(const struct audit *a, bool colour,
			 struct weft_error *err)
{
	const struct weft_findings *f = &a->findings;
	bool *done = weft_calloc(f->n, sizeof(*done), err);
	const char **names = weft_calloc(f->n, sizeof(*names), err);
	uint32_t shown[WEFT_N_FINDINGS] = {0}, hidden[WEFT_N_FINDINGS] = {0};
	int rc = done && names ? 0 : -1;

	for (uint32_t i = 0; i < f->n && rc == 0; i++) {
		enum weft_finding_id id = f->item[i].id;
		double weight;
		uint32_t n;
		char *places;

		if (done[i])
			continue;
		places = audit_places_fold(f, i, done, names, &n, &weight);
		if (!places) {
			rc = weft_fail(err, WEFT_ENOMEM, "out of memory");
			break;
		}
		if (i == 0)
			putchar('\n');
		if (shown[id]++ < SHOWN_OF_A_KIND)
			group_print(&f->item[i], places, n, colour);
		else
			hidden[id] += n;
		free(places);
		if (is_last_of_kind(f, i, done))
			remedy_print(id, hidden[id]);
	}
	free(done);
	free(names);
	return rc;
}

/* ---- fragmentation ---- */

static void fragment_print(const struct audit *a, uint32_t l)
{
	const struct weft_fragment *x = &a->fragmentation.level[l];
	const struct weft_fabric *f = a->fabric;

	printf("  %-10.10s %7u %6u of %-6u", f->levels[l].name,
	       a->room.largest[l], x->n_whole, x->n_domains);
	if (x->domain == WEFT_NONE) {
		puts("  -");
		return;
	}
	printf("  %s: job", f->domains[x->domain].name);
	for (uint32_t i = 0; i < x->n_jobs && i < 6; i++)
		printf("%s %s", i ? "," : "", a->running.jobs[x->job[i]].id);
	if (x->n_jobs > 6)
		printf(" and %u more", x->n_jobs - 6);
	printf(", %u GPUs\n", x->n_gpus);
}

static void slots_print(const struct audit *a)
{
	const struct weft_fabric *f = a->fabric;

	room_print_head(&a->room);
	putchar('\n');
	for (uint32_t l = f->node_level; l < f->n_levels; l++) {
		room_print_level(&a->room, l);
		putchar('\n');
	}
}

static void fragmentation_print(const struct audit *a)
{
	const struct weft_fabric *f = a->fabric;

	printf("\n%u of %u GPUs are free, %u of %u nodes as a whole\n",
	       a->room.n_free, f->n_gpus, a->room.n_whole, f->n_nodes);
	printf("  %-10s %7s %16s  %s\n", "level", "largest", "whole domains",
	       "cheapest to free");
	for (uint32_t l = f->node_level; l < f->n_levels; l++)
		fragment_print(a, l);
	slots_print(a);
}

int audit_text(const struct audit *a, bool colour, struct weft_error *err)
{
	counts_print(a, colour);
	if (first_print(a, err))
		return -1;
	putchar('\n');
	if (a->n_accepted)
		printf("%u more are accepted\n", a->n_accepted);
	tiers_print(a);
	shape_print(a);
	if (findings_list(a, colour, err))
		return -1;
	if (a->occupied)
		fragmentation_print(a);
	return 0;
}
