/* SPDX-License-Identifier: GPL-3.0-or-later */
/* whole_file.h - files written whole or not at all */
#ifndef WEFT_CLI_WHOLE_FILE_H
#define WEFT_CLI_WHOLE_FILE_H

#include "base/error.h"

/* Beside the file first, then by rename: a reader of the old one never sees
 * half a new one. */
int whole_file_write(const char *path, const char *text,
		     struct weft_error *err);

#endif
