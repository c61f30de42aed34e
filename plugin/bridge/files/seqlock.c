/* SPDX-License-Identifier: GPL-3.0-or-later */
/* seqlock.c - a lock-free seqlock of records, one writer */
#include "plugin/bridge/files/seqlock.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Readings of a record that changes all the time. */
#define MAX_TRIES 1000

#define WORD sizeof(uint64_t)

void weft_seqlock_init(struct weft_seqlock *seqlock, size_t record_size)
{
	memset(seqlock, 0, sizeof(*seqlock));
	seqlock->size_words = (uint32_t)((record_size + WORD - 1) / WORD);
}

void weft_seqlock_free(struct weft_seqlock *seqlock)
{
	for (uint32_t c = 0; c < WEFT_SEQLOCK_CHUNKS; c++)
		free(seqlock->chunks[c]);
	memset(seqlock, 0, sizeof(*seqlock));
}

/* Each record has the count of its writings before it. */
static _Atomic uint64_t *record_at(const struct weft_seqlock *seqlock,
				   uint32_t i)
{
	_Atomic uint64_t *chunk = atomic_load_explicit(
		&seqlock->chunks[i / WEFT_SEQLOCK_CHUNK], memory_order_acquire);

	return chunk ? chunk + (size_t)(i % WEFT_SEQLOCK_CHUNK) *
				       (seqlock->size_words + 1)
		     : NULL;
}

static int chunk_make(struct weft_seqlock *seqlock, uint32_t i,
		      struct weft_error *err)
{
	_Atomic uint64_t *chunk;

	if (i / WEFT_SEQLOCK_CHUNK >= WEFT_SEQLOCK_CHUNKS)
		return weft_fail(err, WEFT_ENOSYS, "more than %d records",
				 WEFT_SEQLOCK_CHUNK * WEFT_SEQLOCK_CHUNKS);
	if (seqlock->chunks[i / WEFT_SEQLOCK_CHUNK])
		return 0;
	chunk = weft_calloc((size_t)WEFT_SEQLOCK_CHUNK *
				    (seqlock->size_words + 1),
			    WORD, err);
	if (!chunk)
		return -1;
	atomic_store_explicit(&seqlock->chunks[i / WEFT_SEQLOCK_CHUNK], chunk,
			      memory_order_release);
	return 0;
}

int weft_seqlock_write(struct weft_seqlock *seqlock, uint32_t i,
		       const void *record, struct weft_error *err)
{
	const char *from = record;
	_Atomic uint64_t *to;
	uint64_t count;

	if (chunk_make(seqlock, i, err) < 0)
		return -1;
	to = record_at(seqlock, i);
	count = atomic_load_explicit(to, memory_order_relaxed);
	atomic_store_explicit(to, count + 1, memory_order_relaxed);
	for (uint32_t w = 0; w < seqlock->size_words; w++) {
		uint64_t word;

		memcpy(&word, from + w * WORD, WORD);
		atomic_store_explicit(to + 1 + w, word, memory_order_release);
	}
	atomic_store_explicit(to, count + 2, memory_order_release);
	if (i >= seqlock->n)
		atomic_store_explicit(&seqlock->n, i + 1, memory_order_release);
	atomic_fetch_add_explicit(&seqlock->n_writes, 1, memory_order_release);
	return 0;
}

bool weft_seqlock_read(const struct weft_seqlock *seqlock, uint32_t i,
		       void *record)
{
	_Atomic uint64_t *from = NULL;
	char *to = record;

	if (i / WEFT_SEQLOCK_CHUNK < WEFT_SEQLOCK_CHUNKS)
		from = record_at(seqlock, i);
	if (!from) {
		memset(record, 0, seqlock->size_words * WORD);
		return true;
	}
	for (uint32_t tries = 0; tries < MAX_TRIES; tries++) {
		uint64_t count =
			atomic_load_explicit(from, memory_order_acquire);

		for (uint32_t w = 0; w < seqlock->size_words; w++) {
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
