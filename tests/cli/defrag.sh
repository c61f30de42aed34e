#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

"$weft" synth leaf:2 node:4 gpu:8 >"$work/f.yaml"
cat >"$work/state.yaml" <<'END'
weft: state/1
jobs:
  - id: long
    nodes: n[0-1]
    job: tp=8
    remaining_s: 7200
  - id: short
    nodes: n[4-5]
    remaining_s: 600
END
defrag() { run defrag --fabric "$work/f.yaml" "$@"; }

defrag --state "$work/state.yaml" --json --job gpus=32,tp=8,metric=hops
check "advises" exits 0
check "json: schema comes first" schema_first defrag
check "json: costs more now than on an empty fabric" \
	json '.placed and .outlook.ideal_cost < .cost'
check "json: the job whose end helps, and when" \
	json '.outlook.alone.job == "short" and .outlook.alone.remaining_s == 600'
check "json: a move that helps" \
	json '.plans[0].gpus_moved == 16 and .plans[0].cost < .cost'
check "json: moved ranks and new ones share no GPU" json \
	'[.plans[0] | .ranks[], .moves[].ranks[] | "\(.node):\(.gpu)"] |
	 length == 48 and (unique | length) == 48'
defrag --state "$work/state.yaml" --job gpus=32,tp=8,metric=hops
check "text: says what to move" out "(16 GPUs) from n["
check "text: says what to wait for" out "when job short ends, in 10 min"

defrag --state "$work/state.yaml" --json --job gpus=40,tp=8
check "a job without a place is told when it fits" \
	json '.cost == null and .outlook.alone.job == "short"'
defrag --state "$work/state.yaml" --job gpus=72,tp=8
check "nothing makes a fabric larger" exits 3
check "and that is said" out "would not fit either if no job of the state ran"
defrag --state "$work/state.yaml" --exclude "n[0-7]" --job gpus=8
check "excluded nodes do not come back" exits 3

defrag --job gpus=8
check "needs to know what runs" exits 2
check "and says how" err "which jobs run? Give --state FILE"
run plan --fabric "$work/f.yaml" --state "$work/state.yaml" --json \
	--job gpus=32,tp=8,metric=hops
check "plan says it too" json '.outlook.alone.job == "short" and
	([.why[] | select(test("when job short ends"))] | length) == 1'
finish
