/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd.c - runs a command, and ends it */
#include "cli/cmd.h"
#include "base/text.h"
#include "base/yaml.h"
#include "cli/json_error.h"
#include "cli/report.h"
#include "cli/shared_options.h"
#include "config.h"

#include <argp.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

const char *argp_program_version = PACKAGE_STRING;
const char *argp_program_bug_address = NULL;

int cmd_fail(const struct weft_error *err)
{
	char text[512];

	fprintf(stderr, "weft: %s\n", weft_error_text(err, text, sizeof(text)));
	json_error_set(err);
	return EXIT_ERROR;
}

/* A command's output is its answer: one that did not reach the disk or the
 * pipe must not end in success. */
static int output_finish(int code)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return code;
	fprintf(stderr, "weft: standard output: %s\n", strerror(errno));
	return EXIT_ERROR;
}

int cmd_run(const struct command *command, int argc, char **argv)
{
	struct shared_options shared;
	char name[64];
	int code;

	report_start();
	weft_yaml_unpack = weft_text_load;
	argp_err_exit_status = EXIT_USAGE;
	json_error_start(command->name, argc, argv);
	code = shared_options_take(&shared, command->name, &argc, argv);
	if (code)
		return code;
	snprintf(name, sizeof(name), "weft %s", command->name);
	argv[0] = name;
	code = output_finish(command->run(argc, argv));
	return shared_options_finish(&shared, code);
}
