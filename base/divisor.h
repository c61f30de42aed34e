/* SPDX-License-Identifier: GPL-3.0-or-later */
/* divisor.h - the greatest common divisor */
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

#endif
