/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare.h - orders of plain values, for qsort and bsearch
 *
 * Of numbers: ascending, or with _down the largest first.
 */
#ifndef WEFT_BASE_COMPARE_H
#define WEFT_BASE_COMPARE_H

#include "base/hostlist.h"

#include <stdint.h>
#include <string.h>

static inline int weft_compare_reals(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

static inline int weft_compare_reals_down(const void *pa, const void *pb)
{
	return weft_compare_reals(pb, pa);
}

static inline int weft_compare_numbers(const void *pa, const void *pb)
{
	uint32_t a = *(const uint32_t *)pa, b = *(const uint32_t *)pb;

	return (a > b) - (a < b);
}

static inline int weft_compare_numbers_down(const void *pa, const void *pb)
{
	return weft_compare_numbers(pb, pa);
}

/* Of pointers to text, or structs that begin with one: byte by byte, and as
 * people count. */
static inline int weft_compare_texts(const void *pa, const void *pb)
{
	return strcmp(*(const char *const *)pa, *(const char *const *)pb);
}

static inline int weft_compare_names(const void *pa, const void *pb)
{
	return weft_name_compare(*(const char *const *)pa,
				 *(const char *const *)pb);
}

#endif
