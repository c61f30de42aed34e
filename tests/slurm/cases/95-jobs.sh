# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# The scripts of weft-jobs(7) as they stand there.  Only the programs that train
# are stand-ins, which write down what they are given; of Pyxis, which is not
# here, the options are left out.

PAGE=$(dirname "${BASH_SOURCE[0]}")/../../../doc/man/weft-jobs.7.scd

# page_script NAME: the script of that name out of the page.
page_script() {
	awk -v name="--job-name=$1" '/^```/ { inside = !inside
			if (!inside && found) printf "%s", text
			text = ""; found = 0; next }
		inside { text = text $0 "\n"
			if (/^#SBATCH/ && index($0 " ", name " ")) found = 1 }' "$PAGE"
}

# Programs that say which rank they are, in the folder of the job.
stand_ins() {
	local program
	rm -rf "$LAB_DIR/jobs"
	mkdir -p "$LAB_DIR/jobs/bin" "$LAB_DIR/jobs/ran"
	ln -s "$WEFT_BUILDDIR/weft" "$LAB_DIR/jobs/bin/weft"
	for program in python torchrun; do
		cat >"$LAB_DIR/jobs/bin/$program" <<-END
			#!/bin/sh
			echo "\$SLURMD_NODENAME \$RANK \$LOCAL_RANK \$WORLD_SIZE" \\
				"\$NODE_RANK \$MASTER_ADDR \$*" \\
				>"$LAB_DIR/jobs/ran/\$SLURM_JOB_ID.\$SLURM_PROCID"
		END
		chmod +x "$LAB_DIR/jobs/bin/$program"
	done
}

# page_run NAME N: runs it, and N programs start.
page_run() {
	local job
	stand_ins
	page_script "$1" | sed 's/^srun --container.*/srun \\/; /^\t--container-/d' \
		>"$LAB_DIR/jobs/$1"
	grep -q ^#SBATCH "$LAB_DIR/jobs/$1" || fail "no script $1"
	job=$(cd "$LAB_DIR/jobs" && PATH=$LAB_DIR/jobs/bin:$PATH sbatch --parsable \
		-o "$LAB_DIR/jobs/out.%j" "./$1") || fail "refused"
	lab_until 60 page_ended "$1" || fail "it does not end"
	[ "$(find "$LAB_DIR/jobs/ran" -type f | wc -l)" = "$2" ] || {
		cat "$LAB_DIR/jobs"/out.*
		fail "$(find "$LAB_DIR/jobs/ran" -type f | wc -l) programs of $2"
	}
	echo "$job"
}

page_ended() {
	[ -z "$(squeue -h -n "$1")" ]
}

# Each of the ranks 0..N-1 ran once, and all agree on the first one's node.
page_ranks() {
	local got
	got=$(cut -d' ' -f2 "$LAB_DIR/jobs/ran"/* | sort -n | xargs)
	expect "ranks" "$got" "$(seq 0 $(($1 - 1)) | xargs)"
	got=$(cut -d' ' -f6 "$LAB_DIR/jobs/ran"/* | sort -u)
	expect "the first rank's node" "$got" \
		"$(awk '$2 == 0 { print $1 }' "$LAB_DIR/jobs/ran"/*)"
}

case_the_page_has_a_script_that_runs_for_torchrun() {
	local n
	need_weft
	page_run torchrun 4
	for n in 0 1 2 3; do
		grep -q -- "--node-rank $n --master-addr" "$LAB_DIR/jobs/ran"/* ||
			fail "no node of rank $n"
	done
	expect "the first node" "$(awk '/--node-rank 0/ { print $1 }' \
		"$LAB_DIR/jobs/ran"/*)" \
		"$(sed -n 's/.*--master-addr \([^ ]*\) .*/\1/p' \
			"$LAB_DIR/jobs/ran"/* | sort -u)"
}

case_the_page_has_a_script_that_runs_for_megatron() {
	need_weft
	page_run megatron 32
	page_ranks 32
}

case_the_page_has_a_script_that_runs_for_deepspeed() {
	need_weft
	page_run deepspeed 32
	page_ranks 32
	expect "hosts" "$(cat "$LAB_DIR/jobs"/hostfile.* | wc -l)" 4
}

case_the_page_has_a_script_that_runs_for_nemo() {
	need_weft
	page_run nemo 32
	page_ranks 32
}

case_the_page_has_a_script_that_runs_for_jax() {
	need_weft
	page_run jax 4
}

case_the_page_has_a_script_that_runs_for_mpi() {
	need_weft
	page_run mpi 32
}

case_the_page_has_a_script_that_runs_in_containers() {
	need_weft
	page_run pyxis 32
	page_ranks 32
}

case_the_page_has_a_script_that_runs_as_an_array() {
	need_weft
	page_run array 48
}

case_the_page_has_a_script_that_runs_in_parts() {
	need_weft
	page_run het 24
}
