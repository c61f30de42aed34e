/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text.c - a whole text file in memory, compressed or not */
#include "cli/text.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define MAX_BYTES (64u << 20)

/* zlib's own mistakes have no errno; the others are Unix's. */
static int read_failed(const char *path, gzFile in, struct weft_error *err)
{
	int code = Z_ERRNO;
	const char *why = in ? gzerror(in, &code) : NULL;

	if (code != Z_ERRNO)
		return weft_fail_at(err, WEFT_EIO, path, 0, 0,
				    "damaged gzip data (%.60s)", why);
	return weft_fail_at(err, WEFT_EIO, path, 0, 0, "%s", strerror(errno));
}

/* Reads until the end or the limit; *text is the caller's in either case. */
static int text_read(const char *path, gzFile in, char **text, size_t *size,
		     struct weft_error *err)
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
	} while (got > 0 && *size < MAX_BYTES);
	(*text)[*size] = '\0';
	return 0;
}

char *text_load(const char *path, struct weft_error *err)
{
	char *text = NULL;
	size_t size = 0;
	gzFile in;
	int rc;

	errno = 0;
	in = gzopen(path, "r");
	if (!in) {
		if (errno)
			read_failed(path, NULL, err);
		else
			weft_fail(err, WEFT_ENOMEM, "out of memory");
		return NULL;
	}
	rc = text_read(path, in, &text, &size, err);
	/* a gzip file that ends early is told only here */
	if (gzclose(in) != Z_OK && rc == 0)
		rc = weft_fail_at(err, WEFT_EIO, path, 0, 0,
				  "damaged gzip data (it ends early)");
	if (rc == 0 && (size >= MAX_BYTES || strlen(text) != size))
		rc = weft_fail_at(err, WEFT_EINVAL, path, 0, 0,
				  "expected a text file of less than %u bytes",
				  MAX_BYTES);
	if (rc == 0)
		return text;
	free(text);
	return NULL;
}
