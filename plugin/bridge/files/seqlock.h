/* SPDX-License-Identifier: GPL-3.0-or-later */
/* seqlock.h - records that one thread writes and another reads, and neither
 * ever waits: no Slurm types
 *
 * Inside slurmctld nothing may wait for a lock while a decision is made, yet
 * what weft knows is shown by a thread of its own (status_writer.h).  Each
 * record has a count of its writings, odd while one is under way: a reader that
 * finds it odd or changed reads again.  Space once made stays where it is until
 * the seqlock is freed.
 */
#ifndef WEFT_PLUGIN_BRIDGE_FILES_SEQLOCK_H
#define WEFT_PLUGIN_BRIDGE_FILES_SEQLOCK_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define WEFT_SEQLOCK_CHUNK  256 /* records made at a time */
#define WEFT_SEQLOCK_CHUNKS 256

/* Records of size_words words; a record never written is all zeros. */
struct weft_seqlock {
	uint32_t size_words;
	_Atomic uint32_t n; /* one more than the last record written */
	_Atomic uint64_t n_writes;
	_Atomic uint64_t *_Atomic chunks[WEFT_SEQLOCK_CHUNKS];
};

/* For records of a struct.  Free with weft_seqlock_free in either case, when no
 * other thread reads any more. */
void weft_seqlock_init(struct weft_seqlock *seqlock, size_t record_size);
void weft_seqlock_free(struct weft_seqlock *seqlock);

/* The one writing thread's: puts a record.  -1: no memory, or i is beyond the
 * 65,536 records of a seqlock; nothing is written then. */
int weft_seqlock_write(struct weft_seqlock *seqlock, uint32_t i,
		       const void *record, struct weft_error *err);

/* Any thread's: gets record i, zeros where none was written.  false: it changed
 * again and again. */
bool weft_seqlock_read(const struct weft_seqlock *seqlock, uint32_t i,
		       void *record);

#endif
