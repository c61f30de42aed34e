/* SPDX-License-Identifier: GPL-3.0-or-later */
/* quantity.h - options whose value has a unit; a wrong one is a usage error */
#ifndef WEFT_LAB_MODEL_QUANTITY_H
#define WEFT_LAB_MODEL_QUANTITY_H

#include <argp.h>
#include <stdint.h>

enum quantity_kind {
	QUANTITY_COUNT,	   /* "7e9", "7B", "70B", "405 B", "1.5T": elements */
	QUANTITY_BYTES,	   /* "500MB", "25 MiB" */
	QUANTITY_RATE,	   /* "400Gbps", "50 GB/s", "NDR": bytes per second */
	QUANTITY_TIME,	   /* "3.5ms", "5 us", "1 s" */
	QUANTITY_DURATION, /* a time above 0 */
	QUANTITY_FLOPS,	   /* "400TFLOPS" */
	QUANTITY_N
};

/* The value in SI units, above 0 (a time: 0 or above), or ends the program
 * through argp_error.  Rates and times must say their
 * unit. */
double quantity_parse(const struct argp_state *state, enum quantity_kind kind,
		      const char *text);

/* A whole number from 1 to max, likewise. */
uint32_t quantity_whole(const struct argp_state *state, const char *text,
			uint32_t max);

#endif
