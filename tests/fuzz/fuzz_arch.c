/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_arch.c - any bytes as a tree of places: refused, or an ultrametric */
#include "lab/map/arch.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static uint32_t meet(const struct arch *a, uint32_t x, uint32_t y)
{
	return x == y ? 0 : sites_meet(&a->sites, x, y);
}

static void check_arch(const struct arch *a)
{
	uint32_t n = a->sites.n < 64 ? a->sites.n : 64;

	require(a->sites.n > 0);
	for (uint32_t i = 0; i < a->sites.n; i++)
		require(a->slot[a->site[i]] == i);
	for (uint32_t x = 0; x < n; x++) {
		for (uint32_t y = 0; y < n; y++) {
			uint32_t z = (7 * x + y) % n;
			uint32_t xz = meet(a, x, z), zy = meet(a, z, y);

			require(meet(a, x, y) <= (xz > zy ? xz : zy));
			require(x == y || sites_distance(&a->sites, x, y) >= 0);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weft_error err = {0};
	struct arch a = {0};
	struct scan s;
	char *text = calloc(size + 1, 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	if (scan_text(&s, "input", text, size, &err) || arch_read(&s, &a))
		require_message(&err);
	else
		check_arch(&a);
	arch_free(&a);
	free(text);
	return 0;
}
