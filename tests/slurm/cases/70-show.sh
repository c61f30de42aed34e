# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2154 # case_since is set by run
# What people see: records, lists, and weft's own words.

case_the_system_comment_tells_cost_bound_and_span() {
	local job text
	need_weft
	job=$(lab_run "${WHOLE[@]}" --comment="weft:$SPEC")
	text=$(comment "$job")
	expect_match "comment" "$text" 'weft: '
	expect_match "comment" "$text" 'bound'
	expect_match "comment" "$text" 'leaf'
	expect_match "comment" "$text" 'pod'
}

case_the_system_comment_tells_the_step_of_a_named_model() {
	local job
	need_weft
	job=$(lab_run -N2 --gpus-per-node=8 --comment=weft:tp=8,model=llama3-8B)
	expect_match "comment" "$(comment "$job")" ' step=[0-9.]+s'
}

case_each_task_of_an_array_has_a_system_comment() {
	local array task
	need_weft
	array=$(lab_submit --array=0-2 -N2 --gpus-per-node=8 \
		--comment=weft:tp=8)
	lab_until 30 tasks_run "$array" 3
	for task in 0 1 2; do
		expect_match "comment of task $task" \
			"$(comment "${array}_$task")" 'weft: .*nodes=plan'
	done
}

tasks_run() {
	[ "$(squeue -h -j "$1" -t R -o %i | wc -l)" = "$2" ]
}

case_the_users_comment_is_kept() {
	local job
	job=$(lab_run -N2 --gpus-per-node=8 --comment=weft:tp=8)
	expect "comment" "$(lab_job "$job" Comment)" weft:tp=8
}

case_every_client_understands_the_controller() {
	local job client attach='' topology=''
	job=$(lab_run -N2 --gpus-per-node=8 --comment=weft:tp=8)
	# Later ones do not attach to batch steps.
	lab_since 23.02 || attach="sattach --layout $job.batch"
	[ "$LAB_TOPOLOGY" = flat ] || topology="scontrol show topology"
	for client in "scontrol show job $job" "scontrol show node n00" \
		"scontrol show config" "scontrol show partition" \
		${topology:+"$topology"} squeue "squeue -l" sinfo "sinfo -N -l" \
		sdiag ${attach:+"$attach"}; do
		$client >"$LAB_DIR/out" 2>&1 || fail "$client: $(cat "$LAB_DIR/out")"
		! grep -iE 'error|malformed|unpack' "$LAB_DIR/out" ||
			fail "$client complains"
	done
}

case_nothing_is_logged_as_an_error_in_good_times() {
	local job
	job=$(lab_run "${WHOLE[@]}" --comment="weft:$SPEC")
	scancel "$job"
	lab_until 30 lab_no_jobs
	! lab_log_since "$case_since" 'error: .*weft|fatal|segfault' ||
		fail "see above"
}
