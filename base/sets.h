/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sets.h - disjoint sets of indices, joined two at a time
 *
 * of[i] leads from i to the least index of its set, which stands for the set.
 */
#ifndef WEFT_BASE_SETS_H
#define WEFT_BASE_SETS_H

#include <stdint.h>

/* Each of n indices is a set of its own. */
static inline void weft_sets_start(uint32_t *of, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		of[i] = i;
}

/* The least index of i's set. */
static inline uint32_t weft_sets_find(uint32_t *of, uint32_t i)
{
	while (of[i] != i) {
		of[i] = of[of[i]];
		i = of[i];
	}
	return i;
}

/* The sets of a and b become one. */
static inline void weft_sets_join(uint32_t *of, uint32_t a, uint32_t b)
{
	a = weft_sets_find(of, a);
	b = weft_sets_find(of, b);
	of[a < b ? b : a] = a < b ? a : b;
}

#endif
