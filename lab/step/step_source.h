/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_source.h - the cells of a row of a table of runs */
#ifndef WEFT_LAB_STEP_STEP_SOURCE_H
#define WEFT_LAB_STEP_STEP_SOURCE_H

#include "base/csv.h"
#include "costmodel/job/model.h"
#include "lab/step/step_row.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct source {
	const struct csv *csv;
	uint32_t index;
	struct step_row *row;
	const char *folder;
};

/* The cell of a column, "" where there is none; as a number, 0 where it is
 * none; as a whole number, else what stands for it unsaid. */
const char *source_text(const struct source *s, const char *column);
double source_number(const struct source *s, const char *column);
uint32_t source_count(const struct source *s, const char *column,
		      uint32_t unsaid);

/* Whether a word stands in a cell, whatever the case. */
bool source_mentions(const char *cell, const char *word);

/* Trained in fp16, whose gradients and recipes are those of their time. */
bool source_is_half(const struct source *s);

/* Keys of the spec for the software, as the row's columns say them or its words
 * do, each after a comma; the row's GPU, model and precision are read. */
void source_software(const struct source *s, char *keys, size_t size);

/* ---- shapes of models that tables of runs only name ---- */

/* The shape of that name, built-in or published elsewhere; only letters,
 * digits and the points between digits count, whatever the case, and what
 * follows a known name does not.  NULL: unknown. */
const struct weft_model *step_shape_named(const char *name);

/* A built-in shape of these widths, 0 being any (but of hidden, and of one of
 * ffn and heads), or NULL. */
const struct weft_model *step_shape_of(uint32_t hidden, uint32_t ffn,
				       uint32_t heads, uint32_t kv_heads);

#endif
