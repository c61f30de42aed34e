/* SPDX-License-Identifier: GPL-3.0-or-later */
/* divisor.h - the greatest common divisor, and the next power of two */
#ifndef WEFT_BASE_DIVISOR_H
#define WEFT_BASE_DIVISOR_H

#include <stdint.h>

/* The greatest number of which both are multiples; of 0 and n it is n. */
static inline uint64_t weft_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

/* The least power of two that is not below `least`, at most 2^31. */
static inline uint32_t weft_power_from(uint32_t least)
{
	uint32_t value = 1;

	while (value < least)
		value *= 2;
	return value;
}

#endif
