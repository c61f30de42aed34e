/* SPDX-License-Identifier: GPL-3.0-or-later */
/* option.c - numbers on the command line */
#include "cli/option.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <stdlib.h>

uint64_t option_uint(const struct argp_state *state, const char *option,
		     const char *text, uint64_t max)
{
	unsigned long long value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (!isdigit((unsigned char)*text) || *end || errno || value > max)
		argp_error(state,
			   "%s: \"%s\" is not a whole number from 0 to %llu",
			   option, text, (unsigned long long)max);
	return value;
}

double option_number(const struct argp_state *state, const char *option,
		     const char *text, double min, double max)
{
	double value;
	char *end;

	errno = 0;
	value = strtod(text, &end);
	if (end != text && !*end && !errno && value >= min && value <= max)
		return value;
	if (max < DBL_MAX)
		argp_error(state, "%s: \"%s\" is not a number from %g to %g",
			   option, text, min, max);
	else
		argp_error(state, "%s: \"%s\" is not a number of at least %g",
			   option, text, min);
	return min;
}
