/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lab.c - runs a command of the laboratory: weft execs "weft-lab COMMAND ..."
 */
#include "lab/lab.h"
#include "cli/cmd.h"

#include <stdio.h>
#include <string.h>

static const struct command commands[] = {
	{"advise", NULL, cmd_advise}, {"calibrate", NULL, cmd_calibrate},
	{"map", NULL, cmd_map},	      {"model", NULL, cmd_model},
	{"replay", NULL, cmd_replay},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		if (argc > 1 && strcmp(argv[1], commands[i].name) == 0)
			return cmd_run(&commands[i], argc - 1, argv + 1);
	}
	fprintf(stderr, "weft-lab: weft runs this program for its commands "
			"advise, calibrate, map, model and replay\n");
	return EXIT_USAGE;
}
