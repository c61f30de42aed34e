/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model.c - a calculator's figures as text and as JSON */
#include "lab/model/model.h"

#include "base/suggest.h"
#include "cli/in_unit.h"
#include "cli/json.h"
#include "cli/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void convention_read(const struct argp_state *state, char *text,
			    void *input)
{
	struct model_options *options = input;

	/* "seed" is what it was called first. */
	if (strcmp(text, "right") != 0 && strcmp(text, "printed") != 0 &&
	    strcmp(text, "seed") != 0)
		argp_error(state,
			   "\"%s\" is not a convention; expected "
			   "\"right\" or \"printed\"",
			   text);
	options->convention =
		strcmp(text, "right") == 0 ? WEFT_RIGHT : WEFT_SEED;
}

#define QUESTION struct model_options

static const struct option_row rows[] = {
	{"convention", 0, "right|printed",
	 "the right figures (default), or those that popular calculators print",
	 100, READ(convention_read)},
	{"json", 0, NULL, "answer in JSON", 100, FLAG(json)},
};

const struct command_line model_line = {ROWS(rows)};

void model_note(struct model_report *report, const char *format, ...)
{
	va_list args;

	if (report->n_notes == MODEL_MAX_NOTES)
		return;
	va_start(args, format);
	vsnprintf(report->note[report->n_notes++], sizeof(report->note[0]),
		  format, args);
	va_end(args);
}

static double figure_value(const struct model_figure *figure,
			   const void *result)
{
	const char *at = (const char *)result + figure->offset;

	if (figure->flag)
		return *(const bool *)(const void *)at;
	return *(const double *)(const void *)at;
}

/* Whether the seeds print something else.  Rounding is no difference. */
static bool figure_differs(const struct model_report *report,
			   const struct model_figure *figure)
{
	double right = figure_value(figure, report->right);
	double seed = figure_value(figure, report->seed);

	return figure->difference &&
	       fabs(right - seed) > 1e-9 * fmax(fabs(right), fabs(seed));
}

static const char *shown_text(const struct model_shown *shown, double value,
			      char *text, size_t size)
{
	snprintf(text, size, "%.*f%s", shown->digits, value / shown->scale,
		 shown->unit);
	return text;
}

/* ---- JSON ---- */

json_t *model_json(const char *name)
{
	return json_pack("{s:s, s:s}", "schema", "weft.model/1", "model", name);
}

static json_t *value_json(const struct model_figure *figure, const void *result)
{
	double value = figure_value(figure, result);

	if (figure->flag)
		return json_boolean(value != 0);
	return json_real_or_null(value);
}

static json_t *differs_json(const struct model_report *report)
{
	json_t *array = json_array();

	for (size_t i = 0; i < report->n_figures; i++) {
		const struct model_figure *figure = &report->figures[i];
		const struct weft_difference *why;

		if (!figure_differs(report, figure))
			continue;
		why = WEFT_ROW(figure->difference, weft_differences,
			       weft_n_differences);
		json_array_append_new(
			array,
			json_pack("{s:s, s:o, s:o, s:s, s:s, s:s, s:s}", "key",
				  figure->key, "right",
				  value_json(figure, report->right), "seed",
				  value_json(figure, report->seed),
				  "convention", why->name, "seed_does",
				  why->seed, "right_does", why->right, "source",
				  why->source));
	}
	return array;
}

/* What stands on the seeds' screen, by our keys. */
static json_t *printed_json(const struct model_report *report)
{
	json_t *object = json_object();
	char text[64];

	for (size_t i = 0; i < report->n_figures; i++) {
		const struct model_figure *figure = &report->figures[i];

		double value = figure_value(figure, report->seed);

		if (figure->seed.scale == 0 || !isfinite(value))
			continue;
		shown_text(&figure->seed, value, text, sizeof(text));
		JSON_PUT(object, figure->key, text);
	}
	return object;
}

static json_t *bars_json(const struct model_report *report)
{
	json_t *object = json_object();

	for (size_t i = 0; i < report->n_bars; i++) {
		const struct model_bar *bar = &report->bars[i];

		if (isfinite(bar->compute_s) && isfinite(bar->exposed_s))
			JSON_PUT(object, bar->key,
				 json_pack("{s:f, s:f}", "compute_s",
					   bar->compute_s, "exposed_s",
					   bar->exposed_s));
	}
	return object;
}

/* Adds one calculator's figures to object. */
static void report_json_add(json_t *object, const struct model_report *report)
{
	bool seed = report->options->convention == WEFT_SEED;
	const void *result = seed ? report->seed : report->right;
	json_t *notes = json_array();

	for (size_t i = 0; i < report->n_figures; i++)
		JSON_PUT(object, report->figures[i].key,
			 value_json(&report->figures[i], result));
	if (report->n_bars > 0)
		JSON_PUT(object, "bars", bars_json(report));
	if (seed)
		JSON_PUT(object, "printed", printed_json(report));
	JSON_PUT(object, "differs", differs_json(report));
	for (size_t i = 0; i < report->n_notes; i++)
		json_array_append_new(notes, json_string(report->note[i]));
	JSON_PUT(object, "notes", notes);
}

static int print_json(const struct model_report *report, struct weft_error *err)
{
	bool seed = report->options->convention == WEFT_SEED;
	json_t *object = model_json(report->model);

	JSON_PUT(object, "convention", seed ? "printed" : "right");
	report_json_add(object, report);
	for (const struct model_report *more = report->more; more;
	     more = more->more) {
		json_t *part = json_object();

		report_json_add(part, more);
		JSON_PUT(object, more->model, part);
	}
	return report_print(object, err);
}

/* ---- text ---- */

static void print_figures(const struct model_report *report)
{
	bool as_seed = report->options->convention == WEFT_SEED;

	for (size_t i = 0; i < report->n_figures; i++) {
		const struct model_figure *figure = &report->figures[i];
		const struct model_shown *shown =
			as_seed ? &figure->seed : &figure->shown;
		double value = figure_value(figure, as_seed ? report->seed
							    : report->right);
		const char *label = as_seed && figure->seed_label
					    ? figure->seed_label
					    : figure->label;
		char text[64], seed[64];

		if (shown->scale == 0 || !isfinite(value))
			continue;
		shown_text(shown, value, text, sizeof(text));
		if (as_seed || !figure_differs(report, figure))
			printf("  %-24s %s\n", label, text);
		else
			printf("  %-24s %-16s printed: %s (%s)\n", label, text,
			       shown_text(figure->seed.scale > 0 ? &figure->seed
								 : shown,
					  figure_value(figure, report->seed),
					  seed, sizeof(seed)),
			       figure->difference);
	}
}

void model_print_wrapped(const char *text, size_t column, size_t indent,
			 size_t width)
{
	while (*text) {
		size_t word = strcspn(text, " ");

		if (column > indent && column + word > width) {
			printf("\n%*s", (int)indent, "");
			column = indent;
		}
		printf("%.*s", (int)word, text);
		column += word + 1;
		text += word;
		text += strspn(text, " ");
		if (*text && column + strcspn(text, " ") <= width)
			putchar(' ');
	}
	putchar('\n');
}

static void print_note(const char *text)
{
	printf("  ");
	model_print_wrapped(text, 2, 4, 80);
}

static bool habit_shows(const struct model_report *report, const char *name)
{
	for (; report; report = report->more) {
		for (size_t i = 0; i < report->n_figures; i++) {
			const struct model_figure *figure = &report->figures[i];

			if (figure_differs(report, figure) &&
			    strcmp(figure->difference, name) == 0)
				return true;
		}
	}
	return false;
}

/* Each habit is explained once, however many figures it touches. */
static void print_differences(const struct model_report *report)
{
	for (uint32_t i = 0; i < weft_n_differences; i++) {
		const struct weft_difference *why = &weft_differences[i];
		char text[512];

		if (!habit_shows(report, why->name))
			continue;
		snprintf(text, sizeof(text),
			 "%s: printed: %s. Right: %s%s%s%s.", why->name,
			 why->seed, why->right, *why->source ? " (" : "",
			 why->source, *why->source ? ")" : "");
		print_note(text);
	}
}

/* Columns of the longest bar. */
#define BAR_WIDTH 40

static void print_bar(const struct model_bar *bar, double longest_s)
{
	double scale = BAR_WIDTH / longest_s;
	int compute = (int)lround(bar->compute_s * scale);
	int all = (int)lround((bar->compute_s + bar->exposed_s) * scale);

	printf("  %-24s ", bar->label);
	for (int i = 0; i < BAR_WIDTH; i++)
		putchar(i < compute ? '#' : i < all ? '=' : ' ');
	printf(" %s, %s exposed\n",
	       IN_UNIT(bar->compute_s + bar->exposed_s, "s"),
	       IN_UNIT(bar->exposed_s, "s"));
}

static void print_bars(const struct model_report *report)
{
	double longest_s = 0;

	for (size_t i = 0; i < report->n_bars; i++)
		longest_s = fmax(longest_s, report->bars[i].compute_s +
						    report->bars[i].exposed_s);
	for (size_t i = 0; i < report->n_bars; i++) {
		const struct model_bar *bar = &report->bars[i];

		if (bar->compute_s + bar->exposed_s > 0 && isfinite(longest_s))
			print_bar(bar, longest_s);
	}
}

static void print_text(const struct model_report *report)
{
	printf("%s\n", report->title);
	print_figures(report);
	print_bars(report);
	if (report->n_notes > 0)
		putchar('\n');
	for (size_t i = 0; i < report->n_notes; i++)
		print_note(report->note[i]);
	for (const struct model_report *more = report->more; more;
	     more = more->more) {
		printf("\n%s: %s\n", more->model, more->title);
		print_figures(more);
		print_bars(more);
		for (size_t i = 0; i < more->n_notes; i++)
			print_note(more->note[i]);
	}
	if (report->options->convention == WEFT_RIGHT) {
		putchar('\n');
		print_differences(report);
	}
}

int model_print(const struct model_report *report, struct weft_error *err)
{
	if (report->options->json)
		return print_json(report, err);
	print_text(report);
	return 0;
}
