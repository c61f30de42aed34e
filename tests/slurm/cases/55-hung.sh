# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# File systems that do not answer: slurmctld goes on, and ends, without them.
#
# Two kinds: one that is frozen takes no writes, and who writes cannot even be
# killed; one that hangs, as NFS whose server is gone, answers nothing at all.

# A file system of its own at folder $1, to be frozen; it ends with the case.
mount_own() {
	mkdir -p "$1"
	truncate -s 16M "$1.image"
	mkfs.ext4 -q "$1.image" || skip "no mkfs.ext4 here"
	mount -o loop "$1.image" "$1" || skip "no right to mount a loop device"
	on_end "fsfreeze -u '$1' 2>/dev/null || true; umount -l '$1'"
}

# From now on nothing at folder $1 answers: a FUSE that nobody serves.
hang() {
	exec {hung_fd}<>/dev/fuse || skip "no FUSE here"
	mount -i -t fuse -o "fd=$hung_fd,rootmode=40000,user_id=0,group_id=0" \
		hung "$1" || skip "no right to mount"
	on_end "unhang '$1'"
}

# Who waits for it gets an error, and what was there before is back.
unhang() {
	[ -n "$hung_fd" ] || return 0
	umount -l "$1"
	exec {hung_fd}>&-
	hung_fd=
}

# on_end COMMANDS: however the case ends.
at_end=
on_end() {
	at_end="$1; $at_end"
	# shellcheck disable=SC2064 # now
	trap "$at_end" EXIT
}

# Asks for the queue all the time, and writes how long the longest answer took,
# in milliseconds; until $LAB_DIR/watched is gone.
watch_queue() {
	local since us longest=0
	while [ -e "$LAB_DIR/watched" ]; do
		since=$EPOCHREALTIME
		squeue -h >/dev/null 2>&1
		us=$((${EPOCHREALTIME//[.,]/} - ${since//[.,]/}))
		[ $us -le $longest ] || longest=$us
		echo $((longest / 1000)) >"$LAB_DIR/longest"
		sleep 0.1
	done
}

# longest_answer COMMAND...: of squeue while COMMAND runs.
longest_answer() {
	local watcher
	touch "$LAB_DIR/watched"
	watch_queue &
	watcher=$!
	"$@" >&2
	rm "$LAB_DIR/watched"
	wait $watcher
	cat "$LAB_DIR/longest"
}

# While slurmctld reads slurm.conf it forgets where munge's socket is, and looks
# for the usual one for 1.5 s where a request comes at that moment.
munge_was_lost() {
	lab_log_since "$1" 'Munge (de|en)code failed' >/dev/null
}

# expect_prompt WHAT COMMAND...: squeue answers within a second while COMMAND
# runs; this machine's own slowness, as it was before, comes on top.
expect_prompt() {
	local what=$1 ms mark try
	shift
	for try in 1 2 3 4 5 6; do
		mark=$(lab_log_mark)
		ms=$(longest_answer "$@")
		munge_was_lost "$mark" || break
		echo "$what: try $try met Slurm without munge"
	done
	echo "$what: squeue took $ms ms at most, $usual ms before"
	[ "$ms" -lt $((1000 + 3 * usual)) ] ||
		fail "$what: squeue took $ms ms"
}

# A job comes and goes, so that there is something to write.
stir() {
	local job
	job=$(lab_run -N2 --gpus-per-node=8 --comment=weft:tp=8)
	sleep 2
	scancel "$job"
	sleep 1
}

reconfigure() {
	timeout 60 scontrol reconfigure
	sleep 3
}

# slurmctld is told to end, and another one takes its place, though a thread of
# the first may be in the kernel for as long as the file system likes.
replace_slurmctld() {
	local pid
	pid=$(lab_pid slurmctld)
	scontrol shutdown slurmctld
	lab_until 20 gone_or_zombie "$pid" || fail "slurmctld does not end"
	lab_start_slurmctld
}

gone_or_zombie() {
	! lab_running "$1" ||
		! grep -q . "/proc/$1/task/$1/cmdline" 2>/dev/null
}

# What slurmctld does all day, with something that does not answer.
expect_all_prompt() {
	expect_prompt "steady" stir
	expect_prompt "reconfigure" reconfigure
	expect_prompt "steady again" stir
	replace_slurmctld
	expect_prompt "started anew" stir
}

# files KEY PATH: weft.yaml names it from now on.
files() {
	sed -i "/^$1:/d" "$LAB_DIR/etc/weft.yaml"
	echo "$1: $2" >>"$LAB_DIR/etc/weft.yaml"
	lab_reconfigure
	usual=$(longest_answer stir)
}

case_a_frozen_status_folder_stops_nobody() {
	local folder=$LAB_DIR/frozen
	need_weft
	changing
	mount_own "$folder"
	files status "$folder/status.json"
	lab_until 30 test -s "$folder/status.json"
	fsfreeze -f "$folder"
	expect_all_prompt
	fsfreeze -u "$folder"
	rm "$folder/status.json"
	lab_until 60 test -s "$folder/status.json" ||
		fail "no status when the folder takes writes again"
}

case_a_hung_status_folder_stops_nobody() {
	local folder=$LAB_DIR/hung
	need_weft
	changing
	mkdir -p "$folder"
	files status "$folder/status.json"
	lab_until 30 test -s "$folder/status.json"
	hang "$folder"
	expect_all_prompt
	unhang "$folder"
	# It may just have been written, and is again after 30 s at rest.
	rm "$folder/status.json"
	lab_until 60 test -s "$folder/status.json" ||
		fail "no status when the folder answers again"
}

case_a_hung_health_file_stops_nobody() {
	local folder=$LAB_DIR/hung
	need_weft
	changing
	mkdir -p "$folder"
	echo "weft: health/1" >"$folder/health.yaml"
	files health "$folder/health.yaml"
	lab_until 30 test -s "$LAB_DIR/run/status.json"
	hang "$folder"
	expect_all_prompt
	rm "$LAB_DIR/run/status.json"
	lab_until 60 test -s "$LAB_DIR/run/status.json" ||
		fail "no status while the file of health hangs"
}

case_a_hung_fabric_leaves_the_last_good_one() {
	local folder=$LAB_DIR/hung job
	need_weft
	changing
	mkdir -p "$folder"
	cp "$LAB_DIR/etc/fabric.yaml" "$folder/fabric.yaml"
	files fabric "$folder/fabric.yaml"
	hang "$folder"
	expect_all_prompt
	expect_log 'error: weft: keeping the fabric.*does not answer'
	job=$(lab_run -N4 --gpus-per-node=8 --comment=weft:tp=8,within=leaf)
	expect_match "comment" "$(comment "$job")" 'nodes=plan'
	scancel "$job"
	unhang "$folder"
	sed -i 's/^name: .*/name: thawed/' "$folder/fabric.yaml"
	lab_reconfigure
	expect_log 'weft: .*fabric thawed'
}

case_a_hung_fabric_keeps_no_submission_waiting() {
	local folder=$LAB_DIR/hung
	need_weft
	changing
	mkdir -p "$folder"
	cp "$LAB_DIR/etc/fabric.yaml" "$folder/fabric.yaml"
	files fabric "$folder/fabric.yaml"
	submit_check
	hang "$folder"
	expect_prompt "submission" submit_some
	submit_refuses within=laef || fail "the last good fabric is not heeded"
	reconfigure
	expect_prompt "submission after reconfigure" submit_some
}

submit_some() {
	local job
	job=$(lab_run -N2 --gpus-per-node=8 --comment=weft:tp=8,within=leaf)
	scancel "$job"
	submit_refuses tq=8
}
