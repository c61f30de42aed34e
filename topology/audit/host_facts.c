/* SPDX-License-Identifier: GPL-3.0-or-later */
/* host_facts.c - reading PLACE,KEY,VALUE lines */
#include "topology/audit/host_facts.h"
#include "base/lines.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define MAX_FIELD 255

static int limit_check(uint32_t n, const char *what, struct weft_error *err)
{
	if (n < WEFT_HOST_FACTS_MAX_FACTS)
		return 0;
	return weft_fail(err, WEFT_EINVAL, "more than %u %s",
			 WEFT_HOST_FACTS_MAX_FACTS, what);
}

/* Without blanks and one pair of quotes around. */
static struct weft_span trimmed(struct weft_span field)
{
	field = weft_span_trim(field);
	if (field.size >= 2 && *field.at == '"' &&
	    field.at[field.size - 1] == '"') {
		field.at++;
		field.size -= 2;
	}
	return field;
}

/* Three fields; commas in the value are its own. */
static bool line_split(struct weft_span line, struct weft_span *field)
{
	if (!weft_span_field(&line, ',', &field[0]) ||
	    !weft_span_field(&line, ',', &field[1]) || !line.at)
		return false;
	field[2] = line;
	for (int i = 0; i < 3; i++)
		field[i] = trimmed(field[i]);
	return true;
}

static int fact_add(struct weft_host_facts *host_facts,
		    const struct weft_span *field, int line,
		    struct weft_error *err)
{
	struct weft_host_facts_fact fact = {
		.source = host_facts->n_sources - 1,
		.line = line,
		.order = host_facts->n_facts,
	};

	if (limit_check(host_facts->n_facts, "lines", err) ||
	    WEFT_GROW(host_facts->facts, host_facts->n_facts,
		      host_facts->facts_room, err))
		return -1;
	fact.place = weft_arena_text(&host_facts->arena, field[0].at,
				     field[0].size, err);
	fact.key = weft_arena_text(&host_facts->arena, field[1].at,
				   field[1].size, err);
	fact.value = weft_arena_text(&host_facts->arena, field[2].at,
				     field[2].size, err);
	if (!fact.place || !fact.key || !fact.value)
		return -1;
	host_facts->facts[host_facts->n_facts++] = fact;
	return 0;
}

static int line_ignore(struct weft_findings *findings, const char *source,
		       int line, const char *why, struct weft_error *err)
{
	struct weft_finding_at at = {.source = source, .line = line};

	return weft_findings_add(findings, WEFT_FINDING_LINE_IGNORED, at, err,
				 "%s; expected PLACE,KEY,VALUE", why);
}

static int line_take(struct weft_host_facts *host_facts, struct weft_span line,
		     int number, struct weft_findings *findings,
		     struct weft_error *err)
{
	const char *source = host_facts->sources[host_facts->n_sources - 1];
	struct weft_span field[3] = {trimmed(line)};

	if (field[0].size == 0 || *field[0].at == '#')
		return 0;
	if (memchr(line.at, '\0', line.size))
		return line_ignore(findings, source, number,
				   "the line holds a zero byte", err);
	if (!line_split(line, field))
		return line_ignore(findings, source, number, "not three fields",
				   err);
	/* The header, also in the middle where files were joined. */
	if (weft_span_is(field[0], "place") && weft_span_is(field[1], "key"))
		return 0;
	if (field[0].size == 0 || field[1].size == 0)
		return line_ignore(findings, source, number,
				   "place or key is empty", err);
	if (field[0].size > MAX_FIELD || field[1].size > MAX_FIELD ||
	    field[2].size > MAX_FIELD)
		return line_ignore(findings, source, number,
				   "a field is longer than 255 bytes", err);
	return fact_add(host_facts, field, number, err);
}

int weft_host_facts_parse(struct weft_host_facts *host_facts, const char *text,
			  size_t size, const char *source,
			  struct weft_findings *findings,
			  struct weft_error *err)
{
	struct weft_lines lines = weft_lines_start(text, size);
	uint32_t before = host_facts->n_facts;
	struct weft_span line;
	const char *name;

	if (limit_check(host_facts->n_sources, "files", err) ||
	    WEFT_GROW(host_facts->sources, host_facts->n_sources,
		      host_facts->sources_room, err))
		return -1;
	name = weft_arena_copy(&host_facts->arena, source, err);
	if (!name)
		return -1;
	host_facts->sources[host_facts->n_sources++] = name;
	while (weft_lines_next(&lines, &line))
		if (line_take(host_facts, line, lines.number, findings, err))
			return -1;
	if (host_facts->n_facts == before)
		return weft_fail_at(err, WEFT_EINVAL, source, 0, 0,
				    "no line PLACE,KEY,VALUE; see "
				    "weft-inventory(5)");
	return 0;
}

int weft_host_facts_load(struct weft_host_facts *host_facts, const char *path,
			 struct weft_findings *findings, struct weft_error *err)
{
	char *text;
	size_t size;
	int rc = weft_text_load(path, WEFT_HOST_FACTS_MAX_BYTES, &text, &size,
				err);

	if (rc == 0)
		rc = weft_host_facts_parse(host_facts, text, size, path,
					   findings, err);
	free(text);
	return rc;
}

void weft_host_facts_free(struct weft_host_facts *host_facts)
{
	free(host_facts->facts);
	free(host_facts->sources);
	weft_arena_free(&host_facts->arena);
	*host_facts = (struct weft_host_facts){0};
}
