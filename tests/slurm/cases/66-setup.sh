# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# weft setup and weft doctor on the running cluster.

# checks OUTPUT NAME: "true" or "false", of the named check of a JSON answer.
checks() {
	jq -r --arg name "$2" \
		'[.checks[] | select(.name == $name) | .ok] | all' <<<"$1"
}

# wrong: names of the checks of weft doctor that are not ok.
wrong() {
	weft doctor --json |
		jq -r '[.checks[] | select(.ok | not) | .name] | unique | join(" ")'
}

# The lab has the plugin from its build folder; nothing else is to be mended.
case_setup_writes_a_fabric_and_observe_mode_that_slurmctld_takes() {
	local said folder=$LAB_DIR/setup
	need_weft
	need_topology tree
	changing
	mkdir -p "$folder"
	said=$(weft setup --json --into "$folder") || true
	expect "conflicts" "$(checks "$said" conflicts)" true
	expect "audit" "$(checks "$said" audit)" true
	expect "what was asked" "$(jq -r '[.commands[] | select(.ran) | .command |
		split(" ")[0]] | unique | join(" ")' <<<"$said")" \
		"scontrol timeout"
	expect "what is left" "$(jq -r '[.commands[] | select(.ran | not) |
		.command] | .[-2:] | join(" ")' <<<"$said")" \
		"scontrol reconfigure weft doctor"
	expect "shape" "$(weft fabric --json "$folder/fabric.yaml" |
		jq -c '[.nodes, .gpus]')" \
		"[$LAB_NODES,$((LAB_NODES * LAB_GPUS))]"
	cp "$folder/fabric.yaml" "$folder/weft.yaml" "$LAB_DIR/etc/"
	lab_reconfigure
	expect_log 'weft: mode observe, fabric weftlab'
	lab_until 30 doctor_is_content || fail "$(weft doctor)"
	weft setup --undo --into "$folder" >"$LAB_DIR/undo" ||
		[ "$LAB_MODE" = shadow ] || fail "$(cat "$LAB_DIR/undo")"
	expect "files left" "$(ls "$folder")" ""
	[ "$LAB_MODE" = named ] ||
		grep -q "sed -i 's|^PluginDir=.*/shadow:|PluginDir=|'" \
			"$LAB_DIR/undo" || fail "no way back: $(cat "$LAB_DIR/undo")"
}

doctor_is_content() {
	[ "$(wrong)" = "" ]
}

case_setup_leaves_files_of_others_alone() {
	local said before
	need_weft
	changing
	before=$(cat "$LAB_DIR/etc/weft.yaml" "$LAB_DIR/etc/fabric.yaml")
	said=$(weft setup --json --days 0 --into "$LAB_DIR/etc") || true
	expect "files" "$(cat "$LAB_DIR/etc/weft.yaml" \
		"$LAB_DIR/etc/fabric.yaml")" "$before"
	expect_match "how to compare" "$(jq -r '.commands[].command' <<<"$said")" \
		"weft audit .*/fabric.yaml --against fabric:.*/fabric.setup.yaml"
	weft setup --undo --into "$LAB_DIR/etc" >/dev/null || true
	[ ! -e "$LAB_DIR/etc/fabric.setup.yaml" ] || fail "it is still there"
}

case_setup_asks_a_node_what_joins_its_gpus() {
	local said
	need_weft
	mkdir -p "$LAB_DIR/bin" "$LAB_DIR/setup"
	cat >"$LAB_DIR/bin/nvidia-smi" <<-'END'
		#!/bin/sh
		printf '\tGPU0\tGPU1\tGPU2\tGPU3\tGPU4\tGPU5\tGPU6\tGPU7\n'
		for i in 0 1 2 3 4 5 6 7; do
			printf 'GPU%s' $i
			for j in 0 1 2 3 4 5 6 7; do
				[ $i = $j ] && printf '\t X ' || printf '\tNV18'
			done
			printf '\n'
		done
	END
	chmod +x "$LAB_DIR/bin/nvidia-smi"
	said=$(PATH=$LAB_DIR/bin:$PATH weft setup --json --srun --days 0 \
		--into "$LAB_DIR/setup") || true
	expect "gpus" "$(checks "$said" gpus)" true
	grep -q '^# from nvidia-smi: timeout 120 srun .*--nodelist=n00 ' \
		"$LAB_DIR/setup/fabric.yaml" || fail "no such source: $said"
	weft setup --undo --into "$LAB_DIR/setup" >/dev/null || true
}

case_the_doctor_finds_what_was_changed_behind_slurmctlds_back() {
	need_weft
	changing
	lab_until 30 doctor_is_content || fail "$(weft doctor)"
	expect "ranks" "$(checks "$(weft doctor --srun --json)" ranks)" true
	expect "a variable" "$(WEFT_SPEC=tp=8 wrong)" environment
	chmod o+w "$LAB_DIR/etc/fabric.yaml"
	expect "a file that others may write" "$(wrong)" permissions
	chmod o-w "$LAB_DIR/etc/fabric.yaml"
	sed -i 's/^name: lab/name: other/' "$LAB_DIR/etc/fabric.yaml"
	expect "a fabric not taken over" "$(wrong)" loaded
	sed -i 's/^name: other/name: lab/' "$LAB_DIR/etc/fabric.yaml"
	sed -i '/^nodes:/a\  x0: 8' "$LAB_DIR/etc/fabric.yaml"
	sed -i 's/leaf0: n\[00-03\]/leaf0: n[00-03],x0/' "$LAB_DIR/etc/fabric.yaml"
	expect "a node that Slurm lacks" "$(wrong)" "loaded nodes"
}

case_the_doctor_finds_a_plugin_that_slurmctld_has_not_loaded() {
	local file=$LAB_DIR/shadow/select_cons_tres.so
	need_weft
	[ "$LAB_MODE" = shadow ] || file=$LAB_DIR/plugins/select_cons_tres_weft.so
	lab_until 30 doctor_is_content || fail "$(weft doctor)"
	cp "$file" "$file.new"
	mv "$file.new" "$file"
	expect "another file" "$(wrong)" running
	lab_restart_slurmctld
	lab_until 30 doctor_is_content || fail "$(weft doctor)"
}
