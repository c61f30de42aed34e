/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bitset.h - sets of small integers: one word (a node's GPUs) or many (nodes)
 */
#ifndef WEFT_BASE_BITSET_H
#define WEFT_BASE_BITSET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A set over 0..n-1 is an array of weft_bitset_words(n) words; the caller
 * allocates it zeroed (weft_calloc) and frees it. */
static inline size_t weft_bitset_words(uint32_t n)
{
	return ((size_t)n + 63) / 64;
}

static inline bool weft_bitset_has(const uint64_t *set, uint32_t i)
{
	return set[i / 64] >> (i % 64) & 1;
}

static inline void weft_bitset_add(uint64_t *set, uint32_t i)
{
	set[i / 64] |= UINT64_C(1) << (i % 64);
}

static inline void weft_bitset_remove(uint64_t *set, uint32_t i)
{
	set[i / 64] &= ~(UINT64_C(1) << (i % 64));
}

/* Members of one word.  Without hardware for it, which a package for all of an
 * architecture's machines may not use, the compiler's builtin is a call. */
static inline uint32_t weft_mask_count(uint64_t mask)
{
	const uint64_t ones = UINT64_C(0x0101010101010101);

	mask -= mask >> 1 & (ones * 0x55);
	mask = (mask & (ones * 0x33)) + (mask >> 2 & (ones * 0x33));
	mask = (mask + (mask >> 4)) & (ones * 0x0f);
	return (uint32_t)(mask * ones >> 56);
}

static inline uint32_t weft_bitset_count(const uint64_t *set, uint32_t n)
{
	uint32_t count = 0;

	for (size_t w = 0; w < weft_bitset_words(n); w++)
		count += weft_mask_count(set[w]);
	return count;
}

/* One-word sets: the GPUs of a node. */
static inline uint64_t weft_mask_first(uint32_t n)
{
	return n >= 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1;
}

/* Visits the members of a one-word set in ascending order; `rest` is a
 * uint64_t that the loop uses up, `i` a uint32_t. */
#define weft_mask_foreach(i, rest)                                             \
	for (; (rest) && ((i) = (uint32_t)__builtin_ctzll(rest), true);        \
	     (rest) &= (rest)-1)

/* Lists the members, ascending. */
static inline void weft_bitset_list(const uint64_t *set, uint32_t n,
				    uint32_t *list)
{
	for (size_t w = 0; w < weft_bitset_words(n); w++) {
		uint64_t rest = set[w];
		uint32_t i;

		weft_mask_foreach (i, rest)
			*list++ = (uint32_t)(64 * w) + i;
	}
}

#endif
