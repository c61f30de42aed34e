/* SPDX-License-Identifier: GPL-3.0-or-later */
/* error.h - one error value for the whole library: what, and where in a file */
#ifndef WEFT_BASE_ERROR_H
#define WEFT_BASE_ERROR_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Codes are also process exit codes, hence 1..125. */
enum weft_error_code {
	WEFT_EINVAL = 1, /* input that breaks a documented rule */
	WEFT_ENOMEM = 2, /* an allocation failed */
	WEFT_EIO = 3,	 /* a file could not be read or written */
	WEFT_ENOSYS = 4, /* valid, but not supported yet */
	WEFT_ELATE = 5,	 /* a deadline of the thread has passed, clock.h */
};

/* line and column count from 1; 0 means "does not apply".  source is a file
 * name, an option name or "".  Zero-initialise before the first use. */
struct weft_error {
	int code, line, column;
	char source[120];
	char text[400];
};

/* Both record the error and return -1, so that a caller can
 * `return weft_fail(...)`.  The first error wins: a second call leaves *err as
 * it is.  err may be NULL. */
int weft_fail(struct weft_error *err, int code, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
int weft_fail_at(struct weft_error *err, int code, const char *source, int line,
		 int column, const char *format, ...)
	__attribute__((format(printf, 6, 7)));

/* Writes "SOURCE:LINE:COL: text", leaving out what does not apply, and returns
 * buffer. */
const char *weft_error_text(const struct weft_error *err, char *buffer,
			    size_t size);

/* calloc whose size is checked against overflow and which records WEFT_ENOMEM.
 * n == 0 gives a pointer that may be freed, never NULL. */
void *weft_calloc(size_t n, size_t size, struct weft_error *err)
	__attribute__((warn_unused_result));

/* The same for n indices, each UINT32_MAX: none. */
uint32_t *weft_calloc_none(size_t n, struct weft_error *err)
	__attribute__((warn_unused_result));

/* Makes each of n indices none. */
static inline void weft_fill_none(uint32_t *array, size_t n)
{
	memset(array, 0xff, n * sizeof(*array));
}

/* realloc to n elements of `size` bytes, with the same checks.  On failure the
 * old block is untouched and still the caller's. */
void *weft_realloc(void *old, size_t n, size_t size, struct weft_error *err)
	__attribute__((warn_unused_result));

/* Makes room for one more element behind the n of array: twice the room, where
 * that is full.  0; or -1 with err and the array as it was. */
#define WEFT_GROW(array, n, room, err)                                         \
	weft_grow(&(array), n, &(room), sizeof(*(array)), err)
int weft_grow(void *array, size_t n, uint32_t *room, size_t size,
	      struct weft_error *err);

/* Elements of an array. */
#define WEFT_N_OF(array) (sizeof(array) / sizeof((array)[0]))

/* strdup that records WEFT_ENOMEM. */
char *weft_strdup(const char *text, struct weft_error *err)
	__attribute__((warn_unused_result));

#endif
