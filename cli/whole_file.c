/* SPDX-License-Identifier: GPL-3.0-or-later */
/* whole_file.c - a file put in place by rename */
#include "cli/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A new file, never one that a link leads to: root writes into folders that are
 * others'. */
static FILE *create(const char *path)
{
	FILE *out = NULL;
	int fd;

	unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (fd >= 0)
		out = fdopen(fd, "w");
	if (fd >= 0 && !out)
		close(fd);
	return out;
}

int whole_file_write(const char *path, const char *text, struct weft_error *err)
{
	char *temporary = malloc(strlen(path) + 5);
	FILE *out;
	int rc = 0;

	if (!temporary)
		return weft_fail(err, WEFT_ENOMEM, "out of memory");
	strcpy(temporary, path);
	strcat(temporary, ".tmp");
	out = create(temporary);
	if (!out || fputs(text, out) < 0)
		rc = weft_fail_at(err, WEFT_EIO, temporary, 0, 0, "%s",
				  strerror(errno));
	if (out && fclose(out) && rc == 0)
		rc = weft_fail_at(err, WEFT_EIO, temporary, 0, 0, "%s",
				  strerror(errno));
	if (rc == 0 && rename(temporary, path))
		rc = weft_fail_at(err, WEFT_EIO, path, 0, 0, "%s",
				  strerror(errno));
	if (rc && out)
		remove(temporary);
	free(temporary);
	return rc;
}

int output_file_write(const char *path, const char *text, size_t size,
		      struct weft_error *err)
{
	FILE *file = fopen(path, "w");
	struct stat about;
	bool written;

	if (!file)
		return weft_fail_at(err, WEFT_EIO, path, 0, 0, "%s",
				    strerror(errno));
	written = fwrite(text, 1, size, file) == size;
	if (fclose(file) == 0 && written)
		return 0;
	weft_fail_at(err, WEFT_EIO, path, 0, 0, "%s", strerror(errno));
	if (lstat(path, &about) == 0 && S_ISREG(about.st_mode))
		remove(path);
	return -1;
}
