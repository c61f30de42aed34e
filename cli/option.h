/* SPDX-License-Identifier: GPL-3.0-or-later */
/* option.h - values of command line options; a wrong one is a usage error */
#ifndef WEFT_CLI_OPTION_H
#define WEFT_CLI_OPTION_H

#include <argp.h>
#include <stdint.h>

/* A whole number 0..max, or ends the program through argp_error. */
uint64_t option_uint(const struct argp_state *state, const char *text,
		     uint64_t max);

/* A number min..max, likewise. */
double option_number(const struct argp_state *state, const char *text,
		     double min, double max);

#endif
