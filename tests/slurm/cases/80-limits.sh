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

case_nodes_with_reserved_cores_are_left_to_stock() {
	local job
	need_weft
	scontrol create reservation reservationname=cores nodes=n00 \
		corecnt=32 starttime=now duration=60 users=nobody >/dev/null
	job=$(lab_run -N4 --gpus-per-node=8 --comment=weft:tp=8,within=leaf)
	[[ ! $(job_nodes "$job") =~ n00 ]] || fail "n00 is partly reserved"
	expect "leafs" "$(leafs_of "$(job_nodes "$job")")" 1
	job=$(lab_run -N12 --gpus-per-node=8 --mem=1G --comment=weft:tp=8)
	expect "nodes" "$(job_nodes "$job" | wc -w)" 12
}
