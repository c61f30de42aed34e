/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_inventory.c - any text as an inventory: refused with a message, or
 * audited, its findings all of lines that it has */
#include "topology/audit/inventory.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

static const char fabric_text[] = "weft: fabric/1\n"
				  "nodes:\n"
				  "  n[0-7]: 4\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct weft_fabric *f;
	struct weft_inventory inventory = {0};
	struct weft_findings findings = {0};
	struct weft_error err = {0};

	if (!f)
		f = weft_fabric_parse(fabric_text, strlen(fabric_text),
				      "fabric", NULL);
	if (weft_inventory_parse(&inventory, (const char *)data, size, "in",
				 &findings, &err)) {
		require(err.code >= 1 && err.code <= 125 && err.text[0]);
	} else {
		require(weft_inventory_audit(&inventory, f, &findings, &err) ==
			0);
		weft_findings_sort(&findings);
		for (uint32_t i = 0; i < findings.n; i++)
			require(findings.item[i].line >= 0 &&
				(size_t)findings.item[i].line <= size);
	}
	weft_inventory_free(&inventory);
	weft_findings_free(&findings);
	return 0;
}
