/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text_file.c - a whole file in memory, compressed or not
 *
 * In a library of its own, so that the plugin does not link zlib.
 */
#include "base/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

/* zlib's own mistakes have no errno; the others are Unix's. */
static int read_failed(const char *path, gzFile in, struct weft_error *err)
{
	int code = Z_ERRNO;
	const char *why = in ? gzerror(in, &code) : NULL;

	if (code != Z_ERRNO)
		return weft_fail_at(err, WEFT_EIO, path, 0, 0,
				    "damaged gzip data (%.60s)", why);
	if (errno)
		return weft_fail_at(err, WEFT_EIO, path, 0, 0, "%s",
				    strerror(errno));
	return weft_fail(err, WEFT_ENOMEM, "out of memory");
}

/* gzread passes through what is not compressed. */
static int file_read(const char *path, gzFile in, size_t most, char **text,
		     size_t *size, struct weft_error *err)
{
	size_t room = 0;
	int got;

	do {
		if (*size + 1 >= room) {
			char *grown;

			room = room ? 2 * room : 65536;
			grown = weft_realloc(*text, room, 1, err);
			if (!grown)
				return -1;
			*text = grown;
		}
		got = gzread(in, *text + *size, (unsigned)(room - *size - 1));
		if (got < 0)
			return read_failed(path, in, err);
		*size += (size_t)got;
	} while (got > 0 && *size <= most);
	if (*size > most)
		return weft_fail_at(err, WEFT_EINVAL, path, 0, 0,
				    "more than %zu MiB", most >> 20);
	return 0;
}

static int text_check(const char *path, const char *text, size_t size,
		      struct weft_error *err)
{
	const char *nul = size ? memchr(text, '\0', size) : NULL;
	int line = 1;

	if (!nul)
		return 0;
	for (const char *at = text; at < nul; at++)
		line += *at == '\n';
	return weft_fail_at(err, WEFT_EINVAL, path, line, 0,
			    "expected text, found a NUL byte");
}

int weft_text_load(const char *path, size_t most, char **text, size_t *size,
		   struct weft_error *err)
{
	bool standard = strcmp(path, "-") == 0;
	gzFile in;
	int rc;

	*text = NULL;
	*size = 0;
	errno = 0;
	in = standard ? gzdopen(dup(STDIN_FILENO), "rb") : gzopen(path, "rb");
	if (!in)
		return read_failed(path, NULL, err);
	rc = file_read(path, in, most, text, size, err);
	/* a gzip file that ends early is told only here */
	if (gzclose(in) != Z_OK && rc == 0)
		rc = weft_fail_at(err, WEFT_EIO, path, 0, 0,
				  "damaged gzip data (it ends early)");
	if (rc == 0) {
		*size = weft_text_clean(*text, *size);
		rc = text_check(path, *text, *size, err);
	}
	if (rc) {
		free(*text);
		*text = NULL;
	}
	return rc;
}
