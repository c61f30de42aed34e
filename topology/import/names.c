/* SPDX-License-Identifier: GPL-3.0-or-later */
/* names.c - ids and what they are called */
#include "topology/import/names.h"
#include "base/compare.h"
#include "base/lines.h"

#include <stdlib.h>
#include <string.h>

static int pair_add(struct weft_names *names, struct weft_span id,
		    struct weft_span name, struct weft_error *err)
{
	struct weft_name_pair *pair;

	if (WEFT_GROW(names->pairs, names->n, names->room, err))
		return -1;
	pair = &names->pairs[names->n];
	pair->id = weft_arena_text(&names->arena, id.at, id.size, err);
	pair->name = weft_arena_text(&names->arena, name.at, name.size, err);
	if (!pair->id || !pair->name)
		return -1;
	names->n++;
	return 0;
}

int weft_names_read(struct weft_names *names, const char *text,
		    struct weft_error *err)
{
	struct weft_lines lines;
	struct weft_span line, id, name;

	if (!text)
		return 0;
	lines = weft_lines_start(text, strlen(text));
	while (weft_lines_next(&lines, &line)) {
		if (!weft_span_word(&line, " \t", &id) || *id.at == '#')
			continue;
		if (!weft_span_word(&line, " \t", &name) ||
		    weft_span_trim(line).size)
			return weft_fail_at(err, WEFT_EINVAL, "names",
					    lines.number, 0,
					    "expected a GUID or id, a blank, "
					    "and the host's name");
		if (pair_add(names, id, name, err))
			return -1;
	}
	WEFT_SORT(names->pairs, names->n, weft_compare_texts);
	return 0;
}

const char *weft_names_find(const struct weft_names *names, const char *id)
{
	struct weft_name_pair key = {.id = id};
	const struct weft_name_pair *found;

	if (!names->n)
		return NULL;
	found = bsearch(&key, names->pairs, names->n, sizeof(*names->pairs),
			weft_compare_texts);
	return found ? found->name : NULL;
}

void weft_names_free(struct weft_names *names)
{
	free(names->pairs);
	weft_arena_free(&names->arena);
	*names = (struct weft_names){0};
}
