/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arena.c - bump allocation in chunks that grow with the demand */
#include "base/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_FIRST ((size_t)1 << 10)
#define CHUNK_MAX   ((size_t)1 << 18)
#define ALIGNMENT   sizeof(double)

struct chunk {
	struct chunk *next;
	size_t used, size; /* of data */
	double data[];
};

/* Doubling keeps a small document small and a large one in few chunks. */
static struct chunk *chunk_add(struct weft_arena *arena, size_t need,
			       struct weft_error *err)
{
	struct chunk *top = arena->chunk;
	size_t size = top && top->size ? 2 * top->size : CHUNK_FIRST;
	struct chunk *chunk;

	if (size > CHUNK_MAX)
		size = CHUNK_MAX;
	if (size < need)
		size = need;
	chunk = weft_calloc(1, sizeof(*chunk) + size, err);
	if (!chunk)
		return NULL;
	chunk->size = size;
	chunk->next = top;
	arena->chunk = chunk;
	return chunk;
}

void *weft_arena_alloc(struct weft_arena *arena, size_t size,
		       struct weft_error *err)
{
	struct chunk *chunk = arena->chunk;
	char *block;

	if (size > SIZE_MAX / 2) {
		weft_fail(err, WEFT_ENOMEM, "out of memory (%zu bytes)", size);
		return NULL;
	}
	size = (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
	if (!chunk || chunk->size - chunk->used < size)
		chunk = chunk_add(arena, size, err);
	if (!chunk)
		return NULL;
	block = (char *)chunk->data + chunk->used;
	chunk->used += size;
	return block;
}

/* Behind the chunk that small blocks come from, and full from the start. */
void *weft_arena_array(struct weft_arena *arena, size_t n, size_t size,
		       struct weft_error *err)
{
	struct chunk *top = arena->chunk, *own = NULL;

	if (n <= (SIZE_MAX - sizeof(*own)) / size)
		own = calloc(1, sizeof(*own) + n * size);
	if (!own) {
		weft_fail(err, WEFT_ENOMEM, "out of memory (%zu x %zu bytes)",
			  n, size);
		return NULL;
	}
	own->next = top ? top->next : NULL;
	if (top)
		top->next = own;
	else
		arena->chunk = own;
	return own->data;
}

char *weft_arena_text(struct weft_arena *arena, const char *text, size_t length,
		      struct weft_error *err)
{
	char *copy = weft_arena_alloc(arena, length + 1, err);

	if (copy)
		memcpy(copy, text, length);
	return copy;
}

void weft_arena_free(struct weft_arena *arena)
{
	struct chunk *chunk = arena->chunk;

	while (chunk) {
		struct chunk *next = chunk->next;

		free(chunk);
		chunk = next;
	}
	arena->chunk = NULL;
}
