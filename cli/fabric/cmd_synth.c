/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_synth.c - weft synth: a synthetic fabric on stdout */
#include "cli/cmd.h"
#include "cli/option.h"
#include "topology/fabric.h"
#include "topology/profile.h"
#include "topology/synth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct synth {
	struct weft_synth_options options;
	char spec[1024];
};

static void profiles_print(void)
{
	for (uint32_t i = 0; i < weft_n_profiles; i++)
		printf("%-20s %s\n", weft_profiles[i].name,
		       weft_profiles[i].help);
}

/* "pod:4 leaf:16" may come as one argument or as several. */
static void level_read(const struct argp_state *state, char *text, void *input)
{
	struct synth *synth = input;
	size_t used = strlen(synth->spec);
	size_t room = sizeof(synth->spec) - used;

	if (!text) {
		argp_error(state, "which fabric? For example "
				  "\"pod:4 leaf:16 node:32 gpu:8\"");
		return;
	}
	if (snprintf(synth->spec + used, room, "%s%s", used ? " " : "", text) >=
	    (int)room)
		argp_error(state, "the fabric's description is too long");
}

static void routing_read(const struct argp_state *state, char *text,
			 void *input)
{
	struct synth *synth = input;

	for (uint32_t k = 0; k < WEFT_N_ROUTINGS; k++) {
		if (strcmp(text, weft_routing_names[k]) == 0) {
			synth->options.routing = weft_routing_names[k];
			return;
		}
	}
	argp_error(state, "--routing: \"%s\" is none of ecmp, adaptive, static",
		   text);
}

#define QUESTION struct synth

static const struct option_row options[] = {
	{"profile", 0, "NAME",
	 "link classes of a known machine (default: dgx-h100-superpod)", 0,
	 TEXT(options.profile)},
	{"profiles", 0, NULL, "list the profiles and exit", 0,
	 LIST(profiles_print)},
	{"name", 'n', "NAME", "name of the fabric", 0, TEXT(options.name)},
	{"prefix", 0, "TEXT", "start of node names (default: n)", 0,
	 TEXT(options.prefix)},
	{"rails", 'r', "N", "rail-optimised: N leaf switches a bundle", 0,
	 WHOLE(options.rails, 0, 64)},
	{"routing", 0, "POLICY",
	 "ecmp, adaptive or static (default: the profile's)", 0,
	 READ(routing_read)},
	{"cables", 0, NULL, "with its switches and cables", 0,
	 FLAG(options.cables)},
	{"damage", 0, "FRACTION", "leave out this share of the nodes, 0 to 1",
	 0, NUMBER(options.damage, 0, 1)},
	{"seed", 0, "N", "seed of the damage (default: 0)", 0,
	 LONG(options.seed, UINT64_MAX)},
};

/* Names made from the options can collide, and then the file does not load:
 * better no file than that one. */
static int text_check(const char *text, struct weft_error *err)
{
	struct weft_fabric *f =
		weft_fabric_parse(text, strlen(text), "synthetic fabric", err);

	weft_fabric_free(f);
	return f ? 0 : -1;
}

int cmd_synth(int argc, char **argv)
{
	static const struct command_line line = {
		ROWS(options),
		.argument = level_read,
		.arguments = "LEVEL:COUNT... node:COUNT gpu:COUNT",
		.doc = "Writes the YAML of a synthetic fabric.  Counts are "
		       "nested, outermost first: \"pod:4 leaf:16 node:32 "
		       "gpu:8\" is 16,384 GPUs.",
	};
	struct synth synth = {0};
	struct weft_error err = {0};
	char *text;

	command_line_read(&line, argc, argv, &synth);
	text = weft_synth(synth.spec, &synth.options, &err);
	if (!text)
		return cmd_fail(&err);
	if (text_check(text, &err)) {
		free(text);
		return cmd_fail(&err);
	}
	fputs(text, stdout);
	free(text);
	return EXIT_YES;
}
