/* SPDX-License-Identifier: GPL-3.0-or-later */
/* convention.h - where widely printed figures differ from the right ones
 *
 * Calculators that people know (here: "the seeds") mix units or leave terms
 * out.  Each such habit has a name, so that a figure can be reproduced as it is
 * printed, and explained.
 */
#ifndef WEFT_LAB_CALCULATORS_CONVENTION_H
#define WEFT_LAB_CALCULATORS_CONVENTION_H

#include <stdint.h>

enum weft_convention {
	WEFT_RIGHT, /* consistent units, every term; the default everywhere */
	WEFT_SEED,  /* as the seeds print it */
};

/* One habit: what the seeds do, what is right, and who says so ("" where it is
 * arithmetic). */
struct weft_difference {
	const char *name, *seed, *right, *source;
};

extern const struct weft_difference weft_differences[];
extern const uint32_t weft_n_differences;

/* What the seeds call so many bytes: the number of MiB, from 1 GiB on of GiB,
 * written as MB and GB. */
double weft_seed_bytes(double bytes);

#endif
