/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_synth.c - weft synth: a synthetic fabric on stdout */
#include "cli/cmd.h"
#include "cli/option.h"
#include "topology/fabric.h"
#include "topology/profile.h"
#include "topology/synth.h"

#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
	KEY_PROFILE = 256,
	KEY_PROFILES,
	KEY_DAMAGE,
	KEY_SEED,
	KEY_PREFIX,
	KEY_CABLES,
	KEY_ROUTING
};

static const struct argp_option options[] = {
	{"profile", KEY_PROFILE, "NAME", 0,
	 "link classes of a known machine (default: dgx-h100-superpod)", 0},
	{"profiles", KEY_PROFILES, NULL, 0, "list the profiles and exit", 0},
	{"name", 'n', "NAME", 0, "name of the fabric", 0},
	{"prefix", KEY_PREFIX, "TEXT", 0, "start of node names (default: n)",
	 0},
	{"rails", 'r', "N", 0, "rail-optimised: N leaf switches a bundle", 0},
	{"routing", KEY_ROUTING, "POLICY", 0,
	 "ecmp, adaptive or static (default: the profile's)", 0},
	{"cables", KEY_CABLES, NULL, 0, "with its switches and cables", 0},
	{"damage", KEY_DAMAGE, "FRACTION", 0,
	 "leave out this share of the nodes, 0 to 1", 0},
	{"seed", KEY_SEED, "N", 0, "seed of the damage (default: 0)", 0},
	{0},
};

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
static void spec_append(struct argp_state *state, struct synth *synth,
			const char *arg)
{
	size_t used = strlen(synth->spec);
	size_t room = sizeof(synth->spec) - used;

	if (snprintf(synth->spec + used, room, "%s%s", used ? " " : "", arg) >=
	    (int)room)
		argp_error(state, "the fabric's description is too long");
}

static const char *routing_option(const struct argp_state *state,
				  const char *arg)
{
	for (uint32_t k = 0; k < WEFT_N_ROUTINGS; k++)
		if (strcmp(arg, weft_routing_names[k]) == 0)
			return weft_routing_names[k];
	argp_error(state, "--routing: \"%s\" is none of ecmp, adaptive, static",
		   arg);
	return NULL;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct synth *synth = state->input;

	switch (key) {
	case KEY_PROFILE:
		synth->options.profile = arg;
		return 0;
	case KEY_PROFILES:
		profiles_print();
		exit(fflush(stdout) == 0 ? EXIT_YES : EXIT_ERROR);
	case KEY_ROUTING:
		synth->options.routing = routing_option(state, arg);
		return 0;
	case KEY_CABLES:
		synth->options.cables = true;
		return 0;
	case KEY_PREFIX:
		synth->options.prefix = arg;
		return 0;
	case KEY_DAMAGE:
		synth->options.damage = option_number(state, arg, 0, 1);
		return 0;
	case KEY_SEED:
		synth->options.seed = option_uint(state, arg, UINT64_MAX);
		return 0;
	case 'n':
		synth->options.name = arg;
		return 0;
	case 'r':
		synth->options.rails = (uint32_t)option_uint(state, arg, 64);
		return 0;
	case ARGP_KEY_ARG:
		spec_append(state, synth, arg);
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_error(state, "which fabric? For example "
				  "\"pod:4 leaf:16 node:32 gpu:8\"");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

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
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "LEVEL:COUNT... node:COUNT gpu:COUNT",
		.doc = "Writes the YAML of a synthetic fabric.  Counts are "
		       "nested, outermost first: \"pod:4 leaf:16 node:32 "
		       "gpu:8\" is 16,384 GPUs.",
	};
	struct synth synth = {0};
	struct weft_error err = {0};
	char *text;

	argp_parse(&argp, argc, argv, 0, NULL, &synth);
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
