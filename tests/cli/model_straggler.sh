#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

straggler() { run model straggler "$@"; }

straggler --gpus 100 --jitter 0.1 --json
check "straggler answers" exits 0
check "the schema comes first" schema_first model
check "the largest of 100 is 2.5076 deviations out" near factor 1.250759
check "nobody is waited for in particular" json \
	'.rank == null and .health_factor == 1 and .ranks == 100'
straggler --gpus 4096 --jitter 0.1 --json
check "of more it is further out" json '.factor > 1.34 and .factor < 1.37'
straggler --gpus 4096 --jitter 0.1 --distribution lognormal --json
check "with a heavy tail still further" json '.factor > 1.38'
straggler --gpus 8
check "no jitter is said to be assumed" out "no --jitter given"

"$weft" synth leaf:2 node:4 gpu:4 >"$work/f.yaml"
printf 'node,factor\nn1,1.5\nn3,1.2\n' >"$work/slow.csv"
printf 'weft: health/1\nnodes:\n  n1: 1.5\n  n3: 1.2\n' >"$work/slow.yaml"
job=tp=4,pp=2,dp=4,gbs=32,order=tp-dp-pp
for file in slow.csv slow.yaml; do
	straggler --health "$work/$file" --fabric "$work/f.yaml" --json \
		--job "$job" --nodes 'n[0-7]'
	check "$file: the slow stage is the beat of its pipeline" near \
		factor 1.4444444
	check "$file: it is named" json '.rank == 4 and .node_factor == 1.5 and
		any(.notes[]; . == "all wait for n1; were it healthy, for n3")'
	check "$file: and what its repair gains" near without_factor 1.1777778
done
straggler --health "$work/slow.csv" --fabric "$work/f.yaml" --json \
	--job "$job" --nodes 'n[0-7]' --jitter 0.1
check "both causes multiply" json \
	'.factor / (.jitter_factor * .health_factor) - 1 | fabs < 1e-9'
straggler --health "$work/slow.csv" --fabric "$work/f.yaml" --job gpus=8,tp=4
check "a job is placed where no nodes are given" out "all wait for n1"

echo 'node,factor
n9,2' >"$work/bad.csv"
straggler --health "$work/bad.csv" --fabric "$work/f.yaml" --job "$job"
check "an unknown node is an error" exits 1
check "with its place" err "bad.csv:2:1: "
straggler
check "no question is a usage error" exits 2
for bad in "--gpus 8 --jitter -1" "--gpus x" "--gpus 8 --distribution gauss" \
	"--health $work/slow.csv" "--gpus 8 --nodes n1" "--gpus 8 extra"; do
	# shellcheck disable=SC2086 # an option and its value
	straggler $bad
	check "straggler $bad is a usage error" exits 2
done
finish
