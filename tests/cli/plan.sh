#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

"$weft" synth pod:2 leaf:2 node:4 gpu:8 >"$work/f.yaml"
job=gpus=64,tp=8,pp=2,dp=4
plan() { run plan --fabric "$work/f.yaml" "$@"; }

plan --json --job "$job" --busy n00,n05,n09
check "places the job" exits 0
check "json: schema comes first" schema_first plan
check "json: what the contract promises" json '
	has("placed") and has("nodes") and has("ranks") and has("cost")
	and has("bound") and has("gap") and has("method") and has("elapsed_s")
	and has("by_axis") and has("by_level") and has("step_s") and has("why")
	and (.cost | has("hops") and has("latency") and has("time"))'
check "json: the step is predicted for the profile's GPU" json '
	.step_s > 0 and .step.gpu == "H100" and .step.mfu > 0 and .step.mfu < 1'
check "memory adds up from its parts" json '.memory_bytes_per_gpu |
	.total > 1e9 and .stage == 0 and
	((.weights + .gradients + .optimizer + .activations + .logits +
	.context + .gathered + .framework) / .total - 1 | fabs < 1e-9)'
check "a job whose model nobody named is not said to be too large" json \
	'any(.why[]; test("does not fit")) | not'
plan --json --job "$job,model=llama3-70B"
check "one whose model is named is" json \
	'(.memory_bytes_per_gpu.capacity | . > 84.7e9 and . < 84.8e9) and
	any(.why[]; test("does not fit by estimate.*H100"))'
plan --job "$job,model=llama3-70B"
check "and in the text" out "does not fit by estimate"
plan --job "$job,model=llama3-70B,seq=2097152"
check "a sequence beyond all published runs is said" out \
	"has 2097152 tokens (1048576 at most)"
plan --json --job "$job,model=llama3-70B"
check "a usual one is not" json '.unseen == null'
plan --json --job "$job,model=llama3-70B,zero=1"
check "sharing the optimizer makes it fit" json \
	'any(.why[]; test("does not fit")) | not'
plan --json --job "$job" --busy n00,n05,n09
check "every rank has a GPU of its own" json \
	'(.ranks | length == 64) and ([.ranks[] | [.node, .gpu]] | unique | length == 64)'
check "ranks are 0 to 63" json '[.ranks[].rank] | sort == [range(64)]'
check "nodes are those of the ranks" json \
	'(.nodes | sort) == ([.ranks[].node] | unique)'
check "busy nodes are not used" json \
	'[.nodes[] | select(. == "n00" or . == "n05" or . == "n09")] == []'
check "the bound is a bound" json '.bound <= .cost[.metric] * (1 + 1e-9)'
check "the gap follows from it" json \
	'((.cost[.metric] - .bound) / .cost[.metric] - .gap) | fabs < 1e-6'
check "axes add up to the cost" json \
	'(([.by_axis[].time] | add) / .cost.time - 1) | fabs < 1e-9'
check "levels add up to the cost" json \
	'(([.by_level[].time] | add) / .cost.time - 1) | fabs < 1e-9'
cp "$work/out" "$work/plan.json"

run score --json --fabric "$work/f.yaml" --job "$job" --ranks "$work/plan.json"
check "score of the plan is the plan's cost" json \
	".cost.time == $(jq .cost.time "$work/plan.json")"
plan --json --method first-fit --job "$job" --busy n00,n05,n09
check "never worse than first-fit" json \
	".cost.time >= $(jq .cost.time "$work/plan.json") * (1 - 1e-9)"
jq 'del(.elapsed_s)' "$work/plan.json" >"$work/a"
plan --json --job "$job" --busy n00,n05,n09
jq 'del(.elapsed_s)' "$work/out" >"$work/b"
check "the same question has the same answer" cmp "$work/a" "$work/b"

plan --job "$job"
check "text: says where" out "64 GPUs on"
check "text: says the gap" out "gap"
plan --json --job gpus=64,tp=8,metric=hops
check "another metric" json '.metric == "hops" and .bound <= .cost.hops'
plan --json --job gpus=16,tp=8 -w n13
check "a node that must be used is" json '.nodes | index("n13") != null'
plan --json --job gpus=16,tp=8 -x "n[00-11]"
check "nodes that must not be used are not" json \
	'[.nodes[] | select(. < "n12")] == []'
plan --json --job gpus=12 --busy "n[00-14],n15:0-3"
check "exit 3 when there is no placement" exits 3
check "then placed is false" json '.placed == false'
check "what does not apply is null" json '
	(to_entries | map(select(.value == null).key) | sort) ==
	["bound","busiest","by_axis","by_level","communication_s",
	 "communication_stage","cost","exposed_s","exposed_stage","gain","gap",
	 "latency_s","method","next","objective","step","step_s","unseen"]'
check "and why says what is missing" json '.why | length > 0'
plan --json --job gpus=4,tp=4 --busy "n[00-14],n15:0-3"
check "free GPUs of a partly used node" json \
	'.nodes == ["n15"] and ([.ranks[].gpu] | sort == [4,5,6,7])'

plan --json --job gpus=64,tp=8,segment=3
check "segments share leafs" json '.nodes | map(.[1:] | tonumber / 4 | floor) |
	group_by(.) | map(length) | sort == [2,3,3]'
plan --json --job gpus=64,tp=8,split=3+3+2
check "so much in each leaf" json '.nodes | map(.[1:] | tonumber / 4 | floor) |
	group_by(.) | map(length) | sort == [2,3,3]'
plan --json --job gpus=32,tp=8,spread=failure-domain
check "replicas do not fail together" json \
	'any(.why[]; test("one leaf takes at most 1 of 4 replicas"))'
plan --json --job gpus=32,nodes=5-7
check "a range of nodes" json '.nodes | length >= 5 and length <= 7'
plan --json --job gpus=64,tp=8,segment=4 --busy "n[00,04,08,12]"
check "exit 3 when a segment has no room" exits 3
check "and why says what would fit" json 'any(.why[];
	test("no leaf has 4 free nodes, the largest has 3; fits with segment=3"))'

plan --job gpus=64,tq=8
check "an unknown key is an error" exits 1
check "it names the option and the nearest key" err "tp"
plan --job gpus=64,tp=3
check "an impossible product is an error" exits 1
plan --job gpus=64,within=leef
check "an unknown level gets the nearest" err "leaf"
plan --job "$job" --busy n77
check "an unknown busy node is an error" exits 1
plan --job "$job" -w n77
check "an unknown required node gets the nearest" \
	err "weft: --nodelist: unknown node \"n77\": the nearest"
plan --job "$job" --method best
check "an unknown method is an error" exits 1
run plan --job "$job"
check "no fabric is a usage error" exits 2

run plan --methods
check "the exact method is listed" out "exact  "
if ! grep -q "not built in" "$work/out"; then
	plan --json --method exact --job gpus=8,tp=2 --busy "n[00-15]:0-5"
	check "exact proves small jobs" json '.gap == 0 and .method == "exact"'
	check "and says so" json 'any(.why[]; test("proven optimal"))'
	plan --json --method exact --certificate "$work/plan.lp" --budget 20 \
		--job gpus=64,tp=8,pp=2,dp=4,gbs=128 --busy n00,n05,n09
	check "it proves larger ones through a program" json '.gap == 0'
	comment() { sed -n "s/^. $1 \\([-0-9.e+]*\\)\$/\\1/p" "$work/plan.lp"; }
	check "which it writes" test -n "$(comment objective)"
	check "with the bound of the answer" json \
		"(.bound / $(comment bound) - 1 | fabs) < 1e-9"
	check "that follows from the program's optimum" json \
		"(($(comment offset) + $(comment scale) * $(comment objective)) /
		$(comment proven) - 1 | fabs) < 1e-9"
	if command -v glpsol >/dev/null; then
		glpsol --lp "$work/plan.lp" -w "$work/solved" >/dev/null
		optimum=$(sed -n 's/^s .* \([-0-9.e+]*\)$/\1/p' "$work/solved")
		check "which glpsol finds, too" json \
			"($(comment objective) - ($optimum)) | fabs < 1e-6"
	fi
fi
plan --method pack --certificate "$work/plan.lp" --job gpus=8
check "certificates are exact's alone" exits 2
if [ -c /dev/full ]; then
	ln -s /dev/full "$work/full.lp"
	plan --method exact --certificate "$work/full.lp" --job gpus=8
	check "a certificate that cannot be written is an error" exits 1
	check "a device or link that names one is left in place" \
		[ -L "$work/full.lp" ]
fi

plan --json --job gpus=8,tp=4,within=node
check "a node is a level" json '.nodes | length == 1'
plan --job gpus=1
check "one GPU is not plural" out "1 GPU on n"

plan --job gpus=8,model=llama3.1-71B
check "a name with a dot that is no file gets the nearest model" \
	err 'did you mean "llama3-70B"'
plan --job gpus=8,model=./absent
check "with a slash it is a file" err "weft: ./absent: No such file"

cat >"$work/state.yaml" <<'EOF'
weft: state/1
busy:
  n[00-03]: all
  n04: 0-3
down: n15
EOF
plan --json --job gpus=64,tp=8 --state "$work/state.yaml"
check "a state file is honoured" json \
	'[.nodes[] | select(. < "n05" or . == "n15")] == []'
plan --job gpus=64,tp=8 --state "$work/absent"
check "a missing state file is an error" exits 1

# objectives: the job is at home in pod 0, whose links others use
for goal in cost busiest step; do
	plan --json --job "$job,model=llama3-70B" --busy n00:0-3,n05,n09 \
		--objective $goal
	check "--objective $goal is told" json ".objective.goal == \"$goal\""
	cp "$work/out" "$work/$goal.json"
done
by() { jq "$2" "$work/$1.json"; }
check "busiest: no busier link than for the cost" test "$(jq -n \
	"$(by busiest .busiest.time_s) <= $(by cost .busiest.time_s) * (1 + 1e-9)")" = true
check "step: no longer than for the cost, but where no nodes matter" test \
	"$(jq -n "$(by step .step_s) / $(by cost .step_s) |
	. <= 1 + 1e-9 or . <= 1.003 and $(by step .gain.matters) == false")" = true
check "the value is the goal" test "$(jq -n "
	$(by busiest .objective.value) == $(by busiest .busiest.time_s) and
	$(by step .objective.value) == $(by step .step_s) and
	$(by cost .objective.value) == $(by cost .cost.time)")" = true
check "no bound of the step is claimed" test \
	"$(by step '[.objective.bound, .objective.gap] | tostring')" = '"[null,null]"'
check "the busiest link has one" test \
	"$(by busiest '.objective.bound <= .objective.value')" = true
plan --json --job gpus=16,tp=8,spread=balance
check "spread=balance is about the busiest link" json \
	'.objective.goal == "busiest"'
plan --json --job gpus=16,tp=8,metric=hops --objective cost
check "the cost is in the job's metric" json \
	'.objective.metric == "hops" and .objective.value == .cost.hops'
plan --json --job gpus=12,tp=4 --busy n00:0-3,n01:0-3,n02:0-3 --fragmentation 50
check "weight on fragmentation leaves whole nodes whole" json \
	'.objective.fragmentation == 50 and .objective.share_lost == 0'
plan --json --job gpus=12,tp=4 --busy n00:0-3,n05:0-3,n09:0-3 --fragmentation 1000
check "even when what is left over is far apart" json \
	'.objective.share_lost == 0 and .nodes == ["n00","n05","n09"]'
plan --job gpus=16,tp=8 --objective best
check "an unknown objective is a usage error" exits 2
check "and says which there are" err "cost, busiest or step"
plan --job gpus=16,tp=8 --fragmentation -1
check "so is a weight below nothing" exits 2
plan --job gpus=16,tp=8 --contention maybe
check "and contention neither on nor off" exits 2
cat >"$work/jobs.yaml" <<'EOF'
weft: state/1
jobs:
  - {id: 1, nodes: "n[00,04]", job: "tp=8,dp=2,model=llama3-70B", step_s: 0.1}
  - {id: 2, nodes: "n08", remaining_s: 60}
EOF
plan --json --job gpus=96,tp=8 --state "$work/jobs.yaml"
check "jobs of the state take their GPUs" json \
	'[.nodes[] | select(. == "n00" or . == "n04" or . == "n08")] == []'
check "those that say what they compute contend" json \
	'.objective.contending_jobs == 1'
plan --json --job gpus=96,tp=8 --state "$work/jobs.yaml" --contention off
check "unless they shall not" json '.objective.contending_jobs == 0'
plan --job gpus=96,tp=8 --state "$work/jobs.yaml"
check "text: tells whom the links are shared with" out "1 running job"
sed 's/^name:.*/&\nlinks:\n  pod: {oversubscription: 8}/' "$work/f.yaml" \
	>"$work/narrow.yaml"
beside() {
	run score --json --fabric "$work/narrow.yaml" --job tp=8,gpus=16 \
		--nodes "$@" --state "$work/jobs.yaml"
}
beside 'n[01,05]' --contention off
cp "$work/out" "$work/alone.json"
beside 'n[01,05]' --objective busiest
cp "$work/out" "$work/beside.json"
check "score: others contend" json \
	'.objective | .contending_jobs == 1 and .goal == "busiest"'
check "links beside others are slower, distances are not" test "$(jq -n "
	$(by beside .busiest.time_s) > $(by alone .busiest.time_s) and
	$(by beside .step_s) > $(by alone .step_s) and
	$(by beside .cost.time) == $(by alone .cost.time)")" = true
beside 'n[00,04]'
check "score: a job does not contend with itself" json \
	'.objective.contending_jobs == 0'

mkdir "$work/bin"
cat >"$work/bin/scontrol" <<'EOF'
#!/bin/sh
for i in 00 01 02 03 04 05 06 07 08 09 10 11 12 13; do
	echo "NodeName=n$i Arch=x86_64 GresUsed=gpu:8(IDX:0-7) State=ALLOCATED "
done
echo "NodeName=n14 GresUsed=gpu:h100:2(IDX:0,5),shard:0 State=MIXED Gres=gpu:8"
echo "NodeName=n15 GresUsed=gpu:0(IDX:N/A) State=IDLE+DRAIN"
EOF
chmod +x "$work/bin/scontrol"
PATH=$work/bin:$PATH plan --json --job gpus=6 --state slurm
check "--state slurm asks scontrol" json \
	'.nodes == ["n14"] and ([.ranks[].gpu] | sort == [1,2,3,4,6,7])'
printf '#!/bin/sh\nexit 1\n' >"$work/bin/scontrol"
PATH=$work/bin:$PATH plan --job gpus=6 --state slurm
check "a Slurm that does not answer is an error" exits 1
plan --json --busy n00 --job gpus=32,tp=8,metric=hops
check "json: the next best set of nodes, and its cost" \
	json '.next.cost > .cost.hops and (.next.nodes | length) > 0 and
	(.next.nodes - .nodes | length) > 0'
check "and it is said" json '[.why[] | select(test("the next best|others cost"))] |
	length == 1'
"$weft" synth nvlink:4 node:18 gpu:4 >"$work/nvl.yaml"
run plan "$work/nvl.yaml" --job gpus=64,tp=4,split=8+8
check "a wish that costs says so" out "split=8+8 costs: without it the job would cost"
plan --job gpus=32,tp=8
check "why comes first" test "$(sed -n 2p "$work/out")" = "  why"
check "nodes that go on alike are one line" \
	out "n[00-03]     0-31, on each node 8 on GPU 0-7"
check "no step is told of a model that the job does not name" \
	out "the job names no model"
check "nor memory, and it says whose bytes it counts" sh -c \
	'! grep -q "^  memory" "$1" && grep -q "those of llama3-70B" "$1"' - \
	"$work/out"
plan --job gpus=32,tp=8,layers=126,hidden=16384,heads=128
check "a shape of one's own may be too large, too" \
	out "does not fit by estimate"
widest() { awk '{ if (length($0) > n) n = length($0) } END { print n }' "$work/out"; }
check "in a pipe lines are whole" test "$(widest)" -gt 100
COLUMNS=60
export COLUMNS
plan --job gpus=32,tp=8,layers=126,hidden=16384,heads=128
check "as wide as COLUMNS says" test "$(widest)" -le 60
check "lines go on below their text" out "      "
plan --job gpus=32,tp=8,layers=126,hidden=16384,heads=128 --json
check "JSON is not folded" json '.why | map(length) | max > 60'
unset COLUMNS
plan --job gpus=32,tp=8 --ranks
check "--ranks has a line for each node" out "n03          24-31 on GPU 0-7"

# GPUs are named by their numbers, also where NVLink joins every second one
printf '%s\n' "weft: fabric/1" "nodes:" \
	"  g[0-3]: {gpus: 8, nvlink: [[0, 2, 4, 6], [1, 3, 5, 7]]}" \
	"levels:" "  leaf:" "    l0: g[0-3]" >"$work/numbers.yaml"
sed 's/nvlink: .*/nvlink: [4, 4]}/' "$work/numbers.yaml" >"$work/order.yaml"
numbered() { run plan --fabric "$work/numbers.yaml" --json "$@"; }
numbered --job gpus=4,tp=4 --busy "g0:0,g[1-3]"
check "four GPUs that share NVLink are those with odd numbers" json \
	'[.ranks[].gpu] == [1, 3, 5, 7] and .by_level.node.bytes == 0'
cat >"$work/numbers.state" <<'END'
weft: state/1
jobs:
  - {id: "7", gpus: "g0:1,3"}
  - {id: "8", gpus: "g[1-3]:1-7"}
END
numbered --job gpus=4,tp=4 --state "$work/numbers.state"
check "what a state file takes is by number, too" json \
	'[.ranks[].gpu] == [0, 2, 4, 6]'
numbered --job gpus=32,tp=4,pp=2
cost=$(jq .cost.time "$work/out")
run plan --fabric "$work/order.yaml" --json --job gpus=32,tp=4,pp=2
check "numbers change no cost" json ".cost.time == $cost"

finish
