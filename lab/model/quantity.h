/* SPDX-License-Identifier: GPL-3.0-or-later */
/* quantity.h - options whose value has a unit; a wrong one is a usage error */
#ifndef WEFT_LAB_MODEL_QUANTITY_H
#define WEFT_LAB_MODEL_QUANTITY_H

#include <argp.h>

/* Each returns the value in SI units, above 0 (a time: 0 or above), or ends the
 * program through argp_error.  Rates and times must say their unit. */

/* "7e9", "7B", "70B", "405 B", "1.5T": elements */
double quantity_count(const struct argp_state *state, const char *text);
/* "500MB", "25 MiB" */
double quantity_bytes(const struct argp_state *state, const char *text);
/* "400Gbps", "50 GB/s", "NDR": bytes per second */
double quantity_rate(const struct argp_state *state, const char *text);
/* "3.5ms", "5 us", "1 s" */
double quantity_time(const struct argp_state *state, const char *text);
/* A time above 0. */
double quantity_duration(const struct argp_state *state, const char *text);
/* "400TFLOPS" */
double quantity_flops(const struct argp_state *state, const char *text);

/* Columns of rows of options, option.h. */
#define COUNT(member)	 CONVERT(member, quantity_count)
#define BYTES(member)	 CONVERT(member, quantity_bytes)
#define RATE(member)	 CONVERT(member, quantity_rate)
#define TIME(member)	 CONVERT(member, quantity_time)
#define DURATION(member) CONVERT(member, quantity_duration)
#define FLOPS(member)	 CONVERT(member, quantity_flops)

#endif
