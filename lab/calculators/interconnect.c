/* SPDX-License-Identifier: GPL-3.0-or-later */
/* interconnect.c - the table of link generations */
#include "lab/calculators/interconnect.h"

#include <stddef.h>
#include <strings.h>

#define GBIT (1e9 / 8)

static const char ib[] = "InfiniBand roadmap, 4x port";
static const char ethernet[] = "IEEE 802.3";
static const char nvlink[] = "NVIDIA data sheets, half of both directions";

const struct weft_interconnect weft_interconnects[] = {
	{"EDR", 4, 25 * GBIT, ib},	    {"HDR", 4, 50 * GBIT, ib},
	{"NDR", 4, 100 * GBIT, ib},	    {"XDR", 4, 200 * GBIT, ib},
	{"100GbE", 4, 25 * GBIT, ethernet}, {"200GbE", 4, 50 * GBIT, ethernet},
	{"400GbE", 8, 50 * GBIT, ethernet}, {"800GbE", 8, 100 * GBIT, ethernet},
	{"NVLink3", 12, 25e9, nvlink},	    {"NVLink4", 18, 25e9, nvlink},
	{"NVLink5", 18, 50e9, nvlink},
};
const uint32_t weft_n_interconnects =
	sizeof(weft_interconnects) / sizeof(weft_interconnects[0]);

const struct weft_interconnect *weft_interconnect_find(const char *name)
{
	for (uint32_t i = 0; i < weft_n_interconnects; i++) {
		if (strcasecmp(weft_interconnects[i].name, name) == 0)
			return &weft_interconnects[i];
	}
	return NULL;
}

double weft_interconnect_rate(const struct weft_interconnect *interconnect,
			      enum weft_convention convention)
{
	double rate = interconnect->lanes * interconnect->lane_bytes_per_s;

	if (convention == WEFT_SEED && interconnect->source == nvlink)
		return 2 * rate;
	return rate;
}
