# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Ranks run where `weft plan` puts them: every task of a step says its rank, its
# node and its GPU, which is the one that its local rank stands for among those
# it sees.

# shellcheck disable=SC2016 # for the tasks' shell
SEAT='r=$SLURM_PROCID n=$SLURMD_NODENAME l=$SLURM_LOCALID; IFS=,
	set -- $CUDA_VISIBLE_DEVICES; [ $# -le "$l" ] || shift "$l"; echo "$r $n $1"'

# Ranks that exchange most lie farthest apart in the order of ranks, so that
# those of a node are not neighbours.
APART=tp=2,dp=4,order=dp-tp
APART_6=tp=2,dp=6,order=dp-tp

EXPERTS=tp=2,ep=4,dp=8,model=grok1-314B

# Leafs of every fourth node: the order of ranks is never the one of the nodes.
striped() {
	changing
	{
		sed '/^levels:/,$d' "$LAB_DIR/etc/fabric.yaml"
		printf 'levels:\n  leaf:\n'
		printf '    L0: n[00,04,08,12]\n    L1: n[01,05,09,13]\n'
		printf '    L2: n[02,06,10,14]\n    L3: n[03,07,11,15]\n'
		printf '  pod:\n    P0: L[0,2]\n    P1: L[1,3]\n'
		printf 'links:\n  pod: {oversubscription: 2}\n'
		printf '  core: {oversubscription: 4}\n'
	} >"$LAB_DIR/etc/fabric.new"
	mv "$LAB_DIR/etc/fabric.new" "$LAB_DIR/etc/fabric.yaml"
	lab_reconfigure
}

# planned SPEC: lines "RANK NODE GPU" of weft plan for what is taken now.
planned() {
	local busy
	busy=$(lab_busy)
	"$WEFT_BUILDDIR/weft" plan --json --fabric "$LAB_DIR/etc/fabric.yaml" \
		${busy:+--busy "$busy"} --job "$1" |
		jq -r '.ranks[] | "\(.rank) \(.node) \(.gpu)"'
}

# batch SCRIPT SBATCH_ARGS...: what the script of a job printed; its number is
# in $LAB_DIR/job.
batch() {
	local script=$1 job
	shift
	job=$(sbatch --parsable -o "$LAB_DIR/out.%j" -e "$LAB_DIR/out.%j" "$@" \
		--wrap "$script") && lab_wait_job "$job" 'COMPLETED|FAILED' >&2
	if ! lab_job_in "$job" COMPLETED; then
		cat "$LAB_DIR/out.$job" >&2
		return 1
	fi
	echo "$job" >"$LAB_DIR/job"
	cat "$LAB_DIR/out.$job"
}

# step SRUN_ARGS...: a script of one step whose tasks say where they are.
step() {
	printf "srun %s sh -c '%s'" "$*" "$SEAT"
}

# expect_ranks PLAN_SPEC SPEC SBATCH_ARGS...: the ranks of a job's step lie where
# weft plan says.
expect_ranks() {
	local wanted got
	wanted=$(planned "$1")
	got=$(batch "$(step)" --weft="$2" "${@:3}" | sort -n)
	expect "ranks of $2" "$got" "$wanted"
	expect_match "comment" "$(comment "$(cat "$LAB_DIR/job")")" 'ranks=plan'
}

# expect_others WANTED SCRIPT SBATCH_ARGS...: the node of each task of a step
# that weft must leave alone.
expect_others() {
	local got
	got=$(batch "$2" -N4 -n8 --gpus-per-node=2 --comment=weft:$APART "${@:3}" |
		sort -n | cut -d' ' -f2 | xargs)
	expect "nodes of $2" "$got" "$1"
}

case_ranks_of_one_leaf_land_as_planned() {
	need_weft
	expect_ranks gpus=8,gpus_per_node=2,tp=2,dp=4 tp=2,dp=4 \
		-N4 -n8 --gpus-per-node=2
}

case_ranks_that_go_round_the_nodes_land_as_planned() {
	need_weft
	expect_ranks gpus=8,gpus_per_node=2,$APART $APART \
		-N4 -n8 --gpus-per-node=2
}

case_ranks_of_nodes_out_of_order_land_as_planned() {
	need_weft
	striped
	expect_ranks gpus=12,gpus_per_node=2,tp=2,pp=6 tp=2,pp=6 \
		-N6 -n12 --gpus-per-node=2
}

case_ranks_of_whole_nodes_land_as_planned() {
	need_weft
	striped
	occupy n00,n05 8
	expect_ranks gpus=24,gpus_per_node=8,tp=8,pp=3 tp=8,pp=3 \
		-N3 -n24 --gpus-per-node=8
}

case_ranks_of_a_group_over_two_nodes_land_as_planned() {
	need_weft
	striped
	expect_ranks gpus=16,gpus_per_node=4,tp=8,pp=2 tp=8,pp=2 \
		-N4 --ntasks-per-node=4 --gpus-per-node=4
}

case_ranks_on_parts_of_nodes_land_as_planned() {
	need_weft
	striped
	occupy n00,n01,n04 6
	occupy n02,n08,n05 5
	expect_ranks gpus=12,gpus_per_node=2,$APART_6 $APART_6 \
		-N6 -n12 --gpus-per-node=2
}

case_ranks_with_a_gpu_each_land_as_planned() {
	need_weft
	striped
	expect_ranks gpus=8,gpus_per_node=2,$APART $APART \
		-N4 -n8 --gpus-per-task=1 --ntasks-per-node=2
}

case_ranks_of_many_expert_groups_land_as_planned() {
	need_weft
	striped
	expect_ranks gpus=16,gpus_per_node=2,$EXPERTS $EXPERTS \
		-N8 -n16 --gpus-per-node=2
}

case_ranks_of_exclusive_nodes_land_as_planned() {
	need_weft
	striped
	expect_ranks gpus=8,gpus_per_node=2,tp=2,pp=4 tp=2,pp=4 \
		-N4 -n8 --gpus-per-node=2 --exclusive
}

case_ranks_without_a_spec_land_as_planned() {
	local wanted got
	need_weft
	striped
	wanted=$(planned gpus=12,gpus_per_node=2)
	got=$(batch "$(step)" -N6 -n12 --gpus-per-node=2 | sort -n)
	expect "ranks" "$got" "$wanted"
}

case_ranks_of_many_shapes_land_as_planned() {
	local spec
	need_weft
	striped
	occupy n00,n06,n13 8
	for spec in dp=8 pp=8 cp=2,tp=2,pp=2 tp=2,pp=2,dp=2,order=pp-tp-dp \
		tp=2,dp=4,metric=hops tp=2,pp=4,model=llama3-8B; do
		expect_ranks "gpus=8,gpus_per_node=2,$spec" "$spec" \
			-N4 -n8 --gpus-per-node=2
	done
}

# As a plan seldom is: nodes and GPUs backwards.
case_any_order_is_followed() {
	# shellcheck disable=SC2016 # for the job's shell
	local order='1;job=$SLURM_JOB_ID;nodes=n[01,00];ranks='
	local got
	need_weft
	order+=0:1,1:2,0:0,1:0-1,0:2
	got=$(batch "export WEFT_RANKS=\"$order\"; $(step)" \
		-w n00,n01 -N2 -n6 --gpus-per-node=3 --comment=weft:off |
		sort -n | xargs)
	expect "ranks" "$got" "0 n01 1 1 n00 2 2 n01 0 3 n00 0 4 n00 1 5 n01 2"
}

case_an_order_that_is_none_is_passed_over() {
	local text
	need_weft
	# shellcheck disable=SC2016 # for the job's shell
	for text in nonsense "1;job=1;nodes=n[00-03];ranks=0-3:0-1" \
		'1;job=$SLURM_JOB_ID;nodes=n[04-07];ranks=0-3:0-1' \
		'1;job=$SLURM_JOB_ID;nodes=n[00-03];ranks=0-3:0-2'; do
		expect_others "n00 n00 n00 n00 n00 n01 n02 n03" \
			"export WEFT_RANKS=\"$text\"; $(step)"
	done
}

case_ranks_under_salloc_land_as_planned() {
	local wanted got
	need_weft
	striped
	wanted=$(planned gpus=12,gpus_per_node=2,tp=2,pp=6)
	got=$(salloc -Q -N6 -n12 --gpus-per-node=2 --weft=tp=2,pp=6 \
		srun sh -c "$SEAT" | sort -n)
	expect "ranks" "$got" "$wanted"
}

case_one_task_a_node_follows_the_order_of_nodes() {
	local wanted got
	need_weft
	striped
	wanted=$(planned gpus=12,gpus_per_node=2,tp=2,pp=6 |
		awk '!seen[$2]++ { print $2 }')
	got=$(batch "$(step)" -N6 --gpus-per-node=2 --weft=tp=2,pp=6 |
		sort -n | cut -d' ' -f2)
	expect "nodes" "$got" "$wanted"
}

case_each_task_of_an_array_gets_its_own_order() {
	local job out
	need_weft
	striped
	occupy n00,n04 4
	job=$(sbatch --parsable -a 0-2 -o "$LAB_DIR/out.%A.%a" -N2 -n4 \
		--gpus-per-node=2 --weft=tp=2,pp=2,order=pp-tp --wrap "$(step)")
	lab_until 30 array_is_done "$job"
	for out in "$LAB_DIR/out.$job".[0-2]; do
		expect_match "nodes" "$(sort -n "$out" | cut -d' ' -f2 | xargs)" \
			'^(n00 n04 n00 n04|n08 n12 n08 n12)$'
	done
	expect "comments" "$(scontrol show job "$job" | grep -c ranks=plan)" 3
}

array_is_done() {
	[ -z "$(squeue -h -j "$1" -o %i)" ]
}

case_a_requeued_job_is_ordered_anew() {
	local job wanted
	need_weft
	striped
	job=$(sbatch --parsable --requeue -o "$LAB_DIR/out.%j" -N4 -n8 \
		--gpus-per-node=2 --weft=tp=2,pp=4 --open-mode=truncate \
		--wrap "$(step); sleep 600")
	lab_until 30 test -s "$LAB_DIR/out.$job"
	occupy n00,n12 6
	scontrol requeue "$job"
	wanted=$(planned gpus=8,gpus_per_node=2,tp=2,pp=4)
	# Slurm waits for the old credential's end, two minutes; it counts such
	# by the second.
	sleep 2
	scontrol update jobid="$job" StartTime=now
	lab_until 30 ranks_are "$LAB_DIR/out.$job" "$wanted" ||
		expect "ranks" "$(sort -n "$LAB_DIR/out.$job")" "$wanted"
}

# What it starts with stays when Slurm reads its files again.  From 25.11 on,
# without weft as with it, that ends the prolog, and the job never starts.
case_a_job_that_waits_for_its_prolog_keeps_its_order() {
	local job wanted
	need_weft
	! lab_since 25.11 || skip "this Slurm loses such a job"
	striped
	printf '#!/bin/sh\ni=0\nuntil [ -e %s/go ] || [ $i = 300 ]; do
		sleep 0.1; i=$((i + 1)); done\n' "$LAB_DIR" >"$LAB_DIR/etc/prolog"
	chmod 755 "$LAB_DIR/etc/prolog"
	echo "PrologSlurmctld=$LAB_DIR/etc/prolog" >>"$LAB_DIR/etc/controller.conf"
	lab_restart_slurmctld
	wanted=$(planned gpus=12,gpus_per_node=2,tp=2,pp=6)
	job=$(sbatch --parsable -o "$LAB_DIR/out.%j" -N6 -n12 \
		--gpus-per-node=2 --weft=tp=2,pp=6 --wrap "$(step)")
	lab_wait_job "$job" CONFIGURING
	lab_reconfigure
	touch "$LAB_DIR/go"
	lab_until 30 ranks_are "$LAB_DIR/out.$job" "$wanted" ||
		expect "ranks" "$(sort -n "$LAB_DIR/out.$job")" "$wanted"
	lab_configure
	lab_restart_slurmctld
	rm "$LAB_DIR/go"
}

ranks_are() {
	[ "$(sort -n "$1")" = "$2" ]
}

case_a_users_distribution_is_kept() {
	local block="n00 n00 n00 n00 n00 n01 n02 n03"
	local cyclic="n00 n01 n02 n03 n00 n00 n00 n00"
	expect_others "$block" "$(step -m block)"
	expect_others "$cyclic" "$(step --distribution=cyclic)"
	expect_others "$cyclic" "$(step)" -m cyclic
	expect_others "$cyclic" "export SLURM_DISTRIBUTION=cyclic; $(step)"
}

case_a_users_hostfile_is_kept() {
	need_weft
	printf 'n03\nn03\nn02\nn02\nn01\nn01\nn00\nn00\n' >"$LAB_DIR/hosts"
	expect_others "n03 n03 n02 n02 n01 n01 n00 n00" \
		"export SLURM_HOSTFILE=$LAB_DIR/hosts; $(step)"
}

case_a_users_choice_of_nodes_is_kept() {
	expect_others "n02" "$(step -N1 -n1 -w n02)"
	expect_others "n03" "$(step -N1 -n1 -r 3)"
	expect_others "n01" "$(step -N1 -n1 -x n00)"
}

case_a_smaller_or_shared_step_is_left_alone() {
	expect_others "n00 n00 n00 n01" "$(step -N2 -n4)"
	expect_others "n00 n00 n00 n01 n02 n03" "$(step -n6)"
	expect_others "n00 n00 n00 n00 n00 n01 n02 n03" "$(step --overlap)"
}

# Slurm 24.11 starts no step with both a layout and tasks per core.
case_a_step_with_tasks_per_core_starts() {
	local got
	got=$(batch "srun --ntasks-per-core=1 echo task" -N4 -n8 -c2 \
		--gpus-per-node=2 --comment=weft:$APART)
	expect "tasks" "$(wc -l <<<"$got")" 8
}

case_a_job_is_ordered_no_more_when_the_user_says_so() {
	local job
	need_weft
	expect_others "n00 n00 n00 n00 n00 n01 n02 n03" "$(step)" \
		--weft=$APART,ranks=leave
	job=$(cat "$LAB_DIR/job")
	expect_match "comment" "$(comment "$job")" 'ranks=slurm .left to Slurm'
}

case_the_admin_may_leave_ranks_to_slurm() {
	need_weft
	changing
	echo "ranks: leave" >>"$LAB_DIR/etc/weft.yaml"
	lab_reconfigure
	expect_others "n00 n00 n00 n00 n00 n01 n02 n03" "$(step)"
	expect_ranks gpus=8,gpus_per_node=2,$APART $APART,ranks=order \
		-N4 -n8 --gpus-per-node=2
}

case_a_job_inside_of_a_job_gets_no_order_of_its_parent() {
	local got
	need_weft
	got=$(batch "salloc -Q -N4 -n8 --gpus-per-node=2 --weft=off $(step)" \
		-N4 -n8 --gpus-per-node=2 --weft=$APART | sort -n |
		cut -d' ' -f2 | xargs)
	expect_match "nodes of the inner job" "$got" '^(n..) (\1 ){4}'
}

case_a_task_may_start_steps_of_its_own() {
	local got
	need_weft
	got=$(batch "srun sh -c '[ \$SLURM_PROCID != 3 ] ||
		srun --overlap --mem=0 -N2 -n2 printenv SLURMD_NODENAME'" \
		-N4 --ntasks-per-node=2 --gpus-per-node=2 --weft=$APART)
	expect "nodes of the inner step" "$(one_line <<<"$got")" "n00 n01"
}

# Slurm's variables go with a task in any case, weft's do not.
case_a_task_without_its_environment_may_start_steps_of_its_own() {
	local got
	need_weft
	got=$(batch "srun --export=NONE /bin/sh -c '[ \$SLURM_PROCID != 3 ] ||
		SLURM_CONF=$SLURM_CONF $(command -v srun) --overlap --mem=0 \
			-N2 -n2 /usr/bin/printenv SLURMD_NODENAME'" \
		-N4 --ntasks-per-node=2 --gpus-per-node=2 --weft=$APART)
	expect "nodes of the inner step" "$(one_line <<<"$got")" "n00 n01"
}

case_ranks_of_nodes_with_different_room_land_as_planned() {
	need_weft
	occupy n00,n01,n02 6
	occupy n03 2
	occupy "n[04-15]" 8
	expect_ranks gpus=12,tp=2 tp=2 --gpus=12 -n12
}

case_a_job_of_parts_is_left_to_slurm() {
	local job
	need_weft
	job=$(sbatch --parsable -o /dev/null -N2 -n4 --gpus-per-node=2 \
		--weft=tp=2 : -N2 -n4 --gpus-per-node=2 --wrap "srun true")
	lab_wait_job "$job" COMPLETED
	expect_match "comment" "$(comment "$job")" 'ranks=slurm .heterogeneous'
}

# What torch is told, as "RANK LOCAL_RANK NODE_RANK NODE MASTER_ADDR".
# shellcheck disable=SC2016 # for the tasks' shell
TORCH='echo $RANK $LOCAL_RANK $NODE_RANK $WORLD_SIZE $LOCAL_WORLD_SIZE \
	$SLURMD_NODENAME $MASTER_ADDR'

# The same from a plan: $1 lines "RANK NODE GPU".
torch_of() {
	awk '{ rank[NR] = $1; node[NR] = $2
		if (!($2 in nth)) nth[$2] = n++
		local_rank[NR] = size[$2]++ }
	END { for (i = 1; i <= NR; i++)
		print rank[i], local_rank[i], nth[node[i]], NR, size[node[i]],
			node[i], node[1] }' <<<"$1"
}

case_torch_finds_its_ranks() {
	local wanted got
	need_weft
	striped
	wanted=$(torch_of "$(planned gpus=8,gpus_per_node=2,$APART)")
	got=$(batch "srun sh -c '$TORCH'" -N4 -n8 --gpus-per-node=2 \
		--weft=$APART,env=torch | sort -n)
	expect "variables" "$got" "$wanted"
	got=$(RANK=17 salloc -Q -N4 -n8 --gpus-per-node=2 \
		--weft=$APART,env=torch srun sh -c "$TORCH" | cut -d' ' -f1 | sort -u)
	expect "the user's RANK" "$got" 17
}

# Trainings submit their successors from one of their tasks.
case_torch_finds_its_ranks_in_a_job_of_a_task() {
	local got
	need_weft
	printf '#!/bin/sh\nsrun printenv RANK\n' >"$LAB_DIR/next"
	got=$(batch "srun sh -c '[ \$RANK != 3 ] || exec env -u SLURM_MEM_PER_CPU \
		sbatch -Q --wait -o $LAB_DIR/out.next -N2 -n4 --gpus-per-node=2 \
			--weft=tp=2,env=torch $LAB_DIR/next'; cat $LAB_DIR/out.next" \
		-N4 -n8 --gpus-per-node=2 --weft=$APART,env=torch | sort -n | xargs)
	expect "ranks of the next job" "$got" "0 1 2 3"
	got=$(batch "srun sh -c '[ \$RANK != 3 ] ||
			srun --overlap --mem=0 -N1 -n1 printenv RANK'" \
		-N4 -n8 --gpus-per-node=2 --weft=$APART,env=torch)
	expect "rank in a step of a task" "$got" 0
}

case_torch_finds_its_ranks_under_srun_alone() {
	local wanted got job
	need_weft
	striped
	wanted=$(torch_of "$(planned gpus=8,gpus_per_node=2,$APART)")
	got=$(srun -N4 --ntasks-per-node=2 --gpus-per-node=2 \
		--weft=$APART,env=torch sh -c "$TORCH" | sort -n)
	expect "variables" "$got" "$wanted"
	job=$(scontrol show job | sed -n 's/^JobId=\([0-9]*\).*/\1/p' | tail -n 1)
	expect_match "comment" "$(comment "$job")" 'ranks=slurm .srun without'
}

# The variables that frameworks read of NVLink domains and of the node.
# shellcheck disable=SC2016 # for the tasks' shell
NVLINK='echo ${NVLINK_DOMAIN_SIZE-none} ${USE_MNNVL-none} \
	${NUM_OF_HYBRID_EP_RANKS_PER_NVLINK_DOMAIN-none}'

# together PLAN EP: the largest blocks of each EP ranks that share a node; $1
# lines "RANK NODE GPU".
together() {
	awk -v ep="$2" '{ node[$1] = $2 }
		END { for (n = ep; n > 1; n /= 2) {
			for (r = 0; r < NR; r++)
				if (r % n && node[r] != node[r - 1])
					break
			if (r == NR)
				break
		}
		print n }' <<<"$1"
}

case_frameworks_find_the_nvlink_domain() {
	local got wanted spec=model=mixtral-8x7B,env=torch
	need_weft
	got=$(batch "srun sh -c '$NVLINK'" -N1 -n8 --gpus-per-node=8 \
		--weft=ep=8,dp=8,$spec | sort | uniq -c | xargs)
	expect "groups of a node" "$got" "8 8 0 8"
	wanted=$(together "$(planned gpus=8,gpus_per_node=2,ep=4,dp=8,$spec)" 4)
	got=$(batch "srun sh -c '$NVLINK'" -N4 -n8 --gpus-per-node=2 \
		--weft=ep=4,dp=8,$spec | sort | uniq -c | xargs)
	expect "groups of two nodes" "$got" "8 8 0 $wanted"
	got=$(batch "srun sh -c '$NVLINK'" -N2 -n4 --gpus-per-node=2 \
		--weft=dp=4,env=torch | sort | uniq -c | xargs)
	expect "without experts" "$got" "4 8 0 none"
	got=$(batch "srun -m cyclic sh -c '$NVLINK'" -N2 -n16 --gpus-per-node=8 \
		--weft=ep=8,dp=16,$spec | sort | uniq -c | xargs)
	expect "in the user's order" "$got" "16 8 0 none"
	got=$(batch "srun sh -c '$NVLINK'" -N2 -n4 --gpus-per-node=2 \
		--weft=dp=4 | sort | uniq -c | xargs)
	expect "unless asked for" "$got" "4 none none none"
}

case_lightning_finds_its_node() {
	local wanted got
	need_weft
	striped
	wanted=$(torch_of "$(planned gpus=12,gpus_per_node=2,tp=2,pp=6)" |
		awk '{ print $1, $3 }')
	# shellcheck disable=SC2016 # for the tasks' shell
	got=$(batch "srun sh -c 'echo \$SLURM_PROCID \$SLURM_NODEID'" \
		-N6 -n12 --gpus-per-node=2 --weft=tp=2,pp=6,env=lightning | sort -n)
	expect "nodes" "$got" "$wanted"
}

# Every second GPU of a node shares NVLink: the ranks of a group are on GPUs
# 0,2,4,6 or 1,3,5,7.
case_ranks_follow_nvlink_of_any_gpus() {
	need_weft
	changing
	sed -E 's/^(  n[^:]*): 8$/\1: {gpus: 8, nvlink: [[0, 2, 4, 6], [1, 3, 5, 7]]}/' \
		"$LAB_DIR/etc/fabric.yaml" >"$LAB_DIR/etc/fabric.new"
	mv "$LAB_DIR/etc/fabric.new" "$LAB_DIR/etc/fabric.yaml"
	lab_reconfigure
	expect "GPUs of the first group" "$(planned gpus=16,gpus_per_node=8,tp=4,dp=4 |
		awk '$1 < 4 { print $3 }' | xargs)" "0 2 4 6"
	expect_ranks gpus=16,gpus_per_node=8,tp=4,dp=4 tp=4,dp=4 \
		-N2 -n16 --gpus-per-node=8
}
