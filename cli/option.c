/* SPDX-License-Identifier: GPL-3.0-or-later */
/* option.c - numbers on the command line */
#include "cli/option.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

uint64_t option_uint(const struct argp_state *state, const char *text,
		     uint64_t max)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || value > max)
		argp_error(state, "\"%s\" is not a whole number from 0 to %llu",
			   text, (unsigned long long)max);
	return value;
}

double option_number(const struct argp_state *state, const char *text,
		     double min, double max)
{
	double value;
	char *end;

	errno = 0;
	value = strtod(text, &end);
	if (end == text || *end || errno || !(value >= min && value <= max))
		argp_error(state, "\"%s\" is not a number from %g to %g", text,
			   min, max);
	return value;
}
