/* SPDX-License-Identifier: GPL-3.0-or-later */
/* command.h - other programs, asked by the shell */
#ifndef WEFT_CLI_COMMAND_H
#define WEFT_CLI_COMMAND_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What a command prints, malloc'ed, with a NUL behind; NULL with err where it
 * fails or prints more than an importer takes.  size may be NULL. */
char *command_read(const char *command, size_t *size, struct weft_error *err);

/* The same line by line: what the command prints, or NULL with err. */
FILE *command_open(const char *command, struct weft_error *err);
/* Returns rc; -1 with err where that is 0 and the command failed. */
int command_close(FILE *in, const char *command, int rc,
		  struct weft_error *err);

/* Whether PATH has a program of that name. */
bool command_exists(const char *name);

#endif
