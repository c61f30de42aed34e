/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_node.c - any bytes as what a node says of its GPUs and NICs, in the
 * formats that have no harness of their own
 */
#include "tests/fuzz/import_any.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	import_any("rdma-topo", data, size);
	import_any("rocm-smi", data, size);
	return 0;
}
