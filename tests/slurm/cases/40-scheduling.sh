# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What the scheduler does besides choosing nodes goes on as before.

case_a_small_job_is_backfilled() {
	local big small
	lab_run -N12 --gpus-per-node=8 --time=10 --comment=weft:tp=8 >/dev/null
	big=$(lab_submit -N16 --gpus-per-node=8 --time=10 --comment=weft:tp=8)
	small=$(lab_submit -N2 --gpus-per-node=8 --time=1 --comment=weft:tp=8)
	lab_wait_job "$small" RUNNING
	expect "big job" "$(lab_job "$big" JobState)" PENDING
}

case_a_long_job_does_not_delay_the_reserved_one() {
	local big long
	lab_run -N12 --gpus-per-node=8 --time=5 --comment=weft:tp=8 >/dev/null
	big=$(lab_submit -N16 --gpus-per-node=8 --time=5 --comment=weft:tp=8)
	expect_start_time "$big"
	long=$(lab_submit -N2 --gpus-per-node=8 --time=60 --comment=weft:tp=8)
	still_waits "$long"
	expect "big job" "$(lab_job "$big" JobState)" PENDING
}

# From 24.11 on backfill asks about times to come, too: what is free now, of
# which weft has nodes to propose, is then no answer.
case_nodes_of_now_are_not_proposed_for_later() {
	local big declined long
	need_weft
	lab_run -N12 --gpus-per-node=8 --time=5 --comment=weft:tp=8 >/dev/null
	big=$(lab_submit -N16 --gpus-per-node=8 --time=5 --comment=weft:tp=8)
	expect_start_time "$big"
	declined=$(status .decisions.refused)
	long=$(lab_submit -N2 --gpus-per-node=8 --time=60 --comment=weft:tp=8)
	expect_start_time "$long"
	sleep 2
	expect "proposals declined" "$(status .decisions.refused)" "$declined"
}

case_a_higher_partition_preempts() {
	local low high
	low=$(lab_run -N16 --gpus-per-node=8 -p low --comment=weft:tp=8)
	high=$(lab_submit -N4 --gpus-per-node=8 --comment=weft:tp=8)
	lab_wait_job "$high" RUNNING
	expect_match "low job" "$(lab_job "$low" JobState)" 'PENDING|COMPLETING'
}

case_nobody_is_preempted_while_nodes_are_free() {
	local low high
	low=$(lab_run -N8 --gpus-per-node=8 -p low --comment=weft:tp=8)
	high=$(lab_run "${WHOLE[@]}" --comment="weft:$SPEC")
	expect "low job" "$(lab_job "$low" JobState)" RUNNING
	expect "nodes" "$(printf '%s\n' "$(job_nodes "$low")" \
		"$(job_nodes "$high")" | tr ' ' '\n' | sort -u | wc -l)" 16
}

case_every_task_of_an_array_is_placed() {
	local job
	job=$(lab_submit --array=0-3 -N4 --gpus-per-node=8 --comment=weft:tp=8)
	lab_until 30 array_runs "$job" 4 || fail "not all tasks run: $(squeue -h)"
	if [ "$LAB_MODE" != stock ]; then
		for task in 0 1 2 3; do
			expect "leafs of task $task" \
				"$(leafs_of "$(job_nodes "${job}_$task")")" 1
		done
	fi
}

array_runs() {
	[ "$(squeue -h -r -j "$1" -t R -o %A | wc -l)" = "$2" ]
}

case_components_of_a_het_job_are_placed() {
	local job
	job=$(sbatch --parsable -o /dev/null -N4 --gpus-per-node=8 \
		--comment=weft:tp=8 : -N2 --gpus-per-node=8 --comment=weft:tp=8 \
		--wrap 'exec sleep 3600')
	lab_wait_job "$job+0" RUNNING
	expect "first" "$(job_nodes "$job+0" | wc -w)" 4
	expect "second" "$(job_nodes "$job+1" | wc -w)" 2
}

case_a_reservation_keeps_others_out() {
	local job wanted
	need_weft
	scontrol create reservation reservationname=keep nodes='n[00-03]' \
		starttime=now duration=60 users=daemon >/dev/null
	wanted=$(plan gpus=32,gpus_per_node=8,tp=8 --exclude 'n[00-03]')
	job=$(lab_run -N4 --gpus-per-node=8 --comment=weft:tp=8)
	expect "nodes" "$(job_nodes "$job")" "$wanted"
}

case_a_job_in_a_reservation_stays_in_it() {
	local job
	scontrol create reservation reservationname=mine nodes='n[06-11]' \
		starttime=now duration=60 users=root >/dev/null
	job=$(lab_run -N4 --gpus-per-node=8 --reservation=mine \
		--comment=weft:tp=8)
	expect_match "nodes" "$(job_nodes "$job")" '^(n(0[6-9]|1[01]) ?){4}$'
}

case_reservations_of_a_number_of_nodes_are_made() {
	scontrol create reservation reservationname=count nodecnt=5 \
		starttime=now+1minute duration=10 users=root >/dev/null
	expect_match "reservation" "$(scontrol show reservation -o count)" \
		'NodeCnt=5'
}

case_test_only_and_start_estimates_answer() {
	local answer job
	occupy 'n[00-11]' 8
	answer=$(sbatch --test-only "${WHOLE[@]}" --time=10 \
		--comment="weft:$SPEC" --wrap true 2>&1)
	expect_match "--test-only" "$answer" 'to start at'
	job=$(lab_submit "${WHOLE[@]}" --time=10 --comment="weft:$SPEC")
	expect_start_time "$job"
	squeue --start -h -j "$job" | grep -q "$job"
}

case_a_suspended_job_resumes_where_it_was() {
	local job before
	job=$(lab_run -N2 --gpus-per-node=8 --comment=weft:tp=8)
	before=$(job_nodes "$job")
	scontrol suspend "$job"
	lab_wait_job "$job" SUSPENDED
	scontrol resume "$job"
	lab_wait_job "$job" RUNNING
	expect "nodes" "$(job_nodes "$job")" "$before"
}

case_a_requeued_job_is_placed_again() {
	local job
	job=$(lab_run -N2 --gpus-per-node=8 --comment=weft:tp=8)
	scontrol requeue "$job"
	lab_until 30 requeued "$job"
	# Within the same second slurmd would take it for the job it just ended.
	scontrol update jobid="$job" starttime=now+2
	lab_wait_job "$job" RUNNING
}

case_a_requeued_job_tells_its_last_start_alone() {
	local job i
	need_weft
	job=$(lab_run -N2 --gpus-per-node=8 --comment=weft:tp=8)
	for i in 1 2; do
		scontrol requeue "$job"
		lab_until 30 requeued "$job" $i
		scontrol update jobid="$job" starttime=now+2
		lab_wait_job "$job" RUNNING
	done
	expect "sentences" "$(comment "$job" | grep -o 'weft: ' | wc -l)" 1
	expect_match "comment" "$(comment "$job")" '^weft: '
}

requeued() {
	[ "$(lab_job "$1" Restarts)" = "${2:-1}" ] && lab_job_in "$1" PENDING
}

case_many_short_jobs_all_run() {
	local i
	for ((i = 0; i < 40; i++)); do
		sbatch --parsable -o /dev/null -N$((1 + i % 4)) \
			--gpus-per-node=$((1 + i % 8)) --mem=1G \
			--comment=weft:dp=$(((1 + i % 4) * (1 + i % 8))) \
			--wrap true
	done >"$LAB_DIR/jobs"
	lab_until 90 lab_no_jobs || fail "still there: $(squeue -h | wc -l)"
	while read -r i; do
		expect "job $i" "$(lab_job "$i" JobState)" COMPLETED
	done <"$LAB_DIR/jobs"
	expect_alive
}
