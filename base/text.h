/* SPDX-License-Identifier: GPL-3.0-or-later */
/* text.h - texts as people keep them, made plain: one reader for all files that
 * other programs wrote
 *
 * Made plain are: UTF-16 and byte-order marks, as Windows writes; "\r\n";
 * terminals' colours and titles (ESC [ ... letter, ESC ] ... BEL); and the
 * prefixes of mpirun --tag-output ("[1,0]<stdout>:"), also in the middle of a
 * line, where another process wrote in between.  Line numbers stay what they
 * are.
 */
#ifndef WEFT_BASE_TEXT_H
#define WEFT_BASE_TEXT_H

#include "base/error.h"

#include <stddef.h>

/* Makes text[size] plain in place, which has room for a NUL behind it and gets
 * one.  Returns the new size, which is never more. */
size_t weft_text_clean(char *text, size_t size);

/* The same of a text that must stay: *plain is NULL where it is plain already,
 * else a malloc'ed copy of *plain_size bytes with a NUL behind.  -1 when out of
 * memory. */
int weft_text_plain(const char *text, size_t size, char **plain,
		    size_t *plain_size, struct weft_error *err);

/* text_file.c: all of a file ("-": standard input), unpacked where it is
 * gzip'ed and made plain, with a NUL behind and none inside; malloc'ed.  -1
 * with err where it cannot be read, or has more than `most` bytes. */
int weft_text_load(const char *path, size_t most, char **text, size_t *size,
		   struct weft_error *err);

/* Called with a text as weft_text_load gives it, which stays the caller's; not
 * 0: enough. */
typedef int (*weft_text_visit)(void *context, const char *name,
			       const char *text, size_t size,
			       struct weft_error *err);

/* text_file.c: visits the text of a file, or, where it is a tar archive,
 * gzip'ed or not, that of each file in it, whose name is "ARCHIVE:MEMBER";
 * members that are no text are left out.  0, what a visit returned, or -1 with
 * err: also where an archive has no text, or ends in the middle. */
int weft_text_each(const char *path, size_t most, weft_text_visit visit,
		   void *context, struct weft_error *err);

/* text_file.c: the path of the file that another one at `base` calls `name`:
 * beside that, unless absolute; malloc'ed. */
char *weft_text_beside(const char *base, const char *name,
		       struct weft_error *err);

#endif
