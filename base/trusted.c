/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trusted.c - owners and modes of what weft reads and writes */
#include "base/trusted.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int trusted_check(const char *path, uid_t user, struct weft_error *err)
{
	struct stat status;
	bool folder;

	if (stat(path, &status) < 0)
		return weft_fail_at(err, WEFT_EIO, path, 0, 0, "%s",
				    strerror(errno));
	folder = S_ISDIR(status.st_mode);
	if (status.st_uid != 0 && status.st_uid != user)
		return weft_fail_at(err, WEFT_EIO, path, 0, 0,
				    "refused: this %s belongs to user %u; "
				    "expected root or SlurmUser",
				    folder ? "folder" : "file",
				    (unsigned)status.st_uid);
	if (status.st_mode & (S_IWGRP | S_IWOTH) &&
	    !(folder && status.st_mode & S_ISVTX))
		return weft_fail_at(err, WEFT_EIO, path, 0, 0,
				    "refused: this %s is writable for others "
				    "than its owner; chmod go-w helps",
				    folder ? "folder" : "file");
	return 0;
}

/* Opening a pipe or a device may wait for ever, and slurmctld with it. */
static int expect_regular(const char *path, struct weft_error *err)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return weft_fail_at(err, WEFT_EIO, path, 0, 0, "%s",
				    strerror(errno));
	if (!S_ISREG(status.st_mode))
		return weft_fail_at(err, WEFT_EIO, path, 0, 0,
				    "expected a regular file");
	return 0;
}

/* The file or folder of that name, links followed, then folder by folder up to
 * the root's. */
static int trusted_upwards(char real[PATH_MAX], uid_t user,
			   struct weft_error *err)
{
	for (size_t length = strlen(real); length > 1;) {
		if (trusted_check(real, user, err) < 0)
			return -1;
		while (length > 1 && real[--length] != '/')
			;
		real[length] = '\0';
	}
	return trusted_check("/", user, err);
}

int weft_trusted_file(const char *path, uid_t user, struct weft_error *err)
{
	char real[PATH_MAX];

	if (expect_regular(path, err) < 0)
		return -1;
	if (!realpath(path, real))
		return weft_fail_at(err, WEFT_EIO, path, 0, 0, "%s",
				    strerror(errno));
	return trusted_upwards(real, user, err);
}

int weft_trusted_folder(const char *path, uid_t user, struct weft_error *err)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX], real[PATH_MAX];
	int length = slash ? (int)(slash + 1 - path) : 0;

	if (length >= PATH_MAX)
		return weft_fail(err, WEFT_EINVAL, "path is too long");
	snprintf(folder, sizeof(folder), "%.*s", length, path);
	if (!realpath(slash ? folder : ".", real))
		return weft_fail_at(err, WEFT_EIO, path, 0, 0,
				    "cannot be written: %s", strerror(errno));
	return trusted_upwards(real, user, err);
}
