/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trusted.h - whether a file may be believed inside slurmctld */
#ifndef WEFT_BASE_TRUSTED_H
#define WEFT_BASE_TRUSTED_H

#include "base/error.h"

#include <sys/types.h>

/* A regular file that only root and `user` can change or
 * replace: it and each folder above it (links followed) belongs to one of them
 * and is not writable for group or others; a folder may be if it is sticky, as
 * /tmp is.  -1 with err that names the file or folder. */
int weft_trusted_file(const char *path, uid_t user, struct weft_error *err);

/* The same of the folder that a file is to be put in, which need not exist. */
int weft_trusted_folder(const char *path, uid_t user, struct weft_error *err);

#endif
