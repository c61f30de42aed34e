#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

FIXTURES=${WEFT_SRCDIR:-.}/tests/cli/slurm
SLURM_CONF=$FIXTURES/slurm.conf
PATH=$(cd "$FIXTURES" && pwd):$PATH
export FIXTURES SLURM_CONF PATH

run why --json 1
check "explains a job that runs" exits 0
check "json: schema comes first" schema_first why
check "json: which job" json '.job.id == "1" and .job.state == "RUNNING" and
	.job.spec == "tp=8,pp=2,model=llama3-8B"'
check "json: the sentence of its start" json '.job.said | test("bound=")'
check "json: how long the decision took" json '.job.decision_s > 0'
check "json: what its nodes brought when it started" json \
	'.job.gain.stock_step_s == 0.649'
check "json: and what they bring now" json \
	'.gain.basis == "step" and .gain.stock_nodes != null'
check "json: where it is" json \
	'.nodes == ["n00","n01","n02","n03"] and .indices_known'
check "json: how far each axis reaches" json \
	'.reach_by_axis == {"tp": "nvlink", "pp": "leaf", "dp": "leaf"}'
check "json: cost, bound and step" json '.cost.time >= .bound and .step_s > 0'
check "json: what a choice made now would cost" json '.now_ratio == 1'
run why 1
check "says it to people" exits 0
check "how far each axis reaches" out "tp=8 within one nvlink"
check "what it was told" out "told then"
check "other jobs on the same links count" out "  beside  "
{
	echo "weft: slurm/1"
	echo "fabric: $(cd "$FIXTURES" && pwd)/fabric.yaml"
	echo "contention: off"
} >"$work/weft.yaml"
SLURM_CONF=$work/slurm.conf run why 1
check "where weft.yaml has contention: off" exits 0
check "none counts" not out "  beside  "
rm "$work/weft.yaml"
run why --json 2
check "a spec of --weft is read from SystemComment" json '.job.spec == "tp=4"'
check "GPUs by their indices" json \
	'[.ranks[] | select(.node == "n05") | .gpu] == [0,1,2,3]'

run why --json 5
check "a job without a place: a negative answer" exits 3
check "json: its spec as the plugin has it, --weft before the comment" json \
	'.job.spec == "tp=4,within=leaf"'
check "json: its reason, blanks and all" json \
	'.job.reason | test("^weft: leaf leaf1 has 1 of 4 nodes free")'
check "json: what is missing" json '.why[0] | test("32 GPUs")'
check "json: what would help" json '.outlook.fits.job != null'
check "json: no axes without a place" json '.reach_by_axis == {}'
run why --job tp=8 5
check "another spec may be asked about" out "spec       tp=8"
run why 6
check "a spec that is none is an error" exits 1
check "in the grammar's words" err "tq"

run why 7
check "a job that is over" exits 0
check "of which the indices are forgotten" out "are assumed"
run why 99
check "an unknown job is an error" exits 1
check "that names the command" err "show job 99"
run why '1;true'
check "a number is expected" err "expected its number"
check "and nothing else gets to a shell" exits 1
run why
check "which job?" exits 2
SLURM_CONF=$work/slurm.conf run why 1
check "without weft.yaml a fabric must be named" exits 1
check "and the file is told" err "weft.yaml"
SLURM_CONF=$work/slurm.conf run why --fabric "$FIXTURES/fabric.yaml" 1
check "with one it needs no weft.yaml" exits 0
finish
