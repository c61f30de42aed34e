/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_draw.c - weft draw: a picture of a fabric, what is free, and a job */
#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/draw/drawing.h"
#include "cli/fold.h"
#include "cli/option.h"
#include "cli/report.h"
#include "cli/whole_file.h"
#include "topology/draw/draw.h"

#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Terminals are that wide at most. */
#define MAX_COLUMNS 1000
#define MIN_COLUMNS 30
/* Seconds until people wonder. */
#define PATIENCE_S 1

enum when { WHEN_AUTO, WHEN_ALWAYS, WHEN_NEVER, N_WHEN };

static const char *const when_names[N_WHEN] = {"auto", "always", "never"};

struct sketch {
	struct drawing drawing;
	const struct weft_renderer *renderer;
	const char *output;
	enum when colour;
	uint32_t width;
	double start_s;
};

static void formats_print(void)
{
	for (uint32_t i = 0; i < weft_n_renderers; i++)
		printf("%-6s %s\n", weft_renderers[i].name,
		       weft_renderers[i].help);
}

static void format_read(const struct argp_state *state, char *name, void *input)
{
	struct sketch *sketch = input;
	struct weft_error err = {0};

	sketch->renderer = weft_renderer_find(name, &err);
	if (!sketch->renderer)
		argp_error(state, "--format: %s", err.text);
}

static void json_read(const struct argp_state *state, char *text, void *input)
{
	struct sketch *sketch = input;

	(void)state;
	(void)text;
	sketch->renderer = weft_renderer_find("json", NULL);
}

static void width_read(const struct argp_state *state, char *text, void *input)
{
	struct sketch *sketch = input;

	sketch->width =
		(uint32_t)option_number(state, text, MIN_COLUMNS, MAX_COLUMNS);
}

static void file_read(const struct argp_state *state, char *text, void *input)
{
	struct sketch *sketch = input;
	struct request *request = &sketch->drawing.request;

	if (text && request->fabric_path)
		argp_error(state, "one fabric at a time, not \"%s\" too", text);
	if (text)
		request->fabric_path = text;
}

/* A name that asks for pixels gets no text. */
static void picture_check(const struct argp_state *state, const char *path)
{
	static const char *const tails[] = {".png", ".jpg",  ".jpeg",
					    ".gif", ".webp", ".pdf"};
	size_t n = strlen(path);

	for (size_t i = 0; i < sizeof(tails) / sizeof(tails[0]); i++) {
		size_t m = strlen(tails[i]);

		if (n > m && strcasecmp(path + n - m, tails[i]) == 0)
			argp_error(state,
				   "--output %s: weft draws svg, html, dot and "
				   "text; write picture.svg, and rsvg-convert "
				   "makes a %s of it",
				   path, tails[i] + 1);
	}
}

/* By the file's suffix; a name without one is text. */
static const struct weft_renderer *renderer_of(const struct argp_state *state,
					       const char *path)
{
	const struct weft_renderer *found = weft_renderer_of_file(path);
	const char *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path;
	const char *dot = strrchr(name, '.');

	picture_check(state, path);
	if (!found && dot && dot > name)
		argp_error(state,
			   "--output %s: no format has the suffix \"%s\": "
			   "expected .txt, .svg, .dot, .html or .json, or "
			   "--format beside it",
			   path, dot);
	return found;
}

static void options_check(const struct argp_state *state, void *input)
{
	struct sketch *sketch = input;
	struct request *request = &sketch->drawing.request;

	option_fabric(state, &request->fabric_path,
		      "which cluster? Give FILE or set "
		      "WEFT_FABRIC");
	if (!sketch->renderer && sketch->output)
		sketch->renderer = renderer_of(state, sketch->output);
	if (!sketch->renderer)
		sketch->renderer = &weft_renderers[0];
}

#define QUESTION struct sketch

static const struct option_row options[] = {
	{"job-file", 0, "PLAN",
	 "the job's placement, as weft plan --json prints it; \"-\" is stdin",
	 0, TEXT(drawing.job_path)},
	{"job", 'j', "SPEC", "the job, weft-spec(7), to be placed here and now",
	 0, TEXT(drawing.request.job_text)},
	{"busy", 0, "HOSTLIST",
	 "what is taken: n[00-03],n07:0-3 (GPUs 0 to 3 of n07)", 0,
	 TEXT(drawing.request.busy)},
	{"state", 0, "FILE",
	 "what is taken, as weft-state(5); \"slurm\" asks the running Slurm", 0,
	 TEXT(drawing.request.state)},
	{"format", 0, "NAME",
	 "kind of picture (default: by the name of --output, or text)", 0,
	 READ(format_read)},
	{"formats", 0, NULL, "list the formats and exit", 0,
	 LIST(formats_print)},
	{"output", 'o', "FILE",
	 "write the picture there (default: standard output)", 0, TEXT(output)},
	{"inside", 0, "NODE",
	 "one node: its GPUs, NVLink, ports, rails and cables", 0,
	 TEXT(drawing.inside)},
	{"color-by", 0, "GROUPS",
	 "stage, replica, tp, cp, ep, pp, dp, rank or job (default: the first "
	 "of them that says anything)",
	 0, TEXT(drawing.colour_by)},
	{"color", 0, "WHEN",
	 "text in colour: auto, always, never (default: auto)", 0,
	 WORD(colour, when_names, N_WHEN)},
	{"width", 0, "COLUMNS", "of text (default: the terminal's, or 80)", 0,
	 READ(width_read)},
	{"gpu", 0, "NAME",
	 "kind of GPU, to predict the step (default: of the fabric's profile)",
	 0, GPU(drawing.request.gpu)},
	{"json", 0, NULL, "short for --format json", 0, READ(json_read)},
};

static void progress_print(void *context, const char *text)
{
	const struct sketch *sketch = context;
	double elapsed_s = weft_clock_s() - sketch->start_s;

	if (elapsed_s > PATIENCE_S)
		fprintf(stderr, "weft: %.1f s: %s\n", elapsed_s, text);
}

/* ---- the terminal ---- */

static bool locale_is_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool utf8;

	if (!locale)
		return false;
	utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
	freelocale(locale);
	return utf8;
}

/* https://no-color.org: set to anything but nothing. */
static bool colour_wanted(const struct sketch *sketch)
{
	const char *no_colour = getenv("NO_COLOR");

	if (sketch->colour != WHEN_AUTO)
		return sketch->colour == WHEN_ALWAYS;
	return !sketch->output && isatty(STDOUT_FILENO) &&
	       !(no_colour && *no_colour);
}

static struct weft_draw_options options_of(const struct sketch *sketch)
{
	return (struct weft_draw_options){
		.columns = sketch->width    ? sketch->width
			   : fold_columns() ? fold_columns()
					    : 80,
		.colour = colour_wanted(sketch),
		.plain = !locale_is_utf8(),
	};
}

/* ---- output ---- */

/* Into memory first, so that an error leaves nothing half-written. */
static int draw(const struct sketch *sketch, struct weft_error *err)
{
	struct weft_draw_options how = options_of(sketch);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int result;

	if (!out)
		return weft_fail(err, WEFT_ENOMEM, "out of memory");
	result = sketch->renderer->render(&sketch->drawing.scene, &how, out,
					  err);
	if (fclose(out) || report_starved())
		result = weft_fail(err, WEFT_ENOMEM, "out of memory");
	if (result == 0 && sketch->output)
		result = output_file_write(sketch->output, text, size, err);
	else if (result == 0)
		fwrite(text, 1, size, stdout);
	free(text);
	return result;
}

int cmd_draw(int argc, char **argv)
{
	static const struct command_line line = {
		ROWS(options),
		.argument = file_read,
		.check = options_check,
		.arguments = "FILE",
		.doc = "A picture of a fabric: its domains, what is free, and "
		       "where a job would run.",
	};
	struct sketch sketch = {.start_s = weft_clock_s()};
	struct weft_error err = {0};
	bool absent;
	int result;

	command_line_read(&line, argc, argv, &sketch);
	result = drawing_open(&sketch.drawing, progress_print, &sketch, &err);
	if (result == 0)
		result = draw(&sketch, &err);
	absent = sketch.drawing.absent;
	drawing_close(&sketch.drawing);
	if (result)
		return cmd_fail(&err);
	return absent ? EXIT_NEGATIVE : EXIT_YES;
}
