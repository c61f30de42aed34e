/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text.h - a whole text file in memory, compressed or not */
#ifndef WEFT_CLI_TEXT_H
#define WEFT_CLI_TEXT_H

#include "topology/error.h"

/* The file as a string, unpacked where it is gzip'ed: less than 64 MiB without
 * a NUL byte.  malloc'ed; NULL with err. */
char *text_load(const char *path, struct weft_error *err);

#endif
