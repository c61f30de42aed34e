/* SPDX-License-Identifier: GPL-3.0-or-later */
/* shared_options.h - what every command takes alike: --output, and the fabric
 * as FILE or as --fabric */
#ifndef WEFT_CLI_SHARED_OPTIONS_H
#define WEFT_CLI_SHARED_OPTIONS_H

/* Options of the command line before its command sees it. */
struct shared_options {
	const char *output; /* NULL: standard output */
	char part[4096];    /* written in its place until the command ends */
	int saved;	    /* standard output as it was */
};

/* Takes what is the same everywhere out of argv[*argc], or writes it as the
 * command `name` has it.  0, or EXIT_ERROR or EXIT_USAGE, said. */
int shared_options_take(struct shared_options *options, const char *name,
			int *argc, char **argv);

/* Ends the output of a command that ends with `code`; one that failed leaves
 * the file as it was.  Returns the code to end with. */
int shared_options_finish(struct shared_options *options, int code);

#endif
