/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shared_options.c - --output for commands that write their answer, --fabric
 * for those that take a file */
#include "cli/shared_options.h"
#include "cli/cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool among(const char *name, const char *const *names)
{
	for (; *names; names++)
		if (strcmp(name, *names) == 0)
			return true;
	return false;
}

/* The value of the option at argv[i]: behind "=", behind a letter, or the next
 * word; *words: how many it is.  NULL: another option, or no value. */
static char *value_of(char **argv, int argc, int i, const char *name,
		      char letter, int *words)
{
	char *text = argv[i];
	size_t n = strlen(name);

	*words = 1;
	if (strncmp(text, "--", 2) == 0 && strncmp(text + 2, name, n) == 0) {
		if (text[n + 2] == '=')
			return text + n + 3;
		if (text[n + 2])
			return NULL;
	} else if (text[0] != '-' || text[1] != letter) {
		return NULL;
	} else if (text[2]) {
		return text + 2;
	}
	*words = 2;
	return i + 1 < argc ? argv[i + 1] : NULL;
}

static void words_drop(char **argv, int *argc, int at, int n)
{
	memmove(argv + at, argv + at + n,
		(size_t)(*argc - at - n + 1) * sizeof(*argv));
	*argc -= n;
}

/* "--fabric FILE" of a command whose argument is the fabric. */
static void fabric_take(char **argv, int *argc)
{
	for (int i = 1; i < *argc && strcmp(argv[i], "--") != 0; i++) {
		int words;
		char *value = value_of(argv, *argc, i, "fabric", 'f', &words);

		if (!value)
			continue;
		argv[i] = value;
		words_drop(argv, argc, i + 1, words - 1);
	}
}

/* The file in the making, for commands that argp ends. */
static const char *unfinished;

static void unfinished_drop(void)
{
	if (unfinished)
		unlink(unfinished);
}

static int output_open(struct shared_options *options)
{
	int fd;

	snprintf(options->part, sizeof(options->part), "%s.weft-XXXXXX",
		 options->output);
	/* What is no plain file, as /dev/null, is written as it is. */
	if (access(options->output, F_OK) == 0 &&
	    strncmp(options->output, "/dev/", 5) == 0) {
		options->part[0] = '\0';
		fd = open(options->output, O_WRONLY | O_CLOEXEC);
	} else {
		fd = mkstemp(options->part);
		unfinished = fd < 0 ? NULL : options->part;
		atexit(unfinished_drop);
	}
	options->saved = fd < 0 ? -1 : dup(STDOUT_FILENO);
	if (options->saved < 0 || dup2(fd, STDOUT_FILENO) < 0) {
		fprintf(stderr, "weft: %s: %s\n", options->output,
			strerror(errno));
		return EXIT_ERROR;
	}
	close(fd);
	return 0;
}

int shared_options_take(struct shared_options *options, const char *name,
			int *argc, char **argv)
{
	static const char *const own[] = {"draw", "import", "setup", NULL};
	static const char *const by_file[] = {"fabric", "audit", "draw", NULL};

	*options = (struct shared_options){.saved = -1};
	if (among(name, by_file))
		fabric_take(argv, argc);
	if (among(name, own))
		return 0;
	for (int i = 1; i < *argc && strcmp(argv[i], "--") != 0; i++) {
		int words;
		char *value = value_of(argv, *argc, i, "output", 'o', &words);

		/* behind a script's name all is the script's */
		if (strcmp(name, "spec") == 0 && argv[i][0] != '-')
			break;
		if (!value)
			continue;
		options->output = strcmp(value, "-") == 0 ? NULL : value;
		words_drop(argv, argc, i--, words);
	}
	return options->output ? output_open(options) : 0;
}

/* mkstemp's mode is private; a new file's is the umask's. */
static int chmod_as_made(const char *path)
{
	mode_t mask = umask(0);

	umask(mask);
	return chmod(path, 0666 & ~mask);
}

int shared_options_finish(struct shared_options *options, int code)
{
	bool keep = code == EXIT_YES || code == EXIT_NEGATIVE;

	unfinished = NULL;
	if (!options->output)
		return code;
	fflush(stdout);
	if (dup2(options->saved, STDOUT_FILENO) < 0)
		code = EXIT_ERROR;
	close(options->saved);
	if (!options->part[0])
		return code;
	if (!keep)
		unlink(options->part);
	else if (chmod_as_made(options->part) ||
		 rename(options->part, options->output)) {
		fprintf(stderr, "weft: %s: %s\n", options->output,
			strerror(errno));
		unlink(options->part);
		return EXIT_ERROR;
	}
	return code;
}
