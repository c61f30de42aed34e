#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

"$weft" synth pod:2 leaf:2 node:4 gpu:8 >"$work/f.yaml"
score() { run score --fabric "$work/f.yaml" "$@"; }
job=gpus=32,tp=8,dp=4

score --json --job $job --nodes "n[00-03]"
check "scores a hostlist" exits 0
check "json: schema comes first" schema_first score
check "json: says what it spans" json '.why[0] | test("4 nodes in 1 leaf")'
check "json: nodes in the order given" json \
	'.nodes == ["n00","n01","n02","n03"]'
one_leaf=$(jq .cost.hops "$work/out")
step=$(jq .step_s "$work/out")
score --json --job $job --nodes n00,n04,n08,n12
check "four leafs cost more than one" json ".cost.hops > $one_leaf"
check "and a step takes no less" json ".step_s >= $step"
score --json --job $job --nodes "n[00-03]" --gpu B200
check "on faster GPUs it takes less" json ".step_s < $step"
score --job $job --nodes "n[00-03]" --gpu nonsense
check "an unknown GPU is a usage error" exits 2
score --json --job $job --nodes n03,n02,n01,n00
check "the order written is the order of ranks" json '.ranks[0].node == "n03"'
score --json --job gpus=16,tp=8,order=dp-tp --nodes "n[00-01]"
check "tells that another order would be faster" json \
	'[.why[] | select(test("another order .* would take 0\\.[0-9]+x as much time"))] | length == 1'
score --json --job gpus=8,tp=4 --nodes n00:0-3,n01:4-7
check "GPU lists are taken" json \
	'[.ranks[].gpu] == [0,1,2,3,4,5,6,7] and .ranks[4].node == "n01"'

printf 'from,to,bytes,axis\n0,7,1e9,ep\n' >"$work/m.csv"
score --json --job "gpus=8,traffic=$work/m.csv" --nodes n00
check "a measured matrix is priced" json '.by_axis.ep.hops == .cost.hops'
printf '8,0,5,dp\n' >>"$work/m.csv"
score --job "gpus=8,traffic=$work/m.csv" --nodes n00
check "a rank out of range is named with its place" \
	err "m.csv:3:1: from: there is no rank 8"

printf '# rank order\nn01:3\nn00\n\nn01:0\nn00\n' >"$work/hosts"
score --json --job gpus=4 --ranks "$work/hosts"
check "a hostfile is taken" json \
	'[.ranks[] | "\(.node):\(.gpu)"] == ["n01:3","n00:0","n01:0","n00:1"]'
"$weft" score --json --fabric "$work/f.yaml" --job gpus=4 --ranks - \
	<"$work/hosts" >"$work/out" 2>"$work/err"
check "also from stdin" json '.ranks[0].gpu == 3'

score --json --job $job,metric=hops --nodes n00,n04,n08,n12
on_empty=$(jq .bound "$work/out")
score --json --job $job,metric=hops --nodes n00,n04,n08,n12 \
	--busy "n00,n[01-03,05-07,09-11,13-15]:0-6"
check "the bound is that of what could have been had" \
	json ".bound > $on_empty and .bound <= .cost.hops"
score --json --job $job,metric=hops --nodes n00,n04,n08,n12 \
	--exclude "n[01-03,05-07,09-11,13-15]"
check "with no choice left the allocation is near its bound" json ".bound > $on_empty and .gap < 0.2"

score --job $job --nodes "n[00-03]" --at-most 1e9
check "cheap enough: 0" exits 0
score --job $job --nodes "n[00-03]" --at-most 1e-9
check "too dear: 3" exits 3
score --job $job --nodes "n[00-03]" --at-most nan
check "a limit that is no number is a usage error" exits 2
check "it says what is expected" \
	err "--at-most: \"nan\" is not a number of at least 0"
score --job $job --nodes "n[00-02],n02"
check "a GPU twice is an error" exits 1
score --job $job --nodes n00
check "too few GPUs is an error" exits 1
score --job $job --nodes "n[00-0"
check "a broken hostlist is an error" exits 1
check "its column is said" err "--nodes: column"
printf 'n00:0\nn77:1\n' >"$work/bad"
score --job gpus=2 --ranks "$work/bad"
check "an unknown node is an error with its line" \
	err "$work/bad:2: unknown GPU \"n77:1\""
echo '{"ranks": [{"rank": 0, "node": "n00"}]}' >"$work/bad"
score --job gpus=1 --ranks "$work/bad"
check "a plan without GPUs is an error" exits 1
echo '{"ranks": ' >"$work/bad"
score --job gpus=1 --ranks "$work/bad"
check "broken JSON is an error with its place" err "$work/bad:"
for bad in '' '\0' 'n00\0n01'; do
	# shellcheck disable=SC2059 # the escapes are meant
	printf "$bad" >"$work/bad"
	score --job gpus=2 --ranks "$work/bad"
	check "a file without text is an error ($bad)" exits 1
	check "its message names the file ($bad)" err "$work/bad:"
done
score --job $job
check "neither nodes nor ranks is a usage error" exits 2
score --job $job --nodes n00 --ranks x
check "both is a usage error" exits 2
finish
