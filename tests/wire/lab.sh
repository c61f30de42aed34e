# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# lab.sh - the cluster of contrib/lab.sh on a network of name spaces: sourced
# after it and wire.sh, in the name space of slurmctld (wire_in_ctl).
#
# Each host's slurmd runs in the host's name space and talks to slurmctld over the
# links without a limit; what jobs send goes over eth0.
# shellcheck disable=SC2034,SC2153 # for contrib/lab.sh, and its own
LAB_KIND=wire LAB_NODES=16 LAB_GPUS=1 LAB_NODES_PER_LEAF=4 LAB_LEAFS_PER_POD=2
LAB_HOST="localhost(10.8.0.254)"

# wire_in_ctl SCRIPT ARGS...: runs it where slurmctld is to be, on a managed
# network (network manage); it finds that by WIRE_NAME and WIRE_DIR.
wire_in_ctl() {
	(
		export WIRE_NAME WIRE_DIR WEFT_BUILDDIR TMPDIR=$WIRE_DIR
		exec nsenter --net="/run/netns/$WIRE_NAME-ctl" "$@"
	)
}

lab_write_fabric() {
	cp "$WIRE_DIR/fabric.yaml" "$LAB_DIR/etc/fabric.yaml"
}

lab_conf_wire() {
	local i
	cat <<-END
		SlurmdParameters=config_overrides
		SchedulerType=sched/backfill
		SchedulerParameters=bf_interval=1,batch_sched_delay=0,sched_interval=2
		PreemptType=preempt/none
		DefMemPerCPU=512
		SlurmctldTimeout=300
		SlurmdTimeout=300
		MinJobAge=300
	END
	for ((i = 0; i < LAB_NODES; i++)); do
		echo "NodeName=$(lab_node "$i") NodeHostname=$(hostname)" \
			"NodeAddr=10.8.0.$((i + 1)) Port=$((LAB_PORT + 1))" \
			"CPUs=8 RealMemory=64000 Gres=$(lab_node_gres "$i")"
	done
	echo "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE"
}

lab_start_slurmd() {
	local i=${1#n}
	mkdir -p "$LAB_DIR/spool/$1"
	nsenter --net="/run/netns/$WIRE_NAME-h$((10#$i))" \
		/usr/sbin/slurmd -N "$1" -f "$SLURM_CONF" </dev/null \
		>"$LAB_DIR/log/slurmd.$1.err" 2>&1 && return
	lab_say "slurmd of $1 did not start:"
	tail -n 5 "$LAB_DIR/log/slurmd.$1.err" "$LAB_DIR/log/slurmd.$1.log" >&2
	return 1
}

# wire_sbatch JOB SECONDS SPEC SBATCH_ARGS...: submits a job of wire_job as tasks
# of one step, to repeat its calls for so long ("": three times); SPEC is for weft
# ("off": to leave the job alone).  Prints its id.  Tasks write where they are to
# JOB/where: "RANK NODE".
wire_sbatch() {
	local dir=$WIRE_DIR/$1 seconds=$2 spec=$3
	shift 3
	mkdir "$dir/store"
	cat >"$dir/task" <<-END
		#!/bin/sh
		echo "\$SLURM_PROCID \$SLURMD_NODENAME" >>"$dir/where"
		exec chrt -r 1 "$WIRE_RANK" --store "$dir/store" \\
			--step "$dir/step" --repeat $([ -n "$seconds" ] && echo 0 || echo 3)
	END
	# When the ranks begin and stop, by the clock of the wall.
	cat >"$dir/batch" <<-END
		#!/bin/bash
		srun "$dir/task" &
		while [ -n "$seconds" ] && [ ! -e "$dir/store/ready" ]; do
			sleep 0.1
		done
		echo "\$EPOCHREALTIME" | tee "$dir/begin" >"$dir/store/go"
		sleep ${seconds:-0}
		echo "\$EPOCHREALTIME" | tee "$dir/end" >"$dir/store/stopping"
		mv "$dir/store/stopping" "$dir/store/stop"
		wait
	END
	chmod +x "$dir/task"
	sbatch --parsable -o "$dir/measured" -e "$dir/err" --gpus-per-node=1 \
		--comment="weft:$spec" "$@" "$dir/batch" | sed 's/;.*//'
}

# wire_placed JOB: JOB/ranks from where its tasks were.
wire_placed() {
	sort -n "$WIRE_DIR/$1/where" | cut -d' ' -f2 >"$WIRE_DIR/$1/ranks"
}
