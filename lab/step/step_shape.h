/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_shape.h - shapes of models that tables of runs only name */
#ifndef WEFT_LAB_STEP_STEP_SHAPE_H
#define WEFT_LAB_STEP_STEP_SHAPE_H

#include "costmodel/job/model.h"

/* The shape of that name, built-in or published elsewhere; only letters,
 * digits and the points between digits count, whatever the case, and what
 * follows a known name does not.  NULL: unknown. */
const struct weft_model *step_shape_named(const char *name);

/* A built-in shape of these widths, 0 being any (but of hidden, and of one of
 * ffn and heads), or NULL. */
const struct weft_model *step_shape_of(uint32_t hidden, uint32_t ffn,
				       uint32_t heads, uint32_t kv_heads);

#endif
