# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Slurm takes the topology that weft exports, and weft the one that Slurm shows.

# What the switches or blocks of topology.conf $1 (- : of scontrol) are and hold:
# "NAME: NODES" lines, all nodes below, sorted.
members() {
	"$WEFT_BUILDDIR/weft" import -q --gpus-per-node 8 --from slurm-tree "$1" |
		"$WEFT_BUILDDIR/weft" export -q --to json /dev/stdin |
		jq -r '.levels[0].name as $inner | .domains[] |
			select(.level != $inner and .level != "core") |
			"\(.name): \(.nodes | sort | join(" "))"' | sort
}

# restart_with FILE: slurmctld with that topology.conf; the lab's own comes back
# when the case ends.
restart_with() {
	cp "$LAB_DIR/etc/topology.conf" "$LAB_DIR/topology.kept"
	trap 'cp "$LAB_DIR/topology.kept" "$LAB_DIR/etc/topology.conf"
		lab_restart_slurmctld' EXIT
	cp "$1" "$LAB_DIR/etc/topology.conf"
	lab_restart_slurmctld
}

# exported_is_shown FORMAT [OPTIONS...]
exported_is_shown() {
	"$WEFT_BUILDDIR/weft" export -q --to "$@" "$LAB_DIR/etc/fabric.yaml" \
		>"$LAB_DIR/exported"
	restart_with "$LAB_DIR/exported"
	expect "what scontrol shows" "$(scontrol show topology | members -)" \
		"$(members "$LAB_DIR/exported")"
}

# The running cluster imports, and exports the same text again.
live_is_exported() {
	"$WEFT_BUILDDIR/weft" import -q --from slurm-live >"$LAB_DIR/live.yaml"
	expect "the live cluster's export" \
		"$("$WEFT_BUILDDIR/weft" export -q --to "$@" "$LAB_DIR/live.yaml")" \
		"$(cat "$LAB_DIR/exported")"
	expect "its nodes and GPUs" \
		"$("$WEFT_BUILDDIR/weft" fabric --json "$LAB_DIR/live.yaml" |
			jq -c '[.nodes, .gpus]')" \
		"[$LAB_NODES,$((LAB_NODES * LAB_GPUS))]"
}

case_slurm_starts_with_an_exported_tree_and_weft_reads_it_back() {
	need_topology tree
	exported_is_shown slurm-tree
	expect_match "switches" "$(scontrol show topology)" \
		'SwitchName=core Level=2'
	live_is_exported slurm-tree
}

case_slurm_starts_with_exported_blocks_and_weft_reads_them_back() {
	need_topology block
	exported_is_shown slurm-block --level leaf
	live_is_exported slurm-block --level block
}

case_an_audit_compares_with_the_running_slurm() {
	local codes='[.findings[] | select(.severity == "error") | .code] | unique'
	expect "errors of the lab's fabric" "$("$WEFT_BUILDDIR/weft" audit --json \
		--against slurm-live "$LAB_DIR/etc/fabric.yaml" | jq -c "$codes")" '[]'
	sed 's/: 8$/: 4/' "$LAB_DIR/etc/fabric.yaml" >"$LAB_DIR/half.yaml"
	expect "errors of one with half the GPUs" "$("$WEFT_BUILDDIR/weft" audit \
		--json --against slurm-live "$LAB_DIR/half.yaml" | jq -c "$codes")" \
		'["drift-gpus"]'
}
