/* SPDX-License-Identifier: GPL-3.0-or-later */
/* palette.h - the colours of all pictures, for light and for dark paper
 *
 * Eight hues that people with any of the usual colour vision deficiencies can
 * tell apart, each at least 3:1 against its paper, and for what has an order a
 * ramp of rising lightness.  Heat has one hue of its own on both papers: strong
 * where there is more, fading into the paper where there is less.
 */
#ifndef WEFT_TOPOLOGY_DRAW_PALETTE_H
#define WEFT_TOPOLOGY_DRAW_PALETTE_H

#include "topology/draw/scene.h"

#define WEFT_N_HUES 8

struct weft_shades {
	const char *paper, *ink, *faint; /* page, text, lines */
	const char *frame;		 /* of NVLink domains across nodes */
	const char *cut;		 /* cables that are down */
	const char *use[WEFT_N_USES];
	const char *hue[WEFT_N_HUES];
};

enum { WEFT_LIGHT, WEFT_DARK, WEFT_N_PAPERS };
extern const struct weft_shades weft_shades[WEFT_N_PAPERS];

#define WEFT_COLOUR_SIZE 8 /* "#rrggbb" */

/* Colour at 0..1 of a paper's ramp, or with WEFT_HEAT added of its ramp for
 * heat; written to colour, which is returned. */
#define WEFT_HEAT WEFT_N_PAPERS
const char *weft_ramp(int paper, double at, char colour[WEFT_COLOUR_SIZE]);

/* Colour of a group on a paper. */
const char *weft_group_colour(const struct weft_colouring *colouring,
			      uint32_t group, int paper,
			      char colour[WEFT_COLOUR_SIZE]);

#endif
