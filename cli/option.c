/* SPDX-License-Identifier: GPL-3.0-or-later */
/* option.c - numbers on the command line */
#include "cli/option.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The option as it was written is the last word that argp took, "--seed=x" or
 * "-sx", or the one before it, "--seed" "x". */
void option_wrong(const struct argp_state *state, const char *text,
		  const char *expected)
{
	const char *option = "";

	for (int i = state->next - 1; i > 0 && i > state->next - 3; i--) {
		option = state->argv[i];
		if (option != text && option[0] == '-')
			break;
	}
	argp_error(state, "%.*s: \"%s\" is not %s", (int)strcspn(option, "="),
		   option, text, expected);
}

uint64_t option_uint(const struct argp_state *state, const char *text,
		     uint64_t max)
{
	unsigned long long value;
	char expected[64], *end;

	errno = 0;
	value = strtoull(text, &end, 10);
	if (isdigit((unsigned char)*text) && !*end && !errno && value <= max)
		return value;
	snprintf(expected, sizeof(expected), "a whole number from 0 to %llu",
		 (unsigned long long)max);
	option_wrong(state, text, expected);
	return 0;
}

double option_number(const struct argp_state *state, const char *text,
		     double min, double max)
{
	double value;
	char expected[64], *end;

	errno = 0;
	value = strtod(text, &end);
	if (end != text && !*end && !errno && value >= min && value <= max)
		return value;
	if (max < DBL_MAX)
		snprintf(expected, sizeof(expected), "a number from %g to %g",
			 min, max);
	else
		snprintf(expected, sizeof(expected), "a number of at least %g",
			 min);
	option_wrong(state, text, expected);
	return min;
}

const struct weft_gpu *option_gpu(const struct argp_state *state,
				  const char *text)
{
	struct weft_error err = {0};
	const struct weft_gpu *gpu = weft_gpu_find(text, &err);

	if (!gpu)
		argp_error(state, "%s", err.text);
	return gpu;
}
