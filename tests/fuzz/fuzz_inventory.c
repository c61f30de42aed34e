/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_inventory.c - any text as an host facts: refused with a message, or
 * audited, its findings all of lines that it has */
#include "tests/fuzz/fuzz.h"
#include "topology/audit/host_facts.h"

#include <stdlib.h>
#include <string.h>

static const char fabric_text[] = "weft: fabric/1\n"
				  "nodes:\n"
				  "  n[0-7]: 4\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct weft_fabric *f;
	struct weft_host_facts host_facts = {0};
	struct weft_findings findings = {0};
	struct weft_error err = {0};

	if (!f)
		f = weft_fabric_parse(fabric_text, strlen(fabric_text),
				      "fabric", NULL);
	if (weft_host_facts_parse(&host_facts, (const char *)data, size, "in",
				  &findings, &err)) {
		require_message(&err);
	} else {
		require(weft_host_facts_audit(&host_facts, f, &findings,
					      &err) == 0);
		weft_findings_sort(&findings);
		for (uint32_t i = 0; i < findings.n; i++)
			require(findings.item[i].line >= 0 &&
				(size_t)findings.item[i].line <= size);
	}
	weft_host_facts_free(&host_facts);
	weft_findings_free(&findings);
	return 0;
}
