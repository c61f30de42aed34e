/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_columns.h - the columns that a table of training runs may have */
#ifndef WEFT_LAB_STEP_STEP_COLUMNS_H
#define WEFT_LAB_STEP_STEP_COLUMNS_H

#include "base/csv.h"

#include <stddef.h>

/* Every column is one that is read: a key of a spec, a member of a model, or
 * what a table says besides.  -1 names the column and the nearest known. */
int step_columns_check(const struct csv *csv, const char *path,
		       struct weft_error *err);

/* The text of a spec, as it grows. */
struct step_keys {
	char text[1024];
	size_t used;
};

/* Appends key=value, the row's own value where it has one. */
void step_keys_put(struct step_keys *keys, const struct csv *csv, uint32_t row,
		   const char *key, const char *value);

/* Appends the row's values of all keys that are not there yet, but of those
 * that every row has its own rules for. */
void step_keys_rest(struct step_keys *keys, const struct csv *csv,
		    uint32_t row);

#endif
