#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

nccl() { run model nccl "$@"; }

nccl --json
check "NCCL's choices are told" exits 0
check "the schema comes first" schema_first model
check "of eight GPUs, by size" json '.gpus == 8 and (.choices | length) == 12 and
	([.choices[].size_bytes] | . == sort)'
check "larger messages take longer" json '[.choices[].time_s] | . == sort'
check "small ones low latency, large ones NVLS" json \
	'.choices[0].protocol == "LL" and .choices[-1].algorithm == "NVLS"'
check "it says where the channels come from" json '.basis | test("logged")'
check "the choice is one of the pairs weighed" json '.pairs as $pairs |
	[.choices[] | {algorithm, protocol}] | unique |
	all(. as $c | $pairs | any({algorithm, protocol} == $c))'
nccl --json --machine selene-a100 --nodes 2 --size 1GiB --release 2.19
check "one size, of a release, on several nodes" json '.gpus == 16 and
	.release == 21900 and (.choices | length) == 1 and
	.choices[0].algorithm != "NVLS"'
check "bus bandwidth is 2 (n - 1) / n of size over time" json '.choices[0] |
	(.busbw_bytes_per_s * .time_s / .size_bytes / 1.875 - 1) | fabs < 1e-6'
nccl --collective all_gather
check "as text" out "all_gather of 8 GPUs"
nccl --machine dgx-b200 --nodes 2
check "what is not known is an error" exits 1
check "and says so" err "not known"
nccl --gpus-per-node 9
check "so are more GPUs than a node has" exits 1
for wrong in "--machine dgx-h200" "--collective all_to_all" "--release 2.1" \
	"--release x" "--size 5" "--size -1GB" "--nodes 0" extra; do
	# shellcheck disable=SC2086 # several words
	nccl $wrong
	check "a usage error: '$wrong'" exits 2
done

finish
