/* SPDX-License-Identifier: GPL-3.0-or-later */
/* records.c - appending to the file of records */
#include "plugin/bridge/files/records.h"

#include "plugin/bridge/files/snapshot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Never through a link, or into anything but a file. */
static int open_end(const char *path, uint64_t *n_bytes)
{
	struct stat status;
	int fd = open(path,
		      O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOFOLLOW |
			      O_NONBLOCK,
		      0600);

	if (fd < 0)
		return -1;
	if (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode)) {
		close(fd);
		errno = EINVAL;
		return -1;
	}
	*n_bytes = (uint64_t)status.st_size;
	return fd;
}

/* What a full disk has cut is a line of its own. */
static bool is_cut(int fd, uint64_t n_bytes)
{
	char last = '\n';

	return n_bytes && pread(fd, &last, 1, (off_t)n_bytes - 1) == 1 &&
	       last != '\n';
}

static int set_aside(const char *path)
{
	size_t size = strlen(path) + sizeof(".1");
	char *aside = weft_calloc(size, 1, NULL);
	int rc = -1;

	if (aside) {
		snprintf(aside, size, "%s.1", path);
		rc = rename(path, aside);
	}
	free(aside);
	return rc;
}

static void put_records(const struct weft_status *shown, uint64_t from,
			uint64_t to, FILE *file)
{
	for (; from < to; from++) {
		struct weft_status_job job;

		if (!weft_seqlock_read(&shown->saved, from % WEFT_SHOWN_SAVED,
				       &job) ||
		    !job.job_id)
			continue;
		weft_snapshot_job(&job, file);
		fputc('\n', file);
	}
}

/* The records as text, which the caller frees; NULL: out of memory. */
static char *records_text(const struct weft_status *shown, uint64_t from,
			  uint64_t to, bool cut, size_t *size)
{
	char *text = NULL;
	FILE *memory = open_memstream(&text, size);

	if (!memory)
		return NULL;
	if (cut)
		fputc('\n', memory);
	put_records(shown, from, to, memory);
	if (fclose(memory) == 0)
		return text;
	free(text);
	return NULL;
}

/* By system calls alone, as the snapshot. */
static int records_append(const struct weft_status *shown, uint64_t from,
			  uint64_t to, const char *path, uint64_t max_bytes)
{
	uint64_t n_bytes = 0;
	size_t size = 0;
	char *text;
	int fd = open_end(path, &n_bytes), rc = -1;

	if (fd >= 0 && n_bytes >= max_bytes) {
		close(fd);
		fd = set_aside(path) == 0 ? open_end(path, &n_bytes) : -1;
	}
	if (fd < 0)
		return -1;
	text = records_text(shown, from, to, is_cut(fd, n_bytes), &size);
	if (text)
		rc = weft_write_all(fd, text, size);
	free(text);
	return close(fd) == 0 ? rc : -1;
}

int weft_records_write(struct weft_status *shown, const char *path,
		       uint64_t max_bytes, struct weft_error *err)
{
	uint64_t to = shown->n_saved, from = shown->n_kept;

	if (from == to)
		return 0;
	if (to - from > WEFT_SHOWN_SAVED) {
		shown->n_lost += to - from - WEFT_SHOWN_SAVED;
		from = to - WEFT_SHOWN_SAVED;
		shown->n_kept = from;
	}
	if (records_append(shown, from, to, path, max_bytes) < 0)
		return weft_fail_at(err, WEFT_EIO, path, 0, 0,
				    "cannot be written: %s", strerror(errno));
	shown->n_kept = to;
	return 0;
}
