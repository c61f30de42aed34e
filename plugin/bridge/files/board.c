/* SPDX-License-Identifier: GPL-3.0-or-later */
/* board.c - a lock-free board of records, one writer */
#include "plugin/bridge/files/board.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Readings of a record that changes all the time. */
#define MAX_TRIES 1000

#define WORD sizeof(uint64_t)

void weft_board_init(struct weft_board *board, size_t record_size)
{
	memset(board, 0, sizeof(*board));
	board->size_words = (uint32_t)((record_size + WORD - 1) / WORD);
}

void weft_board_free(struct weft_board *board)
{
	for (uint32_t c = 0; c < WEFT_BOARD_CHUNKS; c++)
		free(board->chunks[c]);
	memset(board, 0, sizeof(*board));
}

/* Each record has the count of its writings before it. */
static _Atomic uint64_t *record_at(const struct weft_board *board, uint32_t i)
{
	_Atomic uint64_t *chunk = atomic_load_explicit(
		&board->chunks[i / WEFT_BOARD_CHUNK], memory_order_acquire);

	return chunk ? chunk + (size_t)(i % WEFT_BOARD_CHUNK) *
				       (board->size_words + 1)
		     : NULL;
}

static int chunk_make(struct weft_board *board, uint32_t i,
		      struct weft_error *err)
{
	_Atomic uint64_t *chunk;

	if (i / WEFT_BOARD_CHUNK >= WEFT_BOARD_CHUNKS)
		return weft_fail(err, WEFT_ENOSYS, "more than %d records",
				 WEFT_BOARD_CHUNK * WEFT_BOARD_CHUNKS);
	if (board->chunks[i / WEFT_BOARD_CHUNK])
		return 0;
	chunk = weft_calloc((size_t)WEFT_BOARD_CHUNK * (board->size_words + 1),
			    WORD, err);
	if (!chunk)
		return -1;
	atomic_store_explicit(&board->chunks[i / WEFT_BOARD_CHUNK], chunk,
			      memory_order_release);
	return 0;
}

int weft_board_write(struct weft_board *board, uint32_t i, const void *record,
		     struct weft_error *err)
{
	const char *from = record;
	_Atomic uint64_t *to;
	uint64_t count;

	if (chunk_make(board, i, err) < 0)
		return -1;
	to = record_at(board, i);
	count = atomic_load_explicit(to, memory_order_relaxed);
	atomic_store_explicit(to, count + 1, memory_order_relaxed);
	for (uint32_t w = 0; w < board->size_words; w++) {
		uint64_t word;

		memcpy(&word, from + w * WORD, WORD);
		atomic_store_explicit(to + 1 + w, word, memory_order_release);
	}
	atomic_store_explicit(to, count + 2, memory_order_release);
	if (i >= board->n)
		atomic_store_explicit(&board->n, i + 1, memory_order_release);
	atomic_fetch_add_explicit(&board->n_writes, 1, memory_order_release);
	return 0;
}

bool weft_board_read(const struct weft_board *board, uint32_t i, void *record)
{
	_Atomic uint64_t *from = NULL;
	char *to = record;

	if (i / WEFT_BOARD_CHUNK < WEFT_BOARD_CHUNKS)
		from = record_at(board, i);
	if (!from) {
		memset(record, 0, board->size_words * WORD);
		return true;
	}
	for (uint32_t tries = 0; tries < MAX_TRIES; tries++) {
		uint64_t count =
			atomic_load_explicit(from, memory_order_acquire);

		for (uint32_t w = 0; w < board->size_words; w++) {
			uint64_t word = atomic_load_explicit(
				from + 1 + w, memory_order_acquire);

			memcpy(to + w * WORD, &word, WORD);
		}
		if (count % 2 == 0 &&
		    atomic_load_explicit(from, memory_order_relaxed) == count)
			return true;
	}
	return false;
}
