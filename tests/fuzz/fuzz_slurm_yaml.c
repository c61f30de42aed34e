/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_slurm_yaml.c - any bytes as topology.yaml */
#include "tests/fuzz/import_any.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!asks_for_much(data, size))
		import_any("slurm-yaml", data, size);
	return 0;
}
