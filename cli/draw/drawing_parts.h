/* SPDX-License-Identifier: GPL-3.0-or-later */
/* drawing_parts.h - the steps of drawing_open
 *
 * Each fills its part of the scene from drawing's arena; -1 with err.
 */
#ifndef WEFT_CLI_DRAW_DRAWING_PARTS_H
#define WEFT_CLI_DRAW_DRAWING_PARTS_H

#include "cli/draw/drawing.h"

/* Ways to colour, and the one that is chosen. */
int drawing_groups(struct drawing *d, struct weft_error *err);
/* Title, facts, tables of cost. */
int drawing_facts(struct drawing *d, struct weft_error *err);

/* How good the place of a priced job is. */
int drawing_verdict(struct drawing *d, const char **verdict, const char **note,
		    struct weft_error *err);
/* The step is predicted, and of a model that the job names. */
bool drawing_is_predicted(const struct drawing *d);

/* n zeroed elements; text as printf makes it. */
void *drawing_array(struct drawing *d, size_t n, size_t size,
		    struct weft_error *err);
const char *drawing_text(struct drawing *d, struct weft_error *err,
			 const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
