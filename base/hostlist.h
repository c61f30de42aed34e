/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hostlist.h - "n[00-15],login1" <-> names, as Slurm and flux write them */
#ifndef WEFT_BASE_HOSTLIST_H
#define WEFT_BASE_HOSTLIST_H

#include "base/error.h"

#include <stdint.h>

/* Names in the order written, duplicates kept.  One block of memory: free with
 * weft_hostlist_free only. */
struct weft_hostlist {
	char **names;
	uint32_t n;
};

/* Expands `text`: names separated by commas, each with any number of bracketed
 * lists of numbers and ranges; width is kept ("[08-11]" gives 08 09 10 11); a
 * later bracket varies fastest.  Blanks around commas are allowed.
 * Fails on syntax (err->column counts from 1 in text), on an empty list, and
 * on more than max_names names (before allocating them).  *out is then empty.
 */
int weft_hostlist_decode(const char *text, uint32_t max_names,
			 struct weft_hostlist *out, struct weft_error *err);
void weft_hostlist_free(struct weft_hostlist *list);

/* Column (from 1) of the comma-separated item of `text` that gives name number
 * `index`, to point at it in a message; 1 when there is none. */
int weft_hostlist_column(const char *text, uint32_t index);

/* The shortest text that decodes to the same names in the same order: runs of
 * names that differ only in one ascending number are folded.  malloc'ed; NULL
 * when out of memory.  n == 0 gives "". */
char *weft_hostlist_encode(const char *const *names, uint32_t n);

/* Order of names as people count: digit runs compare as numbers ("n2" < "n10"),
 * then by byte.  For qsort-like use: <0, 0, >0. */
int weft_name_compare(const char *a, const char *b);

#endif
