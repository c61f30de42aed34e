/* SPDX-License-Identifier: GPL-3.0-or-later */
/* checks.c - a list of checks, for people and for programs */
#include "cli/setup/checks.h"
#include "cli/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

int checks_add(struct checks *checks, const char *name, bool ok,
	       struct weft_error *err, const char *format, ...)
{
	struct check *more = weft_realloc(checks->item, checks->n + (size_t)1,
					  sizeof(*more), err);
	struct check *check;
	va_list args;

	if (!more)
		return -1;
	checks->item = more;
	check = &more[checks->n++];
	check->name = name;
	check->ok = ok;
	va_start(args, format);
	vsnprintf(check->text, sizeof(check->text), format, args);
	va_end(args);
	return 0;
}

void checks_free(struct checks *checks)
{
	free(checks->item);
	*checks = (struct checks){0};
}

uint32_t checks_failed(const struct checks *checks)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < checks->n; i++)
		n += !checks->item[i].ok;
	return n;
}

void checks_print(const struct checks *checks)
{
	for (uint32_t i = 0; i < checks->n; i++)
		printf("%-5s %-12s %s\n", checks->item[i].ok ? "ok" : "WRONG",
		       checks->item[i].name, checks->item[i].text);
}

json_t *checks_json(const struct checks *checks)
{
	json_t *array = json_array();

	for (uint32_t i = 0; i < checks->n; i++)
		json_array_append_new(
			array, json_pack("{s:s, s:b, s:o}", "name",
					 checks->item[i].name, "ok",
					 checks->item[i].ok, "text",
					 report_string(checks->item[i].text)));
	return array;
}
