/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_hwloc_xml.c - any bytes as lstopo's XML, of which libhwloc must see only
 * what it can bear
 *
 * libhwloc 2.9 forgets memory where it refuses a file in the middle.  That ends
 * with the command, and is not what is looked for: leaks of its own count for
 * nothing here, those of the reader do.
 */
#include "tests/fuzz/import_any.h"

const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
	return "leak:libhwloc\n";
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	import_any("hwloc-xml", data, size);
	return 0;
}
