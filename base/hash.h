/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hash.h - FNV-1a, 64 bits, and what is faster on words: not against an
 * adversary's collisions
 */
#ifndef WEFT_BASE_HASH_H
#define WEFT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define WEFT_HASH_START UINT64_C(0xcbf29ce484222325)

/* The hash of what `hash` stands for (WEFT_HASH_START: nothing), followed by
 * size bytes. */
static inline uint64_t weft_hash_bytes(uint64_t hash, const void *bytes,
				       size_t size)
{
	const unsigned char *b = bytes;

	for (size_t i = 0; i < size; i++)
		hash = (hash ^ b[i]) * UINT64_C(0x100000001b3);
	return hash;
}

/* The same of one word, in a step. */
static inline uint64_t weft_hash_word(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
	return hash ^ hash >> 29;
}

static inline uint64_t weft_hash_text(const char *text)
{
	uint64_t hash = WEFT_HASH_START;

	for (; *text; text++)
		hash = weft_hash_bytes(hash, text, 1);
	return hash;
}

#endif
