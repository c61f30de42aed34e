/* SPDX-License-Identifier: GPL-3.0-or-later */
/* draw.h - pictures of a scene: text, SVG, DOT, one page of HTML, JSON */
#ifndef WEFT_TOPOLOGY_DRAW_DRAW_H
#define WEFT_TOPOLOGY_DRAW_DRAW_H

#include "topology/draw/scene.h"

#include <stdio.h>

/* Zeroes mean the defaults. */
struct weft_draw_options {
	uint32_t columns; /* of text; 0: 80 */
	bool colour;	  /* of text: escape sequences of a terminal */
	bool plain;	  /* of text: ASCII only */
};

/* Writes to out; -1 with err when out of memory.  ferror(out) says what becomes
 * of the bytes. */
typedef int weft_render(const struct weft_scene *scene,
			const struct weft_draw_options *options, FILE *out,
			struct weft_error *err);

struct weft_renderer {
	const char *name, *help;
	const char *suffix; /* of files of this kind, with the dot */
	weft_render *render;
};

extern const struct weft_renderer weft_renderers[];
extern const uint32_t weft_n_renderers;

/* By name; NULL with err that says the nearest. */
const struct weft_renderer *weft_renderer_find(const char *name,
					       struct weft_error *err);

/* By the end of a file's name, or NULL. */
const struct weft_renderer *weft_renderer_of_file(const char *path);

#endif
