# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Jobs that come back, lose nodes, belong together, or push others aside.

# requeue JOB: requeues it and waits until it runs again.
requeue() {
	scontrol requeue "$1"
	start_again "$1"
}

# Within the same second slurmd would take it for the job it just ended.
start_again() {
	lab_until 30 lab_job_in "$1" PENDING ||
		fail "job $1 is $(lab_job "$1" JobState)"
	scontrol update jobid="$1" starttime=now+2
	lab_wait_job "$1" RUNNING
}

# occupy_each PARTITION NODE...: a job of its own on each.
occupy_each() {
	local node
	for node in "${@:2}"; do
		lab_run -N1 -w "$node" --gpus-per-node=8 -p "$1" \
			--comment=weft:off >/dev/null
	done
}

case_a_requeued_job_goes_back_to_its_place() {
	local blocker job before
	need_weft
	blocker=$(lab_run -N4 -w 'n[00-03]' --gpus-per-node=8 \
		--comment=weft:off)
	job=$(lab_run -N4 --gpus-per-node=8 --comment=weft:tp=8)
	before=$(job_nodes "$job")
	scancel "$blocker"
	lab_wait_job "$blocker" CANCELLED
	requeue "$job"
	expect "nodes" "$(job_nodes "$job")" "$before"
	[[ ! $before =~ n00 ]] || fail "the first place was the first leaf"
}

case_a_requeued_job_does_not_go_back_to_a_worse_place() {
	local blockers job
	need_weft
	mapfile -t blockers < <(lab_run -N2 -w 'n[00-01]' --gpus-per-node=8 \
		--comment=weft:off
		lab_run -N12 -w 'n[02-03,05-07,09-15]' --gpus-per-node=8 \
			--comment=weft:off)
	job=$(lab_run -N2 --gpus-per-node=8 --comment=weft:tp=8)
	expect "nodes" "$(job_nodes "$job")" "n04 n08"
	scancel "${blockers[0]}"
	lab_wait_job "${blockers[0]}" CANCELLED
	requeue "$job"
	expect "nodes" "$(job_nodes "$job")" "n00 n01"
}

case_a_node_that_failed_is_replaced_by_the_nearest() {
	local blocker job
	need_weft
	changing
	blocker=$(lab_run -N4 -w 'n[00-03]' --gpus-per-node=8 \
		--comment=weft:off)
	job=$(lab_run -N3 --gpus-per-node=8 --comment=weft:tp=8)
	expect "nodes" "$(job_nodes "$job")" "n04 n05 n06"
	scancel "$blocker"
	lab_wait_job "$blocker" CANCELLED
	# A node that is only down comes back as soon as its slurmd answers.
	scontrol update nodename=n05 state=drain reason=test
	scontrol update nodename=n05 state=down reason=test
	start_again "$job"
	expect "nodes" "$(job_nodes "$job")" "n04 n06 n07"
}

case_components_of_a_het_job_are_near_each_other() {
	local job
	need_weft
	occupy 'n[02-03,07,12-13]' 8
	job=$(sbatch --parsable -o /dev/null -N2 --gpus-per-node=8 \
		--comment=weft:tp=8 : -N2 --gpus-per-node=8 --comment=weft:tp=8 \
		--wrap 'exec sleep 3600')
	lab_wait_job "$job+0" RUNNING
	expect "pods" "$(pods_of "$(job_nodes "$job+0") $(job_nodes \
		"$job+1")")" 1
}

case_a_job_that_shrinks_makes_room() {
	local job big
	need_weft
	job=$(lab_run -N4 --gpus-per-node=8 --comment=weft:tp=8)
	scontrol update jobid="$job" numnodes=2 >/dev/null
	rm -f slurm_job_"$job"_resize.*
	big=$(lab_run -N14 --gpus-per-node=8 --comment=weft:tp=8)
	expect "nodes" "$(job_nodes "$big" | wc -w)" 14
	expect_match "comment" "$(comment "$big")" 'nodes=plan'
}

case_victims_are_where_the_job_wants_to_be() {
	local node high
	need_weft
	for node in $(scontrol show hostnames "$(lab_node)" | shuf); do
		lab_submit -N1 -w "$node" --gpus-per-node=8 -p low \
			--comment=weft:off >/dev/null
	done
	lab_until 30 all_busy || fail "low jobs do not run: $(squeue -h)"
	high=$(lab_submit -N4 --gpus-per-node=8 --comment=weft:tp=8)
	lab_wait_job "$high" RUNNING
	expect "leafs" "$(leafs_of "$(job_nodes "$high")")" 1
	expect "low jobs left" "$(squeue -h -p low -t R | wc -l)" 12
}

all_busy() {
	[ "$(squeue -h -t R | wc -l)" = "$LAB_NODES" ]
}

case_no_more_jobs_are_preempted_than_stock_would() {
	local high
	need_weft
	# Four nodes of one leaf would cost four victims, one is enough.
	lab_run -N4 -w n00,n04,n08,n12 --gpus-per-node=8 -p low \
		--comment=weft:off >/dev/null
	occupy_each main n01 n02 n03 n05 n06 n07 n09 n10 n11 n13 n14 n15
	high=$(lab_submit -N4 --gpus-per-node=8 --comment=weft:tp=8)
	lab_wait_job "$high" RUNNING
	expect "jobs left" "$(squeue -h -t R | wc -l)" 13
}

case_nobody_is_preempted_for_a_limit_that_cannot_be_kept() {
	local low high
	need_weft
	occupy_each main n00 n04 n08 n12
	low=$(lab_run -N12 --gpus-per-node=8 -p low --comment=weft:off)
	high=$(lab_submit -N4 --gpus-per-node=8 \
		--comment=weft:tp=8,within=leaf)
	still_waits "$high"
	expect "low job" "$(lab_job "$low" JobState)" RUNNING
}

# The leaf of the one that could be preempted is no better with it gone.
case_a_job_that_victims_do_not_help_is_planned() {
	local high node
	need_weft
	for node in n00 n04 n08 n12; do
		lab_run -N1 -w $node --gpus-per-node=8 --time=10 \
			--comment=weft:off >/dev/null
	done
	lab_run -N1 -w n01 --gpus-per-node=8 -p low --comment=weft:off \
		>/dev/null
	high=$(lab_submit -N4 --gpus-per-node=8 --time=5 \
		--comment=weft:tp=8,within=leaf)
	expect_start_time "$high"
	expect "leafs planned" "$(leafs_of "$(nodes_awaited "$high")")" 1
}

case_victims_make_room_inside_the_limit() {
	local high
	need_weft
	occupy_each main n00 n04 n08
	occupy_each low n01 n05 n09 n12
	high=$(lab_submit -N4 --gpus-per-node=8 \
		--comment=weft:tp=8,within=leaf)
	lab_wait_job "$high" RUNNING
	expect "nodes" "$(job_nodes "$high")" "n12 n13 n14 n15"
	expect "low jobs left" "$(squeue -h -p low -t R | wc -l)" 3
}

# Each node has too few cores left in one of its sockets, which stock alone knows; in
# the last leaf by jobs that may be preempted.
case_victims_are_stocks_choice_where_weft_does_not_know_why() {
	local high n
	need_weft
	for n in {0..15}; do
		lab_run -N1 -n20 --ntasks-per-socket=20 --sockets-per-node=1 \
			-w "$(lab_node "$n")" --gpus-per-node=4 --mem=1M \
			-p "$([ "$n" -lt 12 ] && echo main || echo low)" \
			--comment=weft:off >/dev/null
	done
	high=$(lab_submit -N3 --ntasks-per-socket=20 --ntasks-per-node=40 \
		--gpus-per-node=4 --mem=1M --comment=weft:tp=4,within=leaf)
	lab_wait_job "$high" RUNNING
	expect_match "nodes" "$(job_nodes "$high")" '^n1[2-5] n1[2-5] n1[2-5]$'
	expect "low jobs left" "$(squeue -h -p low -t R | wc -l)" 1
}

# Half of a leaf is one job's, half of another two jobs': one victim is enough.
case_limits_cost_no_more_victims_than_they_must() {
	local high
	need_weft
	occupy_each main n08 n12
	lab_run -N1 -w n00 --gpus-per-node=8 -p low --comment=weft:off \
		>/dev/null
	lab_run -N1 -w n01 --gpus-per-node=8 -p low --comment=weft:off \
		>/dev/null
	lab_run -N2 -w 'n[04-05]' --gpus-per-node=8 -p low \
		--comment=weft:off >/dev/null
	high=$(lab_submit -N4 --gpus-per-node=8 \
		--comment=weft:tp=8,within=leaf)
	lab_wait_job "$high" RUNNING
	expect "nodes" "$(job_nodes "$high")" "n04 n05 n06 n07"
	expect "low jobs left" "$(squeue -h -p low -t R | wc -l)" 2
}

# With the low jobs gone the GPUs are there, but the sockets have too few cores until
# the others end: nothing is to be preempted.
case_no_victims_are_told_of_a_start_that_needs_none() {
	local answer n
	need_weft
	for n in {0..15}; do
		lab_submit -N1 -n20 --ntasks-per-socket=20 --sockets-per-node=1 \
			-w "$(lab_node "$n")" --gpus-per-node=4 --mem=1M --time=10 \
			--comment=weft:off >/dev/null
	done
	lab_until 30 all_busy || fail "not all run: $(squeue -h)"
	lab_run -N16 --ntasks-per-node=1 --gpus-per-node=4 --mem=1M --time=5 \
		-p low --comment=weft:off >/dev/null
	answer=$(sbatch --test-only -N2 --ntasks-per-socket=20 \
		--ntasks-per-node=40 --gpus-per-node=4 --mem=1M --time=5 \
		--comment=weft:tp=4,within=leaf --wrap true 2>&1) ||
		fail "no answer: $answer"
	expect_match "answer" "$answer" 'to start at'
	[[ ! $answer =~ Preempts ]] || fail "victims: $answer"
}

# Two victims are enough in one leaf, another takes four.
case_limits_cost_the_fewest_victims_of_all_domains() {
	local high
	need_weft
	occupy_each main n08 n12
	occupy_each low n00 n01 n02 n03 n05 n07
	high=$(lab_submit -N4 --gpus-per-node=8 \
		--comment=weft:tp=8,within=leaf)
	lab_wait_job "$high" RUNNING
	expect "nodes" "$(job_nodes "$high")" "n04 n05 n06 n07"
	expect "low jobs left" "$(squeue -h -p low -t R | wc -l)" 4
}

# What was learnt of a job must not get lost by one that has its place in the table.
case_all_domains_are_asked_for_each_of_many_jobs() {
	local job n parts=()
	need_weft
	free_the_second_pod_first
	job=$(submit_for_one_pod)
	for n in {1..51}; do
		parts+=(: -n1 --mem=1M)
	done
	parts=("${parts[@]:1}")
	for n in {1..5}; do
		sbatch --hold -o /dev/null "${parts[@]}" --wrap true >/dev/null
	done
	expect "the other job" "$(submit_for_one_pod)" $((job + 256))
	expect_start_time "$job"
	lab_until 30 awaits_the_second_pod "$job" ||
		fail "job $job awaits $(nodes_awaited "$job")"
}
