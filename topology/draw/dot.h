/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dot.h - what the files of the DOT renderer share */
#ifndef WEFT_TOPOLOGY_DRAW_DOT_H
#define WEFT_TOPOLOGY_DRAW_DOT_H

#include "topology/draw/scene.h"

#include <stdio.h>

struct dot {
	const struct weft_scene *scene;
	FILE *out;
	bool bundled; /* the nodes of a domain are one */
};

/* A string in quotes, whatever is in it. */
void dot_quote(FILE *out, const char *text);

/* The switches of a domain, or with WEFT_NONE those of none, as the fabric's
 * cabling has them. */
void dot_switches(const struct dot *g, uint32_t domain);

/* The cabling's cables, parallel ones as one.  -1 with err. */
int dot_cables(const struct dot *g, struct weft_error *err);

#endif
