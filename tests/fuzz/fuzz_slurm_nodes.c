/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_slurm_nodes.c - any bytes as slurm.conf, gres.conf or scontrol's nodes
 */
#include "tests/fuzz/import_any.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!asks_for_much(data, size))
		import_any("slurm-nodes", data, size);
	return 0;
}
