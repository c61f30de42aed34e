/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_nccl_xml.c - any text as nccl-xml */
#include "tests/fuzz/import_any.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	import_any("nccl-xml", data, size);
	return 0;
}
