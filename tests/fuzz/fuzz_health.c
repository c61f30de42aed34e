/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_health.c - any text as a file of slow nodes, by its first byte a table
 * or YAML: refused with a message and a place, or factors in range */
#include "costmodel/time/health.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static const char fabric_text[] = "weft: fabric/1\n"
				  "nodes:\n"
				  "  n[0-7]: 4\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct weft_fabric *f;
	struct weft_health health = {0};
	struct weft_error err = {0};
	bool table = size > 0 && data[0] == 'n';

	if (!f)
		f = weft_fabric_parse(fabric_text, strlen(fabric_text),
				      "fabric", NULL);
	require(f != NULL);
	if (weft_health_parse((const char *)data, size,
			      table ? "h.csv" : "h.yaml", f, &health, &err)) {
		require_message(&err);
		require(err.line >= 0 && err.column >= 0);
		for (const char *c = err.text; *c; c++)
			require((unsigned char)*c >= 0x20 && *c != 0x7f);
	} else {
		require(health.n_nodes == f->n_nodes);
		for (uint32_t k = 0; k < health.n_nodes; k++)
			require(health.factor[k] >= 0.1 &&
				health.factor[k] <= 1000);
	}
	weft_health_free(&health);
	return 0;
}
