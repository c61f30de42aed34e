/* SPDX-License-Identifier: GPL-3.0-or-later */
/* lap.h - the linear assignment problem: n rows to n columns at least cost
 *
 * Private to lab/qap/.
 */
#ifndef WEFT_LAB_QAP_LAP_H
#define WEFT_LAB_QAP_LAP_H

#include <stddef.h>
#include <stdint.h>

/* Bytes of scratch that lap_solve needs for n rows. */
size_t lap_scratch_size(uint32_t n);

/* The least sum over an assignment of cost[i * stride + column_of[i]]; |sums|
 * stay below 2^61.  row, column [n]: prices with row[i] + column[j] <= cost,
 * equal where assigned, whose sum is the result.  O(n^3). */
int64_t lap_solve(uint32_t n, const int64_t *cost, uint32_t stride,
		  uint32_t *column_of, int64_t *row, int64_t *column,
		  void *scratch);

#endif
