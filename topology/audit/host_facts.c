/* SPDX-License-Identifier: GPL-3.0-or-later */
/* host_facts.c - reading PLACE,KEY,VALUE lines */
#include "topology/audit/host_facts.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define MAX_FIELD 255

struct span {
	const char *at;
	size_t size;
};

static int limit_check(uint32_t n, const char *what, struct weft_error *err)
{
	if (n < WEFT_HOST_FACTS_MAX_FACTS)
		return 0;
	return weft_fail(err, WEFT_EINVAL, "more than %u %s",
			 WEFT_HOST_FACTS_MAX_FACTS, what);
}

/* Without blanks and one pair of quotes around. */
static struct span trimmed(const char *at, const char *end)
{
	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	while (end > at &&
	       (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
		end--;
	if (end - at >= 2 && *at == '"' && end[-1] == '"') {
		at++;
		end--;
	}
	return (struct span){at, (size_t)(end - at)};
}

/* Three fields; commas in the value are its own. */
static bool line_split(const char *line, const char *end, struct span *field)
{
	const char *first = memchr(line, ',', (size_t)(end - line));
	const char *second =
		first ? memchr(first + 1, ',', (size_t)(end - first - 1))
		      : NULL;

	if (!second)
		return false;
	field[0] = trimmed(line, first);
	field[1] = trimmed(first + 1, second);
	field[2] = trimmed(second + 1, end);
	return true;
}

static bool span_is(struct span span, const char *text)
{
	return strlen(text) == span.size &&
	       memcmp(span.at, text, span.size) == 0;
}

static int fact_add(struct weft_host_facts *host_facts,
		    const struct span *field, int line, struct weft_error *err)
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

static int line_take(struct weft_host_facts *host_facts, const char *line,
		     const char *end, int number,
		     struct weft_findings *findings, struct weft_error *err)
{
	const char *source = host_facts->sources[host_facts->n_sources - 1];
	struct span field[3] = {trimmed(line, end)};

	if (field[0].size == 0 || *field[0].at == '#')
		return 0;
	if (memchr(line, '\0', (size_t)(end - line)))
		return line_ignore(findings, source, number,
				   "the line holds a zero byte", err);
	if (!line_split(line, end, field))
		return line_ignore(findings, source, number, "not three fields",
				   err);
	/* The header, also in the middle where files were joined. */
	if (span_is(field[0], "place") && span_is(field[1], "key"))
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
	const char *end = text + size, *name;
	uint32_t before = host_facts->n_facts;
	int number = 0;

	if (limit_check(host_facts->n_sources, "files", err) ||
	    WEFT_GROW(host_facts->sources, host_facts->n_sources,
		      host_facts->sources_room, err))
		return -1;
	name = weft_arena_text(&host_facts->arena, source, strlen(source), err);
	if (!name)
		return -1;
	host_facts->sources[host_facts->n_sources++] = name;
	for (const char *line = text; line < end;) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));

		stop = stop ? stop : end;
		if (line_take(host_facts, line, stop, ++number, findings, err))
			return -1;
		line = stop + 1;
	}
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
