/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_nvidia_smi.c - any text as nvidia-smi, and as rocm-smi */
#include "tests/fuzz/import_any.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	import_any("nvidia-smi", data, size);
	import_any("rocm-smi", data, size);
	return 0;
}
