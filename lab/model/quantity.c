/* SPDX-License-Identifier: GPL-3.0-or-later */
/* quantity.c - numbers with units on the command line */
#include "lab/model/quantity.h"
#include "base/size.h"
#include "base/suggest.h"
#include "cli/option.h"
#include "lab/calculators/interconnect.h"

#include <ctype.h>
#include <errno.h>
#include <float.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_UNITS 16

struct unit {
	const char *name;
	double factor;
};

struct kind {
	const char *expected;
	struct unit units[MAX_UNITS]; /* ends with a NULL name */
};

enum quantity_kind {
	QUANTITY_COUNT,
	QUANTITY_BYTES,
	QUANTITY_RATE,
	QUANTITY_TIME,
	QUANTITY_DURATION,
	QUANTITY_FLOPS,
	QUANTITY_N
};

static const struct kind kinds[QUANTITY_N] = {
	[QUANTITY_COUNT] = {"a number such as 7e9, 7B or 512K", {{0}}},
	[QUANTITY_BYTES] = {"a size such as 500MB or 25MiB", {{0}}},
	[QUANTITY_RATE] = {"a rate such as 400Gbps, 50GB/s or NDR",
			   {{"Gbps", 1e9 / 8},
			    {"GB/s", 1e9},
			    {"Gb/s", 1e9 / 8},
			    {"Tbps", 1e12 / 8},
			    {"TB/s", 1e12},
			    {"Tb/s", 1e12 / 8},
			    {"Mbps", 1e6 / 8},
			    {"MB/s", 1e6},
			    {"Mb/s", 1e6 / 8},
			    {"B/s", 1}}},
	[QUANTITY_TIME] =
		{"a time such as 3.5ms or 5us",
		 {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}},
	[QUANTITY_DURATION] =
		{"a time above 0 such as 3.5ms or 5us",
		 {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}}},
	[QUANTITY_FLOPS] = {"a rate such as 400TFLOPS",
			    {{"TFLOPS", 1e12},
			     {"GFLOPS", 1e9},
			     {"PFLOPS", 1e15},
			     {"TFLOP/s", 1e12},
			     {"PFLOP/s", 1e15},
			     {"GFLOP/s", 1e9}}},
};

static double factor_find(const struct argp_state *state,
			  const struct kind *kind, const char *text,
			  const char *name)
{
	const char *known[MAX_UNITS];
	char expected[320], hint[WEFT_SUGGEST_TEXT];
	size_t n = 0;

	for (; n < MAX_UNITS && kind->units[n].name; n++) {
		if (strcmp(kind->units[n].name, name) == 0)
			return kind->units[n].factor;
		known[n] = kind->units[n].name;
	}
	snprintf(expected, sizeof(expected),
		 *name ? "%s (unknown unit; %s)" : "%s (it has no unit)",
		 kind->expected, weft_suggest_text(name, known, n, hint));
	option_wrong(state, text, expected);
	return 0;
}

/* A count or a size: what base/size.h reads. */
static double plain_parse(const struct argp_state *state,
			  enum quantity_kind kind, const char *text)
{
	size_t length = strlen(text);
	double value = 0;
	int rc = kind == QUANTITY_COUNT ? weft_count_read(text, length, &value)
					: weft_size_read(text, length, &value);

	if (rc == 0 && kind == QUANTITY_BYTES &&
	    isdigit((unsigned char)text[length - 1]))
		option_wrong(state, text,
			     "a size such as 500MB or 25MiB (it has no unit)");
	if (rc || !(value >= DBL_MIN && value <= 1e30))
		option_wrong(state, text, kinds[kind].expected);
	return value;
}

static double quantity_parse(const struct argp_state *state,
			     enum quantity_kind kind, const char *text)
{
	const struct weft_interconnect *link = weft_interconnect_find(text);
	double min = kind == QUANTITY_TIME ? 0 : DBL_MIN;
	double value;
	char *end;

	if (kind == QUANTITY_COUNT || kind == QUANTITY_BYTES)
		return plain_parse(state, kind, text);
	if (kind == QUANTITY_RATE && link)
		return weft_interconnect_rate(link, WEFT_RIGHT);
	errno = 0;
	value = strtod(text, &end);
	if (end == text)
		option_wrong(state, text, kinds[kind].expected);
	while (*end == ' ')
		end++;
	if (value == 0 && kind == QUANTITY_TIME && *end == '\0')
		return 0; /* nothing is nothing in any unit */
	value *= factor_find(state, &kinds[kind], text, end);
	if (errno || !(value >= min && value <= 1e30))
		option_wrong(state, text, kinds[kind].expected);
	return value;
}

#define QUANTITY_READER(name, kind)                                            \
	double name(const struct argp_state *state, const char *text)          \
	{                                                                      \
		return quantity_parse(state, kind, text);                      \
	}

QUANTITY_READER(quantity_count, QUANTITY_COUNT)
QUANTITY_READER(quantity_bytes, QUANTITY_BYTES)
QUANTITY_READER(quantity_rate, QUANTITY_RATE)
QUANTITY_READER(quantity_time, QUANTITY_TIME)
QUANTITY_READER(quantity_duration, QUANTITY_DURATION)
QUANTITY_READER(quantity_flops, QUANTITY_FLOPS)
