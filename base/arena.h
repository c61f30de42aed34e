/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arena.h - many small blocks that live and die together (names, YAML nodes) */
#ifndef WEFT_BASE_ARENA_H
#define WEFT_BASE_ARENA_H

#include "base/error.h"

/* Zero-initialise; blocks stay where they are until weft_arena_free. */
struct weft_arena {
	void *chunk; /* private */
};

/* A zeroed block, aligned for any scalar type. */
void *weft_arena_alloc(struct weft_arena *arena, size_t size,
		       struct weft_error *err)
	__attribute__((warn_unused_result));

/* A copy of the first `length` bytes of text, with a NUL behind. */
char *weft_arena_text(struct weft_arena *arena, const char *text, size_t length,
		      struct weft_error *err)
	__attribute__((warn_unused_result));

void weft_arena_free(struct weft_arena *arena);

#endif
