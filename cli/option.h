/* SPDX-License-Identifier: GPL-3.0-or-later */
/* option.h - values of command line options; a wrong one is a usage error */
#ifndef WEFT_CLI_OPTION_H
#define WEFT_CLI_OPTION_H

#include "costmodel/job/gpu.h"

#include <argp.h>
#include <stdint.h>

/* Ends the program through argp_error: --OPTION: "text" is not EXPECTED. */
void option_wrong(const struct argp_state *state, const char *text,
		  const char *expected);

/* A whole number 0..max, or ends the program likewise. */
uint64_t option_uint(const struct argp_state *state, const char *text,
		     uint64_t max);

/* A number min..max, likewise. */
double option_number(const struct argp_state *state, const char *text,
		     double min, double max);

/* A kind of GPU by name, likewise. */
const struct weft_gpu *option_gpu(const struct argp_state *state,
				  const char *text);

#endif
