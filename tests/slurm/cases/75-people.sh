# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2154 # case_since is set by run
# What is said to people: at submission, while a job waits, and on request.

# ---- at submission: JobSubmitPlugins=weft ----

# The check at submission is one more plugin of slurmctld's.
submit_check() {
	changing
	echo "JobSubmitPlugins=weft" >>"$LAB_DIR/etc/controller.conf"
	lab_reconfigure
	lab_until 30 submit_refuses tq=8 || fail "the plugin is not loaded"
}

submit_refuses() {
	! sbatch --test-only -N1 --gpus-per-node=8 --comment="weft:$1" \
		--wrap true >/dev/null 2>&1
}

# expect_refused REGEX SBATCH_ARGS...
expect_refused() {
	local wanted=$1 answer
	shift
	answer=$(sbatch -o /dev/null "$@" --wrap true 2>&1) &&
		fail "accepted: $* ($answer)"
	expect_match "answer to $*" "$answer" "$wanted"
}

case_a_bad_comment_is_refused_where_slurmctld_checks() {
	local job
	need_weft
	submit_check
	expect_refused 'weft: .*tq.*tp' -N2 --gpus-per-node=8 \
		--comment=weft:tq=8
	expect_refused 'begins with "weft:"' -N2 --gpus-per-node=8 \
		--comment='weft tp=8'
	expect_refused 'within=laef.*leaf' -N2 --gpus-per-node=8 \
		--weft=tp=8,within=laef
	expect_refused 'comes out even' -N4 --gpus-per-node=8 \
		--comment=weft:tp=8,pp=3
	expect_refused 'never be placed: .*leaf' -N8 --gpus-per-node=8 \
		--comment=weft:tp=8,within=leaf
	expect_refused 'llama' -N1 --gpus-per-node=8 \
		--comment=weft:model=llama3-8C
	expect_refused 'weft: ' -N1 --gpus-per-node=1 \
		--comment="weft:tp=$(printf '\033[31m')8"
	lab_no_jobs || fail "a job was made"
	job=$(lab_run -N2 --gpus-per-node=8 --comment=weft:tp=8,pp=2)
	expect_match "comment" "$(comment "$job")" 'bound='
	job=$(lab_run -N1 --gpus-per-node=8 --comment=weft:off)
	job=$(lab_run -N1 --comment="nothing of weft's")
}

# weft.yaml, which names it, is as it was.
case_a_fabric_that_comes_later_is_checked_against() {
	need_weft
	submit_check
	sed -i 's/^fabric:.*/fabric: later.yaml/' "$LAB_DIR/etc/weft.yaml"
	expect_log 'weft: job_submit: keeping what was read.*later.yaml'
	submit_refuses within=leaf && fail "within=leaf is refused too early"
	sed 's/^  leaf:/  shelf:/' "$LAB_DIR/etc/fabric.yaml" \
		>"$LAB_DIR/etc/later.yaml"
	lab_until 30 submit_refuses within=leaf ||
		fail "the fabric that came later is not known"
	rm "$LAB_DIR/etc/later.yaml"
}

# A large fabric takes a while to read.
case_a_fabric_that_changes_while_it_is_read_is_read_again() {
	local fabric=$LAB_DIR/etc/fabric.yaml
	need_weft
	submit_check
	sed 's/^  leaf:/  shelf:/' "$fabric" >"$fabric.next"
	{
		cat "$fabric"
		yes "# $(printf %099d 0)" | head -n 150000
	} >"$fabric.large"
	mv "$fabric.large" "$fabric"
	lab_until 30 slurmctld_reads "$fabric" || skip "it is read too fast"
	mv "$fabric.next" "$fabric"
	lab_until 30 submit_refuses within=leaf ||
		fail "the change is not noticed"
}

slurmctld_reads() {
	find /proc/"$(lab_pid slurmctld)"/fd -lname "$1" | grep -q .
}

# Slurm's locks are held meanwhile.
case_an_absurd_number_of_nodes_is_checked_at_once() {
	local before after answer
	need_weft
	submit_check
	before=$(slurmctld_ticks)
	answer=$(sbatch -o /dev/null -N 1-2000000000 --gpus-per-node=7 \
		--comment=weft:gbs=1048573 --wrap true 2>&1) &&
		fail "accepted: $answer"
	after=$(slurmctld_ticks)
	expect_match "answer" "$answer" 'comes out even'
	[ $((after - before)) -lt "$(getconf CLK_TCK)" ] ||
		fail "it took $((after - before)) ticks of a processor"
}

# Ticks that slurmctld takes to refuse a script five times; else why not.
ticks_of_five() {
	local before answer
	before=$(slurmctld_ticks)
	for _ in 1 2 3 4 5; do
		if answer=$(sbatch -o /dev/null "$1" 2>&1); then
			echo "accepted: $answer"
			return 1
		elif [[ $answer != *'too long'* ]]; then
			echo "refused for another reason: $answer"
			return 1
		fi
	done
	echo $(($(slurmctld_ticks) - before))
}

# A script may hold megabytes of options.
case_an_endless_list_of_partitions_is_checked_at_once() {
	local ticks
	need_weft
	submit_check
	{
		printf '#!/bin/sh\n#SBATCH --gpus-per-node=1 -p '
		yes a, | head -n 1500000 | tr -d '\n'
		printf 'a\n'
	} >"$LAB_DIR/endless"
	# other work on this machine lengthens it: the best of three
	for _ in 1 2 3; do
		ticks=$(ticks_of_five "$LAB_DIR/endless") || fail "$ticks"
		[ "$ticks" -ge $(($(getconf CLK_TCK) / 5)) ] || return 0
	done
	fail "it took $ticks ticks of a processor"
}

# Ticks (USER_HZ) of a processor that slurmctld has had.
slurmctld_ticks() {
	awk '{ sub(/.*\) /, ""); print $12 + $13 }' \
		/proc/"$(lab_pid slurmctld)"/stat
}

case_nothing_is_refused_for_what_the_fabric_lacks() {
	local job
	need_weft
	echo "accept_missing: yes" >>"$LAB_DIR/etc/weft.yaml"
	without_the_last_leaf
	submit_check
	job=$(lab_submit -N16 --gpus-per-node=8 --comment=weft:tp=8,segment=4)
	[ -n "$job" ] || fail "refused"
	expect_refused 'come out at' -N1 --gpus-per-node=8 \
		--comment=weft:gpus=16,tp=8
}

# Users who name no partition mean Slurm's default.
case_rules_for_the_default_partition_hold_for_who_names_none() {
	local job
	need_weft
	echo "place: {partitions: [main]}" >>"$LAB_DIR/etc/weft.yaml"
	submit_check
	job=$(lab_submit -N1 --gpus-per-node=8 -p low --comment=weft:tq=8)
	[ -n "$job" ] || fail "refused where weft does not act"
}

case_a_bad_update_of_the_comment_is_refused() {
	local job answer
	need_weft
	submit_check
	job=$(lab_submit -N2 --gpus-per-node=8 --hold --comment=weft:tp=8)
	answer=$(scontrol update jobid="$job" comment=weft:tq=8 2>&1) &&
		fail "accepted: $answer"
	answer=$(scontrol update jobid="$job" comment=weft:tp=8,pp=3 2>&1) &&
		fail "accepted: $answer"
	expect "comment" "$(lab_job "$job" Comment)" weft:tp=8
	scontrol update jobid="$job" comment=weft:tp=4
	expect "comment" "$(lab_job "$job" Comment)" weft:tp=4
}

# The option goes before a comment, which says nothing of the spec then.
case_an_update_of_a_comment_that_is_not_read_is_not_refused() {
	local job
	need_weft
	submit_check
	job=$(lab_submit -N2 --gpus-per-node=8 --hold --weft=tp=8,within=leaf)
	sed 's/^  leaf:/  shelf:/' "$LAB_DIR/etc/fabric.yaml" \
		>"$LAB_DIR/etc/fabric.new"
	mv "$LAB_DIR/etc/fabric.new" "$LAB_DIR/etc/fabric.yaml"
	lab_until 30 submit_refuses within=leaf || fail "leaf is still there"
	scontrol update jobid="$job" comment=mine ||
		fail "a comment is refused for the sake of the option"
	expect "comment" "$(lab_job "$job" Comment)" mine
}

# A site's script may tell users something at each submission.
case_a_refusal_is_told_beside_the_words_of_other_plugins() {
	need_weft
	[ -e "$(lab_stock_plugins)/job_submit_lua.so" ] ||
		skip "this Slurm has no job_submit/lua"
	submit_check
	sed -i 's/^JobSubmitPlugins=.*/JobSubmitPlugins=lua,weft/' \
		"$LAB_DIR/etc/controller.conf"
	cat >"$LAB_DIR/etc/job_submit.lua" <<-END
		function slurm_job_submit(job, partitions, uid)
			slurm.log_user("hello")
			return slurm.SUCCESS
		end
		function slurm_job_modify(job, record, partitions, uid)
			return slurm.SUCCESS
		end
	END
	lab_reconfigure
	lab_until 30 is_greeted || fail "the script is not run"
	expect_refused 'hello.*weft: .*tq' -N1 --gpus-per-node=8 \
		--comment=weft:tq=8
}

is_greeted() {
	sbatch --test-only -N1 --wrap true 2>&1 | grep -q hello
}

# Slurm refuses comments of more than 1,024 bytes.
case_a_default_that_is_too_long_for_a_comment_is_taken() {
	local job spec
	need_weft
	spec=tp=$(printf %01018d 8)
	printf 'defaults: {main: "%s"}\n' "$spec" >>"$LAB_DIR/etc/weft.yaml"
	submit_check
	job=$(lab_run -N1 --gpus-per-node=8 -p main)
	[[ ! $(comment "$job") =~ "no spec" ]] || fail "no default was taken"
}

case_jobs_without_a_spec_get_the_sites() {
	local job
	need_weft
	cat >>"$LAB_DIR/etc/weft.yaml" <<-END
		spec_limit: 40
		defaults:
		  main: tp=8
	END
	submit_check
	job=$(lab_submit -N2 --gpus-per-node=8 -p main)
	expect "comment" "$(lab_job "$job" Comment)" weft:tp=8
	job=$(lab_submit -N2 --gpus-per-node=8)
	expect "comment in the default partition" "$(lab_job "$job" Comment)" \
		weft:tp=8
	job=$(lab_run -N1 --gpus-per-node=8 -p main --comment=mine)
	expect "comment" "$(lab_job "$job" Comment)" mine
	[[ ! $(comment "$job") =~ "no spec" ]] || fail "no default was taken"
	job=$(lab_submit -N1 --gpus-per-node=8 -p low)
	expect "comment" "$(lab_job "$job" Comment)" ""
	job=$(lab_submit -N1 --gpus-per-node=4 -p main)
	expect "comment of a job that the default does not suit" \
		"$(lab_job "$job" Comment)" ""
	expect_refused '40 are allowed' -N1 --gpus-per-node=8 \
		--comment=weft:tp=8,mbs=1,order=tp-cp-ep-dp-pp,dtype=bf16
}

# script PP [SBATCH_ARGS...]: submits a training whose script says its sizes.
script() {
	local pp=$1
	shift
	sbatch --parsable --hold -o /dev/null -N2 --gpus-per-node=8 \
		"$@" <<-END
			#!/bin/bash
			# \$(touch $LAB_DIR/touched)
			TP=8 PP=$pp
			X=\$(touch $LAB_DIR/touched)
			srun torchrun --nnodes \$SLURM_NNODES \\
				--nproc-per-node 8 pretrain_gpt.py --bf16 \\
				--num-layers 80 --hidden-size 8192 \\
				--num-attention-heads 64 --seq-length 4096 \\
				--tensor-model-parallel-size \$TP \\
				--pipeline-model-parallel-size \$PP \\
				--micro-batch-size 1 --global-batch-size 16
		END
}

case_a_script_gives_the_spec_of_a_job_without_one() {
	local job
	need_weft
	echo "infer: yes" >>"$LAB_DIR/etc/weft.yaml"
	submit_check
	job=$(script 2)
	expect_match "comment" "$(lab_job "$job" Comment)" \
		'^weft:tp=8,pp=2,.*layers=80.*,from=script$'
	job=$(script 2 --comment=weft:tp=4)
	expect "a spec that is given" "$(lab_job "$job" Comment)" weft:tp=4
	job=$(script 2 --comment=weft:off)
	expect "a job that wants none" "$(lab_job "$job" Comment)" weft:off
	job=$(script 3)
	expect "sizes that do not suit the job" "$(lab_job "$job" Comment)" ""
	# shellcheck disable=SC2016 # the script's own
	job=$(script '$1')
	expect "a size that the caller gives" "$(lab_job "$job" Comment)" ""
	[[ ! -e $LAB_DIR/touched ]] || fail "the script was run"
}

# ---- while a job waits: the reason in squeue ----

reason() {
	squeue -h -j "$1" -o %r
}

reason_matches() {
	[[ $(reason "$1") =~ $2 ]]
}

# The main scheduler drops the reason now and then, backfill writes it again.
expect_reason() {
	lab_until 30 reason_matches "$1" "$2" ||
		fail "reason of job $1: '$(reason "$1")', expected '$2'"
}

case_the_reason_names_the_obstacle_and_the_nearest_way_out() {
	local first job
	need_weft
	first=$(lab_run -N12 -w 'n[00-11]' --gpus-per-node=8 --time=30 \
		--comment=weft:off)
	lab_run -N1 -w n12 --gpus-per-node=8 --time=60 --comment=weft:off \
		>/dev/null
	job=$(lab_submit -N4 --gpus-per-node=8 --weft=tp=8,dp=4)
	expect_reason "$job" \
		"weft: 3 of 4 nodes with 8 GPUs free; fits when job $first ends"
	scancel "$first"
	lab_wait_job "$job" RUNNING
	expect "reason of a job that runs" "$(reason "$job")" None
}

# Nothing else happens on the cluster that would have backfill look again.
case_the_reason_comes_back_on_a_quiet_cluster() {
	local job
	need_weft
	lab_run -N14 --gpus-per-node=8 --time=30 --comment=weft:off >/dev/null
	job=$(lab_submit -N4 --gpus-per-node=8 --weft=tp=8,dp=4)
	expect_reason "$job" 'weft: '
	lab_until 30 reason_matches "$job" '^Resources$' ||
		fail "the main scheduler did not look at the job"
	expect_reason "$job" 'weft: '
	lab_until 30 reason_matches "$job" '^Resources$' ||
		fail "the main scheduler did not look at the job again"
	expect_reason "$job" 'weft: '
}

# The main scheduler drops the sentence three times in 21 seconds, and backfill
# might run seven times.
case_backfill_rests_while_a_job_only_waits() {
	local job before n
	need_weft
	changing
	sed -i 's/bf_interval=1/bf_interval=3/;s/sched_interval=2/sched_interval=7/' \
		"$LAB_DIR/etc/controller.conf"
	lab_reconfigure
	lab_run -N14 --gpus-per-node=8 --comment=weft:off >/dev/null
	job=$(lab_submit -N4 --gpus-per-node=8 --weft=tp=8,dp=4)
	expect_reason "$job" 'weft: '
	before=$(backfill_cycles)
	sleep 21
	n=$(($(backfill_cycles) - before))
	[ $n -le 5 ] || fail "backfill ran $n times in 21 s"
	expect_reason "$job" 'weft: '
}

backfill_cycles() {
	sdiag | sed -n '/Backfilling stats/,$ s/^\tTotal cycles: //p'
}

case_a_job_without_a_time_limit_has_no_end_that_is_told() {
	local first job
	need_weft
	first=$(lab_run -N14 --gpus-per-node=8 --comment=weft:off)
	job=$(lab_submit -N4 --gpus-per-node=8 --weft=tp=8,dp=4)
	expect_reason "$job" "fits when job $first ends$"
}

case_the_reason_tells_a_spec_that_is_ignored() {
	local job
	need_weft
	occupy "$(lab_node)" 8
	job=$(lab_submit -N1 --gpus-per-node=8 --comment=weft:tq=8)
	expect_reason "$job" 'weft: spec ignored: .*tq'
}

case_reasons_that_are_slurms_own_stay() {
	local job
	need_weft
	occupy "$(lab_node)" 8
	job=$(lab_submit -N1 --gpus-per-node=8 --weft=tp=8)
	expect_reason "$job" 'weft: '
	scontrol hold "$job"
	expect "reason of a held job" "$(reason "$job")" JobHeldAdmin
	sleep 1.5
	expect "reason of a held job" "$(reason "$job")" JobHeldAdmin
	job=$(lab_submit -N1 --gpus-per-node=8 --weft=tp=8 \
		--dependency="afterok:$job")
	lab_until 30 reason_matches "$job" Dependency || fail "no reason"
	sleep 1.5
	expect "reason of a dependent job" "$(reason "$job")" Dependency
}

# ---- on request: weft why, weft status ----

case_weft_why_explains_a_job_that_runs() {
	local job answer
	need_weft
	occupy n00,n05 8
	job=$(lab_run -N4 --gpus-per-node=8 --weft=tp=8,pp=2)
	expect_match "comment" "$(comment "$job")" '; spec=tp=8,pp=2(;| |$)'
	answer=$(weft why --json "$job")
	expect "spec" "$(jq -r .job.spec <<<"$answer")" tp=8,pp=2
	expect "nodes" "$(jq -r '.nodes[]' <<<"$answer" | one_line)" \
		"$(job_nodes "$job")"
	expect "reach of tp" "$(jq -r .reach_by_axis.tp <<<"$answer")" nvlink
	expect "cost as told" "$(jq --argjson told "$(comment "$job" |
		sed 's/.* cost=\([^ ]*\) .*/\1/')" \
		'.cost.time / $told | . > 0.999 and . < 1.001' <<<"$answer")" true
	weft why "$job" | grep -q 'told then  weft: ' || fail "no sentence"
}

case_weft_why_explains_a_job_that_waits() {
	local first job answer rc=0
	need_weft
	first=$(lab_run -N16 --gpus-per-node=8 --time=30 --comment=weft:off)
	job=$(lab_submit -N2 --gpus-per-node=8 --comment=weft:tp=8)
	answer=$(weft why --json "$job") || rc=$?
	expect "exit status" $rc 3
	expect "what helps" "$(jq -r .outlook.fits.job <<<"$answer")" "$first"
	expect "placed" "$(jq -r .placed <<<"$answer")" false
}

case_weft_why_knows_the_option_of_a_job_that_waits() {
	local job
	need_weft
	lab_run -N16 --gpus-per-node=8 --time=30 --comment=weft:off >/dev/null
	job=$(lab_submit -N2 --gpus-per-node=8 --weft=tp=4,pp=2 \
		--comment="weft:tp=8")
	lab_until 30 status_is ".waiting[] | select(.job == $job) | .spec" \
		tp=4,pp=2 || fail "the status file has no spec"
	expect "spec" "$(weft why --json "$job" | jq -r .job.spec)" tp=4,pp=2
}

case_weft_status_agrees_with_slurm() {
	local job answer
	need_weft
	job=$(lab_run -N2 --gpus-per-node=4 --weft=tp=4)
	lab_run -N1 --gpus-per-node=2 --weft=tp=2 >/dev/null
	lab_run -N3 --gpus-per-node=8 >/dev/null
	lab_submit -N16 --gpus-per-node=8 >/dev/null
	answer=$(weft status --json)
	expect "free GPUs" "$(jq .gpus_free <<<"$answer")" $((128 - 8 - 2 - 24))
	expect "waiting jobs" "$(jq '.waiting | length' <<<"$answer")" 1
	expect "decisions" "$(jq '.decisions.narrowed > 0' <<<"$answer")" true
	weft status --verify || fail "the plugin's occupancy differs"
	scancel "$job"
	weft status --verify || fail "the plugin's occupancy differs"
	weft status --prometheus="$LAB_DIR/weft.prom"
	grep -q '^weft_decisions_total{cause="narrowed"} [1-9]' \
		"$LAB_DIR/weft.prom" || fail "no metrics"
}

# ---- what is nobody else's business ----

status_mode_is() {
	[ "$(stat -c %a "$LAB_DIR/run/status.json" 2>/dev/null)" = "$1" ]
}

# PrivateData=jobs: neither the file nor a reason tells of others' jobs.
case_private_jobs_are_told_to_nobody() {
	local job
	need_weft
	changing
	lab_until 30 status_mode_is 644 || fail "the file is not for everybody"
	echo "PrivateData=jobs" >>"$LAB_DIR/etc/controller.conf"
	lab_reconfigure
	lab_until 30 status_mode_is 600 || fail "everybody may read the file"
	! setpriv --reuid=65534 --clear-groups cat "$LAB_DIR/run/status.json" \
		2>/dev/null || fail "somebody else reads the file"
	lab_run -N15 --gpus-per-node=8 --time=30 --comment=weft:off >/dev/null
	job=$(lab_submit -N2 --gpus-per-node=8 --time=5 --comment=weft:tp=8)
	lab_until 30 reason_has "$job" 'fits when others end' ||
		fail "reason: $(lab_reason "$job")"
	! reason_has "$job" 'job [0-9]' || fail "$(lab_reason "$job")"
}

# slurm.conf holds though weft.yaml cannot be read.
case_a_broken_file_makes_nothing_public() {
	need_weft
	changing
	lab_until 30 status_mode_is 644 || fail "the file is not for everybody"
	echo "nonsense: 1" >>"$LAB_DIR/etc/weft.yaml"
	echo "PrivateData=jobs" >>"$LAB_DIR/etc/controller.conf"
	lab_reconfigure
	lab_until 30 status_mode_is 600 || fail "everybody may read the file"
}

lab_reason() {
	squeue -h -j "$1" -o %r
}

reason_has() {
	[[ $(lab_reason "$1") =~ $2 ]]
}

# The folder of the file is as good as those that are read.
case_a_status_folder_that_others_can_write_is_refused() {
	need_weft
	changing
	mkdir "$LAB_DIR/open"
	chmod 777 "$LAB_DIR/open"
	sed -i '/^status:/d' "$LAB_DIR/etc/weft.yaml"
	echo "status: ../open/status.json" >>"$LAB_DIR/etc/weft.yaml"
	lab_reconfigure
	expect_log 'error: weft: .*open: refused: this folder is writable'
	[ ! -e "$LAB_DIR/open/status.json" ] || fail "it is written"
	chmod 755 "$LAB_DIR/open"
	lab_until 30 test -s "$LAB_DIR/open/status.json" ||
		fail "not written once the folder is fine"
}
