/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_aws.c - any bytes as the answer of aws ec2 describe-instance-topology */
#include "tests/fuzz/import_any.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	import_any("aws", data, size);
	return 0;
}
