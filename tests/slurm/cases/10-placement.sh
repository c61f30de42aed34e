# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Where jobs land: on the nodes that `weft plan` names for the same state.

case_an_empty_cluster_gives_what_plan_gives() {
	need_weft
	expect_plan "$SPEC" "gpus=64,gpus_per_node=8,$SPEC" "${WHOLE[@]}"
}

case_one_busy_node_per_leaf_gives_what_plan_gives() {
	need_weft
	occupy n00,n05,n10,n15 8
	expect_plan "$SPEC" "gpus=64,gpus_per_node=8,$SPEC" "${WHOLE[@]}"
}

case_a_fragmented_cluster_gives_what_plan_gives() {
	need_weft
	occupy n01,n02,n06,n11,n12 8
	expect_plan tp=8,pp=4 "gpus=32,gpus_per_node=8,tp=8,pp=4" \
		-N4 --gpus-per-node=8
}

case_partly_busy_nodes_give_what_plan_gives() {
	need_weft
	occupy n00,n01,n04 4
	occupy n02,n08,n09,n12 6
	expect_plan tp=4,dp=4 "gpus=16,gpus_per_node=4,tp=4,dp=4" \
		-N4 --gpus-per-node=4
}

case_a_metric_asked_for_gives_what_plan_gives() {
	need_weft
	occupy n00,n05,n08,n13 8
	expect_plan tp=8,dp=6,metric=hops \
		"gpus=48,gpus_per_node=8,tp=8,dp=6,metric=hops" \
		-N6 --gpus-per-node=8
}

case_a_big_model_gives_what_plan_gives() {
	need_weft
	occupy n03,n04,n09 8
	expect_plan tp=8,pp=2,dp=3,model=llama3-70B \
		"gpus=48,gpus_per_node=8,tp=8,pp=2,dp=3,model=llama3-70B" \
		-N6 --gpus-per-node=8
}

case_a_second_job_is_placed_around_the_first() {
	need_weft
	expect_plan tp=8,dp=5 "gpus=40,gpus_per_node=8,tp=8,dp=5" \
		-N5 --gpus-per-node=8
	expect_plan tp=8,dp=5 "gpus=40,gpus_per_node=8,tp=8,dp=5" \
		-N5 --gpus-per-node=8
}

case_within_a_leaf_stays_in_one_leaf() {
	local job
	need_weft
	occupy n00,n04,n08 8
	job=$(lab_run -N4 --gpus-per-node=8 --comment=weft:tp=8,within=leaf)
	expect "nodes" "$(job_nodes "$job")" "n12 n13 n14 n15"
}

case_a_gpu_job_without_a_spec_is_placed_as_one_group() {
	local job wanted
	need_weft
	occupy n00,n04,n08 8
	wanted=$(plan "gpus=32,gpus_per_node=8,dp=32")
	job=$(lab_run -N4 --gpus-per-node=8)
	expect "nodes" "$(job_nodes "$job")" "$wanted"
	expect "leafs" "$(leafs_of "$(job_nodes "$job")")" 1
}

case_a_job_without_gpus_is_left_to_stock() {
	local job
	job=$(lab_run -N2 -n2)
	expect "nodes" "$(job_nodes "$job")" "n00 n01"
	expect "comment" "$(comment "$job")" ""
}

case_plan_reads_the_state_from_slurm_itself() {
	local wanted from_slurm
	need_weft
	occupy n00,n05,n10,n15 8
	occupy n01,n02 4
	wanted=$(plan "gpus=64,gpus_per_node=8,$SPEC")
	from_slurm=$("$WEFT_BUILDDIR/weft" plan --json --state slurm \
		--fabric "$LAB_DIR/etc/fabric.yaml" \
		--job "gpus=64,gpus_per_node=8,$SPEC" |
		jq -r '.nodes[]' | one_line)
	expect "plan --state slurm" "$from_slurm" "$wanted"
}

# Each leaf has one taken node; either job's end would free a whole one.
case_defrag_knows_the_jobs_that_slurm_runs() {
	local out jobs nodes
	need_weft
	# Of one without a limit no end is known.
	for nodes in n00,n04 n08,n12; do
		lab_run -N2 -w $nodes --gpus-per-node=8 --time=30 \
			--comment=weft:off >/dev/null
	done
	jobs=$(squeue -h -o %i | sort -n | paste -sd' ')
	out=$("$WEFT_BUILDDIR/weft" defrag --json --state slurm \
		--fabric "$LAB_DIR/etc/fabric.yaml" --job gpus=32,tp=8,metric=hops)
	expect_match "a job whose end helps" " $jobs " \
		" $(jq -r .outlook.alone.job <<<"$out") "
	expect "until then" "$(jq '.outlook.alone.remaining_s > 0' <<<"$out")" true
	expect "a move of two nodes helps" \
		"$(jq '.plans[0].gpus_moved == 16 and .plans[0].cost < .cost' \
			<<<"$out")" true
}

# Random states and jobs, the same for the same WEFT_TEST_SEED.
case_random_states_give_what_plan_gives() {
	local i n gpus
	need_weft
	RANDOM=${WEFT_TEST_SEED:-1}
	for ((i = 0; i < 8; i++)); do
		n=$((1 + RANDOM % 6))
		gpus=$((2 + RANDOM % 4 * 2))
		occupy "$(random_nodes $((1 + RANDOM % 6)))" $((1 + RANDOM % 8))
		echo "round $i: $n nodes of $gpus GPUs beside $(lab_busy)"
		expect_plan "tp=$gpus,dp=$n" \
			"gpus=$((n * gpus)),gpus_per_node=$gpus,tp=$gpus,dp=$n" \
			-N$n --gpus-per-node=$gpus
		lab_clear
	done
}

# random_nodes N: N distinct node names, with commas.
random_nodes() {
	local i nodes=()
	while [ ${#nodes[@]} -lt "$1" ]; do
		i=$(lab_node $((RANDOM % LAB_NODES)))
		[[ " ${nodes[*]} " == *" $i "* ]] || nodes+=("$i")
	done
	(
		IFS=,
		echo "${nodes[*]}"
	)
}
