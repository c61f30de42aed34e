# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Limits of the spec that must hold: within=, segment=, split=.

# How many pods the nodes given (words) lie in.
pods_of() {
	local node
	for node in $1; do
		echo $((10#${node#n} / LAB_NODES_PER_LEAF / LAB_LEAFS_PER_POD))
	done | sort -u | wc -l
}

case_a_job_never_starts_outside_one_domain() {
	local job
	need_weft
	occupy n00,n04,n08,n12 8
	job=$(lab_submit -N4 --gpus-per-node=8 --comment=weft:tp=8,within=leaf)
	still_waits "$job"
}

case_a_job_held_to_one_domain_is_planned_there() {
	local blocker job
	need_weft
	lab_run -N3 -w n00,n04,n12 --gpus-per-node=8 --time=60 \
		--comment=weft:off >/dev/null
	blocker=$(lab_run -N1 -w n09 --gpus-per-node=8 --time=10 \
		--comment=weft:off)
	job=$(lab_submit -N4 --gpus-per-node=8 --time=5 \
		--comment=weft:tp=8,within=leaf)
	expect_start_time "$job"
	expect "planned" "$(nodes_awaited "$job")" "n08 n09 n10 n11"
	scancel "$blocker"
	lab_wait_job "$job" RUNNING
	expect "nodes" "$(job_nodes "$job")" "n08 n09 n10 n11"
}

case_small_jobs_do_not_starve_one_that_is_held_to_a_domain() {
	local first job small
	need_weft
	lab_run -N12 -w 'n[00-11]' --gpus-per-node=8 --time=30 \
		--comment=weft:off >/dev/null
	first=$(lab_run -N1 -w n12 --gpus-per-node=8 --time=5 \
		--comment=weft:off)
	job=$(lab_submit -N4 --gpus-per-node=8 --time=5 \
		--comment=weft:tp=8,within=leaf)
	expect_start_time "$job"
	# The nodes that are free are those of the leaf that is free first, and
	# it would hold them for longer than until the job starts.
	small=$(lab_submit -N3 --gpus-per-node=8 --time=60 \
		--comment=weft:tp=8)
	still_waits "$small"
	scancel "$first"
	lab_wait_job "$job" RUNNING
	expect "nodes" "$(job_nodes "$job")" "n12 n13 n14 n15"
	expect "small job" "$(lab_job "$small" JobState)" PENDING
}

case_a_job_that_fits_no_domain_is_refused_at_submit() {
	local answer
	need_weft
	answer=$(sbatch -N5 --gpus-per-node=8 --comment=weft:tp=8,within=leaf \
		--wrap true 2>&1) && fail "accepted: $answer"
	expect_match "answer" "$answer" 'not available'
	lab_no_jobs || fail "a job was made"
}

# Leafs have GPUs enough, but 256 CPUs; pods have 512.
case_a_job_that_stock_refuses_in_all_domains_is_refused_at_submit() {
	local answer
	need_weft
	answer=$(sbatch -N2-8 -n300 --gpus-per-node=8 \
		--comment=weft:tp=8,within=leaf --wrap true 2>&1) &&
		fail "accepted: $answer"
	expect_match "answer" "$answer" 'not available'
	lab_no_jobs || fail "a job was made"
	for answer in "-n256 --comment=weft:tp=8,within=leaf" \
		"-n300 --comment=weft:tp=8,within=pod"; do
		# shellcheck disable=SC2086 # two words
		sbatch -o /dev/null -N2-8 --gpus-per-node=8 $answer \
			--wrap true || fail "refused: $answer"
	done
}

case_a_job_that_fits_no_domain_any_more_is_held() {
	local job
	need_weft
	changing
	job=$(lab_submit -N4 --gpus-per-node=8 --hold \
		--comment=weft:tp=8,within=leaf)
	sed -e '/leaf:$/a\    narrow0: n[00-02]\n    narrow1: n[03-05]' \
		-e 's/leaf0: .*/leaf0: n[06-08]/' \
		-e 's/leaf1: .*/leaf1: n[09-11]/' \
		-e 's/leaf2: .*/leaf2: n[12-13]/' \
		-e 's/leaf3: .*/leaf3: n[14-15]/' \
		-e 's/pod0: .*/pod0: narrow[0-1],leaf0/' \
		-e 's/pod1: .*/pod1: leaf[1-3]/' -i "$LAB_DIR/etc/fabric.yaml"
	lab_reconfigure
	scontrol release "$job"
	expect_pending_reason "$job" BadConstraints
}

case_segments_hold() {
	local job
	need_weft
	occupy n00,n01,n02,n04,n05,n06,n08,n09,n10 8
	job=$(lab_submit -N4 --gpus-per-node=8 --time=5 \
		--comment=weft:tp=8,segment=2)
	lab_wait_job "$job" RUNNING
	expect "leafs" "$(leafs_of "$(job_nodes "$job")")" 1
	job=$(lab_submit -N2 --gpus-per-node=8 --comment=weft:tp=8,segment=2)
	still_waits "$job"
}

# One node of the leaf that the job is held to is taken: three are too few for four,
# and no number that the list has.
case_lists_of_numbers_of_nodes_hold() {
	local job nodes
	need_weft
	lab_since 24.11 || skip "weft reads no such lists before 24.11"
	occupy n00,n04,n08,n12 8
	job=$(lab_run -N '2,4,8' --gpus-per-node=8 \
		--comment=weft:tp=8,within=leaf)
	nodes=$(job_nodes "$job")
	expect "nodes" "$(wc -w <<<"$nodes")" 2
	expect "leafs" "$(leafs_of "$nodes")" 1
	expect_match "comment" "$(comment "$job")" 'a list of numbers of nodes'
}

case_explicit_splits_hold() {
	local job
	need_weft
	occupy n00,n01,n04,n05,n08,n09,n12,n13 8
	job=$(lab_submit -N4 --gpus-per-node=8 --comment=weft:tp=8,split=3+1)
	still_waits "$job"
	scontrol update jobid="$job" comment=weft:tp=8,split=2+2
	lab_wait_job "$job" RUNNING
	expect "leafs" "$(leafs_of "$(job_nodes "$job")")" 2
}

case_a_range_of_nodes_fits_the_domain() {
	local job
	need_weft
	occupy n00,n04,n08,n12 8
	job=$(lab_run -N2-8 --gpus-per-node=8 --comment=weft:tp=8,within=leaf)
	expect "nodes" "$(job_nodes "$job" | wc -w)" 3
	expect "leafs" "$(leafs_of "$(job_nodes "$job")")" 1
}

case_a_limit_that_the_site_forbids_is_said() {
	local job
	need_weft
	changing
	cat >>"$LAB_DIR/etc/weft.yaml" <<-END
		limits:
		  within: [leaf]
		  segment: 4
	END
	lab_reconfigure
	job=$(lab_run -N2 --gpus-per-node=8 --comment=weft:tp=8,within=pod)
	expect_match "comment" "$(comment "$job")" \
		'weft: ignored: within=pod is not allowed here'
	job=$(lab_run -N2 --gpus-per-node=8 --comment=weft:tp=8,within=leaf)
	expect_match "comment" "$(comment "$job")" 'nodes=plan'
}

case_replicas_are_spread_over_leafs() {
	local job wanted
	need_weft
	wanted=$(plan gpus=32,gpus_per_node=8,tp=8,pp=2,spread=failure-domain)
	job=$(lab_run -N4 --gpus-per-node=8 \
		--comment=weft:tp=8,pp=2,spread=failure-domain)
	expect "nodes" "$(job_nodes "$job")" "$wanted"
	expect "leafs" "$(leafs_of "$(job_nodes "$job")")" 2
	expect_match "comment" "$(comment "$job")" 'nodes=plan'
}

case_no_job_spans_fabrics_that_are_apart() {
	local job
	need_weft
	changing
	sed -e 's/^levels:/disjoint: yes\nlevels:/' -e '/core:/d' \
		-i "$LAB_DIR/etc/fabric.yaml"
	lab_reconfigure
	occupy n00,n01,n02,n08,n09,n10 8
	job=$(lab_submit -N6 --gpus-per-node=8 --comment=weft:tp=8)
	still_waits "$job"
	job=$(lab_run -N5 --gpus-per-node=8 --comment=weft:tp=8)
	expect "fabrics" "$(pods_of "$(job_nodes "$job")")" 1
	sbatch -N9 --gpus-per-node=8 --comment=weft:tp=8 --wrap true \
		>/dev/null 2>&1 && fail "nine nodes are accepted"
	lab_run -N4 --gpus-per-node=8 >/dev/null
}

# reserve_cores NODES CORES: of each of the nodes, for somebody else.
reserve_cores() {
	local node
	for node in $(scontrol show hostnames "$1"); do
		scontrol create reservation reservationname="cores-$node" \
			nodes="$node" corecnt="$2" starttime=now duration=60 \
			users="${3:-daemon}" >/dev/null
	done
}

case_reserved_cores_hide_no_node() {
	local job
	need_weft
	reserve_cores 'n[00-15]' 4
	job=$(lab_run -N4 --gpus-per-node=8 --mem=1G \
		--comment=weft:tp=8,within=leaf)
	expect "leafs" "$(leafs_of "$(job_nodes "$job")")" 1
	expect_match "comment" "$(comment "$job")" 'nodes=plan'
	job=$(lab_run -N12 --gpus-per-node=8 --mem=1G --comment=weft:tp=8)
	expect_match "comment" "$(comment "$job")" 'nodes=plan'
}

# 8 of 64 cores are left on each node of three leafs.
case_reserved_cores_are_not_planned() {
	local job
	need_weft
	reserve_cores 'n[00-11]' 56
	job=$(lab_run -N4 --gpus-per-node=8 --cpus-per-gpu=2 --mem=1G \
		--comment=weft:tp=8,within=leaf)
	expect "nodes" "$(job_nodes "$job")" "n12 n13 n14 n15"
	expect_match "comment" "$(comment "$job")" 'nodes=plan'
}

# Cores that the reservation's own job has are not counted twice.
case_a_job_of_a_reservation_uses_reserved_cores() {
	local job
	need_weft
	reserve_cores n00 32 "$(id -un)"
	job=$(lab_run -N1 --reservation=cores-n00 --gpus-per-node=4 \
		--cpus-per-gpu=8 --mem=1G --comment=weft:tp=4,within=leaf)
	expect "nodes" "$(job_nodes "$job")" n00
	job=$(lab_run -N1 -w n00 --gpus-per-node=4 --cpus-per-gpu=8 --mem=1G \
		--comment=weft:tp=4,within=leaf)
	expect "nodes" "$(job_nodes "$job")" n00
	expect_match "comment" "$(comment "$job")" 'nodes=plan'
}

# Slurm 22.05 and 23.02 reserve no GPUs.
case_reserved_gpus_are_not_planned() {
	local job
	need_weft
	lab_since 23.11 || skip "this release reserves no GPUs"
	scontrol create reservation reservationname=gpus nodes='n[00-11]' \
		tres=gres/gpu=48 starttime=now duration=60 users=daemon \
		>/dev/null 2>&1 ||
		skip "this cluster counts no gres/gpu among its TRES"
	job=$(lab_run -N4 --gpus-per-node=8 --mem=1G \
		--comment=weft:tp=8,within=leaf)
	expect "nodes" "$(job_nodes "$job")" "n12 n13 n14 n15"
	expect_match "comment" "$(comment "$job")" 'nodes=plan'
}

case_limits_hold_in_each_partition_of_a_list() {
	local job
	need_weft
	changing
	cat >>"$LAB_DIR/etc/weft.yaml" <<-END
		limits: {partitions: [main, low]}
	END
	lab_reconfigure
	occupy n00,n04,n08,n12 8
	job=$(lab_submit -N4 --gpus-per-node=8 -p main,low \
		--comment=weft:tp=8,within=leaf)
	still_waits "$job"
	job=$(lab_run -N3 --gpus-per-node=8 -p low,main \
		--comment=weft:tp=8,within=leaf)
	expect "leafs" "$(leafs_of "$(job_nodes "$job")")" 1
}

# ---- "never" is said only of what is known ----

# The last leaf is forgotten, and weft is to take that as it is.
lose_a_leaf() {
	changing
	echo "accept_missing: yes" >>"$LAB_DIR/etc/weft.yaml"
	without_the_last_leaf
	lab_reconfigure
}

without_the_last_leaf() {
	sed -e 's/n\[00-15\]: 8/n[00-11]: 8/' -e '/leaf3:/d' \
		-e 's/leaf\[2-3\]/leaf2/' -i "$LAB_DIR/etc/fabric.yaml"
}

case_nothing_is_never_for_a_fabric_that_lacks_nodes() {
	local job other
	need_weft
	lose_a_leaf
	other=$(lab_submit -N1 -w n12 --gpus-per-node=8 \
		--comment=weft:tp=8,within=leaf)
	[ -n "$other" ] || fail "refused"
	lab_until 30 has_weft_reason "$other" 'a required node is not in' ||
		fail "reason: $(squeue -h -j "$other" -o %r)"
	job=$(lab_submit -N6 -w n08 --gpus-per-node=8 -p low \
		--comment=weft:tp=8,within=pod)
	[ -n "$job" ] || fail "refused"
	lab_until 30 has_weft_reason "$job" '4 nodes are not in the fabric' ||
		fail "reason: $(squeue -h -j "$job" -o %r)"
	lab_write_fabric
	lab_reconfigure
	lab_wait_job "$other" RUNNING
	lab_wait_job "$job" RUNNING
	expect "pods" "$(pods_of "$(job_nodes "$job")")" 1
}

has_weft_reason() {
	[[ $(squeue -h -j "$1" -o %r) == "weft: "*"$2"* ]]
}

case_a_fabric_that_loses_nodes_is_not_taken_over() {
	local job mark
	need_weft
	changing
	job=$(lab_submit -N6 -w n08 --gpus-per-node=8 --hold \
		--comment=weft:tp=8,within=pod)
	without_the_last_leaf
	lab_reconfigure
	expect_log 'error: weft: keeping the fabric.*4 nodes.*n\[12-15\]'
	scontrol release "$job"
	lab_wait_job "$job" RUNNING
	mark=$(lab_log_mark)
	lab_restart_slurmctld
	lab_until 30 lab_log_since "$mark" \
		'error: weft: keeping the fabric.*4 nodes.*n\[12-15\]' \
		>/dev/null || fail "the restart has taken it over"
	job=$(lab_run -N4 --gpus-per-node=8 \
		--comment=weft:tp=8,within=leaf)
	expect_match "comment" "$(comment "$job")" 'nodes=plan'
}

case_a_fabric_that_lacks_nodes_at_the_first_start_is_taken() {
	local job
	need_weft
	changing
	without_the_last_leaf
	lab_stop_slurmctld
	rm -r "$LAB_DIR"/state/weft-good*
	lab_start_slurmctld
	expect_log 'weft: .*4 not in the fabric: n\[12-15\]'
	lab_until 60 lab_ready
	job=$(lab_submit -N6 -w n08 --gpus-per-node=8 \
		--comment=weft:tp=8,within=pod)
	[ -n "$job" ] || fail "refused"
	job=$(lab_run -N4 --gpus-per-node=8 \
		--comment=weft:tp=8,within=leaf)
	expect_match "comment" "$(comment "$job")" 'nodes=plan'
}

# Slurm looks at held jobs again at a reconfigure, but not when a partition
# changes.
case_a_job_that_was_held_comes_back_when_its_partition_grows() {
	local job
	need_weft
	scontrol create partition=part nodes='n[00-15]'
	lab_run -N16 --gpus-per-node=8 --time=60 --comment=weft:off >/dev/null
	job=$(lab_submit -N4 --gpus-per-node=8 -p part \
		--comment=weft:tp=8,within=leaf)
	scontrol update partition=part nodes='n[00-01,04-05,08-09,12-13]'
	expect_pending_reason "$job" BadConstraints
	scontrol update partition=part nodes='n[00-15]'
	lab_until 60 lab_job_in "$job" PENDING
	lab_until 60 is_free_of_hold "$job" ||
		fail "reason of job $job: $(lab_job "$job" Reason)"
	scancel "$job"
	scontrol delete partition=part
}

is_free_of_hold() {
	[ "$(lab_job "$1" Priority)" != 0 ]
}

# A job too large for the CPUs of any leaf.
case_nothing_is_never_before_all_nodes_have_registered() {
	local job
	need_weft
	lab_stop_slurmctld
	lab_end "$(lab_pid slurmd.n15)" 10
	lab_start_slurmctld
	lab_until 60 lab_has_reported 15
	job=$(lab_submit -N2-8 -n300 --gpus-per-node=8 \
		--comment=weft:tp=8,within=leaf)
	lab_start_slurmd n15
	[ -n "$job" ] || fail "refused"
	lab_until 60 lab_has_reported 16
}

case_a_reservation_is_no_reason_to_say_never() {
	local job
	need_weft
	scontrol create reservation reservationname=some \
		nodes='n[00-01,04-05,08-09,12-13]' starttime=now duration=60 \
		users=root >/dev/null
	job=$(lab_submit -N4 --gpus-per-node=8 --reservation=some \
		--comment=weft:tp=8,within=leaf)
	[ -n "$job" ] || fail "refused"
	scontrol update reservationname=some nodes='n[00-09]'
	lab_wait_job "$job" RUNNING
	expect "leafs" "$(leafs_of "$(job_nodes "$job")")" 1
}

case_slow_nodes_are_no_reason_to_say_never() {
	local job
	need_weft
	changing
	echo "health: health.yaml" >>"$LAB_DIR/etc/weft.yaml"
	health "nodes:" "  n[00,04,08,12]: 1.5"
	lab_reconfigure
	slow_nodes_become 4
	job=$(lab_run -N4 --gpus-per-node=8 \
		--comment=weft:tp=8,within=leaf)
	expect "leafs" "$(leafs_of "$(job_nodes "$job")")" 1
}

# ---- what stock declines for reasons of its own ----

# In each leaf the first node has too few cores left in one of its sockets, and
# as it is half used already, it is the one that is liked best.
case_nodes_whose_sockets_do_not_suit_are_left_out() {
	local n job
	need_weft
	for n in 0 4 8 12; do
		lab_run -N1 -n20 --ntasks-per-socket=20 --sockets-per-node=1 \
			-w "$(lab_node $n)" --gpus-per-node=4 --mem=1M \
			--comment=weft:off >/dev/null
		lab_run -N1 -n1 -w "$(lab_node $((n + 1)))" \
			--gpus-per-node=4 --mem=1M --comment=weft:off >/dev/null
	done
	job=$(lab_run -N3 --ntasks-per-socket=20 --ntasks-per-node=40 \
		--gpus-per-node=4 --mem=1M --comment=weft:tp=4,within=leaf)
	expect "leafs" "$(leafs_of "$(job_nodes "$job")")" 1
	job=$(lab_run -N6 --ntasks-per-socket=20 --ntasks-per-node=40 \
		--gpus-per-node=4 --mem=1M --comment=weft:tp=4,segment=3)
	expect "leafs" "$(leafs_of "$(job_nodes "$job")")" 2
}

case_contiguous_nodes_keep_to_limits() {
	local job
	need_weft
	occupy n01,n05,n09,n13 8
	job=$(lab_run -N2 --contiguous --gpus-per-node=8 \
		--comment=weft:tp=8,within=leaf)
	expect_match "nodes" "$(job_nodes "$job")" \
		'^(n02 n03|n06 n07|n10 n11|n14 n15)$'
}

# One node is less than a segment, and no leaf of four has one of five.
case_a_job_of_less_than_a_segment_lies_in_any_domain() {
	local job
	need_weft
	job=$(lab_run -N1 --gpus=4 --gpus-per-socket=4 --sockets-per-node=1 \
		--ntasks-per-socket=1 --comment=weft:segment=5)
	job=$(lab_run -N4 --gpus=32 --gpus-per-socket=4 --sockets-per-node=2 \
		--ntasks-per-socket=1 --comment=weft:segment=5)
	expect "leafs" "$(leafs_of "$(job_nodes "$job")")" 1
}

case_gpus_by_socket_keep_to_limits() {
	local job
	need_weft
	occupy n00,n04,n08 8
	job=$(lab_run -N4 --gpus=32 --gpus-per-socket=4 --sockets-per-node=2 \
		--ntasks-per-socket=1 --comment=weft:within=leaf)
	expect "nodes" "$(job_nodes "$job")" "n12 n13 n14 n15"
	job=$(lab_submit -N4 --gpus=32 --gpus-per-socket=4 \
		--sockets-per-node=2 --ntasks-per-socket=1 \
		--comment=weft:within=leaf)
	still_waits "$job"
	scontrol update jobid="$job" comment=weft:segment=2
	lab_wait_job "$job" RUNNING
	expect "leafs" "$(leafs_of "$(job_nodes "$job")")" 2
	scancel "$job"
	# What they come to is not known before.
	job=$(lab_run -N3 --gpus-per-socket=4 --sockets-per-node=2 -c4 \
		--ntasks-per-node=2 --comment=weft:tp=8,within=leaf)
	expect "leafs" "$(leafs_of "$(job_nodes "$job")")" 1
}

# ---- when ----

# How many nodes the tasks take is stock's to know.
case_jobs_with_limits_and_tasks_alone_are_told_when_they_start() {
	local job answer
	need_weft
	lab_run -N16 --gpus-per-node=8 -n16 -c64 --mem=1M --time=10 \
		--comment=weft:off >/dev/null
	answer=$(sbatch --test-only -n8 -c32 --gpus=1 --mem=1M --time=5 \
		--comment=weft:tp=1,within=leaf --wrap true 2>&1)
	expect_match "--test-only" "$answer" 'to start at'
	answer=$(sbatch --test-only -n4 --gpus-per-task=8 --mem=1M --time=5 \
		--comment=weft:tp=1,within=leaf --wrap true 2>&1)
	expect_match "--test-only" "$answer" 'to start at'
	job=$(lab_submit -n8 -c32 --gpus=1 --mem=1M --time=5 \
		--comment=weft:tp=1,within=leaf)
	expect_start_time "$job"
	expect "leafs" "$(leafs_of "$(nodes_awaited "$job")")" 1
	job=$(lab_submit -N2 --gpus=8 --gpus-per-socket=2 --sockets-per-node=2 \
		--ntasks-per-socket=1 --mem=1M --time=5 \
		--comment=weft:tp=1,within=leaf)
	expect_start_time "$job"
	expect "leafs" "$(leafs_of "$(nodes_awaited "$job")")" 1
}

# The budget allows one domain a question, and the last one is the first to be free.
free_the_second_pod_first() {
	local n
	changing
	sed -i 's/^budget: .*//' "$LAB_DIR/etc/weft.yaml"
	echo "budget: 0.1 ms" >>"$LAB_DIR/etc/weft.yaml"
	lab_reconfigure
	for n in {0..15}; do
		lab_run -N1 -n20 --ntasks-per-socket=20 --sockets-per-node=1 \
			-w "$(lab_node "$n")" --gpus-per-node=4 --mem=1M \
			--time=$((n < 8 ? 1440 : 10)) --comment=weft:off >/dev/null
	done
}

submit_for_one_pod() {
	lab_submit -N2 --ntasks-per-socket=20 --ntasks-per-node=40 \
		--gpus-per-node=4 --mem=1M --time=5 --comment=weft:tp=4,within=pod
}

case_all_domains_are_asked_when_a_job_can_start() {
	local job
	need_weft
	free_the_second_pod_first
	job=$(submit_for_one_pod)
	expect_start_time "$job"
	lab_until 60 awaits_the_second_pod "$job" ||
		fail "job $job awaits $(nodes_awaited "$job")"
}

awaits_the_second_pod() {
	[[ $(nodes_awaited "$1") =~ ^(n(0[89]|1[0-5]) ?)+$ ]]
}

# Slurm asks for the nodes of one feature after the other.
case_nodes_by_feature_are_taken_where_all_features_are() {
	local job
	need_weft
	changing
	scontrol update nodename=n00,n04,n09 features=fa
	scontrol update nodename=n08,n10 features=fb
	occupy n08 8
	job=$(lab_run -N2 --gpus-per-node=8 -C '[fa*1&fb*1]' \
		--comment=weft:tp=8,within=leaf)
	expect "nodes" "$(job_nodes "$job")" "n09 n10"
	job=$(lab_submit -N2 --gpus-per-node=8 -C '[fa*1&fb*1]' \
		--comment=weft:tp=8,within=leaf)
	still_waits "$job"
}

# A leaf with two nodes of the one feature has a segment of them, and none of
# the job.
case_segments_hold_for_nodes_by_feature() {
	local job
	need_weft
	changing
	scontrol update nodename=n00,n04,n05,n09 features=fa
	scontrol update nodename=n10 features=fb
	job=$(lab_submit -N2 --gpus-per-node=8 -C '[fa*1&fb*1]' \
		--comment=weft:tp=8,segment=2)
	lab_wait_job "$job" RUNNING
	expect "nodes" "$(job_nodes "$job")" "n09 n10"
}

# With a request that weft does not understand as with any other.
case_a_level_that_is_not_there_is_no_limit() {
	local job
	need_weft
	changing
	scontrol update nodename=n00 features=fa
	job=$(lab_run -N1 --gpus-per-node=8 -C '[fa*1]' \
		--comment=weft:tp=8,within=laef)
	expect_match "comment" "$(comment "$job")" 'ignored: within=laef'
}

# What weft has answered about nodes that were named before is no answer.
case_a_job_that_never_fits_starts_once_other_nodes_are_named() {
	local job
	need_weft
	job=$(lab_submit -N2 --gpus-per-node=8 --hold \
		--comment=weft:tp=8,within=leaf)
	scontrol update JobId="$job" NodeList=n00,n04
	scontrol release "$job"
	expect_pending_reason "$job" BadConstraints
	scontrol update JobId="$job" NodeList=n00,n01
	lab_wait_job "$job" RUNNING
	expect "nodes" "$(job_nodes "$job")" "n00 n01"
}

# Only backfill gets to later jobs then, which asks feature by feature.
block_main_scheduler() {
	occupy n15 8
	lab_submit -N16 --gpus-per-node=8 --comment=weft:off >/dev/null
}

# Slurm finds out which nodes have them when it first looks at the whole job.
case_nodes_by_feature_are_known_after_a_restart() {
	local job
	need_weft
	changing
	scontrol update nodename=n00,n09 features=fa
	scontrol update nodename=n10 features=fb
	block_main_scheduler
	job=$(lab_submit -N2 --gpus-per-node=8 -t 1 -C '[fa*1&fb*1]' --hold \
		--comment=weft:tp=8,within=leaf)
	lab_restart_slurmctld
	scontrol update nodename=n00,n09 features=fa
	scontrol update nodename=n10 features=fb
	scontrol release "$job"
	lab_wait_job "$job" RUNNING
	expect "nodes" "$(job_nodes "$job")" "n09 n10"
}

case_preferred_numbers_of_nodes_go_before_others() {
	local job
	need_weft
	changing
	scontrol update nodename=n00,n01 features=fx
	scontrol update nodename=n04 features=fa
	scontrol update nodename=n09 features=fb
	block_main_scheduler
	job=$(lab_submit -N2 --gpus-per-node=8 -t 1 -C '[fa*1&fb*1]' \
		--prefer='[fx*2]' --comment=weft:tp=8,within=leaf)
	lab_wait_job "$job" RUNNING
	expect "nodes" "$(job_nodes "$job")" "n00 n01"
}

# The parts of a job by feature and those of a split have nothing in common.
case_a_split_holds_for_nodes_by_feature() {
	local job
	need_weft
	changing
	scontrol update nodename=n00,n01,n05 features=fa
	scontrol update nodename=n02,n04,n09 features=fb
	occupy n05 8
	job=$(lab_submit -N3 --gpus-per-node=8 -C '[fa*2&fb*1]' -x n04 \
		--comment=weft:tp=8,split=2+1)
	lab_wait_job "$job" RUNNING
	expect "nodes" "$(job_nodes "$job")" "n00 n01 n09"
	job=$(lab_submit -N3 --gpus-per-node=8 -C '[fa*2&fb*1]' -x n04 \
		--comment=weft:tp=8,split=2+1)
	expect_pending_reason "$job" "weft:_too_few_nodes_with_its_features_are_free_that_suit_the_limits"
}

# Neither those with fa nor those with fb alone are segments.
case_segments_of_several_domains_hold_for_nodes_by_feature() {
	local job
	need_weft
	changing
	scontrol update nodename=n00,n04,n08,n12 features=fa
	scontrol update nodename=n05,n13 features=fb
	job=$(lab_submit -N4 --gpus-per-node=8 -C '[fa*2&fb*2]' \
		--comment=weft:tp=8,segment=2)
	lab_wait_job "$job" RUNNING
	expect "nodes" "$(job_nodes "$job")" "n04 n05 n12 n13"
}

case_nodes_by_feature_that_can_never_be_split_are_refused() {
	local answer job
	need_weft
	changing
	scontrol update nodename=n00 features=fa
	scontrol update nodename=n01 features=fb
	answer=$(sbatch -N2 --gpus-per-node=8 -C '[fa*1&fb*1]' \
		--comment=weft:tp=8,split=1+1 --wrap true 2>&1) &&
		fail "accepted: $answer"
	expect_match "answer" "$answer" 'not available'
	job=$(lab_submit -N2 --gpus-per-node=8 -C '[fa*1&fb*1]' \
		--comment=weft:tp=8,split=2)
	lab_wait_job "$job" RUNNING
	# What is queued already is held, until nodes get other features.
	job=$(lab_submit -N2 --gpus-per-node=8 -C '[fa*1&fb*1]' --hold \
		--comment=weft:tp=8,split=2)
	scontrol update JobId="$job" Comment=weft:tp=8,split=1+1
	scontrol release "$job"
	expect_pending_reason "$job" BadConstraints
	scontrol update nodename=n04 features=fb
	scontrol update nodename=n05 features=fa
	scontrol update nodename=n08 features=fa
	lab_until 60 lab_job_in "$job" RUNNING
	expect "nodes" "$(job_nodes "$job")" "n04 n08"
}

# n10 and n11 were in one leaf.
part_leafs_behind_n10() {
	local levels
	levels=$(printf '%s\n' 'levels:' '  leaf:' '    leaf0: n[00-10]' \
		'    leaf1: n[11-15]' '  pod:' '    pod0: leaf[0-1]' 'links:' \
		'  pod: {oversubscription: 2}')
	changing
	sed -i '/^levels:/,$d' "$LAB_DIR/etc/fabric.yaml"
	echo "$levels" >>"$LAB_DIR/etc/fabric.yaml"
	lab_reconfigure
}

# That a job can never run is true of the fabric of then.
case_nodes_by_feature_can_be_split_in_another_fabric() {
	local answer job
	need_weft
	changing
	scontrol update nodename=n10 features=fa
	scontrol update nodename=n11 features=fb
	answer=$(sbatch -N2 --gpus-per-node=8 -C '[fa*1&fb*1]' \
		--comment=weft:tp=8,split=1+1 --wrap true 2>&1) &&
		fail "accepted: $answer"
	part_leafs_behind_n10
	scontrol update nodename=n10 features=fa
	scontrol update nodename=n11 features=fb
	job=$(lab_submit -N2 --gpus-per-node=8 -C '[fa*1&fb*1]' \
		--comment=weft:tp=8,split=1+1)
	[ -n "$job" ] || fail "refused"
	lab_wait_job "$job" RUNNING
	expect "nodes" "$(job_nodes "$job")" "n10 n11"
}

# With 11 nodes or more the last segment is the one of n11.
case_nodes_by_feature_of_a_range_are_not_never() {
	local job
	need_weft
	part_leafs_behind_n10
	scontrol update nodename=n10 features=fa
	scontrol update nodename=n11 features=fb
	job=$(lab_submit -N2-12 --gpus-per-node=8 -C '[fa*1&fb*1]' \
		--comment=weft:tp=8,segment=10)
	[ -n "$job" ] || fail "refused"
	expect_pending_reason "$job" "weft:_too_few_nodes_with_its_features_are_free_that_suit_the_limits"
}
