/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd.c - runs a command, and ends it */
#include "config.h" /* fopencookie, memmem, on_exit */

#include "base/error.h"
#include "base/text.h"
#include "base/yaml.h"
#include "cli/cmd.h"
#include "cli/report.h"

#include <argp.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Options of the command line before its command sees it. */
struct shared_options {
	const char *output; /* NULL: standard output */
	char part[4096];    /* written in its place until the command ends */
	int saved;	    /* standard output as it was */
};

/* ---- options that all commands have ---- */

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

/* Takes what is the same everywhere out of argv[*argc], or writes it as the
 * command `name` has it.  0, or EXIT_ERROR or EXIT_USAGE, said. */
static int shared_options_take(struct shared_options *options, const char *name,
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

/* Ends the output of a command that ends with `code`; one that failed leaves
 * the file as it was.  Returns the code to end with. */
static int shared_options_finish(struct shared_options *options, int code)
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

/* ---- remembers what went wrong, and says it as JSON at the end ---- */

/* argp ends the process itself, so that this outlives every function. */
static struct {
	const char *command;
	struct weft_error err;
	char line[sizeof(((struct weft_error *)0)->text)];
} last;

/* What failed; the last one counts. */
static void json_error_set(const struct weft_error *err)
{
	last.err = *err;
}

/* The last line that is weft's own, without its "weft plan: ". */
static void line_keep(const char *text, size_t size)
{
	const char *end = text + size, *next;

	for (; text < end; text = next) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));
		const char *colon;

		stop = stop ? stop : end;
		next = stop < end ? stop + 1 : end;
		if (stop - text < 4 || memcmp(text, "weft", 4) != 0)
			continue;
		colon = memmem(text, (size_t)(stop - text), ": ", 2);
		text = colon ? colon + 2 : text;
		snprintf(last.line, sizeof(last.line), "%.*s",
			 (int)(stop - text), text);
	}
}

/* Standard error as before, but read along. */
static ssize_t tee_write(void *cookie, const char *text, size_t size)
{
	size_t done = 0;

	(void)cookie;
	line_keep(text, size);
	while (done < size) {
		ssize_t n = write(STDERR_FILENO, text + done, size - done);

		if (n < 0 && errno != EINTR)
			return 0;
		done += n > 0 ? (size_t)n : 0;
	}
	return (ssize_t)size;
}

static json_t *number_or_null(int value)
{
	return value ? json_integer(value) : json_null();
}

/* Messages end in what to do, where weft knows it. */
static const char *hint_cut(char *text)
{
	char *hint = strstr(text, "; did you mean ");

	if (!hint)
		return NULL;
	*hint = '\0';
	return hint + strlen("; ");
}

static void finish(int code, void *context)
{
	struct weft_error *err = &last.err;
	const char *hint;

	(void)context;
	if (code == 0 || report_printed())
		return;
	if (!err->text[0])
		snprintf(err->text, sizeof(err->text), "%s",
			 last.line[0] ? last.line : "no answer");
	hint = hint_cut(err->text);
	report_print(json_pack("{s:s, s:{s:s, s:i, s:o, s:o, s:o, s:o, s:o}}",
			       "schema", "weft.error/1", "error", "command",
			       last.command, "exit", code, "message",
			       report_string(err->text), "file",
			       json_text_or_null(err->source), "line",
			       number_or_null(err->line), "column",
			       number_or_null(err->column), "hint",
			       json_text_or_null(hint)),
		     NULL);
	fflush(stdout);
}

/* Where the command line of `command` has --json: when the process ends without
 * an answer, with an exit status other than 0, it prints {"schema":
 * "weft.error/1", ...} of what cmd_fail or standard error said. */
static void json_error_start(const char *command, int argc, char **argv)
{
	const cookie_io_functions_t tee = {.write = tee_write};
	FILE *stream;
	int i = 1;

	while (i < argc && strcmp(argv[i], "--") != 0 &&
	       strcmp(argv[i], "--json") != 0)
		i++;
	if (i >= argc || strcmp(argv[i], "--json") != 0)
		return;
	last.command = command;
	on_exit(finish, NULL);
	stream = fopencookie(NULL, "w", tee);
	if (!stream)
		return;
	setvbuf(stream, NULL, _IONBF, 0);
	stderr = stream;
}

/* ---- the commands' ends ---- */

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
