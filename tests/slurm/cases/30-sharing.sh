# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Nodes shared by jobs: GPU indices, and nodes that run out of CPUs or memory
# before GPUs.

case_two_jobs_share_nodes_with_distinct_gpus() {
	local first second
	first=$(lab_run -N2 --gpus-per-node=4 -w n14,n15 --comment=weft:tp=4)
	second=$(lab_run -N2 --gpus-per-node=4 -w n14,n15 --comment=weft:tp=4)
	expect "first" "$(lab_job_gpus "$first" | xargs)" "n14 0-3 n15 0-3"
	expect "second" "$(lab_job_gpus "$second" | xargs)" "n14 4-7 n15 4-7"
}

case_partly_used_nodes_are_filled_before_whole_ones() {
	local job
	need_weft
	occupy n05 4
	job=$(lab_run -N1 --gpus-per-node=4 --comment=weft:tp=4)
	expect "GPUs" "$(lab_job_gpus "$job" | xargs)" "n05 4-7"
}

case_a_partial_node_is_said() {
	local job
	need_weft
	job=$(lab_run -N2 --gpus-per-node=4 --comment=weft:tp=4)
	expect_match "comment" "$(comment "$job")" 'partial|part of|of [0-9]+ GPUs'
}

case_steps_see_their_gpus() {
	local seen
	[ -c "$LAB_DIR/dev/gpu0" ] ||
		skip "no right to make device files: GPUs are counted only"
	occupy n03 3
	# shellcheck disable=SC2016 # expanded by the step
	seen=$(srun -N1 -w n03 --gpus-per-node=2 --comment=weft:tp=2 \
		sh -c 'echo "$CUDA_VISIBLE_DEVICES"')
	expect "CUDA_VISIBLE_DEVICES" "$seen" 3,4
}

case_steps_of_a_placed_job_run_on_all_its_nodes() {
	local seen
	# shellcheck disable=SC2016 # expanded by the step
	seen=$(srun -N4 --ntasks-per-node=1 --gpus-per-node=8 \
		--comment=weft:tp=8 sh -c 'echo "$SLURMD_NODENAME"' | one_line)
	expect "nodes" "$(wc -w <<<"$seen")" 4
}

case_nodes_whose_memory_is_full_are_not_planned() {
	local job
	need_weft
	lab_run -N12 -w 'n[00-11]' --mem=500G --comment=weft:off >/dev/null
	job=$(lab_run -N3 --gpus-per-node=8 --mem=20G --comment=weft:tp=8)
	expect_match "nodes" "$(job_nodes "$job")" '^(n1[2-5] ?){3}$'
	expect_match "comment" "$(comment "$job")" 'weft: '
}

case_a_job_waits_when_memory_is_full_everywhere() {
	local full job
	full=$(lab_run -N16 --mem=490G --comment=weft:off)
	job=$(lab_submit -N2 --gpus-per-node=8 --mem=100G --comment=weft:tp=8)
	lab_until 30 lab_job_in "$job" PENDING
	expect_match "reason" "$(lab_job "$job" Reason)" \
		'^(None|Resources|Priority|weft:_0_of_2_nodes_with_8_GPUs_free)$'
	scancel "$full"
	lab_wait_job "$job" RUNNING
}

case_nodes_whose_cpus_are_full_are_not_planned() {
	local job
	need_weft
	lab_run -N8 -w 'n[00-07]' --ntasks-per-node=64 --mem=1G \
		--comment=weft:off >/dev/null
	job=$(lab_run "${WHOLE[@]}" --comment="weft:$SPEC")
	expect "nodes" "$(job_nodes "$job")" "$(expand 'n[08-15]')"
}

case_few_cpus_left_limit_what_a_node_gives() {
	local job
	lab_run -N8 -w 'n[00-07]' --ntasks-per-node=60 --mem=1G \
		--comment=weft:off >/dev/null
	job=$(lab_run -N8 --ntasks-per-node=8 --gpus-per-node=8 \
		--comment="weft:$SPEC")
	expect "nodes" "$(job_nodes "$job")" "$(expand 'n[08-15]')"
}

case_cancelled_jobs_give_their_gpus_back() {
	local job
	job=$(lab_run -N16 --gpus-per-node=8 --comment=weft:tp=8)
	scancel "$job"
	lab_wait_job "$job" CANCELLED
	job=$(lab_run -N16 --gpus-per-node=8 --comment=weft:tp=8)
	expect "nodes" "$(job_nodes "$job")" "$(expand "$(lab_node)")"
}

# Backfill asks for cores of the job's own first, then for those of others.
case_a_job_with_limits_is_backfilled_onto_shared_cores() {
	local job
	scontrol create partition=shared nodes='n[00-03]' oversubscribe=yes:2
	lab_run -p shared -N4 --ntasks-per-node=64 --mem=100G --oversubscribe \
		--gpus-per-node=4 --time=60 --comment=weft:off >/dev/null
	lab_submit -p shared -N4 --gpus-per-node=8 --mem=100G --time=60 \
		--comment=weft:off >/dev/null
	job=$(lab_submit -p shared -N4 --ntasks-per-node=64 --mem=100G \
		--oversubscribe --gpus-per-node=4 --time=5 \
		--comment=weft:tp=4,within=leaf)
	lab_wait_job "$job" RUNNING
	expect "nodes" "$(job_nodes "$job")" "n00 n01 n02 n03"
	scancel -u root
	lab_until 30 lab_no_jobs
	scontrol delete partition=shared
}
