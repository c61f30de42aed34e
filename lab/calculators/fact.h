/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fact.h - figures that others state or measured, with their source, beside
 * what the seeds say
 *
 * Nothing in weft's costs depends on them; they are what the calculators and
 * their notes refer to.  Peaks and memory of GPUs are in gpu.h, rates of links
 * in interconnect.h.
 */
#ifndef WEFT_LAB_CALCULATORS_FACT_H
#define WEFT_LAB_CALCULATORS_FACT_H

#include <stdint.h>

/* In SI units.  seed: what the seeds say, or 0. */
struct weft_fact {
	const char *name, *unit;
	double value, seed;
	const char *text, *source;
};

extern const struct weft_fact weft_facts[];
extern const uint32_t weft_n_facts;

/* An item of the checks that the seeds ask for before blaming the model. */
struct weft_check {
	const char *name, *how, *finds;
};
extern const struct weft_check weft_checks[];
extern const uint32_t weft_n_checks;

#endif
