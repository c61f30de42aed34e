/* SPDX-License-Identifier: GPL-3.0-or-later */
/* interconnect.h - generations of links by name: "NDR", "NVLink4" */
#ifndef WEFT_LAB_CALCULATORS_INTERCONNECT_H
#define WEFT_LAB_CALCULATORS_INTERCONNECT_H

#include "lab/calculators/convention.h"

#include <stdint.h>

/* A port, or the links of one GPU. */
struct weft_interconnect {
	const char *name;
	uint32_t lanes;
	double lane_bytes_per_s; /* one direction */
	const char *source;
};

extern const struct weft_interconnect weft_interconnects[];
extern const uint32_t weft_n_interconnects;

/* The generation of that name (case ignored), or NULL. */
const struct weft_interconnect *weft_interconnect_find(const char *name);

/* Bytes per second in one direction; the seeds quote NVLink's two together. */
double weft_interconnect_rate(const struct weft_interconnect *interconnect,
			      enum weft_convention convention);

#endif
