#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# weft advise
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

advise() { run advise "$@"; }

advise --gpus 64 --model llama3-70B --json
check "advise answers" exits 0
check "schema comes first" schema_first advise
check "the fastest first" json '[.layouts[].step_s] | . == sort'
check "all were tried" json '.complete and .tried > 100 and
	.fitting + .too_large <= .tried'
check "each fits" json 'all(.layouts[]; .memory_bytes <=
	81559 * 1048576)'
check "each has a range" json \
	'all(.layouts[]; .low_s < .step_s and .step_s < .high_s)'
best=$(jq -r '.layouts[0].spec' "$work/out")
step_s=$(jq '.layouts[0].step_s' "$work/out")
run model step --json --job "$best"
check "the spec is the one to paste" json ".step_s == $step_s"
"$weft" synth pod:2 leaf:2 node:4 gpu:8 >"$work/f.yaml"
advise "$work/f.yaml" --gpus 16 --model llama3-8B
check "the fabric may be the argument" exits 0
# Whatever is given is kept, and no layout of the rest is faster.
advise --gpus 64 --model llama3-70B --job tp=4,gbs=512 --json --top 1000
check "given keys are not searched" json \
	'all(.layouts[]; .spec | startswith("tp=4,gbs=512,gpus=64"))'
check "nor is any of these faster" json "all(.layouts[]; .step_s >= $step_s)"
advise --gpus 64 --model llama3-70B --job tp=4,pp=2,mbs=1,vpp=1,gbs=512 --json
check "one layout, recomputed where it has to be" json \
	'.tried == 1 and (.layouts | length) <= 1'

advise --gpus 4096 --model llama3-8B --job mbs=1048576
check "a batch beyond all is no division by zero" exits 1

advise --gpus 8 --model llama3-405B
check "what does not fit is a negative answer" exits 3
check "which is said" out "0 layouts"
advise --gpus 16 --model "${WEFT_SRCDIR:-.}/tests/models/qwen3-30b-a3b.json" \
	--json
check "experts are dealt out" json 'any(.layouts[]; .spec | test("ep="))'

"$weft" synth leaf:2 node:8 gpu:8 >"$work/f.yaml"
advise --gpus 64 --model llama3-8B --fabric "$work/f.yaml" --json
check "on a cluster" exits 0
advise --gpus 64 --model llama3-8B --fabric "$work/f.yaml" \
	--busy 'n[00-12]' --json
check "on a full one there is no place" exits 3
check "and it is said why" json '.layouts == [] and .why != null'
advise --gpus 64 --model llama3-8B --fabric "$work/f.yaml" --job within=planet
check "an unknown level is an error" exits 1
check "that names it" err planet
advise --gpus 64 --model nonsense
check "so is an unknown model" exits 1
for wrong in "--gpus 8" "--model llama3-8B" "--gpus x --model llama3-8B" \
	"--gpus 8 --model llama3-8B --state s" "extra"; do
	# shellcheck disable=SC2086 # several words
	advise $wrong
	check "a usage error: '$wrong'" exits 2
done
finish
