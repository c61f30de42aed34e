# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What the user asked Slurm for holds, with weft as without.

case_required_nodes_are_used() {
	local job
	job=$(lab_run -N4 --gpus-per-node=8 -w n02,n13 --comment=weft:tp=8)
	expect_match "nodes" "$(job_nodes "$job")" 'n02.*n13'
	expect "count" "$(lab_job_nodes "$job" | wc -l)" 4
}

case_required_nodes_are_part_of_the_plan() {
	local job wanted
	need_weft
	occupy n03 8
	wanted=$(plan gpus=32,gpus_per_node=8,tp=8 --nodelist n02,n06)
	job=$(lab_run -N4 --gpus-per-node=8 -w n02,n06 --comment=weft:tp=8)
	expect "nodes" "$(job_nodes "$job")" "$wanted"
}

case_a_complete_nodelist_is_taken_as_it_is() {
	local job
	job=$(lab_run -N3 --gpus-per-node=8 -w n01,n07,n14 --comment=weft:tp=8)
	expect "nodes" "$(job_nodes "$job")" "n01 n07 n14"
}

case_excluded_nodes_are_avoided() {
	local job wanted
	need_weft
	wanted=$(plan gpus=32,gpus_per_node=8,tp=8 --exclude 'n[00-02],n07')
	job=$(lab_run -N4 --gpus-per-node=8 -x 'n[00-02],n07' \
		--comment=weft:tp=8)
	expect "nodes" "$(job_nodes "$job")" "$wanted"
}

case_contiguous_nodes_are_contiguous() {
	local job first last
	occupy n02,n05,n11 8
	job=$(lab_run -N4 --gpus-per-node=8 --contiguous --comment=weft:tp=8)
	first=$(lab_job_nodes "$job" | sort | head -n 1)
	last=$(lab_job_nodes "$job" | sort | tail -n 1)
	expect "span" $((10#${last#n} - 10#${first#n})) 3
}

case_switches_bounds_the_leafs() {
	local job
	need_topology tree
	occupy n00,n04,n08 8
	job=$(lab_run -N4 --gpus-per-node=8 --switches=1@60:00 \
		--comment=weft:tp=8)
	expect "leafs" "$(leafs_of "$(job_nodes "$job")")" 1
}

case_switches_that_cannot_be_had_make_the_job_wait() {
	local job
	need_topology tree
	occupy n00,n04,n08,n12 8
	job=$(lab_submit -N4 --gpus-per-node=8 --switches=1@60:00 \
		--comment=weft:tp=8)
	still_waits "$job"
}

case_an_exclusive_job_shares_no_node() {
	local job node
	occupy n00,n01,n02 1
	job=$(lab_run -N4 --gpus-per-node=4 --exclusive --comment=weft:tp=4)
	for node in $(lab_job_nodes "$job"); do
		[[ $node != n0[0-2] ]] || fail "$node is shared"
		expect "CPUs of $node" "$(scontrol show node -o "$node" |
			sed 's/.*CPUAlloc=\([0-9]*\).*/\1/')" 64
	done
}

case_an_exclusive_job_is_told_the_cost_of_what_it_asked_for() {
	local job
	need_weft
	job=$(lab_run -N2 --gpus-per-node=4 --exclusive --comment=weft:tp=4,dp=2)
	expect_match "comment" "$(comment "$job")" 'cost=.*gap=0%.*nodes=plan'
	job=$(lab_run -N2 --gpus-per-node=4 --exclusive)
	expect_match "comment" "$(comment "$job")" 'taken as dp=8'
	job=$(lab_run -N2 --gpus=8 --exclusive --comment=weft:tp=4,dp=2)
	expect_match "comment" "$(comment "$job")" 'cost=.*nodes=plan'
}

case_a_total_of_gpus_is_met() {
	local job
	job=$(lab_run --gpus=16 -N2 --comment=weft:tp=8)
	expect "GPUs" "$(gpus_of "$job")" 16
}

case_a_total_that_fills_no_node_evenly_is_met() {
	local job
	job=$(lab_run --gpus=10)
	expect "GPUs" "$(gpus_of "$job")" 10
}

case_gpus_per_task_are_met() {
	local job
	job=$(lab_run -n8 --ntasks-per-node=2 --gpus-per-task=4 \
		--comment=weft:tp=4)
	expect "GPUs" "$(gpus_of "$job")" 32
	expect "nodes" "$(lab_job_nodes "$job" | wc -l)" 4
}

case_gpus_per_socket_are_met() {
	local job
	job=$(lab_run -N2 --gpus=8 --gpus-per-socket=2 --sockets-per-node=2 \
		--ntasks-per-socket=1)
	expect "GPUs" "$(gpus_of "$job")" 8
}

case_a_range_of_nodes_is_met() {
	local job n
	occupy 'n[00-09]' 8
	job=$(lab_run -N2-8 --gpus-per-node=8)
	n=$(lab_job_nodes "$job" | wc -l)
	expect_match "nodes of -N2-8 with 6 free" "$n" '^[2-6]$'
}

case_a_range_of_nodes_comes_out_even_for_the_experts() {
	local job
	need_weft
	job=$(lab_run -N1-3 --gpus-per-node=8 \
		--comment=weft:ep=16,model=deepseek-v3)
	expect "nodes" "$(lab_job_nodes "$job" | wc -l)" 2
	expect_match "comment" "$(comment "$job")" 'nodes=plan'
}

case_a_range_of_nodes_comes_out_even_for_the_batch() {
	local job
	need_weft
	job=$(lab_run -N1-3 --gpus-per-node=8 --comment=weft:tp=8,gbs=16,mbs=8)
	expect "nodes" "$(lab_job_nodes "$job" | wc -l)" 2
	expect_match "comment" "$(comment "$job")" 'nodes=plan'
}

case_tasks_are_spread_over_the_range_of_nodes() {
	local job
	need_weft
	job=$(lab_run -N2-8 -n256 --gpus-per-node=8 --mem=1G \
		--comment=weft:tp=8)
	expect "nodes" "$(lab_job_nodes "$job" | wc -l)" 8
	expect_match "comment" "$(comment "$job")" 'nodes=plan'
}

case_tasks_without_a_number_of_nodes_are_planned() {
	local job
	need_weft
	job=$(lab_run -n128 --gpus-per-node=8 --mem=1G --comment=weft:tp=8)
	expect "nodes" "$(lab_job_nodes "$job" | wc -l)" 2
	expect_match "comment" "$(comment "$job")" 'nodes=plan'
}

case_a_spec_does_not_enlarge_a_job() {
	local job
	job=$(lab_run --gpus-per-node=8 --comment=weft:gpus=64,tp=8)
	expect "nodes" "$(lab_job_nodes "$job" | wc -l)" 1
	[ "$LAB_MODE" = stock ] ||
		expect_match "comment" "$(comment "$job")" 'weft: ignored: 64 GPUs'
	job=$(lab_run --ntasks-per-node=4 --gpus-per-node=4 \
		--comment=weft:gpus=16,tp=4)
	expect "nodes" "$(lab_job_nodes "$job" | wc -l)" 1
	job=$(lab_run -n16 --ntasks-per-node=8 --gpus-per-node=8 \
		--comment=weft:gpus=16,tp=8)
	expect "nodes" "$(lab_job_nodes "$job" | wc -l)" 2
}

case_features_are_honoured() {
	local job
	changing
	scontrol update nodename='n[02-03,09,14]' features=fast
	job=$(lab_run -N3 --gpus-per-node=8 -C fast --comment=weft:tp=8)
	expect_match "nodes" "$(job_nodes "$job")" \
		'^(n02 n03|n02 n09|n03 n09).*(n09|n14)$'
}

case_preferred_features_go_before_closer_nodes() {
	local job
	changing
	scontrol update nodename='n[02-03,09,14]' features=fast
	job=$(lab_run -N4 --gpus-per-node=8 --prefer=fast --comment=weft:tp=8)
	expect "nodes" "$(job_nodes "$job")" "n02 n03 n09 n14"
	job=$(lab_run -N4 --gpus-per-node=8 --prefer=fast --comment=weft:tp=8)
	expect "leafs" "$(leafs_of "$(job_nodes "$job")")" 1
}

case_numbers_of_nodes_by_feature_are_met() {
	local job
	changing
	scontrol update nodename='n[00-07]' features=old
	scontrol update nodename='n[08-15]' features=new
	job=$(lab_run -N4 --gpus-per-node=8 -C '[old*2&new*2]' \
		--comment=weft:gpus=32,tp=8)
	expect_match "nodes" "$(job_nodes "$job")" \
		'^(n0[0-7] ){2}(n0[89] ?|n1[0-5] ?){2}$'
}

case_node_weights_break_ties() {
	local job
	changing
	scontrol update nodename='n[00-07]' weight=50
	job=$(lab_run -N4 --gpus-per-node=8 --comment=weft:tp=8)
	expect "heavy nodes" "$(lab_job_nodes "$job" | grep -c '^n0[0-7]')" 0
}

# Has slurmctld power nodes down and up, by programs that do nothing.
with_power_saving() {
	local file
	changing
	for file in slurm.conf controller.conf; do
		cat >>"$LAB_DIR/etc/$file" <<-END
			SuspendProgram=/bin/true
			ResumeProgram=/bin/true
			SuspendTime=86400
			SuspendTimeout=1
			ResumeTimeout=60
		END
	done
	lab_restart_slurmctld
}

are_down() {
	! sinfo -h -N -n "$1" -o %t | grep -qv '~'
}

case_nodes_that_are_powered_down_are_left_asleep() {
	local job
	with_power_saving
	scontrol update nodename='n[00-07]' state=power_down
	lab_until 30 are_down 'n[00-07]' || fail "the nodes do not power down"
	occupy n08,n09,n12,n13 8
	job=$(lab_run -N2 --gpus-per-node=8)
	[[ ! $(job_nodes "$job") =~ n0[0-7] ]] || fail "nodes were woken"
	scancel "$job"
	lab_until 30 lab_job_in "$job" CANCELLED || fail "job $job does not end"
	job=$(lab_run -N4 --gpus-per-node=8 --comment=weft:tp=8)
	expect "nodes" "$(job_nodes "$job")" "n10 n11 n14 n15"
}

# Two leafs of heavy nodes are free; of the light ones two in either leaf.
weigh_down() {
	changing
	scontrol update nodename='n[00-07]' weight=50
	occupy n08,n09,n12,n13 8
}

case_lighter_nodes_go_before_closer_ones() {
	local job
	weigh_down
	job=$(lab_run -N4 --gpus-per-node=8 --comment=weft:tp=8)
	expect "nodes" "$(job_nodes "$job")" "n10 n11 n14 n15"
}

case_lighter_nodes_go_first_without_a_spec() {
	local job
	weigh_down
	job=$(lab_run -N2 --gpus-per-node=8)
	[[ ! $(job_nodes "$job") =~ n0[0-7] ]] || fail "heavy nodes were used"
}

case_as_few_heavy_nodes_as_can_be_are_used() {
	local job
	weigh_down
	job=$(lab_run -N6 --gpus-per-node=8 --comment=weft:tp=8)
	expect "light nodes" \
		"$(lab_job_nodes "$job" | grep -c '^n1[0145]')" 4
	expect "leafs of heavy nodes" "$(leafs_of \
		"$(lab_job_nodes "$job" | grep '^n0' | one_line)")" 1
}

case_heavy_nodes_are_used_where_limits_ask_for_them() {
	local job
	need_weft
	weigh_down
	job=$(lab_run -N4 --gpus-per-node=8 --comment=weft:tp=8,within=leaf)
	expect "leafs" "$(leafs_of "$(job_nodes "$job")")" 1
	expect "heavy nodes" "$(lab_job_nodes "$job" | grep -c '^n0[0-7]')" 4
}

case_a_site_may_put_weights_last() {
	local job
	need_weft
	weigh_down
	echo "weights: last" >>"$LAB_DIR/etc/weft.yaml"
	lab_reconfigure
	scontrol update nodename='n[00-07]' weight=50
	# The light ones that are free do not suffice.
	job=$(lab_run -N5 --gpus-per-node=8 --comment=weft:tp=8)
	expect "heavy nodes" "$(lab_job_nodes "$job" | grep -c '^n0[0-7]')" 5
}

case_drained_nodes_are_avoided() {
	local job wanted
	need_weft
	changing
	scontrol update nodename=n01,n06 state=drain reason=test
	wanted=$(plan "gpus=64,gpus_per_node=8,$SPEC")
	job=$(lab_run "${WHOLE[@]}" --comment="weft:$SPEC")
	expect "nodes" "$(job_nodes "$job")" "$wanted"
	[[ ! $(job_nodes "$job") =~ n01|n06 ]] || fail "a drained node was used"
}

case_a_job_bigger_than_the_cluster_fares_as_with_stock() {
	local job
	# Stock accepted such jobs in 22.05 and refuses them in 24.11.
	job=$(lab_submit -N17 --gpus-per-node=8 --comment=weft:tp=8) || true
	if [ -z "$job" ] && lab_since 23.02; then
		expect_log 'never runnable in partition main'
		return
	fi
	lab_until 30 lab_job_in "$job" PENDING
	expect_pending_reason "$job" PartitionNodeLimit
}

case_more_gpus_than_a_node_has_are_refused_as_by_stock() {
	local answer
	answer=$(sbatch -N1 --gpus-per-node=9 --comment=weft:dp=9 \
		--wrap true 2>&1) && fail "accepted"
	expect_match "answer" "$answer" 'not available'
}

# GPUs of a running job, counted.
gpus_of() {
	scontrol show job -d "$1" | sed -n 's/^ *JOB_GRES=gpu:\([0-9]*\)$/\1/p'
}
