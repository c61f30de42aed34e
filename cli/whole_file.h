/* SPDX-License-Identifier: GPL-3.0-or-later */
/* whole_file.h - files written whole or not at all */
#ifndef WEFT_CLI_WHOLE_FILE_H
#define WEFT_CLI_WHOLE_FILE_H

#include "base/error.h"

#include <stdio.h>

/* Beside the file first, then by rename: a reader of the old one never sees
 * half a new one. */
int whole_file_write(const char *path, const char *text,
		     struct weft_error *err);

/* Into the file itself; what is no plain file, as /dev/stdout, stays where it
 * is, and a plain one is removed where it cannot be written whole. */
int output_file_write(const char *path, const char *text, size_t size,
		      struct weft_error *err);

/* A file that is written bit by bit.  It gets its name when it is whole; what
 * is no plain file is written as it is. */
struct output {
	FILE *out; /* NULL: not open */
	const char *path;
	char *part; /* its name until then; NULL: as in the end */
};
/* -1 with err, and nothing to close. */
int output_open(struct output *o, const char *path, struct weft_error *err);
/* Puts the file in place where rc is 0; else, and where it cannot be written,
 * it is left out.  Returns rc, or -1 with err.  Nothing happens where none is
 * open. */
int output_close(struct output *o, int rc, struct weft_error *err);

#endif
