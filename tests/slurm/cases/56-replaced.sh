# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2154 # case_since is set by run
# weft goes, comes and changes under a slurmctld that runs, or another slurmctld
# takes over: there is always one that answers, and jobs go on.

# In shadow mode stock's plugin is behind weft's.
need_shadow() {
	[ "$LAB_MODE" = shadow ] || skip "$LAB_MODE mode: nothing is behind weft"
}

# set_micro FILE N: the plugin says to be for that micro release.  By rename, as
# packages are installed.
set_micro() {
	local at section address offset
	at=$(readelf -W --dyn-syms "$1" 2>/dev/null |
		awk '$8 == "plugin_version" { print $2, $7 }')
	[ -n "$at" ] || skip "no readelf here"
	section=${at#* } at=$((16#${at% *}))
	read -r address offset < <(readelf -W -S "$1" | tr -d '[]' |
		awk -v n="$section" '$1 == n { print $4, $5 }')
	cp "$1" "$1.new"
	# shellcheck disable=SC2059 # the byte
	printf "\\x$(printf %02x "$2")" | dd of="$1.new" bs=1 conv=notrunc \
		seek=$((at - 16#$address + 16#$offset)) 2>/dev/null
	mv "$1.new" "$1"
}

# install BUILT FILE: by rename, since daemons have the old one mapped.
install() {
	cp "$(lab_built "$1")" "$LAB_DIR/$2.new"
	mv "$LAB_DIR/$2.new" "$LAB_DIR/$2"
}

put_back() {
	install select_cons_tres_weft.so shadow/select_cons_tres.so
	install job_submit_weft.so shadow/job_submit_weft.so
	install job_submit_weft.so plugins/job_submit_weft.so
	lab_restart_slurmctld
}

# expect_stock: jobs start without weft, and the one before still runs.
expect_stock() {
	local job
	expect "job from before" "$(lab_job "$1" JobState)" RUNNING
	job=$(lab_run -N2 --gpus-per-node=8 --comment=weft:tp=8)
	expect "comment" "$(comment "$job")" ""
	scancel "$job"
}

expect_planned() {
	local job
	job=$(lab_run -N2 --gpus-per-node=8 --comment=weft:tp=8)
	expect_match "comment" "$(comment "$job")" 'nodes=plan'
	scancel "$job"
}

case_a_folder_that_weft_left_leaves_all_to_stock() {
	local job
	need_shadow
	changing
	job=$(lab_run -N2 --gpus-per-node=8 --comment=weft:tp=8)
	rm "$LAB_DIR"/shadow/*
	lab_reconfigure
	expect_alive
	lab_restart_slurmctld
	expect_stock "$job"
	put_back
	expect_planned
}

case_weft_for_another_micro_release_leaves_all_to_stock() {
	local job
	need_shadow
	changing
	job=$(lab_run -N2 --gpus-per-node=8 --comment=weft:tp=8)
	set_micro "$LAB_DIR/shadow/select_cons_tres.so" 99
	lab_restart_slurmctld
	expect_log 'Incompatible Slurm plugin .*shadow/select_cons_tres.so'
	expect_stock "$job"
	put_back
	expect_planned
}

case_a_new_weft_takes_the_place_of_the_old() {
	local job
	need_weft
	changing
	job=$(lab_run -N2 --gpus-per-node=8 --comment=weft:tp=8)
	for file in "$LAB_DIR"/{shadow,plugins}/*.so; do
		cp "$file" "$file.new"
		mv "$file.new" "$file"
	done
	expect_planned
	lab_reconfigure
	expect_planned
	lab_restart_slurmctld
	expect_planned
	expect "job from before" "$(lab_job "$job" JobState)" RUNNING
}

case_checks_for_another_micro_release_check_nothing() {
	local job folder
	need_weft
	changing
	for folder in shadow plugins; do
		set_micro "$LAB_DIR/$folder/job_submit_weft.so" 99
	done
	echo "JobSubmitPlugins=weft" >>"$LAB_DIR/etc/controller.conf"
	lab_restart_slurmctld
	expect_log 'weft: job_submit: built for Slurm .* not checked'
	job=$(lab_run -N2 --gpus-per-node=8 --comment=weft:tq=8)
	scancel "$job"
	lab_configure
	put_back
}

# As weft-slurm(8) has it, GOING BACK.
case_one_command_leaves_all_to_stock() {
	local job
	need_weft
	changing
	job=$(lab_run -N2 --gpus-per-node=8 --comment=weft:tp=8)
	sed -i 's/^mode:.*/mode: off/' "$LAB_DIR/etc/weft.yaml" &&
		lab_reconfigure
	expect_stock "$job"
	sed -i 's/^mode:.*/mode: place/' "$LAB_DIR/etc/weft.yaml"
	lab_reconfigure
	expect_planned
}

# ---- two controllers ----

# start_controller NAME: slurmctld of the host of that name.
start_controller() {
	sed -e "s|/run/slurmctld.pid|/run/$1.pid|" \
		-e "s|/log/slurmctld.log|/log/$1.log|" \
		"$LAB_DIR/etc/controller.conf" >"$LAB_DIR/etc/$1.conf"
	printf '127.0.0.1 localhost laba\n127.0.0.2 labb\n' \
		>"$LAB_DIR/etc/hosts"
	# shellcheck disable=SC2016 # of the shell inside
	unshare --uts --mount sh -ec 'hostname "$1"
		mount --bind "$2/etc/hosts" /etc/hosts
		exec /usr/sbin/slurmctld -f "$2/etc/$1.conf"' \
		sh "$1" "$LAB_DIR" </dev/null >"$LAB_DIR/log/$1.err" 2>&1 ||
		skip "no host names of our own: $(cat "$LAB_DIR/log/$1.err")"
}

controller_is_up() {
	scontrol ping | grep -q "at $1 is UP"
}

# So it began, and so it is again.
second_stands_by_again() {
	[ "$(grep -c 'running in background mode' "$LAB_DIR/log/labb.log")" = 2 ]
}

# A cluster of its own: the lab's has one controller.
case_a_backup_takes_over_and_gives_back() {
	local job pid
	need_weft
	# shellcheck disable=SC2034 # lab.sh's
	LAB_KIND=cloud
	# shellcheck disable=SC2034
	LAB_HOST='laba(127.0.0.1)'
	# shellcheck disable=SC2034
	LAB_CONF='SlurmctldHost=labb(127.0.0.2)
CommunicationParameters=NoCtldInAddrAny'
	lab_create
	trap 'set +e; lab_destroy' EXIT
	lab_start_munged
	start_controller laba
	lab_until 30 controller_is_up laba || fail "$(cat "$LAB_DIR"/log/laba.*)"
	lab_until 60 lab_ready || fail "nodes: $(sinfo)"
	start_controller labb
	lab_until 30 controller_is_up labb || fail "$(cat "$LAB_DIR"/log/labb.*)"
	job=$(lab_run -N2 --gpus-per-node=8 --comment=weft:tp=8)
	pid=$(lab_pid laba)
	scontrol takeover || fail "no takeover"
	lab_until 30 lab_gone "$pid" || fail "the first does not end"
	lab_until 30 grep -q 'weft: .*fabric lab' "$LAB_DIR/log/labb.log" ||
		fail "weft is not on: $(tail "$LAB_DIR/log/labb.log")"
	lab_job_in "$job" CONFIGURING || fail "the job did not go on"
	expect_planned
	start_controller laba
	lab_until 30 controller_is_up laba || fail "the first is not back"
	lab_until 60 second_stands_by_again ||
		fail "the second does not stand by: $(tail "$LAB_DIR/log/labb.log")"
	lab_job_in "$job" CONFIGURING || fail "the job does not go on"
	expect_planned
}
