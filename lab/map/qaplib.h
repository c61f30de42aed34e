/* SPDX-License-Identifier: GPL-3.0-or-later */
/* qaplib.h - problems and solutions in the format of QAPLIB */
#ifndef WEFT_LAB_MAP_QAPLIB_H
#define WEFT_LAB_MAP_QAPLIB_H

#include "lab/map/scan.h"
#include "lab/qap/qap.h"

/* The largest n read: its matrices take 256 MiB. */
#define QAPLIB_MAX_N 4096

/* Reads n, n * n numbers and n * n numbers, whole ones, however they are broken
 * into lines; what the rest of a problem file may hold (a known solution,
 * linear costs) is left alone, and *n_left says how many numbers that is.
 * Sums that may leave 2^62 are an error.  Free with qap_free in either case. */
int qaplib_read(struct scan *s, struct qap *q, uint32_t *n_left);

/* Reads where each of n goes, to one of n_places: n numbers from 0, or a QAPLIB
 * solution, which is n, its cost, and n numbers from 1.  Fills place[n]. */
int qaplib_read_assignment(struct scan *s, uint32_t n, uint32_t n_places,
			   uint32_t *place);

#endif
