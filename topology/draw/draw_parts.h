/* SPDX-License-Identifier: GPL-3.0-or-later */
/* draw_parts.h - the renderers of draw.c's table, and what several share */
#ifndef WEFT_TOPOLOGY_DRAW_DRAW_PARTS_H
#define WEFT_TOPOLOGY_DRAW_DRAW_PARTS_H

#include "topology/draw/draw.h"

#include <jansson.h>

weft_render draw_text, draw_svg, draw_dot, draw_html, draw_json;

/* The scene as {"schema": "weft.draw/1", ...}: weft-draw(1).  New, or NULL with
 * err. */
json_t *draw_document(const struct weft_scene *scene, struct weft_error *err);

/* "12 of the job, 3 busy, 1 free": what there is of n GPUs. */
void draw_census(FILE *out, const struct weft_census *census);

/* The first letter of a legend's key for a group, used again after 62. */
char draw_letter(uint32_t group);

#endif
