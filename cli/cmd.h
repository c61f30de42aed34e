/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd.h - the commands of weft, and how each ends */
#ifndef WEFT_CLI_CMD_H
#define WEFT_CLI_CMD_H

#include "base/error.h"

/* Exit codes, the same for every command. */
enum exit_code {
	EXIT_YES = 0,
	EXIT_ERROR = 1,	   /* nothing half-written */
	EXIT_USAGE = 2,	   /* argp's, through argp_err_exit_status */
	EXIT_NEGATIVE = 3, /* no placement exists, score worse than asked */
};

/* run gets argv[0] = "weft NAME", for argp's messages. */
struct command {
	const char *name, *help;
	int (*run)(int argc, char **argv);
};

int cmd_audit(int argc, char **argv);
int cmd_defrag(int argc, char **argv);
int cmd_doctor(int argc, char **argv);
int cmd_draw(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_fabric(int argc, char **argv);
int cmd_import(int argc, char **argv);
int cmd_plan(int argc, char **argv);
int cmd_ranks(int argc, char **argv);
int cmd_score(int argc, char **argv);
int cmd_setup(int argc, char **argv);
int cmd_spec(int argc, char **argv);
int cmd_status(int argc, char **argv);
int cmd_synth(int argc, char **argv);
int cmd_why(int argc, char **argv);

/* Runs a command; argv[0] is its name as the user gave it.  Returns its exit
 * code, EXIT_ERROR where standard output could not be written. */
int cmd_run(const struct command *command, int argc, char **argv);

/* Prints "weft: SOURCE:LINE:COL: text" on stderr and returns EXIT_ERROR. */
int cmd_fail(const struct weft_error *err);

#endif
