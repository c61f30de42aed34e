# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2154 # case_since is set by run
# Mode observe: weft decides, counts and tells, and nothing changes.

# mode TEXT: weft.yaml says this of the mode from now on.
mode() {
	changing
	sed -i '/^mode:/d' "$LAB_DIR/etc/weft.yaml"
	printf '%s\n' "$1" >>"$LAB_DIR/etc/weft.yaml"
	lab_reconfigure
}

# Where stock alone puts a job of these options now.
stock_nodes() {
	local job
	job=$(lab_run "$@" --comment=weft:off)
	job_nodes "$job"
	scancel "$job"
	lab_until 30 lab_job_in "$job" CANCELLED
	lab_until 30 is_free "$job"
}

is_free() {
	[ "$(squeue -h -j "$1" -o %i 2>/dev/null)" = "" ]
}

# expect_untouched JOB: the record has nothing that stock does not write.  Paths
# are those of the folder that the test runs in; from 25.11 on the user's own
# command is there.
expect_untouched() {
	expect "comment" "$(comment "$1")" ""
	! scontrol show job "$1" | grep -i weft |
		grep -Ev '^ *(Comment|Command|SubmitLine|WorkDir|Std(Err|In|Out))=' ||
		fail "the record of job $1 names weft"
}

# Uplinks on which stock's choice beside n00, n04 and n06 costs a third of the
# step: told of the switches it takes the same nodes as weft from 24.11 on.
THIN_JOB=(-N6 --gpus-per-node=8
	"--comment=weft:tp=1,zero=3,model=llama3-8B")
STOCK_CHOICE="n07 n08 n09 n10 n11 n12"
thin_uplinks() {
	local file
	changing
	for file in slurm.conf controller.conf; do
		echo "TopologyParam=TopoOptional" >>"$LAB_DIR/etc/$file"
	done
	echo "contention: off" >>"$LAB_DIR/etc/weft.yaml"
	sed -e '/pod:.*over/s/: 2/: 8/' -e '/core:.*over/s/: 4/: 32/' \
		-i "$LAB_DIR/etc/fabric.yaml"
	lab_restart_slurmctld
}

case_an_observed_job_lands_where_stock_puts_it() {
	local job before
	need_weft
	need_topology tree
	thin_uplinks
	mode 'mode: observe'
	before=$(status '.decisions | .observed, .narrowed' | xargs)
	occupy n00,n04,n06 8
	expect "stock" "$(stock_nodes -N6 --gpus-per-node=8)" "$STOCK_CHOICE"
	job=$(lab_run "${THIN_JOB[@]}")
	expect "nodes" "$(job_nodes "$job")" "$STOCK_CHOICE"
	expect_untouched "$job"
	expect_log "weft: JobId=$job observed on n\[07-12\], weft's choice is n\[08-13\]: step=.*s stock=.*s gain=29"
	status_becomes ".jobs[] | select(.job == $job) | .cause" observed
	status_becomes '.decisions | .observed, .narrowed' \
		"$((${before% *} + 1))"$'\n'"${before#* }"
	expect "gain" "$(status ".jobs[] | select(.job == $job) |
		.gain | .gain > 0.29 and .gain < 0.3 and
		.stock_step_s > .step_s")" true
}

case_what_observing_would_have_saved_outlives_a_restart() {
	local before after
	need_weft
	need_topology tree
	thin_uplinks
	mode 'mode: observe'
	occupy n00,n04,n06 8
	before=$(lab_run "${THIN_JOB[@]}" -w "n[01-03,05,07-08]")
	scancel "$before"
	lab_until 30 lab_job_in "$before" CANCELLED
	lab_until 10 is_saved "$before" end_s || fail "no end of job $before"
	lab_restart_slurmctld
	after=$(lab_run "${THIN_JOB[@]}")
	lab_until 10 is_saved "$after" start_s || fail "job $after is not saved"
	# The nodes that stock gave, and what weft's would have brought.
	expect "records" "$(weft status --saved --json | jq -c ".jobs[] |
		select(.job == $before or .job == $after) |
		[.cause, .on, .plan, .gain.gain > 0.25]" | xargs)" \
		"[observed,n[01-03,05,07-08],n[01-03,05,07-08],false] \
[observed,n[07-12],n[08-13],true]"
	expect "spec" "$(weft status --saved --json |
		jq -r ".jobs[] | select(.job == $after) | .spec")" \
		tp=1,zero=3,model=llama3-8B
	weft status --saved | grep -q "^  $after .* 29[.][0-9] %; on n.*weft: n" ||
		fail "the report lacks job $after"
	weft status --saved --prometheus |
		grep -q '^weft_week_compared_jobs{mode="observe"} [1-9]' ||
		fail "no metrics"
	expect "mode of the file" "$(stat -c %a "$LAB_DIR/state/weft-records")" 600
}

# is_saved JOB KEY: its record has the key.
is_saved() {
	[ "$(weft status --saved --json 2>&1 | jq ".jobs[] |
		select(.job == $1) | has(\"$2\")")" = true ]
}

case_observing_is_what_a_file_without_a_mode_means() {
	local job
	need_weft
	mode ''
	expect_log 'weft: mode observe, fabric lab'
	job=$(lab_run -N4 --gpus-per-node=8 --comment=weft:tp=8)
	expect_untouched "$job"
	expect_log "weft: JobId=$job observed on"
}

case_observing_holds_no_job_back() {
	local job
	need_weft
	mode 'mode: observe'
	# No leaf has five nodes.
	job=$(lab_run -N5 --gpus-per-node=8 --comment=weft:tp=8,within=leaf)
	expect_untouched "$job"
	expect_log "weft: JobId=$job observed: no placement fits"
	lab_clear
	# A better place will be free in good time.
	lab_run -N2 -w n00,n01 --gpus-per-node=8 --time=1 \
		--comment=weft:off >/dev/null
	occupy n04,n05,n08,n09,n12,n13 8
	job=$(lab_run -N4 --gpus-per-node=8 --weft=tp=8,wait=30m)
	expect_untouched "$job"
}

case_observing_refuses_nothing_at_submission() {
	local job
	need_weft
	mode 'mode: observe'
	echo "JobSubmitPlugins=weft" >>"$LAB_DIR/etc/controller.conf"
	lab_reconfigure
	job=$(lab_run -N2 --gpus-per-node=8 --comment=weft:tq=8)
	expect_untouched "$job"
	job=$(lab_run -N8 --gpus-per-node=8 --comment=weft:tp=8,within=leaf)
	expect_untouched "$job"
}

case_an_observed_job_has_no_order_of_ranks() {
	local said
	need_weft
	mode 'mode: observe'
	occupy n00,n04,n08 8
	said=$(srun -N4 --ntasks-per-node=1 --gpus-per-node=8 --weft=tp=8 \
		sh -c 'env | grep WEFT_RANKS=; true')
	expect "variables" "$said" ""
}

case_an_observed_job_keeps_the_environment_of_its_user() {
	local job own="1;job=1;nodes=n09;ranks=0:0-7"
	need_weft
	mode 'mode: observe'
	job=$(WEFT_RANKS=$own sbatch --parsable -o "$LAB_DIR/out.%j" -N4 \
		--gpus-per-node=8 --comment=weft:tp=8 \
		--wrap 'env | grep WEFT_RANKS=')
	lab_wait_job "$job" COMPLETED
	expect "variable" "$(cat "$LAB_DIR/out.$job")" "WEFT_RANKS=$own"
}

case_only_the_partitions_that_are_named_are_placed() {
	local job
	need_weft
	mode $'mode: place\nplace: {partitions: [low]}'
	job=$(lab_run -N2 -p main --gpus-per-node=8 --comment=weft:tp=8)
	expect_untouched "$job"
	job=$(lab_run -N2 -p low --gpus-per-node=8 --comment=weft:tp=8)
	expect_match "comment" "$(comment "$job")" 'nodes=plan'
	# In each partition by its own rule: main takes no heed of the limit.
	job=$(lab_run -N5 -p low,main --gpus-per-node=8 \
		--comment=weft:tp=8,within=leaf)
	expect "partition" "$(lab_job "$job" Partition)" main
	expect_untouched "$job"
}

case_only_the_accounts_that_are_named_are_placed() {
	local job
	need_weft
	mode $'mode: place\nplace: {accounts: [trial]}'
	job=$(lab_run -N2 -A trial --gpus-per-node=8 --comment=weft:tp=8)
	expect_match "comment" "$(comment "$job")" 'nodes=plan'
	job=$(lab_run -N2 -A other --gpus-per-node=8 --comment=weft:tp=8)
	expect_untouched "$job"
	job=$(lab_run -N2 --gpus-per-node=8 --comment=weft:tp=8)
	expect_untouched "$job"
}

case_a_job_without_a_spec_is_stocks_unless_the_site_says_otherwise() {
	local job
	need_weft
	changing
	sed -i '/^unspecified:/d' "$LAB_DIR/etc/weft.yaml"
	lab_reconfigure
	occupy n00,n04,n08 8
	job=$(lab_run -N4 --gpus-per-node=8)
	expect_untouched "$job"
	status_becomes '.decisions."no-spec" > 0' true
}

case_the_sites_defaults_are_observed_without_a_word_to_the_job() {
	local job
	need_weft
	need_topology tree
	thin_uplinks
	printf 'defaults:\n  main: "tp=8,zero=3,model=llama3-8B"\n' \
		>>"$LAB_DIR/etc/weft.yaml"
	sed -i '/^unspecified:/d' "$LAB_DIR/etc/weft.yaml"
	mode 'mode: observe'
	occupy n00,n04,n06 8
	job=$(lab_run -N6 --gpus-per-node=8)
	expect_untouched "$job"
	lab_until 10 is_saved "$job" plan || fail "job $job is not saved"
	expect "spec" "$(weft status --saved --json |
		jq -r ".jobs[] | select(.job == $job) | .spec")" \
		tp=8,zero=3,model=llama3-8B
	# Four GPUs are no group of eight, and low has no default.
	job=$(lab_run -N1 --gpus-per-node=4)
	expect_untouched "$job"
	job=$(lab_run -N2 --gpus-per-node=8 -p low)
	expect_untouched "$job"
	sleep 2
	expect "jobs that were observed" \
		"$(lab_log_since "$case_since" 'weft: JobId=.* observed' |
			wc -l)" 1
}

# ---- the page for the admin ----

# The commands of weft-slurm(8), STARTING and the first of GOING BACK, one a
# line, for this cluster.
page_commands() {
	sed -n -e '/^# STARTING/,/^# INSTALLING/p' \
		-e '/^# GOING BACK/,/^To remove the plugin/p' \
		"$here/../../doc/man/weft-slurm.8.scd" |
		awk '/^```/ { inside = !inside; next } inside' |
		sed -e "s|/usr/share/doc/slurm-weft-plugins/examples|$here/../../contrib|" \
			-e "s|/etc/slurm|$LAB_DIR/etc|g" -e 's/\[train\]/[low]/'
}

# modes_told LINES: slurmctld's log has said so often since the case began what
# weft does.
modes_told() {
	[ "$(lab_log_since "$case_since" 'weft: (mode|off,)' | wc -l)" -ge "$1" ]
}

case_an_admin_starts_and_goes_back_by_the_page() {
	local command job n=0
	need_weft
	changing
	job=$(lab_run -N2 --gpus-per-node=8 --comment=weft:tp=8)
	case_since=$(lab_log_mark)
	while read -r command <&3; do
		case $command in
		systemctl*) lab_restart_slurmctld ;;
		*) PATH=$WEFT_BUILDDIR:$PATH bash -ec "$command" >/dev/null ;;
		esac || fail "$command"
		[[ ! $command =~ systemctl|reconfigure ]] || {
			n=$((n + 1))
			lab_until 30 modes_told $n || fail "no word after $command"
		}
	done 3< <(page_commands)
	expect "modes" "$(lab_log_since "$case_since" 'weft: (mode|off,)' |
		sed -e 's/.*weft: mode \([a-z]*\).*/\1/' -e 's/.*weft: off,.*/off/' |
		xargs)" "observe place place observe off"
	expect "state of a job that ran" "$(lab_job "$job" JobState)" RUNNING
}

# ---- promises ----

# broken: what weft status says of promises that do not hold, by job.
broken() {
	weft status --json | jq -r '.promises.broken[] | "\(.job) \(.text)"'
}

case_a_promise_that_stock_breaks_is_told() {
	local job
	need_weft
	mode 'mode: observe'
	job=$(lab_run -N3 --gpus-per-node=8 --weft=tp=8,within=leaf)
	lab_until 30 status_is ".jobs[] | select(.job == $job) | .spec" \
		tp=8,within=leaf || fail "the status file lacks the spec"
	expect "broken" "$(broken)" ""
	expect "kept" "$(weft status --json | jq .promises.kept.within)" 1
	scancel "$job"
	lab_clear
	job=$(lab_run -N5 --gpus-per-node=8 --comment=weft:tp=8,within=leaf)
	expect "broken" "$(broken)" \
		"$job within=leaf: has 4+1 nodes by leaf"
	weft status | grep -q "^  $job  *within=leaf: has 4+1" ||
		fail "weft status does not tell people"
	weft status --prometheus |
		grep -q '^weft_broken_promises{kind="within"} 1$' || fail "no metric"
	weft audit --state slurm "$LAB_DIR/etc/fabric.yaml" |
		grep -q 'within=leaf: has 4+1 nodes by leaf' || fail "no finding"
}

case_a_node_that_leaves_a_jobs_switch_breaks_its_promise() {
	local job
	need_topology tree
	job=$(lab_run -N4 --gpus-per-node=8 --switches=1)
	expect "broken" "$(broken)" ""
	changing
	cp "$LAB_DIR/etc/topology.conf" "$LAB_DIR/etc/topology.good"
	trap 'mv "$LAB_DIR/etc/topology.good" "$LAB_DIR/etc/topology.conf"' EXIT
	sed -i -e 's/n\[00-03\]/n[00-02,15]/' -e 's/n\[04-07\]/n[04-06,03]/' \
		-e 's/n\[08-11\]/n[08-10,07]/' -e 's/n\[12-15\]/n[12-14,11]/' \
		"$LAB_DIR/etc/topology.conf"
	lab_reconfigure
	expect "broken" "$(broken)" \
		"$job --switches=1: has 3+1 nodes by leaf switch"
}
