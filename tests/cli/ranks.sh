#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"
unset WEFT_RANKS SLURM_JOB_ID

ranks() { run ranks "$@"; }
lines() { [ "$(cat "$work/out")" = "$(printf '%b' "$1")" ]; }

ranks
check "outside of a job there is no order" exits 3
check "it says so" err "no order of ranks in WEFT_RANKS"

WEFT_RANKS="1;job=7;nodes=n[2,0];ranks=0:1,0:0,1:0-1"
export WEFT_RANKS
ranks --json
check "reads the job's order" exits 0
check "json: schema comes first" schema_first ranks
check "json: every rank" json '[.ranks[] | "\(.rank) \(.node):\(.gpu) \(.local_rank)"]
	== ["0 n2:1 0", "1 n2:0 1", "2 n0:0 0", "3 n0:1 1"]'
check "json: nodes and job" json '.nodes == ["n2","n0"] and .job == 7'
ranks
check "a table has a line for each rank" \
	[ "$(sed 1d "$work/out" | awk '{ print $2 ":" $3 }' | xargs)" = \
	"n2:1 n2:0 n0:0 n0:1" ]
ranks --form hostfile
check "a hostfile" lines 'n2\nn2\nn0\nn0'
ranks --form rankfile
check "a rankfile" lines \
	'rank 0=n2 slot=0\nrank 1=n2 slot=1\nrank 2=n0 slot=0\nrank 3=n0 slot=1'
ranks --form torchrun
check "a command for each node" lines \
	'n2 torchrun --nnodes=2 --nproc-per-node=2 --node-rank=0 --master-addr=n2
n0 torchrun --nnodes=2 --nproc-per-node=2 --node-rank=1 --master-addr=n2'
ranks --form deepspeed
check "a hostfile of DeepSpeed" lines 'n2 slots=2\nn0 slots=2'
ranks --form nccl
check "hosts and GPUs for nccl-tests" lines \
	'--host n2:2,n0:2\nn2 CUDA_VISIBLE_DEVICES=1,0\nn0 CUDA_VISIBLE_DEVICES=0,1'
ranks --form variable
check "the text itself" out "1;job=7;nodes=n2,n0;ranks="

WEFT_RANKS="1;job=7;nodes=n[0-1];ranks=0-1:0,0-1:1"
ranks --form torchrun
check "an order that torchrun cannot have" exits 3
check "it says why" err "torchrun wants"
ranks --form deepspeed
check "nor can DeepSpeed" exits 3
check "which says why, too" err "DeepSpeed wants"
ranks --form nccl
check "mpirun can" out "--host n0:1,n1:1,n0:1,n1:1"
SLURM_JOB_ID=8 "$weft" ranks >"$work/out" 2>"$work/err"
check "an inherited order is not this job's" err "is of job 7, but this is job 8"
WEFT_RANKS="1;job=7;env=lightning;nvlink=72:18:4;nodes=n[0-1];ranks=0-1:0-3"
ranks --json
check "json: the NVLink domain for frameworks" json '.env == "lightning" and
	.nvlink == {"gpus": 72, "nodes": 18, "experts": 4}'
ranks --form variable
check "the variable says it too" out "1;job=7;env=lightning;nvlink=72:18:4;nodes="
WEFT_RANKS="1;job=7;env=torch"
ranks
check "an order without ranks is none" exits 3
WEFT_RANKS="1;job=7;nodes=n0;ranks=9:9"
ranks
check "a broken order is an error" exits 1
check "it says where" err "WEFT_RANKS: ranks: expected blocks"
unset WEFT_RANKS

"$weft" synth leaf:2 node:2 gpu:2 >"$work/f.yaml"
"$weft" plan --json -f "$work/f.yaml" -j gpus=8,tp=2 >"$work/plan.json"
ranks --plan "$work/plan.json" --json
check "a plan's ranks" [ "$(jq -c '[.ranks[] | [.rank, .node, .gpu]]' \
	"$work/out")" = "$(jq -c '[.ranks[] | [.rank, .node, .gpu]]' \
	"$work/plan.json")" ]
"$weft" ranks --plan - --form hostfile <"$work/plan.json" >"$work/out"
check "also from stdin" [ "$(wc -l <"$work/out")" -eq 8 ]
ranks --plan "$work/missing.json"
check "a missing file is an error" exits 1
echo '{"ranks": [{"rank": 1, "node": "a", "gpu": 0}]}' >"$work/p.json"
ranks --plan "$work/p.json"
check "a rank that cannot be is an error" err "expected each of 0 to 0 once"
echo '{"ranks": []}' >"$work/p.json"
ranks --plan "$work/p.json"
check "no ranks are an error" exits 1
ranks --form lines
check "an unknown form is a usage error" exits 2
ranks --form table --json
check "so are two forms" exits 2
ranks --forms
check "the forms are listed" out "rankfile"
check "nothing on stderr" silent err
finish
