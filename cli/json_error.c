/* SPDX-License-Identifier: GPL-3.0-or-later */
/* json_error.c - remembers what went wrong, and says it as JSON at the end */
#include "config.h" /* fopencookie, memmem, on_exit */

#include "cli/json_error.h"
#include "cli/report.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* argp ends the process itself, so that this outlives every function. */
static struct {
	const char *command;
	struct weft_error err;
	char line[sizeof(((struct weft_error *)0)->text)];
} last;

void json_error_set(const struct weft_error *err)
{
	last.err = *err;
}

/* The last line that is weft's own, without its "weft plan: ". */
static void line_keep(const char *text, size_t size)
{
	const char *end = text + size, *next;

	for (; text < end; text = next) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		const char *colon;

		stop = stop ? stop : end;
		next = stop < end ? stop + 1 : end;
		if (stop - text < 4 || memcmp(text, "weft", 4) != 0)
			continue;
		colon = memmem(text, (size_t)(stop - text), ": ", 2);
		text = colon ? colon + 2 : text;
		snprintf(last.line, sizeof(last.line), "%.*s",
			 (int)(stop - text), text);
	}
}

/* Standard error as before, but read along. */
static ssize_t tee_write(void *cookie, const char *text, size_t size)
{
	size_t done = 0;

	(void)cookie;
	line_keep(text, size);
	while (done < size) {
		ssize_t n = write(STDERR_FILENO, text + done, size - done);

		if (n < 0 && errno != EINTR)
			return 0;
		done += n > 0 ? (size_t)n : 0;
	}
	return (ssize_t)size;
}

static json_t *number_or_null(int value)
{
	return value ? json_integer(value) : json_null();
}

static json_t *text_or_null(const char *text)
{
	return text && text[0] ? report_string(text) : json_null();
}

/* Messages end in what to do, where weft knows it. */
static const char *hint_cut(char *text)
{
	char *hint = strstr(text, "; did you mean ");

	if (!hint)
		return NULL;
	*hint = '\0';
	return hint + strlen("; ");
}

static void finish(int code, void *context)
{
	struct weft_error *err = &last.err;
	const char *hint;

	(void)context;
	if (code == 0 || report_printed())
		return;
	if (!err->text[0])
		snprintf(err->text, sizeof(err->text), "%s",
			 last.line[0] ? last.line : "no answer");
	hint = hint_cut(err->text);
	report_print(json_pack("{s:s, s:{s:s, s:i, s:o, s:o, s:o, s:o, s:o}}",
			       "schema", "weft.error/1", "error", "command",
			       last.command, "exit", code, "message",
			       report_string(err->text), "file",
			       text_or_null(err->source), "line",
			       number_or_null(err->line), "column",
			       number_or_null(err->column), "hint",
			       text_or_null(hint)),
		     NULL);
	fflush(stdout);
}

void json_error_start(const char *command, int argc, char **argv)
{
	const cookie_io_functions_t tee = {.write = tee_write};
	FILE *stream;
	int i = 1;

	while (i < argc && strcmp(argv[i], "--") != 0 &&
	       strcmp(argv[i], "--json") != 0)
		i++;
	if (i >= argc || strcmp(argv[i], "--json") != 0)
		return;
	last.command = command;
	on_exit(finish, NULL);
	stream = fopencookie(NULL, "w", tee);
	if (!stream)
		return;
	setvbuf(stream, NULL, _IONBF, 0);
	stderr = stream;
}
