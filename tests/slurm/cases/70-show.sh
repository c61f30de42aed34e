# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2154 # case_since is set by run
# What people see: records, lists, and weft's own words.

case_the_system_comment_tells_cost_bound_and_span() {
	local job text
	need_weft
	# shellcheck disable=SC2153 # of tests/slurm/run
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

case_the_system_comment_tells_what_the_nodes_bring() {
	local job text
	need_topology tree
	need_weft
	occupy "n[00-05],n08,n12" 8
	# Comparing takes a share of the time, and a busy machine many times that.
	for _ in 1 2 3 4 5; do
		job=$(lab_run -N4 --gpus-per-node=8 \
			--comment=weft:tp=1,zero=3,model=llama3-8B)
		text=$(comment "$job")
		[[ $text == *' gain=late '* ]] || break
		scancel "$job"
		sleep 2
	done
	expect_match "step" "$text" ' step=[0-9.]+s\([0-9.]+-[0-9.]+\) '
	expect_match "gain" "$text" ' stock=[0-9.]+s gain=-?[0-9.]+% |any nodes'
	expect_match "cost" "$text" 'weft: cost=[0-9.]+ bound='
	lab_until 10 is_shown "$job" || fail "the status file lacks job $job"
	expect_same_stock "$job"
	weft status | grep -A9 '^running jobs' | grep -q "^  $job .*step" ||
		fail "weft status does not list job $job"
}

# What weft why computes anew is what the plugin told when the job started.
expect_same_stock() {
	expect "stock's step by why" "$(weft why --json "$1" |
		jq '(.job.gain.stock_step_s / .gain.stock_step_s - 1) |
		fabs < 1e-6')" true
}

case_without_contention_why_and_the_plugin_agree_as_well() {
	local job
	need_topology tree
	need_weft
	changing
	echo "contention: off" >>"$LAB_DIR/etc/weft.yaml"
	lab_reconfigure
	occupy "n[00-05],n08,n12" 8
	job=$(lab_run -N4 --gpus-per-node=8 \
		--comment=weft:tp=1,zero=3,model=llama3-8B)
	lab_until 10 is_shown "$job" || fail "the status file lacks job $job"
	expect_same_stock "$job"
}

is_shown() {
	weft why --json "$1" | jq -e '.job.gain.step_s > 0' >/dev/null
}

# stock_takes BUSY NODES [NODELIST]: the rule that stock is taken to follow is the
# one that it follows.
stock_takes() {
	local spec=gpus=$((8 * $2)),gpus_per_node=8 job wanted
	occupy "$1" 8
	wanted=$("$WEFT_BUILDDIR/weft" plan --json \
		--fabric "$LAB_DIR/etc/fabric.yaml" --busy "$(lab_busy)" \
		${3:+-w "$3"} --job "$spec" |
		jq -r '.gain.stock_nodes[]' | one_line)
	job=$(lab_run -N"$2" ${3:+-w "$3"} --gpus-per-node=8 --comment=weft:off)
	expect "$2 nodes beside $1 with '${3:-}'" "$(job_nodes "$job")" "$wanted"
	lab_clear
}

case_stock_takes_the_nodes_that_plan_says_it_takes() {
	local busy n
	need_topology tree
	! lab_since 23.11 || skip "the rule is that of Slurm 22.05"
	for busy in "n[00-02],n05" "n[00-05],n08,n12" "n[01,03,06,09,11,14]" \
		"n[04-07]"; do
		for n in 2 3 4 6; do
			stock_takes "$busy" "$n"
		done
	done
	stock_takes "n[00-02],n05" 3 n06
	stock_takes "n[01,03,06,09,11,14]" 6 "n[07,12]"
	stock_takes "n[04-07]" 2 "n[00,15]"
}
