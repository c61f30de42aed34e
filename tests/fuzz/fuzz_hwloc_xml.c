/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_hwloc_xml.c - any bytes as lstopo's XML, of which libhwloc must see only
 * what it can bear
 */
#include "tests/fuzz/import_any.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	import_any("hwloc-xml", data, size);
	return 0;
}
