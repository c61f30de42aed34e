/* SPDX-License-Identifier: GPL-3.0-or-later */
/* svg_sheet.h - what the pictures in SVG share: paper, colours, header */
#ifndef WEFT_TOPOLOGY_DRAW_SVG_SHEET_H
#define WEFT_TOPOLOGY_DRAW_SVG_SHEET_H

#include "topology/draw/layout.h"
#include "topology/draw/scene.h"

#include <stdio.h>

#define SHEET_WIDTH  1200.0
#define SHEET_MARGIN 16.0
#define SHEET_LETTER 0.58 /* mean width of a letter over its height */

struct sheet {
	const struct weft_scene *scene;
	const struct weft_layout *layout; /* of the map; NULL: no map */
	FILE *out;
	double top; /* of what is below the header */
};

/* Text as XML has it, control characters as blanks. */
void sheet_escape(FILE *out, const char *text, size_t length);

/* A line of text no wider than `width`; what does not fit is left out, with an
 * ellipsis where that leaves anything to read. */
void sheet_label(const struct sheet *s, const char *class, double x, double y,
		 double width, double size, const char *text);

/* The attribute that fills a cell in the colour of a group, or of a use. */
void sheet_paint(const struct sheet *s, enum weft_use use, uint32_t group);

/* The start of the file: size, style and paper. */
void sheet_open(const struct sheet *s, double height);

/* Title, facts, legend, and a note on what a cell is. */
void sheet_header(const struct sheet *s, const char *note);
/* Its height: the picture's size is the first thing written. */
double sheet_header_height(const struct weft_scene *scene);

#endif
