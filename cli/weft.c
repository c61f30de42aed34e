/* SPDX-License-Identifier: GPL-3.0-or-later */
/* weft.c - finds the command and runs it */
#include "base/suggest.h"
#include "cli/cmd.h"

#include <argp.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What lies beside this program, or where it was installed. */
static int lab_exec(const char *folder, const char *below, char **argv)
{
	char path[4096];

	if (snprintf(path, sizeof(path), "%s%s", folder, below) <
	    (int)sizeof(path))
		execv(path, argv);
	return errno == ENOENT || errno == ENOTDIR ? 0 : errno;
}

/* Commands of weft-lab, a program of its own that need not be installed. */
static int cmd_lab(int argc, char **argv)
{
	char self[4096];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char **lab = weft_calloc((size_t)argc + 2, sizeof(*lab), NULL);
	int code;

	if (!lab) {
		fprintf(stderr, "weft: out of memory\n");
		return EXIT_ERROR;
	}
	lab[0] = argv[0];
	lab[1] = argv[0] + strlen("weft ");
	memcpy(lab + 2, argv + 1, (size_t)(argc - 1) * sizeof(*lab));
	code = 0;
	if (length > 0) {
		self[length] = '\0';
		*strrchr(self, '/') = '\0';
		code = lab_exec(self, "/weft-lab", lab);
		if (!code)
			code = lab_exec(self, "/../libexec/weft/weft-lab", lab);
	}
	if (!code)
		code = lab_exec(WEFT_LIBEXECDIR, "/weft-lab", lab);
	if (code)
		fprintf(stderr, "weft: weft-lab: %s\n", strerror(code));
	else
		fprintf(stderr,
			"weft: \"%s\" is a command of weft-lab, which is not "
			"installed (package weft-lab)\n",
			lab[1]);
	free(lab);
	return EXIT_ERROR;
}

/* In the order in which one meets them. */
static const struct command commands[] = {
	{"synth", "write a synthetic fabric", cmd_synth},
	{"fabric", "check a fabric file and print its shape", cmd_fabric},
	{"setup", "go from a running cluster to observe mode", cmd_setup},
	{"doctor", "check the installation on a running Slurm", cmd_doctor},
	{"import", "what a cluster says of itself, as a fabric file",
	 cmd_import},
	{"export", "write a fabric as Slurm and others want it", cmd_export},
	{"audit", "what is wrong with a cluster, and what has changed",
	 cmd_audit},
	{"draw", "a picture of a fabric, of what is free, of a job", cmd_draw},
	{"spec", "the job spec of a launch script or configuration", cmd_spec},
	{"plan", "where would this job run, at what cost, and why", cmd_plan},
	{"score", "what does an allocation made elsewhere cost", cmd_score},
	{"ranks", "which rank runs on which GPU, for any launcher", cmd_ranks},
	{"defrag", "what to wait for or to move, for a better place",
	 cmd_defrag},
	{"why", "why a job of the running Slurm is where it is, or waits",
	 cmd_why},
	{"status", "what is free, how weft decides, who waits for what",
	 cmd_status},
	{"advise", "layouts of a job that fit, the fastest first", cmd_lab},
	{"map", "the optimiser alone, on graphs or matrices", cmd_lab},
	{"replay", "a stream of jobs under several policies", cmd_lab},
	{"model", "calculators: gradient sync, pipeline, overlap", cmd_lab},
	{"calibrate", "fit link parameters to nccl-tests output", cmd_lab},
};
#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static int command_unknown(const char *name)
{
	const char *words[N_COMMANDS], *near;

	for (size_t i = 0; i < N_COMMANDS; i++)
		words[i] = commands[i].name;
	near = weft_suggest_near(name, words, N_COMMANDS);
	if (near)
		fprintf(stderr,
			"weft: there is no command \"%s\"; did you mean "
			"\"%s\"? (weft --help lists all)\n",
			name, near);
	else
		fprintf(stderr,
			"weft: there is no command \"%s\": weft --help lists "
			"all\n",
			name);
	return EXIT_USAGE;
}

/* The command list of --help, made from the table above. */
static char *help_filter(int key, const char *text, void *input)
{
	char *list = NULL;
	size_t size;
	FILE *out;

	(void)input;
	if (key != ARGP_KEY_HELP_POST_DOC)
		return (char *)(uintptr_t)text;
	out = open_memstream(&list, &size);
	if (!out)
		return NULL;
	fprintf(out, "Commands:\n");
	for (size_t i = 0; i < N_COMMANDS; i++)
		fprintf(out, "  %-9s %s\n", commands[i].name, commands[i].help);
	fprintf(out, "\nweft COMMAND --help explains one, weft(1) all.");
	fclose(out);
	return list;
}

/* What is run when argp is done: a command takes words out of argv, which argp
 * still looks at. */
struct invocation {
	const struct command *command;
	int argc;
	char **argv;
	int code;
};

/* weft help [COMMAND]: what --help says. */
static int help(const struct argp_state *state)
{
	static char option[] = "--help";
	char *argv[] = {NULL, option, NULL};
	const struct command *command;

	if (state->next >= state->argc) {
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return EXIT_YES;
	}
	command = WEFT_ROW(state->argv[state->next], commands, N_COMMANDS);
	return command ? cmd_run(command, 2, argv)
		       : command_unknown(state->argv[state->next]);
}

static error_t parse_global(int key, char *arg, struct argp_state *state)
{
	struct invocation *invocation = state->input;

	switch (key) {
	case ARGP_KEY_ARG:
		if (strcmp(arg, "help") == 0) {
			invocation->code = help(state);
			state->next = state->argc;
			return 0;
		}
		invocation->command = WEFT_ROW(arg, commands, N_COMMANDS);
		invocation->argc = state->argc - state->next + 1;
		invocation->argv = state->argv + state->next - 1;
		if (!invocation->command)
			invocation->code = command_unknown(arg);
		state->next = state->argc; /* the command took the rest */
		return 0;
	case ARGP_KEY_NO_ARGS:
		argp_state_help(state, stderr,
				ARGP_HELP_STD_HELP & ~ARGP_HELP_EXIT_OK);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

int main(int argc, char **argv)
{
	static const struct argp argp = {
		.parser = parse_global,
		.args_doc = "COMMAND [OPTION...] [FILE]",
		.doc = "weft - topology-aware GPU placement\n\v",
		.help_filter = help_filter,
	};
	struct invocation invocation = {.code = EXIT_USAGE};
	char name[64];

	argp_err_exit_status = EXIT_USAGE;
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &invocation))
		return EXIT_USAGE;
	if (!invocation.command)
		return invocation.code;
	if (invocation.command->run != cmd_lab)
		return cmd_run(invocation.command, invocation.argc,
			       invocation.argv);
	/* weft-lab takes --output itself. */
	snprintf(name, sizeof(name), "weft %s", invocation.command->name);
	invocation.argv[0] = name;
	return cmd_lab(invocation.argc, invocation.argv);
}
