# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What weft knows of nodes and jobs, by its snapshot file.

case_the_snapshot_shows_what_is_free() {
	need_weft
	lab_run -N1 -w n03 --gpus-per-node=3 --mem=1000 --comment=weft:tp=3 \
		>/dev/null
	status_becomes "$(free_gpus n03)" 3-7
	status_becomes "$(free_gpus n04)" 0-7
	status_becomes '.nodes[] | select(.name == "n03") |
		[.cpus_used, .memory_used_mb] | @csv' 1,1000
	status_becomes '.jobs | length' 1
	scancel -u root
	status_becomes '.jobs | length' 0
}

case_the_snapshot_tells_how_a_job_was_placed() {
	local job
	need_weft
	job=$(lab_run "${WHOLE[@]}" --comment="weft:$SPEC")
	status_becomes ".jobs[] | select(.job == $job) |
		[.cause, .nodes, .gpus, .cost >= .bound] | @csv" \
		'"narrowed",8,64,true'
	expect "said" "$(status ".jobs[] | select(.job == $job) | .said")" \
		"$(comment "$job" | sed 's/ *$//')"
}

case_the_snapshot_tells_who_waits_and_why() {
	local job
	need_weft
	occupy "$(lab_node)" 8
	job=$(lab_submit -N2 --gpus-per-node=8 --comment=weft:tp=8)
	status_becomes ".waiting[] | select(.job == $job) | .cause" no-room
}

# What Slurm shows of a node, in the snapshot's words.
slurm_uses() {
	scontrol show node "$1" -o | tr ' ' '\n' |
		sed -n 's/^CPUAlloc=//p;s/^AllocMem=//p' | xargs
}

status_uses() {
	status ".nodes[] | select(.name == \"$1\") |
		\"\(.cpus_used) \(.memory_used_mb)\""
}

case_a_recount_finds_nothing_after_starts_and_ends() {
	local i job
	need_weft
	for i in 1 2 3; do
		lab_run -N2 --gpus-per-node="$i" --mem=1000 \
			--comment=weft:tp=1 >/dev/null
		job=$(lab_run -N4 --gpus-per-node=2 --mem=2000)
		lab_run -N1 -n3 --mem=500 >/dev/null
		scancel "$job"
		lab_wait_job "$job" CANCELLED
	done
	expect "differences" "$(recount)" 0,0,0,0
}

case_a_suspended_job_keeps_gpus_and_memory_but_no_cpus() {
	local job
	need_weft
	job=$(lab_run -N1 -w n05 -n6 --gpus-per-node=2 --mem=1000)
	status_becomes '.nodes[] | select(.name == "n05") |
		[.cpus_used, .memory_used_mb, .gpus_free] | @csv' '6,1000,"2-7"'
	scontrol suspend "$job"
	status_becomes '.nodes[] | select(.name == "n05") |
		[.cpus_used, .memory_used_mb, .gpus_free] | @csv' '0,1000,"2-7"'
	expect "differences" "$(recount)" 0,0,0,0
	scontrol resume "$job"
	status_becomes '.nodes[] | select(.name == "n05") |
		[.cpus_used, .memory_used_mb, .gpus_free] | @csv' '6,1000,"2-7"'
	expect "differences after" "$(recount)" 0,0,0,0
}

case_a_node_that_a_job_gives_back_is_free() {
	local job
	need_weft
	job=$(lab_run -N2 -w n05,n06 --gpus-per-node=4 --mem=1000)
	status_becomes "$(free_gpus n06)" 4-7
	scontrol update jobid="$job" nodelist=n05
	status_becomes "$(free_gpus n06)" 0-7
	status_becomes "$(free_gpus n05)" 4-7
	status_becomes '.nodes[] | select(.name == "n06") |
		[.cpus_used, .memory_used_mb] | @csv' 0,0
	expect "differences" "$(recount)" 0,0,0,0
}

case_after_a_restart_all_is_counted_again() {
	local before job
	need_weft
	lab_run -N3 --gpus-per-node=3 --mem=1000 --comment=weft:tp=3 >/dev/null
	job=$(lab_run -N1 -w n09 --gpus-per-node=2 --mem=700)
	status_becomes '.jobs | length' 2
	before=$(status '[.nodes[] | .gpus_free, .cpus_used, .memory_used_mb]')
	lab_restart_slurmctld
	sbatch --test-only -N1 --gpus-per-node=1 --comment=weft:tp=1 \
		--wrap true >/dev/null 2>&1
	status_becomes '[.nodes[] | .gpus_free, .cpus_used, .memory_used_mb]' \
		"$before"
	status_becomes '.recount | [.cpus_differ, .memory_differ, .gpus_differ,
		.gpus_given_twice] | @csv' 0,0,0,0
	status_becomes ".jobs[] | select(.job == $job) |
		[.cause, .gpus, .nodes] | @csv" '"unknown",2,1'
}

case_a_reconfigure_finds_what_was_kept() {
	local before
	need_weft
	lab_run -N3 --gpus-per-node=3 --mem=1000 --comment=weft:tp=3 >/dev/null
	before=$(status '.recount.counts // 0')
	# A new slurmctld counts from one.
	! lab_since 23.11 || before=0
	lab_reconfigure
	lab_until 30 counted_since "$before" || fail "nothing was counted"
	status_becomes '.recount | [.jobs, .cpus_differ, .memory_differ,
		.gpus_differ, .gpus_given_twice] | @csv' 1,0,0,0,0
	lab_run -N2 --gpus-per-node=3 --mem=1000 --comment=weft:tp=3 >/dev/null
	expect "differences" "$(recount)" 0,0,0,0
	expect "troubles" "$(status '.troubles | length')" 0
}

case_what_is_kept_is_what_slurm_shows() {
	local node
	need_weft
	lab_run -N3 -n7 --gpus-per-node=3 --mem=1000 --comment=weft:tp=3 \
		>/dev/null
	lab_run -N5 --gpus-per-node=1 --mem=300 >/dev/null
	for node in $(lab_busy | tr ',' '\n' | sed -n 's/^\(n[0-9]*\):.*/\1/p' |
		sort -u); do
		lab_until 30 same_use "$node" ||
			fail "$node: $(status_uses "$node"), Slurm has" \
				"$(slurm_uses "$node")" || return
	done
}

same_use() {
	[ "$(status_uses "$1")" = "$(slurm_uses "$1")" ]
}

# ---- what else a plan heeds ----

# Slow nodes that weft knows of, once it has been asked.
slow_nodes_become() {
	lab_until 30 slow_nodes_are "$1" ||
		fail "$(status .health.slow_nodes) slow nodes, not $1"
}

slow_nodes_are() {
	sbatch --test-only -N1 --gpus-per-node=1 --comment=weft:tp=1 \
		--wrap true >/dev/null 2>&1
	status_is .health.slow_nodes "$1"
}

# health LINE...: a new health file, put in place in one step.
health() {
	printf '%s\n' "weft: health/1" "$@" >"$LAB_DIR/etc/health.new"
	mv "$LAB_DIR/etc/health.new" "$LAB_DIR/etc/health.yaml"
}

case_slow_nodes_are_kept_off_while_others_suffice() {
	local job
	need_weft
	changing
	health "nodes:" "  n[00-03]: 1.5"
	echo "health: health.yaml" >>"$LAB_DIR/etc/weft.yaml"
	lab_reconfigure
	slow_nodes_become 4
	job=$(lab_run -N4 --gpus-per-node=8 --comment=weft:tp=8)
	expect_match "nodes" "$(job_nodes "$job")" '^(n(0[4-9]|1[0-5]) ?){4}$'
	expect_match "comment" "$(comment "$job")" 'nodes=plan'
	scancel "$job"
	# Nobody says reconfigure.
	health "nodes:" "  n[04-14]: 1.2"
	slow_nodes_become 11
	job=$(lab_run -N4 --gpus-per-node=8 --comment=weft:tp=8)
	expect "nodes" "$(job_nodes "$job")" "$(expand 'n[00-03]')"
	# With any slow node the job is slow: the pod of the first one is filled.
	job=$(lab_run -N4 --gpus-per-node=8 --comment=weft:tp=8)
	expect "nodes with slow ones" "$(job_nodes "$job")" "$(expand 'n[04-07]')"
	expect_match "comment" "$(comment "$job")" 'nodes=plan'
}

case_a_broken_health_file_leaves_the_last_good_one() {
	local job
	need_weft
	changing
	health "nodes:" "  n[00-11]: 1.5"
	echo "health: health.yaml" >>"$LAB_DIR/etc/weft.yaml"
	lab_reconfigure
	slow_nodes_become 12
	health "nodes:" "  m00: 1.5"
	expect_log 'error: weft: .*health.yaml:3.*m00'
	job=$(lab_run -N4 --gpus-per-node=8 --comment=weft:tp=8)
	expect "nodes" "$(job_nodes "$job")" "$(expand 'n[12-15]')"
	health "nodes: {}"
	slow_nodes_become 0
}

case_traffic_of_running_jobs_is_followed() {
	local job
	need_weft
	changing
	echo "contention: on" >>"$LAB_DIR/etc/weft.yaml"
	job=$(lab_run -N6 --gpus-per-node=8 --comment=weft:tp=8)
	lab_reconfigure
	# Before anybody asks: a decision does not wait for it.
	status_becomes .contending_jobs 1
	lab_run -N2 --gpus-per-node=8 --comment=weft:tp=8 >/dev/null
	status_becomes .contending_jobs 2
	# What weft leaves alone sends as well.
	lab_run -N2 --gpus-per-node=8 --comment=weft:off >/dev/null
	status_becomes .contending_jobs 3
	scancel "$job"
	status_becomes .contending_jobs 2
	lab_reconfigure
	status_becomes .contending_jobs 2
}

# Slurm 25.05 and later may be going through all jobs then, with their list locked.
case_no_recount_is_made_where_a_job_ends() {
	local job before
	need_weft
	job=$(lab_run -N2 -w 'n[00-01]' --gpus-per-node=8 --comment=weft:tp=8)
	status_becomes '.jobs | length' 1
	before=$(status '.recount.counts // 0')
	touch "$LAB_DIR/run/status.json.verify"
	lab_until 30 test ! -e "$LAB_DIR/run/status.json.verify"
	scontrol update jobid="$job" nodelist=n00
	scancel "$job"
	lab_wait_job "$job" CANCELLED
	status_becomes '.jobs | length' 0
	expect "counts" "$(status '.recount.counts // 0')" "$before"
	lab_run -N1 --gpus-per-node=8 --comment=weft:off >/dev/null
	lab_until 30 counted_since "$before" || fail "no recount"
	expect "troubles" "$(status '.troubles | length')" 0
}

# Slurm changes the job's state only after it has told the plugin.
case_a_recount_while_a_job_is_suspended_is_right() {
	local job before
	need_weft
	job=$(lab_run -N2 -w 'n[00-01]' -n8 --gpus-per-node=8 \
		--comment=weft:tp=8)
	before=$(status '.recount.counts // 0')
	touch "$LAB_DIR/run/status.json.verify"
	lab_until 30 test ! -e "$LAB_DIR/run/status.json.verify"
	scontrol suspend "$job"
	lab_until 30 counted_since "$before" || fail "no recount"
	expect "differences" "$(status '.recount | [.cpus_differ,
		.memory_differ, .gpus_differ, .gpus_given_twice] | @csv')" \
		0,0,0,0
	status_becomes '[.nodes[] | .cpus_used] | add' 0
	before=$(status '.recount.counts // 0')
	touch "$LAB_DIR/run/status.json.verify"
	lab_until 30 test ! -e "$LAB_DIR/run/status.json.verify"
	scontrol resume "$job"
	lab_until 30 counted_since "$before" || fail "no recount"
	status_becomes '[.nodes[] | .cpus_used] | add' 8
	expect "troubles" "$(status '.troubles | length')" 0
}
