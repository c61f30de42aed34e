/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_places.c - any bytes as what tells where nodes are: a table of a site,
 * Kubernetes' nodes, clouds' answers, Ethernet neighbours, UFM's cables
 */
#include "tests/fuzz/import_any.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const formats[] = {
		"csv", "kubernetes", "gcp", "oci", "lldp", "ufm", "azure"};

	if (asks_for_much(data, size))
		return 0;
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		import_any(formats[i], data, size);
	return 0;
}
