/* SPDX-License-Identifier: GPL-3.0-or-later */
/* model_facts.c - weft model facts: figures of others, links, and checks */
#include "cli/cmd.h"
#include "cli/in_unit.h"
#include "cli/report.h"
#include "lab/calculators/fact.h"
#include "lab/calculators/interconnect.h"
#include "lab/model/options.h"

#include <stdio.h>

static void print_text(void)
{
	for (uint32_t i = 0; i < weft_n_facts; i++) {
		const struct weft_fact *f = &weft_facts[i];

		printf("%-24s %-12s", f->name, IN_UNIT(f->value, f->unit));
		if (f->seed != 0 && f->seed != f->value)
			printf(" printed: %s", IN_UNIT(f->seed, f->unit));
		printf(" %s [%s]\n", f->text, f->source);
	}
	printf("\nlinks, one direction\n");
	for (uint32_t i = 0; i < weft_n_interconnects; i++) {
		const struct weft_interconnect *link = &weft_interconnects[i];

		printf("  %-10s %-10s %u x %s [%s]\n", link->name,
		       IN_UNIT(weft_interconnect_rate(link, WEFT_RIGHT), "B/s"),
		       link->lanes, IN_UNIT(link->lane_bytes_per_s, "B/s"),
		       link->source);
	}
	printf("\nbefore blaming the model\n");
	for (uint32_t i = 0; i < weft_n_checks; i++)
		printf("  %-12s %s\n  %-12s finds %s\n", weft_checks[i].name,
		       weft_checks[i].how, "", weft_checks[i].finds);
}

static json_t *facts_json(void)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < weft_n_facts; i++) {
		const struct weft_fact *f = &weft_facts[i];

		json_array_append_new(
			list, json_pack("{s:s, s:f, s:s, s:o, s:s, s:s}",
					"name", f->name, "value", f->value,
					"unit", f->unit, "seed",
					f->seed != 0 ? json_real(f->seed)
						     : json_null(),
					"text", f->text, "source", f->source));
	}
	return list;
}

static json_t *links_json(void)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < weft_n_interconnects; i++) {
		const struct weft_interconnect *link = &weft_interconnects[i];

		json_array_append_new(
			list,
			json_pack("{s:s, s:f, s:s}", "name", link->name,
				  "rate_bytes_per_s",
				  weft_interconnect_rate(link, WEFT_RIGHT),
				  "source", link->source));
	}
	return list;
}

static json_t *checks_json(void)
{
	json_t *list = json_array();

	for (uint32_t i = 0; i < weft_n_checks; i++)
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s}", "name",
						weft_checks[i].name, "how",
						weft_checks[i].how, "finds",
						weft_checks[i].finds));
	return list;
}

static int answer(void *input, struct weft_error *err)
{
	const struct model_options *asked = input;
	json_t *object;

	if (!asked->json) {
		print_text();
		return EXIT_YES;
	}
	object = model_json("facts");
	JSON_PUT(object, "facts", facts_json());
	JSON_PUT(object, "links", links_json());
	JSON_PUT(object, "checks", checks_json());
	return report_print(object, err);
}

const struct calculator model_facts = {
	.name = "facts",
	.help = "figures of others, with their sources; checks",
	.line.doc =
		"Figures that others state or measured, with their sources; "
		"link generations; what to check before blaming the model.",
	.question_size = sizeof(struct model_options),
	.answer = answer,
};
