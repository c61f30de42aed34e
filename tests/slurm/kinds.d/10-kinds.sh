# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Typed GPUs, shards and slices: what weft takes for free is what Slurm gives
# away.

case_a_typed_job_gets_its_type_where_weft_wants() {
	local job
	need_weft
	job=$(lab_run -N2 --gpus-per-node=h100:4 --comment=weft:tp=4)
	expect "GPUs" "$(lab_job_gpus "$job" | xargs)" "n0 4-7 n1 4-7"
	expect_match "comment" "$(comment "$job")" 'nodes=plan'
	status_becomes "$(free_gpus n0)" 0-3
	job=$(lab_run -N2 --gpus-per-node=a100:3 --comment=weft:tp=3)
	expect "GPUs" "$(lab_job_gpus "$job" | xargs)" "n0 0-2 n1 0-2"
	expect_match "comment" "$(comment "$job")" 'nodes=plan'
	status_becomes "$(free_gpus n1)" 3
	expect "differences" "$(recount)" 0,0,0,0
	scancel "$job"
	status_becomes "$(free_gpus n1)" 0-3
}

case_a_type_that_is_used_up_is_waited_for() {
	local job
	need_weft
	lab_run -N2 --gpus-per-node=h100:3 --comment=weft:off >/dev/null
	job=$(lab_submit -N1 --gpus-per-node=h100:2 --comment=weft:tp=2)
	status_becomes ".waiting[] | select(.job == $job) | .cause" no-room
	lab_job_in "$job" PENDING
}

case_the_reason_names_a_job_that_has_gpus_of_the_type() {
	local first job
	need_weft
	lab_run -N2 --gpus-per-node=a100:4 --time=10 --comment=weft:off \
		>/dev/null
	first=$(lab_run -N2 --gpus-per-node=h100:4 --time=60 \
		--comment=weft:off)
	job=$(lab_submit -N2 --gpus-per-node=h100:4 --comment=weft:tp=4)
	lab_until 30 reason_names "$job" "fits when job $first ends" ||
		fail "reason: $(squeue -h -j "$job" -o %r)"
}

reason_names() {
	[[ $(squeue -h -j "$1" -o %r) == *"$2"* ]]
}

case_a_gpu_with_shards_in_use_is_not_free() {
	local first second
	need_weft
	first=$(lab_run -N1 --gres=shard:1)
	lab_until 30 shared_is_seen
	second=$(lab_run -N1 --gres=shard:1)
	lab_until 30 shared_is_seen
	expect "differences" "$(recount)" 0,0,0,0
	# Slurm's own bit for the GPU goes with the first of the two.
	scancel "$first"
	lab_wait_job "$first" CANCELLED
	expect "differences" "$(recount)" 0,0,0,0
	shared_is_seen || fail "free on n2: $(status "$(free_gpus n2)")"
	scancel "$second"
	status_becomes "$(free_gpus n2)" 0-7
}

# Seven of eight are free.
shared_is_seen() {
	[[ $(status "$(free_gpus n2)") =~ ^(1-7|0-6|0(-[1-6])?,[2-7](-7)?)$ ]]
}

case_a_gpu_in_use_takes_its_shards_along() {
	local gpu job
	need_weft
	gpu=$(lab_run -N1 -w n2 --gpus-per-node=8 --comment=weft:tp=8)
	job=$(lab_submit -N1 --gres=shard:1)
	lab_until 30 lab_job_in "$job" PENDING
	scancel "$gpu"
	lab_wait_job "$job" RUNNING
	expect "differences" "$(recount)" 0,0,0,0
}

case_slices_of_gpus_are_planned_like_gpus() {
	local first second
	need_weft
	first=$(lab_run -N1 --gpus-per-node=1g.10gb:20 --comment=weft:tp=20)
	expect "GPUs" "$(lab_job_gpus "$first" | xargs)" "n3 0-19"
	expect_match "comment" "$(comment "$first")" 'nodes=plan'
	status_becomes "$(free_gpus n3)" 20-55
	second=$(lab_run -N1 --gpus-per-node=30 --comment=weft:tp=30)
	expect "GPUs" "$(lab_job_gpus "$second" | xargs)" "n3 20-49"
	scancel "$first"
	status_becomes "$(free_gpus n3)" 0-19,50-55
	expect "differences" "$(recount)" 0,0,0,0
}

case_jobs_of_all_kinds_leave_nothing_behind() {
	need_weft
	lab_run -N1 --gres=shard:3 >/dev/null
	lab_run -N2 --gpus-per-node=a100:1 >/dev/null
	lab_run -N1 --gpus-per-node=1g.10gb:7 >/dev/null
	lab_run -N5 --gpus-per-node=2 >/dev/null
	lab_run --gpus=10 >/dev/null
	expect "differences" "$(recount)" 0,0,0,0
	scancel -u root
	lab_until 30 lab_no_jobs
	expect "differences" "$(recount)" 0,0,0,0
	status_becomes '[.nodes[] | .gpus_free] | unique | @csv' '"0-55","0-7"'
	status_becomes '[.nodes[] | .cpus_used + .memory_used_mb] | add' 0
	expect "troubles" "$(status '.troubles | length')" 0
}

# Which GPUs of a mixed node are of which type only the node itself tells.
case_a_typed_job_is_not_given_up_while_a_node_has_not_registered() {
	local first second job
	need_weft
	first=$(lab_run -N1 -w n0 --gpus-per-node=h100:4 --comment=weft:off)
	job=$(lab_submit -N2 --gpus-per-node=h100:4 \
		--comment=weft:tp=4,within=leaf)
	lab_end "$(lab_pid slurmd.n1)" 10
	lab_stop_slurmctld
	lab_start_slurmctld
	sleep 5
	expect "priority is none" \
		"$([ "$(lab_job "$job" Priority)" = 0 ] && echo held)" ""
	second=$(lab_submit -N2 --gpus-per-node=h100:4 \
		--comment=weft:tp=4,within=leaf)
	[ -n "$second" ] || fail "a job like it is refused"
	lab_start_slurmd n1
	lab_until 60 lab_ready
	scancel "$first" "$second"
	lab_wait_job "$job" RUNNING
}
