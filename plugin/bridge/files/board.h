/* SPDX-License-Identifier: GPL-3.0-or-later */
/* board.h - records that one thread writes and another reads, and neither ever
 * waits: no Slurm types
 *
 * Inside slurmctld nothing may wait for a lock while a decision is made, yet
 * what weft knows is shown by a thread of its own (keeper.h).  Each record has
 * a count of its writings, odd while one is under way: a reader that finds it
 * odd or changed reads again.  Space once made stays where it is until the
 * board is freed.
 */
#ifndef WEFT_PLUGIN_BRIDGE_FILES_BOARD_H
#define WEFT_PLUGIN_BRIDGE_FILES_BOARD_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define WEFT_BOARD_CHUNK  256 /* records made at a time */
#define WEFT_BOARD_CHUNKS 256

/* Records of size_words words; a record never written is all zeros. */
struct weft_board {
	uint32_t size_words;
	_Atomic uint32_t n; /* one more than the last record written */
	_Atomic uint64_t n_writes;
	_Atomic uint64_t *_Atomic chunks[WEFT_BOARD_CHUNKS];
};

/* For records of a struct.  Free with weft_board_free in either case, when no
 * other thread reads any more. */
void weft_board_init(struct weft_board *board, size_t record_size);
void weft_board_free(struct weft_board *board);

/* The one writing thread's: puts a record.  -1: no memory, or i is beyond the
 * 65,536 records of a board; nothing is written then. */
int weft_board_write(struct weft_board *board, uint32_t i, const void *record,
		     struct weft_error *err);

/* Any thread's: gets record i, zeros where none was written.  false: it changed
 * again and again. */
bool weft_board_read(const struct weft_board *board, uint32_t i, void *record);

#endif
