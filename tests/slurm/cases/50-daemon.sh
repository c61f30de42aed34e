# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# slurmctld itself: restarts, reconfigurations, broken files.

case_a_restart_keeps_running_jobs() {
	local job before wanted
	need_weft
	job=$(lab_run -N6 --gpus-per-node=8 --comment=weft:tp=8)
	before=$(lab_job_gpus "$job")
	lab_restart_slurmctld
	expect "state" "$(lab_job "$job" JobState)" RUNNING
	expect "GPUs" "$(lab_job_gpus "$job")" "$before"
	wanted=$(plan gpus=48,gpus_per_node=8,tp=8)
	job=$(lab_run -N6 --gpus-per-node=8 --comment=weft:tp=8)
	expect "nodes of the next" "$(job_nodes "$job")" "$wanted"
}

case_a_restart_keeps_what_weft_said() {
	local job before
	need_weft
	job=$(lab_run -N2 --gpus-per-node=8 --comment=weft:tp=8)
	before=$(comment "$job")
	[ -n "$before" ] || fail "no comment"
	lab_restart_slurmctld
	expect "comment" "$(comment "$job")" "$before"
}

case_a_reconfigure_changes_nothing() {
	local job wanted
	need_weft
	occupy n02,n07 8
	lab_reconfigure
	wanted=$(plan gpus=48,gpus_per_node=8,tp=8)
	job=$(lab_run -N6 --gpus-per-node=8 --comment=weft:tp=8)
	expect "nodes" "$(job_nodes "$job")" "$wanted"
}

case_a_broken_fabric_at_reconfigure_leaves_the_last_good_one() {
	local job wanted
	need_weft
	changing
	wanted=$(plan gpus=48,gpus_per_node=8,tp=8)
	echo "nodes: [broken" >"$LAB_DIR/etc/fabric.yaml"
	lab_reconfigure
	expect_log 'error: .*weft.*fabric.yaml:[0-9]+'
	job=$(lab_run -N6 --gpus-per-node=8 --comment=weft:tp=8)
	expect "nodes" "$(job_nodes "$job")" "$wanted"
	expect_match "comment" "$(comment "$job")" 'weft: '
}

case_a_mended_fabric_is_taken_at_the_next_reconfigure() {
	local job mark
	need_weft
	changing
	echo "weft: fabric/9" >"$LAB_DIR/etc/fabric.yaml"
	lab_reconfigure
	expect_log 'error: .*weft.*fabric.yaml'
	regroup_fabric
	mark=$(lab_log_mark)
	lab_reconfigure
	lab_until 30 lab_log_since "$mark" 'weft' >/dev/null ||
		fail "nothing is said about the mended fabric"
	lab_log_since "$mark" 'error: .*weft' && fail "an error again"
	job=$(lab_run -N4 --gpus-per-node=8 --comment=weft:tp=8,within=leaf)
	expect "parity classes" "$(lab_job_nodes "$job" | parities)" 1
}

case_a_fabric_mended_as_it_was_is_said() {
	local mark
	need_weft
	changing
	cp "$LAB_DIR/etc/fabric.yaml" "$LAB_DIR/etc/good.yaml"
	echo "weft: fabric/9" >"$LAB_DIR/etc/fabric.yaml"
	lab_reconfigure
	expect_log 'error: .*weft.*fabric.yaml'
	mv "$LAB_DIR/etc/good.yaml" "$LAB_DIR/etc/fabric.yaml"
	mark=$(lab_log_mark)
	lab_reconfigure
	lab_until 30 lab_log_since "$mark" 'weft: .*fabric lab' >/dev/null ||
		fail "nobody hears that the fabric is mended"
}

case_a_pipe_for_a_fabric_does_not_hang_slurmctld() {
	need_weft
	changing
	rm -f "$LAB_DIR/etc/fabric.yaml"
	mkfifo "$LAB_DIR/etc/fabric.yaml"
	lab_reconfigure
	rm -f "$LAB_DIR/etc/fabric.yaml"
	expect_log 'error: weft.*fabric.yaml.*regular file'
	expect_alive
}

case_a_fabric_that_others_can_write_is_refused() {
	local job wanted
	need_weft
	changing
	wanted=$(plan gpus=48,gpus_per_node=8,tp=8)
	chmod g+w "$LAB_DIR/etc/fabric.yaml"
	lab_reconfigure
	expect_log 'error: weft: keeping.*fabric.yaml: refused: .*writable'
	job=$(lab_run -N6 --gpus-per-node=8 --comment=weft:tp=8)
	expect "nodes" "$(job_nodes "$job")" "$wanted"
	chmod g-w "$LAB_DIR/etc/fabric.yaml"
}

# A fabric in which a leaf holds every fourth node: told apart from the lab's
# own by where a job goes.
regroup_fabric() {
	cat >"$LAB_DIR/etc/fabric.yaml" <<-END
		weft: fabric/1
		name: regrouped
		profile: dgx-h100-superpod
		nodes:
		  n[00-15]: 8
		levels:
		  leaf:
		    even0: n[00,04,08,12]
		    even1: n[02,06,10,14]
		    odd0: n[01,05,09,13]
		    odd1: n[03,07,11,15]
	END
}

# How many residues by 4 the node numbers on stdin have.
parities() {
	local node
	while read -r node; do
		echo $((10#${node#n} % 4))
	done | sort -u | wc -l
}

case_a_missing_weft_yaml_at_start_leaves_slurm_working() {
	local job
	need_weft
	changing
	mv "$LAB_DIR/etc/weft.yaml" "$LAB_DIR/etc/away.yaml"
	lab_restart_slurmctld
	expect_log 'error: .*weft'
	job=$(lab_run "${WHOLE[@]}" --comment="weft:$SPEC")
	expect "nodes" "$(lab_job_nodes "$job" | wc -l)" 8
	mv "$LAB_DIR/etc/away.yaml" "$LAB_DIR/etc/weft.yaml"
}

case_a_broken_fabric_at_start_leaves_slurm_working() {
	local job
	need_weft
	changing
	echo "weft: fabric/1" >"$LAB_DIR/etc/fabric.yaml"
	rm -r "$LAB_DIR"/state/weft-good*
	lab_restart_slurmctld
	expect_log 'error: .*weft.*fabric.yaml'
	job=$(lab_run "${WHOLE[@]}" --comment="weft:$SPEC")
	expect "nodes" "$(lab_job_nodes "$job" | wc -l)" 8
}

case_a_broken_fabric_at_start_leaves_the_last_good_one() {
	local job wanted
	need_weft
	changing
	wanted=$(plan gpus=48,gpus_per_node=8,tp=8)
	echo "nodes: [broken" >"$LAB_DIR/etc/fabric.yaml"
	lab_restart_slurmctld
	expect_log 'error: weft: keeping the fabric.*fabric.yaml:[0-9]+'
	job=$(lab_run -N6 --gpus-per-node=8 --comment=weft:tp=8)
	expect "nodes" "$(job_nodes "$job")" "$wanted"
	expect_match "comment" "$(comment "$job")" 'nodes=plan'
}

case_weft_switched_off_in_its_file_leaves_all_to_stock() {
	local job
	need_weft
	changing
	sed -i 's/^mode:.*/mode: off/' "$LAB_DIR/etc/weft.yaml"
	lab_reconfigure
	occupy n00,n04,n08 8
	job=$(lab_run -N4 --gpus-per-node=8 --comment=weft:tp=8)
	expect "comment" "$(comment "$job")" ""
}

case_nodes_that_the_fabric_lacks_are_left_to_stock() {
	local job
	need_weft
	changing
	echo "accept_missing: yes" >>"$LAB_DIR/etc/weft.yaml"
	sed -e 's/n\[00-15\]: 8/n[00-11]: 8/' -e '/leaf3:/d' \
		-e 's/leaf\[2-3\]/leaf2/' -i "$LAB_DIR/etc/fabric.yaml"
	lab_reconfigure
	job=$(lab_run -N4 --gpus-per-node=8 --comment=weft:tp=8)
	expect_match "nodes" "$(job_nodes "$job")" '^(n(0[0-9]|1[01]) ?){4}$'
	job=$(lab_run -N12 --gpus-per-node=8 --comment=weft:tp=8)
	expect "nodes by stock" "$(lab_job_nodes "$job" | wc -l)" 12
}
