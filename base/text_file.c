/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text_file.c - a whole file in memory, compressed or not
 *
 * In a library of its own, so that the plugin does not link zlib.
 */
#include "base/text.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
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

/* The bytes of a file, unpacked. */
static int raw_load(const char *path, size_t most, char **text, size_t *size,
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
	/* only here does a gzip file that ends early show */
	if (gzclose(in) != Z_OK && rc == 0)
		rc = weft_fail_at(err, WEFT_EIO, path, 0, 0,
				  "damaged gzip data (it ends early)");
	if (rc) {
		free(*text);
		*text = NULL;
	}
	return rc;
}

int weft_text_load(const char *path, size_t most, char **text, size_t *size,
		   struct weft_error *err)
{
	int rc = raw_load(path, most, text, size, err);

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

/* ---- archives ---- */

/* POSIX ustar, and what GNU tar writes: blocks of 512 bytes, a head and the
 * file behind it. */
#define TAR_BLOCK 512
enum tar_field {
	TAR_NAME = 0,
	TAR_SIZE = 124,
	TAR_TYPE = 156,
	TAR_MAGIC = 257,
	TAR_PREFIX = 345
};
#define TAR_NAME_SIZE	100
#define TAR_PREFIX_SIZE 155
#define MEMBER_NAME	1024

static bool is_archive(const char *text, size_t size)
{
	return size >= TAR_BLOCK &&
	       memcmp(text + TAR_MAGIC, "ustar", strlen("ustar")) == 0;
}

/* Octal, blanks before it. */
static size_t tar_size(const char *head)
{
	size_t value = 0;

	for (int i = 0; i < 12; i++) {
		char c = head[TAR_SIZE + i];

		if (c >= '0' && c <= '7')
			value = value * 8 + (size_t)(c - '0');
		else if (c != ' ' || value)
			break;
	}
	return value;
}

static void member_name(const char *head, const char *longer, char *name)
{
	if (longer[0])
		snprintf(name, MEMBER_NAME, "%s", longer);
	else if (head[TAR_PREFIX] && head[TAR_MAGIC + 5] == '\0')
		snprintf(name, MEMBER_NAME, "%.*s/%.*s", TAR_PREFIX_SIZE,
			 head + TAR_PREFIX, TAR_NAME_SIZE, head);
	else
		snprintf(name, MEMBER_NAME, "%.*s", TAR_NAME_SIZE, head);
}

struct archive {
	const char *path;
	weft_text_visit visit;
	void *context;
	uint32_t n_texts;
};

static int member_visit(struct archive *a, const char *name, const char *bytes,
			size_t size, struct weft_error *err)
{
	char whole[MEMBER_NAME + 256];
	char *text = weft_calloc(size + 1, 1, err);
	int rc = text ? 0 : -1;

	if (text && size)
		memcpy(text, bytes, size);
	if (text) {
		size = weft_text_clean(text, size);
		snprintf(whole, sizeof(whole), "%.250s:%s", a->path, name);
	}
	/* "._x" is what macOS's tar adds to each x */
	if (text && size && !memchr(text, '\0', size) &&
	    strncmp(strrchr(name, '/') ? strrchr(name, '/') + 1 : name, "._",
		    2) != 0) {
		a->n_texts++;
		rc = a->visit(a->context, whole, text, size, err);
	}
	free(text);
	return rc;
}

static int archive_each(struct archive *a, const char *bytes, size_t size,
			struct weft_error *err)
{
	char name[MEMBER_NAME], longer[MEMBER_NAME] = "";
	size_t at = 0;
	int rc = 0;

	while (rc == 0 && at + TAR_BLOCK <= size && bytes[at]) {
		const char *head = bytes + at;
		size_t n = tar_size(head);

		at += TAR_BLOCK;
		if (!is_archive(head, TAR_BLOCK) || n > size - at)
			return weft_fail_at(err, WEFT_EINVAL, a->path, 0, 0,
					    "the tar archive ends in the "
					    "middle of a file");
		member_name(head, longer, name);
		longer[0] = '\0';
		if (head[TAR_TYPE] == 'L')
			snprintf(longer, sizeof(longer), "%.*s", (int)n,
				 bytes + at);
		else if (head[TAR_TYPE] == '0' || head[TAR_TYPE] == '\0')
			rc = member_visit(a, name, bytes + at, n, err);
		at += (n + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
	}
	if (rc == 0 && !a->n_texts)
		rc = weft_fail_at(err, WEFT_EINVAL, a->path, 0, 0,
				  "no text in this tar archive");
	return rc;
}

int weft_text_each(const char *path, size_t most, weft_text_visit visit,
		   void *context, struct weft_error *err)
{
	struct archive a = {path, visit, context, 0};
	char *text;
	size_t size;
	int rc = raw_load(path, most, &text, &size, err);

	if (rc == 0 && is_archive(text, size)) {
		rc = archive_each(&a, text, size, err);
	} else if (rc == 0) {
		size = weft_text_clean(text, size);
		rc = text_check(path, text, size, err);
		if (rc == 0)
			rc = visit(context, path, text, size, err);
	}
	free(text);
	return rc;
}

char *weft_text_beside(const char *base, const char *name,
		       struct weft_error *err)
{
	const char *slash = strrchr(base, '/');
	size_t folder =
		slash && name[0] != '/' ? (size_t)(slash + 1 - base) : 0;
	size_t size = folder + strlen(name) + 1;
	char *path = weft_calloc(size, 1, err);

	if (path)
		snprintf(path, size, "%.*s%s", (int)folder, base, name);
	return path;
}
