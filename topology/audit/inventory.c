/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inventory.c - reading PLACE,KEY,VALUE lines */
#include "topology/audit/inventory.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FIELD 255

struct span {
	const char *at;
	size_t size;
};

static int room_make(void **array, uint32_t n, uint32_t *room, size_t size,
		     const char *what, struct weft_error *err)
{
	uint32_t more = *room ? 2 * *room : 64;
	void *grown;

	if (n < *room)
		return 0;
	if (n >= WEFT_INVENTORY_MAX_FACTS)
		return weft_fail(err, WEFT_EINVAL, "more than %u %s",
				 WEFT_INVENTORY_MAX_FACTS, what);
	grown = weft_realloc(*array, more, size, err);
	if (!grown)
		return -1;
	*array = grown;
	*room = more;
	return 0;
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

static int fact_add(struct weft_inventory *inventory, const struct span *field,
		    int line, struct weft_error *err)
{
	struct weft_inventory_fact fact = {
		.source = inventory->n_sources - 1,
		.line = line,
		.order = inventory->n_facts,
	};

	if (room_make((void **)&inventory->facts, inventory->n_facts,
		      &inventory->facts_room, sizeof(*inventory->facts),
		      "lines", err))
		return -1;
	fact.place = weft_arena_text(&inventory->arena, field[0].at,
				     field[0].size, err);
	fact.key = weft_arena_text(&inventory->arena, field[1].at,
				   field[1].size, err);
	fact.value = weft_arena_text(&inventory->arena, field[2].at,
				     field[2].size, err);
	if (!fact.place || !fact.key || !fact.value)
		return -1;
	inventory->facts[inventory->n_facts++] = fact;
	return 0;
}

static int line_ignore(struct weft_findings *findings, const char *source,
		       int line, const char *why, struct weft_error *err)
{
	struct weft_finding_at at = {.source = source, .line = line};

	return weft_findings_add(findings, WEFT_FINDING_LINE_IGNORED, at, err,
				 "%s; expected PLACE,KEY,VALUE", why);
}

static int line_take(struct weft_inventory *inventory, const char *line,
		     const char *end, int number,
		     struct weft_findings *findings, struct weft_error *err)
{
	const char *source = inventory->sources[inventory->n_sources - 1];
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
	return fact_add(inventory, field, number, err);
}

int weft_inventory_parse(struct weft_inventory *inventory, const char *text,
			 size_t size, const char *source,
			 struct weft_findings *findings, struct weft_error *err)
{
	const char *end = text + size, *name;
	uint32_t before = inventory->n_facts;
	int number = 0;

	if (room_make((void **)&inventory->sources, inventory->n_sources,
		      &inventory->sources_room, sizeof(*inventory->sources),
		      "files", err))
		return -1;
	name = weft_arena_text(&inventory->arena, source, strlen(source), err);
	if (!name)
		return -1;
	inventory->sources[inventory->n_sources++] = name;
	for (const char *line = text; line < end;) {
		const char *stop = memchr(line, '\n', (size_t)(end - line));

		stop = stop ? stop : end;
		if (line_take(inventory, line, stop, ++number, findings, err))
			return -1;
		line = stop + 1;
	}
	if (inventory->n_facts == before)
		return weft_fail_at(err, WEFT_EINVAL, source, 0, 0,
				    "no line PLACE,KEY,VALUE; see "
				    "weft-inventory(5)");
	return 0;
}

int weft_inventory_load(struct weft_inventory *inventory, const char *path,
			struct weft_findings *findings, struct weft_error *err)
{
	char *text;
	size_t size;
	int rc = weft_text_load(path, WEFT_INVENTORY_MAX_BYTES, &text, &size,
				err);

	if (rc == 0)
		rc = weft_inventory_parse(inventory, text, size, path, findings,
					  err);
	free(text);
	return rc;
}

void weft_inventory_free(struct weft_inventory *inventory)
{
	free(inventory->facts);
	free(inventory->sources);
	weft_arena_free(&inventory->arena);
	*inventory = (struct weft_inventory){0};
}
