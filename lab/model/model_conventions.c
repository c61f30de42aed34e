/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_conventions.c - weft model conventions: the named differences */
#include "cli/cmd.h"
#include "cli/report.h"
#include "lab/model/options.h"

#include <stdio.h>

static void print_text(void)
{
	for (uint32_t i = 0; i < weft_n_differences; i++) {
		const struct weft_difference *d = &weft_differences[i];

		printf("%s\n  printed  %s\n  right    %s\n", d->name, d->seed,
		       d->right);
		if (*d->source)
			printf("  source   %s\n", d->source);
	}
}

static int print_json(struct weft_error *err)
{
	json_t *object = model_json("conventions");
	json_t *list = json_array();

	for (uint32_t i = 0; i < weft_n_differences; i++) {
		const struct weft_difference *d = &weft_differences[i];

		json_array_append_new(
			list, json_pack("{s:s, s:s, s:s, s:s}", "name", d->name,
					"seed_does", d->seed, "right_does",
					d->right, "source", d->source));
	}
	JSON_PUT(object, "conventions", list);
	return report_print(object, err);
}

static int answer(void *input, struct weft_error *err)
{
	const struct model_options *asked = input;

	if (asked->json)
		return print_json(err);
	print_text();
	return EXIT_YES;
}

const struct calculator model_conventions = {
	.name = "conventions",
	.help = "where popular figures differ, and why",
	.line.doc = "Where figures that popular calculators print differ from "
		    "the right ones, by name, and why.",
	.question_size = sizeof(struct model_options),
	.answer = answer,
};
