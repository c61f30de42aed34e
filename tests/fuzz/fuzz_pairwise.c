/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_pairwise.c - any text as measurements of pairs: refused with a message,
 * or rates that are numbers, and an audit */
#include "costmodel/measured/pairwise.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char fabric_text[] = "weft: fabric/1\n"
				  "nodes:\n"
				  "  n[0-7]: 4\n"
				  "levels:\n"
				  "  leaf:\n"
				  "    l[0-3]: n[0-7]\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct weft_fabric *f;
	struct weft_pairwise p = {0};
	struct weft_findings findings = {0};
	struct weft_error err = {0};

	if (!f)
		f = weft_fabric_parse(fabric_text, strlen(fabric_text),
				      "fabric", NULL);
	if (weft_pairwise_parse(&p, (const char *)data, size, "in", f,
				&findings, &err)) {
		require_message(&err);
	} else {
		for (uint32_t i = 0; i < p.n_pairs; i++) {
			require(p.pairs[i].a < p.pairs[i].b);
			require(p.pairs[i].b < f->n_nodes);
			require(isfinite(p.pairs[i].rate_bytes_per_s) &&
				p.pairs[i].rate_bytes_per_s >= 0);
		}
		require(weft_pairwise_audit(&p, f, &findings, &err) == 0);
		weft_findings_sort(&findings);
	}
	weft_pairwise_free(&p);
	weft_findings_free(&findings);
	return 0;
}
