/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compare.h - orders of plain values, for sorting and bsearch, and their middle
 *
 * Of numbers: ascending, or with _down the largest first.  WEFT_COMPARATOR
 * defines an order of structs.
 */
#ifndef WEFT_BASE_COMPARE_H
#define WEFT_BASE_COMPARE_H

#include "base/hostlist.h"

#include <stdint.h>
#include <stdlib.h>
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

static inline int weft_compare_integers(const void *pa, const void *pb)
{
	int64_t a = *(const int64_t *)pa, b = *(const int64_t *)pb;

	return (a > b) - (a < b);
}

static inline int weft_compare_integers_down(const void *pa, const void *pb)
{
	return weft_compare_integers(pb, pa);
}

/* Sorts array[n], which may be NULL where n is 0: qsort is undefined then.  Of
 * one that is in order, as many are, it takes no more than a look. */
#define WEFT_SORT(array, n, compare)                                           \
	weft_sort(array, n, sizeof(*(array)), compare)
static inline void weft_sort(void *array, size_t n, size_t size,
			     int (*compare)(const void *, const void *))
{
	const char *one = array;

	for (size_t i = 1; i < n; i++, one += size)
		if (compare(one, one + size) > 0) {
			qsort(array, n, size, compare);
			return;
		}
}

/* The median of n values, which it sorts; 0 of none. */
static inline double weft_median(double *values, size_t n)
{
	WEFT_SORT(values, n, weft_compare_reals);
	return n ? (values[(n - 1) / 2] + values[n / 2]) / 2 : 0;
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

/* Defines the comparator name() of structs.  The first key that differs
 * decides: a member, ascending (UP) or descending (DOWN), a text byte by byte
 * (TEXT) or as people count (NAME), or another comparator (BY). */
#define WEFT_COMPARATOR(name, type, keys)                                      \
	static int name(const void *pa, const void *pb)                        \
	{                                                                      \
		const type *a = pa, *b = pb;                                   \
		int order = 0;                                                 \
                                                                               \
		keys;                                                          \
		return order;                                                  \
	}                                                                      \
	static int name(const void *, const void *)

#define WEFT_KEY(by) order = order ? order : (by);
#define WEFT_UP(member)                                                        \
	WEFT_KEY((a->member > b->member) - (a->member < b->member))
#define WEFT_DOWN(member)                                                      \
	WEFT_KEY((a->member < b->member) - (a->member > b->member))
#define WEFT_TEXT(member)   WEFT_KEY(strcmp(a->member, b->member))
#define WEFT_NAME(member)   WEFT_KEY(weft_name_compare(a->member, b->member))
#define WEFT_BY(comparator) WEFT_KEY(comparator(a, b))

#endif
