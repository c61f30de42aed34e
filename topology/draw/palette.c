/* SPDX-License-Identifier: GPL-3.0-or-later */
/* palette.c - the colours of all pictures */
#include "topology/draw/palette.h"

#include <stdio.h>

const struct weft_shades weft_shades[WEFT_N_PAPERS] = {
	[WEFT_LIGHT] =
		{
			.paper = "#ffffff",
			.ink = "#1b1f24",
			.faint = "#c3c9d1",
			.frame = "#3f7d20",
			.cut = "#a8261a",
			.use = {"#eef1f4", "#8b939d", "#3b3f45", "#1f4e9c"},
			.hue = {"#1f4e9c", "#d9730d", "#138a63", "#b5489a",
				"#3d9bd4", "#a07f00", "#8f1d14", "#7a5bd0"},
		},
	[WEFT_DARK] =
		{
			.paper = "#14171b",
			.ink = "#e6e9ed",
			.faint = "#4a515a",
			.frame = "#86c25d",
			.cut = "#ff8a7a",
			.use = {"#23282e", "#6f7883", "#b9bfc6", "#5b8fe0"},
			.hue = {"#5b8fe0", "#f0923a", "#2fb98a", "#dd7cc5",
				"#84ccf5", "#d6b422", "#e0584b", "#a993f5"},
		},
};

#define N_STOPS 6

/* Lightness rises from stop to stop. */
static const unsigned char ramps[WEFT_HEAT + WEFT_N_PAPERS][N_STOPS][3] = {
	[WEFT_LIGHT] = {{0x2f, 0x1e, 0x6e},
			{0x27, 0x4f, 0x99},
			{0x13, 0x76, 0x86},
			{0x2c, 0x90, 0x5a},
			{0x76, 0x94, 0x2a},
			{0xbb, 0x8a, 0x00}},
	[WEFT_DARK] = {{0x66, 0x5f, 0xd6},
		       {0x4f, 0x8f, 0xd9},
		       {0x33, 0xab, 0xb8},
		       {0x55, 0xc0, 0x7c},
		       {0xb0, 0xd4, 0x55},
		       {0xff, 0xe2, 0x5a}},
	/* one hue, paler where there is less */
	[WEFT_HEAT + WEFT_LIGHT] = {{0xf3, 0xc3, 0xd0},
				    {0xe9, 0x98, 0xaf},
				    {0xdc, 0x6c, 0x8e},
				    {0xc9, 0x42, 0x6f},
				    {0xad, 0x20, 0x54},
				    {0x86, 0x06, 0x3b}},
	[WEFT_HEAT + WEFT_DARK] = {{0x6a, 0x2f, 0x47},
				   {0x8d, 0x39, 0x59},
				   {0xb0, 0x44, 0x6b},
				   {0xd2, 0x56, 0x82},
				   {0xef, 0x79, 0x9e},
				   {0xff, 0xa9, 0xc2}},
};

const char *weft_ramp(int paper, double at, char colour[WEFT_COLOUR_SIZE])
{
	double place = at < 0 ? 0 : at > 1 ? 1 : at;
	unsigned int rgb[3];
	size_t low;

	place *= N_STOPS - 1;
	low = (size_t)place;
	if (low > N_STOPS - 2)
		low = N_STOPS - 2;
	place -= (double)low;
	for (int c = 0; c < 3; c++)
		rgb[c] =
			(unsigned int)(ramps[paper][low][c] * (1 - place) +
				       ramps[paper][low + 1][c] * place + 0.5) &
			0xff;
	snprintf(colour, WEFT_COLOUR_SIZE, "#%02x%02x%02x", rgb[0], rgb[1],
		 rgb[2]);
	return colour;
}

const char *weft_group_colour(const struct weft_colouring *colouring,
			      uint32_t group, int paper,
			      char colour[WEFT_COLOUR_SIZE])
{
	if (colouring->ordered)
		return weft_ramp(paper,
				 colouring->n_groups < 2
					 ? 0.3
					 : (double)group /
						   (colouring->n_groups - 1),
				 colour);
	snprintf(colour, WEFT_COLOUR_SIZE, "%s",
		 weft_shades[paper].hue[group % WEFT_N_HUES]);
	return colour;
}
