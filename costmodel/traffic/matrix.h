/* SPDX-License-Identifier: GPL-3.0-or-later */
/* matrix.h - measured bytes between ranks, from a CSV file
 *
 * The first line names the columns: from, to, bytes and, optionally, axis, in
 * any order.  Ranks count from 0, bytes are per step and may be fractions, axis
 * is one of weft_axis_names ("dp" where the column is absent).  Lines that are
 * empty or begin with "#" are skipped; rows of one pair and axis add up.
 */
#ifndef WEFT_COSTMODEL_TRAFFIC_MATRIX_H
#define WEFT_COSTMODEL_TRAFFIC_MATRIX_H

#include "costmodel/traffic/traffic.h"

#include <stdio.h>

/* Reads the traffic of n_ranks ranks.  A rank out of range, a rank that sends
 * to itself, anything but a number of bytes >= 0: an error with line and
 * column.  Free with weft_traffic_free in either case. */
int weft_matrix_load(const char *path, uint32_t n_ranks,
		     struct weft_traffic *traffic, struct weft_error *err);

/* The same from an open file, which messages call `name`. */
int weft_matrix_read(FILE *file, const char *name, uint32_t n_ranks,
		     struct weft_traffic *traffic, struct weft_error *err);

#endif
