/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model.h - the calculators of weft model: their table, options and answers
 *
 * A calculator fills two result structs of lab/calculators/, one right and one
 * as the seeds print it, and describes their members once in a table of
 * figures; text and JSON come from that table.
 */
#ifndef WEFT_LAB_MODEL_MODEL_H
#define WEFT_LAB_MODEL_MODEL_H

#include "base/error.h"
#include "cli/option.h"
#include "lab/calculators/convention.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/* Options of every calculator. */
struct model_options {
	enum weft_convention convention;
	bool json;
};
extern const struct command_line model_line; /* reads them */

/* {"schema": "weft.model/1", "model": name}, or NULL when out of memory. */
json_t *model_json(const char *name);

/* How a number is shown: value / scale with so many digits, then the unit. */
struct model_shown {
	double scale; /* 0: not shown */
	int digits;
	const char *unit;
};

/* A double (or, with flag, a bool) at `offset` of the result structs. */
struct model_figure {
	const char *key;   /* in JSON, SI, the unit last */
	const char *label; /* in text */
	size_t offset;
	bool flag;
	struct model_shown shown, seed;
	const char *seed_label; /* the seeds' word; NULL: label */
	const char *difference; /* name in weft_differences, or NULL */
};

/* A row of figures: FIGURE("key", "label", member of the RESULT that the file
 * defines, how it is shown[, PRINTED(...)][, .difference = ...]). */
#define FIGURE(KEY, LABEL, MEMBER, ...)                                        \
	{                                                                      \
		.key = KEY, .label = LABEL,                                    \
		.offset = offsetof(RESULT, MEMBER), .shown = __VA_ARGS__       \
	}
#define PRINTED(LABEL, ...) .seed_label = LABEL, .seed = __VA_ARGS__

#define SHOWN(SCALE, DIGITS, UNIT)                                             \
	{                                                                      \
		SCALE, DIGITS, UNIT                                            \
	}
#define PLAIN(DIGITS)	SHOWN(1, DIGITS, "")
#define PERCENT(DIGITS) SHOWN(0.01, DIGITS, " %")
#define MS(DIGITS)	SHOWN(1e-3, DIGITS, " ms")
#define MB(DIGITS)	SHOWN(1e6, DIGITS, " MB")
#define GB(DIGITS)	SHOWN(1e9, DIGITS, " GB")

#define MODEL_MAX_NOTES 8

/* One bar of the text: computation, then communication that is not hidden. */
struct model_bar {
	const char *key, *label;
	double compute_s, exposed_s;
};

struct model_report {
	const char *model;
	const struct model_options *options;
	const char *title;
	const struct model_figure *figures;
	size_t n_figures;
	const void *right, *seed; /* the two results */
	size_t n_notes;
	char note[MODEL_MAX_NOTES][256];
	const struct model_bar *bars; /* drawn to one scale; those that are
				       * not finite are left out */
	size_t n_bars;
	const struct model_report *more; /* of other calculators: in JSON an
					  * object under its model's name */
};

/* Adds a sentence to the answer; beyond MODEL_MAX_NOTES it is left out. */
void model_note(struct model_report *report, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Prints the answer as the options ask.  Figures that are infinite or not a
 * number are left out of the text and null in JSON. */
int model_print(const struct model_report *report, struct weft_error *err);

/* Prints text from `column` on, and its end of line.  Lines are broken at
 * `width`; those after the first are indented. */
void model_print_wrapped(const char *text, size_t column, size_t indent,
			 size_t width);

#endif
