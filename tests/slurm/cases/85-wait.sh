# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# wait=: a job holds out for a better place, for so long and no longer.

# One node of each leaf is busy for $1 minutes: four nodes lie in two leafs at
# best, until these end.
scatter() {
	local node
	for node in n00 n04 n08 n12; do
		lab_run -N1 -w $node --gpus-per-node=8 --time="$1" \
			--comment=weft:off
	done
}

case_a_job_waits_for_a_better_place() {
	local jobs job
	need_weft
	mapfile -t jobs < <(scatter 5)
	job=$(lab_submit -N4 --gpus-per-node=8 --comment=weft:tp=8,wait=20m)
	still_waits "$job"
	scancel "${jobs[1]}"
	lab_wait_job "$job" RUNNING
	expect "nodes" "$(job_nodes "$job")" "n04 n05 n06 n07"
}

case_a_job_that_waits_is_planned_on_the_better_place() {
	local jobs job
	need_weft
	mapfile -t jobs < <(scatter 5)
	job=$(lab_submit -N4 --gpus-per-node=8 --time=5 \
		--comment=weft:tp=8,wait=20m)
	expect_start_time "$job"
	expect "leafs planned" "$(leafs_of "$(nodes_awaited "$job")")" 1
	expect "state" "$(lab_job "$job" JobState)" PENDING
}

case_a_job_does_not_wait_for_what_comes_too_late() {
	local job
	need_weft
	scatter 60 >/dev/null
	job=$(lab_run -N4 --gpus-per-node=8 --comment=weft:tp=8,wait=5m)
	expect_match "comment" "$(comment "$job")" 'nothing better within'
}

case_a_job_does_not_wait_when_the_place_is_good_enough() {
	local job
	need_weft
	occupy n00 8
	job=$(lab_run -N4 --gpus-per-node=8 --comment=weft:tp=8,wait=20m)
	expect "leafs" "$(leafs_of "$(job_nodes "$job")")" 1
}

case_the_wait_ends() {
	local job
	need_weft
	scatter 1 >/dev/null
	job=$(lab_submit -N4 --gpus-per-node=8 --comment=weft:tp=8,wait=2s)
	lab_wait_job "$job" RUNNING
	expect "leafs" "$(leafs_of "$(job_nodes "$job")")" 2
}

case_a_site_bounds_the_wait() {
	local job
	need_weft
	changing
	cat >>"$LAB_DIR/etc/weft.yaml" <<-END
		wait: {max: 0 s}
	END
	lab_reconfigure
	scatter 5 >/dev/null
	job=$(lab_run -N4 --gpus-per-node=8 --comment=weft:tp=8,wait=20m)
	expect "leafs" "$(leafs_of "$(job_nodes "$job")")" 2
}

case_others_run_beside_a_job_that_waits() {
	local job small
	need_weft
	scatter 5 >/dev/null
	job=$(lab_submit -N4 --gpus-per-node=8 --time=5 \
		--comment=weft:tp=8,wait=20m)
	expect_start_time "$job"
	small=$(lab_submit -N1 --gpus-per-node=8 --time=60 --comment=weft:tp=8)
	lab_wait_job "$small" RUNNING
	expect "state" "$(lab_job "$job" JobState)" PENDING
}

case_a_job_waits_in_each_partition_of_a_list() {
	local job
	need_weft
	changing
	cat >>"$LAB_DIR/etc/weft.yaml" <<-END
		wait: {partitions: [main, low]}
	END
	lab_reconfigure
	scatter 5 >/dev/null
	job=$(lab_submit -N4 --gpus-per-node=8 -p main,low \
		--comment=weft:tp=8,wait=20m)
	still_waits "$job"
}

# Partitions soon and late, of a pod each: a leaf of the one is whole in five
# minutes, of the other in an hour.
make_soon_and_late() {
	local node
	scontrol create partition=soon nodes='n[00-07]'
	scontrol create partition=late nodes='n[08-15]'
	for node in n00 n04; do
		lab_run -N1 -w $node --gpus-per-node=8 --time=5 \
			--comment=weft:off >/dev/null
	done
	for node in n08 n12; do
		lab_run -N1 -w $node --gpus-per-node=8 --time=60 \
			--comment=weft:off >/dev/null
	done
}

# The better place is in the one partition, and a worse one is free in both.
case_a_job_does_not_start_in_one_partition_while_it_waits_in_another() {
	local job list
	need_weft
	make_soon_and_late
	for list in soon,late late,soon; do
		job=$(lab_submit -N4 --gpus-per-node=8 -p $list \
			--comment=weft:tp=8,wait=20m)
		still_waits "$job"
		scancel "$job"
	done
	scontrol delete partition=soon
	scontrol delete partition=late
}

# Slurm asks with the list of the job's partitions locked from 24.11 on.
case_a_user_asks_when_a_job_of_two_partitions_will_start() {
	local list
	need_weft
	make_soon_and_late
	for list in soon,late late,soon; do
		expect_match "answer" "$(sbatch --test-only -N4 \
			--gpus-per-node=8 -p $list --wrap true \
			--comment=weft:tp=8,wait=20m 2>&1)" 'to start at'
	done
	lab_run -N1 --gpus-per-node=1 -p main >/dev/null
	scontrol delete partition=soon
	scontrol delete partition=late
}

# A place elsewhere that the job cannot have: its partition is down, or its nodes
# are reserved.
case_a_job_does_not_wait_for_what_it_cannot_have() {
	local job node
	need_weft
	scontrol create partition=soon nodes='n[00-07]'
	scontrol create partition=late nodes='n[08-15]'
	for node in n08 n12; do
		lab_run -N1 -w $node --gpus-per-node=8 --time=60 \
			--comment=weft:off >/dev/null
	done
	scontrol update partition=soon state=down
	job=$(lab_run -N4 --gpus-per-node=8 -p soon,late \
		--comment=weft:tp=8,wait=20m)
	expect "leafs" "$(leafs_of "$(job_nodes "$job")")" 2
	scancel "$job"
	scontrol update partition=soon state=up
	scontrol create reservation=away nodes='n[00-07]' starttime=now \
		duration=60 users=nobody >/dev/null
	lab_until 30 is_reserved n00 || fail "n00 is not reserved"
	job=$(lab_run -N4 --gpus-per-node=8 -p soon,late \
		--comment=weft:tp=8,wait=20m)
	expect "leafs" "$(leafs_of "$(job_nodes "$job")")" 2
	scancel "$job"
	scontrol delete reservation=away
	scontrol delete partition=soon
	lab_until 30 scontrol delete partition=late
}

# Backfill keeps the better place for a job before this one, which asks as often
# as Slurm looks.
case_the_wait_ends_though_the_better_place_stays() {
	local job node
	need_weft
	scontrol create partition=soon nodes='n[00-07]'
	scontrol create partition=late nodes='n[08-15]'
	for node in n00 n08 n12; do
		lab_run -N1 -w $node --gpus-per-node=8 --time=60 \
			--comment=weft:off >/dev/null
	done
	job=$(lab_submit -p soon -N8 --gpus-per-node=8 --time=60 \
		--comment=weft:off)
	expect_start_time "$job"
	job=$(lab_submit -N4 --gpus-per-node=8 --time=120 -p late,soon \
		--comment=weft:tp=8,wait=5s)
	lab_until 60 has_state "$job" RUNNING
	expect "waited long" $(($(job_time "$job" StartTime) - \
		$(job_time "$job" SubmitTime) > 20)) 0
	scancel -u root
	lab_until 30 scontrol delete partition=soon
	lab_until 30 scontrol delete partition=late
}

has_state() {
	[ "$(lab_job "$1" JobState)" = "$2" ]
}

# job_time JOB FIELD: in seconds since the epoch.
job_time() {
	date -d "$(lab_job "$1" "$2")" +%s
}

is_reserved() {
	[ "$(sinfo -h -n "$1" -p main -o %t)" = resv ]
}
