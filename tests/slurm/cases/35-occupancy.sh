# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# What weft knows of nodes and jobs, by its snapshot file.

# status FILTER: of the snapshot.
status() {
	jq -r "$1" "$LAB_DIR/run/status.json"
}

# status_becomes FILTER WANTED: within five seconds.
status_becomes() {
	lab_until 5 status_is "$1" "$2" ||
		fail "$1 is '$(status "$1")', not '$2'"
}

status_is() {
	[ "$(status "$1")" = "$2" ]
}

free_gpus() {
	echo ".nodes[] | select(.name == \"$1\") | .gpus_free"
}

case_the_snapshot_shows_what_is_free() {
	need_weft
	lab_run -N1 -w n03 --gpus-per-node=3 --mem=1000 --comment=weft:tp=3 \
		>/dev/null
	status_becomes "$(free_gpus n03)" 3-7
	status_becomes "$(free_gpus n04)" 0-7
	status_becomes '.nodes[] | select(.name == "n03") |
		[.cpus_used, .memory_used_mb] | @csv' 1,1000
	status_becomes '.jobs | length' 1
	scancel -u root
	status_becomes '.jobs | length' 0
}

case_the_snapshot_tells_how_a_job_was_placed() {
	local job
	need_weft
	job=$(lab_run "${WHOLE[@]}" --comment="weft:$SPEC")
	status_becomes ".jobs[] | select(.job == $job) |
		[.cause, .nodes, .gpus, .cost >= .bound] | @csv" \
		'"narrowed",8,64,true'
	expect "said" "$(status ".jobs[] | select(.job == $job) | .said")" \
		"$(comment "$job" | sed 's/ *$//')"
}

case_the_snapshot_tells_who_waits_and_why() {
	local job
	need_weft
	occupy "$(lab_node)" 8
	job=$(lab_submit -N2 --gpus-per-node=8 --comment=weft:tp=8)
	status_becomes ".waiting[] | select(.job == $job) | .cause" no-room
}
