/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_fabric.c - any bytes as a fabric file: refused with a message and a
 * place, or a fabric that keeps every promise of fabric.h */
#include "tests/fuzz/fuzz.h"
#include "tests/lib/fabric_check.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Millions of nodes in forty bytes are valid and only slow: the time is better
 * spent on other inputs.  A line whose brackets hold numbers of 5 digits taken
 * together names up to 100,000 things. */
static bool asks_for_much(const uint8_t *data, size_t size)
{
	size_t digits = 0, longest = 0, line = 0;

	for (size_t i = 0; i < size; i++) {
		digits = isdigit(data[i]) ? digits + 1 : 0;
		longest = digits > longest ? digits : longest;
		if (data[i] == '\n')
			line = longest = 0;
		if (data[i] == '[') {
			line += longest;
			longest = 0;
		}
		if (line + longest > 5)
			return true;
	}
	return false;
}

static void check_distances(const struct weft_fabric *f)
{
	uint32_t step = f->n_gpus / 16 + 1;

	for (uint32_t a = 0; a < f->n_gpus; a += step)
		for (uint32_t b = 0; b < f->n_gpus; b += step) {
			struct weft_distance there, back;

			there = weft_fabric_distance(f, a, b);
			back = weft_fabric_distance(f, b, a);
			require(there.hops == back.hops);
			require((there.hops == 0) == (a == b));
			require(!f->connected || there.hops < 1u << 20);
		}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weft_error err = {0};
	struct weft_fabric *f;
	/* libFuzzer's buffer has no NUL behind it: neither has this. */
	char *text = malloc(size ? size : 1);

	if (!text || asks_for_much(data, size)) {
		free(text);
		return 0;
	}
	memcpy(text, data, size);
	f = weft_fabric_parse(text, size, "fuzz", &err);
	free(text);
	if (!f) {
		require(err.code == WEFT_EINVAL && err.text[0]);
		for (const char *c = err.text; *c; c++)
			require((unsigned char)*c >= ' ' && *c != 127);
		return 0;
	}
	require(err.code == 0);
	require(fabric_check(f, &err) == 0);
	check_distances(f);
	weft_fabric_free(f);
	return 0;
}
