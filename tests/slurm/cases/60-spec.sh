# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2154 # case_since is set by run
# How the spec gets from the user to slurmctld, and what becomes of bad ones.

case_sbatch_takes_the_option() {
	local job wanted
	need_weft
	occupy n00,n05,n10,n15 8
	wanted=$(plan "gpus=64,gpus_per_node=8,$SPEC")
	job=$(lab_run "${WHOLE[@]}" --weft="$SPEC")
	expect "nodes" "$(job_nodes "$job")" "$wanted"
	expect_match "comment" "$(comment "$job")" 'weft: '
}

case_srun_takes_the_option() {
	local seen wanted
	need_weft
	occupy n00,n04,n08 8
	wanted=$(plan gpus=32,gpus_per_node=8,tp=8)
	# shellcheck disable=SC2016 # expanded by the step
	seen=$(srun -N4 --ntasks-per-node=1 --gpus-per-node=8 --weft=tp=8 \
		sh -c 'echo "$SLURMD_NODENAME"' | one_line)
	expect "nodes" "$seen" "$wanted"
}

case_salloc_takes_the_option() {
	local seen wanted
	need_weft
	occupy n00,n04,n08 8
	wanted=$(plan gpus=32,gpus_per_node=8,tp=8)
	# shellcheck disable=SC2016 # expanded inside the allocation
	seen=$(salloc -Q -N4 --gpus-per-node=8 --weft=tp=8 \
		sh -c 'echo "$SLURM_JOB_NODELIST"')
	expect "nodes" "$(expand "$seen")" "$wanted"
}

case_the_option_goes_before_the_comment() {
	local job
	need_weft
	job=$(lab_run -N4 --gpus-per-node=8 --weft=tp=8,within=leaf \
		--comment=weft:nonsense=1)
	expect "leafs" "$(leafs_of "$(job_nodes "$job")")" 1
	[[ ! $(comment "$job") =~ ignored ]] || fail "the comment was read"
}

case_the_option_is_in_the_help() {
	need_weft
	sbatch --help | grep -q -- '--weft=' || fail "sbatch --help is silent"
}

case_a_bad_option_is_refused_at_submit() {
	local answer
	need_weft
	answer=$(sbatch -N2 --gpus-per-node=8 --weft=tq=8 --wrap true 2>&1) &&
		fail "accepted: $answer"
	expect_match "answer" "$answer" 'tq'
	expect_match "answer" "$answer" 'tp'
	answer=$(sbatch -N2 --gpus-per-node=8 --weft=tp=8,wait=soon \
		--wrap true 2>&1) && fail "accepted: $answer"
	expect_match "answer" "$answer" 'wait'
	lab_no_jobs || fail "a job was made"
}

case_a_bad_variable_is_refused_at_submit() {
	local answer
	need_weft
	answer=$(WEFT_SPEC=tq=8 sbatch -N2 --gpus-per-node=8 --wrap true 2>&1) &&
		fail "accepted: $answer"
	expect_match "answer" "$answer" 'WEFT_SPEC: .*tq'
	lab_no_jobs || fail "a job was made"
}

case_a_variable_is_not_read_for_steps() {
	local seen
	need_weft
	seen=$(salloc -Q -N2 --gpus-per-node=8 --weft=tp=8 \
		sh -c 'WEFT_SPEC=tq=8 srun -N2 --ntasks-per-node=1 echo step' |
		wc -l)
	expect "tasks of the step" "$seen" 2
}

case_a_job_submitted_by_a_job_has_its_own_spec() {
	local job
	need_weft
	job=$(sbatch --parsable -o /dev/null -N1 --gpus-per-node=8 \
		--weft=tp=8,within=leaf --wrap \
		"sbatch --parsable -o /dev/null -N1 --gpus-per-node=4 --wrap \
			'sleep 3600' >$LAB_DIR/inner.tmp;
			mv $LAB_DIR/inner.tmp $LAB_DIR/inner")
	lab_until 30 test -e "$LAB_DIR/inner" || fail "job $job submits nothing"
	job=$(cat "$LAB_DIR/inner")
	rm "$LAB_DIR/inner"
	lab_wait_job "$job" RUNNING
	expect_match "comment" "$(comment "$job")" 'no spec, taken as dp=4'
}

# As on nodes whose weft is older than that of the host that took the spec.
case_a_jobs_spec_that_srun_does_not_know_stops_no_step() {
	local seen answer
	need_weft
	seen=$(salloc -Q -N1 --gpus-per-node=8 --weft=tp=8 sh -c \
		'SLURM_SPANK__SLURM_SPANK_OPTION_weft_weft=newer=8 srun -n1 echo step')
	expect "the step" "$seen" step
	answer=$(salloc -Q -N1 --gpus-per-node=8 --weft=tp=8 \
		srun -n1 --weft=newer=8 true 2>&1) && fail "accepted: $answer"
	expect_match "answer" "$answer" 'newer'
}

case_a_bad_comment_is_said_and_the_job_runs() {
	local job
	need_weft
	job=$(lab_run -N4 --gpus-per-node=8 --comment=weft:tp=eight)
	expect_match "comment" "$(comment "$job")" 'weft: ignored'
	expect_alive
}

case_axes_that_do_not_fit_the_job_are_said_and_it_runs() {
	local job
	need_weft
	job=$(lab_run -N4 --gpus-per-node=8 --comment=weft:tp=8,pp=3)
	expect_match "comment" "$(comment "$job")" 'weft: ignored'
}

case_hostile_comments_are_harmless() {
	local job text
	for text in 'weft:' 'weft:=' 'weft:%s%n%s,tp=%s' 'weft:tp=8,tp=8' \
		"weft:$(head -c 1000 /dev/zero | tr '\0' a)" \
		"weft:tp=$(printf '\033[31m')8" 'weft:model=/etc/passwd' \
		'weft:traffic=/etc/passwd,tp=8' 'weft:tp=99999999999999999999'; do
		job=$(lab_run -N1 --gpus-per-node=1 --comment="$text") ||
			fail "not run: ${text:0:40}"
		[[ ! $(comment "$job") =~ root: ]] || fail "a file was read"
	done
	lab_log_since "$case_since" $'\033' && fail "raw text in the log"
	expect_alive
}

case_off_leaves_the_job_to_stock() {
	local job
	need_weft
	job=$(lab_run -N4 --gpus-per-node=8 --comment=weft:off)
	expect "comment" "$(comment "$job")" ""
	job=$(lab_run -N4 --gpus-per-node=8 --weft=off)
	expect "comment" "$(comment "$job")" ""
	job=$(lab_run -N4 --gpus-per-node=8 --comment="weft: off ")
	expect "comment" "$(comment "$job")" ""
}

case_a_comment_without_the_colon_is_answered() {
	local job
	need_weft
	job=$(lab_run -N2 --gpus-per-node=8 --comment='weft tp=8')
	expect_match "comment" "$(comment "$job")" \
		'weft: ignored: a comment for weft begins with "weft:"'
}

case_other_comments_are_nobodys_business() {
	local job
	job=$(lab_run -N2 --gpus-per-node=8 --comment="weft is fine")
	[[ ! $(comment "$job") =~ ignored ]] || fail "$(comment "$job")"
	job=$(lab_run -N2 --gpus-per-node=8 --comment="see weft:tp=8 later")
	expect_match "comment" "$(scontrol show job "$job" |
		sed -n 's/^ *Comment=//p')" '^see weft:tp=8 later *$'
}
