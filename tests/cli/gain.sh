#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What a placement brings, as plan and score tell it.
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

"$weft" synth --profile roce-llama3 pod:2 leaf:2 node:4 gpu:8 >"$work/f.yaml"
plan() { run plan --fabric "$work/f.yaml" "$@"; }
score() { run score --fabric "$work/f.yaml" "$@"; }
job=gpus=32,gpus_per_node=8,tp=2,zero=3,model=llama3-8B
busy="n[00-05,08,12]"

# ---- JSON ----
score --json --job $job --busy "$busy" --nodes n06,n09,n07,n10
check "scores a place across the pods" exits 0
cp "$work/out" "$work/across.json"
check "its step is the one that is compared" json \
	'.gain.step_s == .step_s and .gain.basis == "step"'
check "stock takes a leaf that the rest fits tightly" json \
	'.gain.stock_nodes == ["n06","n09","n10","n11"]'
score --json --job $job --busy "$busy" --nodes n06,n09,n10,n11
check "stock's step is that of scoring its nodes" json ".step_s ==
	$(jq .gain.stock_step_s "$work/across.json")"
check "on them nothing is gained" json '.gain.gain == 0'
check "the gain is a share of stock's step" test "$(jq '.gain |
	(1 - .step_s / .stock_step_s - .gain | fabs) < 1e-9 and .gain < -0.01' \
	"$work/across.json")" = true
check "the best of those looked at is no longer than any" test "$(jq '.gain |
	.best_step_s <= .step_s and .best_step_s <= .stock_step_s and
	.best_step_s <= .spread_step_s and .best_is == "found"' \
	"$work/across.json")" = true
check "nothing is shorter than computing" test "$(jq '.gain |
	.bound_s > 0 and .bound_s <= .nominal_s and
	.nominal_s <= .best_step_s' "$work/across.json")" = true
check "its range is printed" test "$(jq '.gain | .low_s < 0.9 * .step_s and
	.high_s > 1.1 * .step_s' "$work/across.json")" = true
check "what is not compared is null" test "$(jq -c '.gain |
	[.communication_s, .stock_link_s, .share]' "$work/across.json")" = \
	"[null,null,1]"
plan --json --job $job --busy "$busy"
check "plan does no worse than stock" json '.gain.gain >= -0.003 and
	.gain.matters'
plan --json --job $job --busy "$busy" -w "n[06-07]"
check "nodes that must be used are stock's, too" json \
	'.gain.stock_nodes[:2] == ["n06","n07"]'
plan --json --job gpus=8,tp=8,model=llama3-8B --busy n00
check "a job inside one node may run anywhere" json \
	'.gain.matters == false and .gain.gain == 0'
plan --json --job gpus=1,model=llama3-8B
check "one GPU sends nothing: the best is proven" json \
	'.gain.best_is == "bound" and .gain.best_step_s == .gain.bound_s'
plan --json --job gpus=32,gpus_per_node=8,tp=2,zero=3 --busy "$busy"
check "without a named model: communication" json '.gain |
	.basis == "communication" and .step_s == null and .low_s == null
	and .communication_s > 0 and .share == 0.2'
check "which adds up to that of all axes" json \
	'(([.communication_s[]] + [.latency_s[]] | add) /
	.gain.communication_s - 1 | fabs) < 1e-9'
"$weft" synth --profile pcie4-100g-tcp leaf:2 node:4 gpu:8 >"$work/g.yaml"
run plan --json --fabric "$work/g.yaml" --job gpus=16,tp=8,model=llama3-8B
check "GPUs of an unknown kind are no error" exits 0
check "communication is compared, too" json \
	'.step_s == null and .gain.basis == "communication"'
printf 'from,to,bytes,axis\n0,8,1e9,dp\n8,0,1e9,dp\n' >"$work/m.csv"
plan --json --job "gpus=16,gpus_per_node=8,traffic=$work/m.csv"
check "measured traffic: the busiest link" json \
	'.gain | .basis == "link" and .link_s == 0 and .stock_link_s > 0 and
	.matters'
plan --json --job gpus=12,gpus_per_node=4,within=leaf --busy "n[00-13]"
check "no place, no gain" json '.placed == false and .gain == null'
plan --json --job gpus=16,split=1+1,model=llama3-8B --busy "n[01-03]"
check "stock knows no limits of the spec" json \
	'.gain.stock_nodes == ["n04","n05"] and .nodes != ["n04","n05"]'
cat >"$work/state.yaml" <<'EOF'
weft: state/1
jobs:
  - id: 7
    nodes: n[00-03,08-11]
    job: tp=1,zero=3,model=llama3-8B
EOF
wide=gpus=64,gpus_per_node=8,tp=1,zero=3,model=llama3-8B
plan --json --job $wide --state "$work/state.yaml"
beside=$(jq .gain.stock_step_s "$work/out")
plan --json --job $wide --state "$work/state.yaml" --contention off
check "others' traffic slows stock's choice, too" json \
	".objective.contending_jobs == 0 and .gain.stock_step_s < ${beside:-0}"

# ---- text ----
plan --job $job --busy "$busy"
check "text: the step has a range" grep -qE \
	'step +[0-9.]+ s \([0-9.]+ s to [0-9.]+ s\) predicted for llama3-8B' \
	"$work/out"
check "text: the cost is no time of a step" out 'of all ranks added up'
score --job $job --busy "$busy" --nodes n06,n09,n07,n10
check "text: against stock" out "against stock Slurm's nodes"
check "text: a loss is a loss" out 'gain       -'
check "text: the best that is known" out 'best       step'
plan --job gpus=8,tp=8,model=llama3-8B
check "text: any nodes" out 'none: any nodes, within 0.3 %'
plan --job gpus=1,model=llama3-8B
check "text: proven" out '(proven)'
plan --job gpus=32,gpus_per_node=8,tp=2,zero=3 --busy "$busy"
check "text: no step as that of the job's model" out 'the job names no model'
score --job gpus=32,gpus_per_node=8,tp=2,zero=3 --nodes n06,n09,n07,n10
check "text: at what share of communication" out 'communication 20 % of its'

finish
