/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arena.h - blocks that live and die together: names, YAML nodes, the arrays of
 * one computation
 */
#ifndef WEFT_BASE_ARENA_H
#define WEFT_BASE_ARENA_H

#include "base/error.h"

#include <string.h>

/* Zero-initialise; blocks stay where they are until weft_arena_free. */
struct weft_arena {
	void *chunk; /* private */
};

/* A zeroed block, aligned for any scalar type. */
void *weft_arena_alloc(struct weft_arena *arena, size_t size,
		       struct weft_error *err)
	__attribute__((warn_unused_result));

/* A zeroed array of n elements of `size` bytes, in a block of its own: for what
 * is large, and for what must not be overrun unseen. */
void *weft_arena_array(struct weft_arena *arena, size_t n, size_t size,
		       struct weft_error *err)
	__attribute__((warn_unused_result));

/* Sets `array`, a pointer of any type, to such an array.  0, or -1 with err. */
#define WEFT_ARRAY(array, n, arena, err)                                       \
	(((array) = weft_arena_array(arena, n, sizeof(*(array)), err)) ? 0 : -1)

/* A copy of the first `length` bytes of text, with a NUL behind. */
char *weft_arena_text(struct weft_arena *arena, const char *text, size_t length,
		      struct weft_error *err)
	__attribute__((warn_unused_result));

/* A copy of all of text. */
static inline char *weft_arena_copy(struct weft_arena *arena, const char *text,
				    struct weft_error *err)
{
	return weft_arena_text(arena, text, strlen(text), err);
}

void weft_arena_free(struct weft_arena *arena);

#endif
