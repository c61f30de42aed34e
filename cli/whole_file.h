/* SPDX-License-Identifier: GPL-3.0-or-later */
/* whole_file.h - files written whole or not at all */
#ifndef WEFT_CLI_WHOLE_FILE_H
#define WEFT_CLI_WHOLE_FILE_H

#include "base/error.h"

/* Beside the file first, then by rename: a reader of the old one never sees
 * half a new one. */
int whole_file_write(const char *path, const char *text,
		     struct weft_error *err);

/* Into the file itself; what is no plain file, as /dev/stdout, stays where it
 * is, and a plain one is removed where it cannot be written whole. */
int output_file_write(const char *path, const char *text, size_t size,
		      struct weft_error *err);

#endif
