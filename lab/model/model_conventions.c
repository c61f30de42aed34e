/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_conventions.c - weft model conventions: the named differences */
#include "cli/cmd.h"
#include "cli/report.h"
#include "lab/model/model.h"

#include <stdio.h>

static error_t parse(int key, char *arg, struct argp_state *state)
{
	(void)arg;
	if (key != ARGP_KEY_INIT)
		return ARGP_ERR_UNKNOWN;
	state->child_inputs[0] = state->input;
	return 0;
}

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
	json_object_set_new(object, "conventions", list);
	return report_print(object, err);
}

int model_conventions(int argc, char **argv)
{
	static const struct argp_child children[] = {
		{.argp = &model_argp},
		{0},
	};
	static const struct argp argp = {
		.parser = parse,
		.children = children,
		.doc = "Where figures that popular calculators print differ "
		       "from the right ones, by name, and why.",
	};
	struct model_options options = {0};
	struct weft_error err = {0};

	argp_parse(&argp, argc, argv, 0, NULL, &options);
	if (!options.json)
		print_text();
	else if (print_json(&err))
		return cmd_fail(&err);
	return EXIT_YES;
}
