/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_gpu_fabric.c - any text as gpu-fabric */
#include "tests/fuzz/import_any.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	import_any("gpu-fabric", data, size);
	return 0;
}
