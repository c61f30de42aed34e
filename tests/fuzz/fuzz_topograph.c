/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_topograph.c - any bytes as a topograph model, a graph or NetQ's answer
 */
#include "tests/fuzz/import_any.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!asks_for_much(data, size))
		import_any("topograph", data, size);
	return 0;
}
