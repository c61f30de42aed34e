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

static int output_fail(struct output *o, struct weft_error *err)
{
	int failed = errno;

	weft_fail_at(err, WEFT_EIO, o->path, 0, 0, "%s", strerror(failed));
	free(o->part);
	*o = (struct output){.path = o->path};
	errno = failed;
	return -1;
}

int output_open(struct output *o, const char *path, struct weft_error *err)
{
	size_t size = strlen(path) + sizeof(".part");
	struct stat about;

	*o = (struct output){.path = path};
	/* of the name itself: /dev/stdout is a link that must stay one */
	if (lstat(path, &about) != 0 || S_ISREG(about.st_mode)) {
		o->part = weft_calloc(size, 1, err);
		if (!o->part)
			return -1;
		snprintf(o->part, size, "%s.part", path);
	}
	o->out = fopen(o->part ? o->part : path, "w");
	return o->out ? 0 : output_fail(o, err);
}

int output_close(struct output *o, int rc, struct weft_error *err)
{
	bool failed;

	if (!o->out)
		return rc;
	failed = ferror(o->out);
	failed |= fclose(o->out) != 0;
	if (rc == 0 && !failed && o->part)
		failed = rename(o->part, o->path) != 0;
	if ((rc || failed) && o->part)
		unlink(o->part);
	if (rc == 0 && failed)
		return output_fail(o, err);
	free(o->part);
	*o = (struct output){.path = o->path};
	return rc;
}
