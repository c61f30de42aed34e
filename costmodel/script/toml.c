/* SPDX-License-Identifier: GPL-3.0-or-later */
/* toml.c - tables and values of TOML as facts: strings, numbers and booleans on
 * a line of their own; arrays and inline tables are passed over */
#include "costmodel/script/facts.h"

#include <stdio.h>
#include <string.h>

#define MAX_NAME 100

/* Narrows [*text, *end) to what blanks surround. */
static void strip(const char **text, const char **end)
{
	while (*text < *end && strchr(" \t\r", **text))
		(*text)++;
	while (*text < *end && strchr(" \t\r", (*end)[-1]))
		(*end)--;
}

/* What stands before a comment. */
static const char *comment_find(const char *text, const char *end)
{
	char quote = '\0';

	for (; text < end; text++) {
		if (quote ? *text == quote : *text == '"' || *text == '\'')
			quote = quote ? '\0' : *text;
		else if (!quote && *text == '#')
			break;
	}
	return text;
}

static int line_read(struct facts *facts, const char *text, const char *end,
		     char table[MAX_NAME], const char *file, uint32_t line,
		     struct weft_error *err)
{
	const char *equals, *name_end, *value;
	char name[2 * MAX_NAME + 2], held[MAX_NAME];

	end = comment_find(text, end);
	strip(&text, &end);
	if (text == end)
		return 0;
	if (*text == '[') {
		while (text < end && *text == '[')
			text++;
		while (text < end && end[-1] == ']')
			end--;
		snprintf(table, MAX_NAME, "%.*s", (int)(end - text), text);
		return 0;
	}
	equals = memchr(text, '=', (size_t)(end - text));
	if (!equals) /* of an array over several lines */
		return strchr("]\"'{}0123456789", *text)
			       ? 0
			       : weft_fail_at(err, WEFT_EINVAL, file, (int)line,
					      0, "expected \"key = value\"");
	name_end = equals;
	value = equals + 1;
	strip(&text, &name_end);
	strip(&value, &end);
	if (value < end && strchr("[{", *value))
		return 0;
	if (end - value >= 2 && strchr("\"'", *value) && end[-1] == *value) {
		value++;
		end--;
	}
	snprintf(name, sizeof(name), "%s%s%.*s", table, *table ? "." : "",
		 (int)(name_end - text > MAX_NAME ? MAX_NAME : name_end - text),
		 text);
	snprintf(held, sizeof(held), "%.*s", (int)(end - value), value);
	facts_add_text(facts, FACT_FILE, name, held, file, line);
	return 0;
}

int facts_read_toml(struct facts *facts, const char *text, size_t size,
		    const char *file, struct weft_error *err)
{
	const char *end = text + size;
	char table[MAX_NAME] = "";

	for (uint32_t line = 1; text < end; line++) {
		const char *feed = memchr(text, '\n', (size_t)(end - text));
		const char *stop = feed ? feed : end;

		if (line_read(facts, text, stop, table, file, line, err))
			return -1;
		text = feed ? feed + 1 : end;
	}
	return facts->failed ? -1 : 0;
}
