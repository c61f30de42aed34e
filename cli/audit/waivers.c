/* SPDX-License-Identifier: GPL-3.0-or-later */
/* waivers.c - which findings are accepted */
#include "cli/audit/waivers.h"
#include "base/suggest.h"
#include "cli/json.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_PLACE 256

/* "2026-12-31" */
static bool is_day(const char *text)
{
	static const char form[] = "dddd-dd-dd";

	for (size_t i = 0; i < sizeof(form) - 1; i++)
		if (form[i] == 'd' ? !isdigit((unsigned char)text[i])
				   : text[i] != form[i])
			return false;
	return !text[sizeof(form) - 1];
}

static int code_check(const char *code, struct weft_error *err)
{
	char hint[WEFT_SUGGEST_TEXT];

	if (WEFT_ROW(code, weft_finding_kinds, WEFT_N_FINDINGS))
		return 0;
	return weft_fail(
		err, WEFT_EINVAL, "--accept: there is no finding \"%s\"; %s",
		code,
		WEFT_ROW_HINT(code, weft_finding_kinds, WEFT_N_FINDINGS, hint));
}

int waivers_add(struct waivers *waivers, const char *text,
		struct weft_error *err)
{
	const char *place = strchr(text, ':');
	const char *last = strrchr(text, ':');
	struct waiver waiver = {0};
	struct waiver *more;

	if (!place || (size_t)(place - text) >= sizeof(waiver.code) ||
	    strlen(place) > MAX_PLACE)
		return weft_fail(err, WEFT_EINVAL,
				 "--accept: expected CODE:PLACE or "
				 "CODE:PLACE:YYYY-MM-DD, found \"%.80s\"",
				 text);
	memcpy(waiver.code, text, (size_t)(place - text));
	waiver.place = ++place;
	waiver.n_place = (uint32_t)strlen(place);
	if (last >= place && is_day(last + 1)) {
		waiver.n_place = (uint32_t)(last - place);
		snprintf(waiver.until, sizeof(waiver.until), "%.10s", last + 1);
	}
	if (code_check(waiver.code, err))
		return -1;
	more = weft_realloc(waivers->item, waivers->n + (size_t)1,
			    sizeof(*more), err);
	if (!more)
		return -1;
	waivers->item = more;
	waivers->item[waivers->n++] = waiver;
	return 0;
}

static void key_write(const char *code, const char *place, const char *text,
		      char *key, size_t size)
{
	snprintf(key, size, "%s %s %s", code, place, text);
}

int waivers_baseline(struct waivers *waivers, const char *path,
		     struct weft_error *err)
{
	json_error_t why;
	json_t *root = json_load_file(path, 0, &why), *findings, *finding;
	char key[1024];
	size_t i;

	findings = json_object_get(root, "findings");
	if (!root || !json_is_array(findings)) {
		weft_fail_at(err, WEFT_EINVAL, path,
			     root || why.line < 0 ? 0 : why.line, 0, "%s",
			     root ? "expected what \"weft audit --json\" "
				    "answers"
				  : why.text);
		json_decref(root);
		return -1;
	}
	if (!waivers->baseline)
		waivers->baseline = json_object();
	json_array_foreach(findings, i, finding)
	{
		key_write(json_text_of(finding, "code"),
			  json_text_of(finding, "where"),
			  json_text_of(finding, "text"), key, sizeof(key));
		JSON_PUT(waivers->baseline, key, json_true());
	}
	json_decref(root);
	return 0;
}

static bool is_accepted(struct waivers *waivers, const char *today,
			const struct weft_finding *f)
{
	const char *code = weft_finding_kinds[f->id].code;
	char key[1024], place[MAX_PLACE + 1];

	for (uint32_t i = 0; i < waivers->n; i++) {
		struct waiver *w = &waivers->item[i];

		snprintf(place, sizeof(place), "%.*s", (int)w->n_place,
			 w->place);
		if (strcmp(w->code, code) != 0 ||
		    fnmatch(place, f->place, 0) != 0)
			continue;
		w->n_applied++;
		if (!w->until[0] || strcmp(today, w->until) <= 0)
			return true;
	}
	key_write(code, f->place, f->text, key, sizeof(key));
	if (!json_object_get(waivers->baseline, key))
		return false;
	waivers->n_baseline++;
	return true;
}

/* One that hides nothing any more is worth to be taken away. */
static int idle_tell(const struct waivers *waivers, const char *today,
		     struct weft_findings *findings, struct weft_error *err)
{
	for (uint32_t i = 0; i < waivers->n; i++) {
		const struct waiver *w = &waivers->item[i];
		const struct weft_finding_at at = {.place = w->code};
		bool over = w->until[0] && strcmp(today, w->until) > 0;

		if ((!w->n_applied || over) &&
		    weft_findings_add(findings, WEFT_FINDING_WAIVER_IDLE, at,
				      err, "--accept %s:%.*s %s%s", w->code,
				      (int)w->n_place, w->place,
				      over ? "was until "
					   : "meets no finding any more",
				      over ? w->until : ""))
			return -1;
	}
	return 0;
}

int waivers_apply(struct waivers *waivers, const char *today,
		  struct weft_findings *findings, struct weft_error *err)
{
	uint32_t kept = 0;

	if (!waivers->n && !waivers->baseline)
		return 0;
	waivers->accepted =
		weft_calloc(findings->n, sizeof(*waivers->accepted), err);
	if (!waivers->accepted)
		return -1;
	for (uint32_t i = 0; i < findings->n; i++) {
		struct weft_finding f = findings->item[i];

		if (is_accepted(waivers, today, &f)) {
			waivers->accepted[waivers->n_accepted++] = f;
			findings->of_kind[f.id]--;
		} else {
			findings->item[kept++] = f;
		}
	}
	findings->n = kept;
	return idle_tell(waivers, today, findings, err);
}

void waivers_free(struct waivers *waivers)
{
	free(waivers->item);
	free(waivers->accepted);
	json_decref(waivers->baseline);
	*waivers = (struct waivers){0};
}
