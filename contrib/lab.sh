# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# lab.sh - a throw-away Slurm cluster on this machine: sourced by the demo, the
# live tests and the benchmark.
#
#	. contrib/lab.sh
#	LAB_MODE=shadow LAB_BUILD=build
#	lab_create && lab_start || exit
#	job=$(lab_submit -N2 --gpus-per-node=8)
#
# The installed slurmctld, slurmd, munged and clients run unchanged, on loopback
# and from one temporary folder; no system configuration is read or written.
# Everything ends with lab_destroy, which lab_create hangs on the shell's exit.
# Needs root (lab_need_root): slurmd starts steps and GPUs are device files.

# ---- what the cluster is; set before lab_create ----
LAB_KIND=${LAB_KIND:-loopback}	# loopback: one slurmd a node; cloud: no slurmd;
				# another: lab_conf_KIND is the caller's
LAB_MODE=${LAB_MODE:-stock}	# stock, named or shadow (weft-slurm(8))
LAB_ACT=${LAB_ACT:-place}	# mode: of weft.yaml
LAB_NODES=${LAB_NODES:-16}
LAB_GPUS=${LAB_GPUS:-8}		# per node
LAB_NODES_PER_LEAF=${LAB_NODES_PER_LEAF:-4}
LAB_LEAFS_PER_POD=${LAB_LEAFS_PER_POD:-2}
LAB_GRES_TYPES=${LAB_GRES_TYPES:-gpu}
LAB_TOPOLOGY=${LAB_TOPOLOGY:-tree}	# Slurm's own: tree, block (23.11) or flat
LAB_BUILD=${LAB_BUILD:-}	# weft's build folder; needed unless stock
LAB_CONF=${LAB_CONF:-}		# further lines of slurm.conf
LAB_CLUSTER=${LAB_CLUSTER:-weftlab}
LAB_ACCOUNTS=${LAB_ACCOUNTS:-none}	# or slurmdbd, which is the caller's
LAB_HOST=${LAB_HOST:-localhost}	# where slurmctld is: NAME or NAME(ADDRESS)
LAB_SCHEDULER=${LAB_SCHEDULER:-}	# SchedulerParameters before the lab's own
LAB_SALT=${LAB_SALT:-0}		# differs from lab to lab where processes' numbers
				# do not

# ---- what it became; set by lab_create ----
LAB_DIR=
LAB_PORT=			# slurmctld; node i listens on LAB_PORT + 1 + i

lab_say() {
	printf 'lab: %s\n' "$*" >&2
}

# lab_need_root SCRIPT ARGS...: goes on as root, through sudo where needed.
lab_need_root() {
	[ "$(id -u)" = 0 ] && return
	if ! command -v sudo >/dev/null; then
		lab_say "this needs root: run it as root, or install sudo"
		exit 1
	fi
	exec sudo --preserve-env=WEFT_CACHE,WEFT_BUILDDIR,TMPDIR -- "$@"
}

# lab_until SECONDS COMMAND...: polls until COMMAND succeeds; 1 at the bound.
lab_until() {
	local end=$((${EPOCHREALTIME//[.,]/} + $1 * 1000000))
	shift
	until "$@"; do
		[ "${EPOCHREALTIME//[.,]/}" -lt "$end" ] || return 1
		sleep 0.1
	done
}

# ======== create ========

# Makes the folder and every file in it; starts nothing.
lab_create() {
	# slurmctld's plugin believes no file that others could write.
	umask 022
	[ -k "${TMPDIR:-/tmp}" ] || [ -O "${TMPDIR:-/tmp}" ] || TMPDIR=/tmp
	LAB_DIR=$(mktemp -d "${TMPDIR:-/tmp}/weft-lab.XXXXXX") || return 1
	chmod 755 "$LAB_DIR"
	trap lab_destroy EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	mkdir -p "$LAB_DIR"/{etc,state,run,log,spool,dev,plugins,shadow,munge}
	LAB_PORT=$(lab_free_ports) || return 1
	export SLURM_CONF=$LAB_DIR/etc/slurm.conf
	lab_install_plugins && lab_make_devices || return 1
	lab_write_fabric
	lab_write_weft
	"lab_write_$LAB_TOPOLOGY" || return 1
	lab_write_gres >"$LAB_DIR/etc/gres.conf"
	lab_write_cgroup >"$LAB_DIR/etc/cgroup.conf"
	lab_configure
}

# The installed release, e.g. 24.11.
lab_release() {
	/usr/sbin/slurmctld -V | sed -n '1s/.* \([0-9]*\.[0-9]*\).*/\1/p'
}

# lab_since RELEASE: the installed one is that or later.
lab_since() {
	[ "$(printf '%s\n' "$1" "$(lab_release)" | sort -V | head -n 1)" = "$1" ]
}

# Nothing here uses cgroups, yet slurmd looks for them unless told which: a chroot
# has none to find.
lab_write_cgroup() {
	if lab_since 23.11; then
		echo "CgroupPlugin=disabled"
	else
		echo "CgroupPlugin=cgroup/v1"
	fi
}

# Name of node $1, e.g. n07; no argument: all as a hostlist.
lab_node() {
	local width=${#LAB_NODES}

	if [ $# = 0 ]; then
		printf 'n[%0*d-%0*d]' "$width" 0 "$width" $((LAB_NODES - 1))
	else
		printf 'n%0*d' "$width" "$1"
	fi
}

# The first port of a run of free ones.  Starts at a place that differs from
# process to process, so that labs side by side do not race for the same run;
# stays below the ports that the kernel hands to clients.
lab_free_ports() {
	local need=$((LAB_NODES + 1)) slots try first
	[ "$LAB_KIND" = cloud ] && need=2
	slots=$((20000 / need))
	for ((try = 0; try < slots; try++)); do
		first=$((10000 + (BASHPID + LAB_SALT + try) % slots * need))
		if lab_ports_free "$first" "$need"; then
			echo "$first"
			return
		fi
	done
	lab_say "no $need free ports in a row between 10000 and 30000"
	return 1
}

# No socket of this machine is bound to ports $1 .. $1+$2-1.
lab_ports_free() {
	local tables=(/proc/net/tcp)
	[ -r /proc/net/tcp6 ] && tables+=(/proc/net/tcp6)
	awk -v first="$1" -v n="$2" '
	function hex(s,   i, v) {
		for (i = 1; i <= length(s); i++)
			v = v * 16 + index("0123456789ABCDEF", substr(s, i, 1)) - 1
		return v
	}
	FNR > 1 {
		sub(/.*:/, "", $2)
		port = hex($2)
		if (port >= first && port < first + n)
			taken = 1
	}
	END { exit taken }' "${tables[@]}"
}

# Path of the plugin $1 in the build folder.
lab_built() {
	local found
	found=$(find "$LAB_BUILD" -path "*/.libs/$1" -print -quit 2>/dev/null)
	if [ -z "$found" ]; then
		lab_say "no $1 in the build folder '$LAB_BUILD':" \
			"configure --with-slurm-src=DIR builds it"
		return 1
	fi
	echo "$found"
}

# The plugins as both install modes want them; what is used is slurm.conf's
# choice, so that lab_switch can change the mode of a running cluster.
lab_install_plugins() {
	local select spank submit

	[ -z "$LAB_BUILD" ] && [ "$LAB_MODE" = stock ] && return
	select=$(lab_built select_cons_tres_weft.so) || return 1
	spank=$(lab_built weft_spank.so) || return 1
	submit=$(lab_built job_submit_weft.so) || return 1
	cp "$select" "$LAB_DIR/plugins/select_cons_tres_weft.so"
	cp "$select" "$LAB_DIR/shadow/select_cons_tres.so"
	cp "$spank" "$LAB_DIR/plugins/weft_spank.so"
	cp "$submit" "$LAB_DIR/plugins/job_submit_weft.so"
	cp "$submit" "$LAB_DIR/shadow/job_submit_weft.so"
}

# Pretend GPUs: character devices that do nothing.  Without the right to make
# any, plain files: Slurm counts them, but hands no CUDA_VISIBLE_DEVICES to steps.
lab_make_devices() {
	local i
	for ((i = 0; i < LAB_GPUS; i++)); do
		if ! mknod "$LAB_DIR/dev/gpu$i" c 1 3 2>/dev/null; then
			: >"$LAB_DIR/dev/gpu$i"
		fi
	done
}

# Leafs and pods of the cluster: lines "leaf NAME FIRST LAST" (nodes) and
# "pod NAME FIRST LAST" (leafs).
lab_shape() {
	local n_leafs i last
	n_leafs=$(((LAB_NODES + LAB_NODES_PER_LEAF - 1) / LAB_NODES_PER_LEAF))
	for ((i = 0; i < n_leafs; i++)); do
		last=$(((i + 1) * LAB_NODES_PER_LEAF - 1))
		[ "$last" -lt "$LAB_NODES" ] || last=$((LAB_NODES - 1))
		echo "leaf leaf$i $((i * LAB_NODES_PER_LEAF)) $last"
	done
	for ((i = 0; i * LAB_LEAFS_PER_POD < n_leafs; i++)); do
		last=$(((i + 1) * LAB_LEAFS_PER_POD - 1))
		[ "$last" -lt "$n_leafs" ] || last=$((n_leafs - 1))
		echo "pod pod$i $((i * LAB_LEAFS_PER_POD)) $last"
	done
}

# Uplinks as most clusters have them: thinner with every level.
lab_write_fabric() {
	local kind name first last leafs="" pods="" n_pods=0
	while read -r kind name first last; do
		if [ "$kind" = leaf ]; then
			leafs+="    $name: n[$(printf '%0*d-%0*d' ${#LAB_NODES} \
				"$first" ${#LAB_NODES} "$last")]"$'\n'
		else
			pods+="    $name: leaf[$first-$last]"$'\n'
			n_pods=$((n_pods + 1))
		fi
	done < <(lab_shape)
	{
		echo "weft: fabric/1"
		echo "name: lab"
		echo "profile: dgx-h100-superpod"
		echo "nodes:"
		lab_write_fabric_nodes
		echo "levels:"
		printf '  leaf:\n%s  pod:\n%s' "$leafs" "$pods"
		echo "links:"
		echo "  pod: {oversubscription: 2}"
		[ $n_pods -lt 2 ] || echo "  core: {oversubscription: 4}"
	} >"$LAB_DIR/etc/fabric.yaml"
}

lab_write_fabric_nodes() {
	echo "  $(lab_node): $LAB_GPUS"
}

lab_write_weft() {
	cat >"$LAB_DIR/etc/weft.yaml" <<-END
		weft: slurm/1
		fabric: fabric.yaml
		status: ../run/status.json
		mode: $LAB_ACT
		unspecified: place
		${LAB_BUDGET:+budget: $LAB_BUDGET}
	END
	echo "required $LAB_DIR/plugins/weft_spank.so" \
		>"$LAB_DIR/etc/plugstack.weft"
}

# What stock knows of the fabric.  flat: nothing; the plugin for that has had
# several names, and none need be given.
lab_write_flat() {
	: >"$LAB_DIR/etc/topology"
}

# The leafs as blocks.
lab_write_block() {
	local kind name first last
	if ! lab_since 23.11; then
		lab_say "Slurm $(lab_release) has no topology/block"
		return 1
	fi
	while read -r kind name first last; do
		[ "$kind" = leaf ] && printf 'BlockName=%s Nodes=n[%0*d-%0*d]\n' \
			"$name" ${#LAB_NODES} "$first" ${#LAB_NODES} "$last"
	done < <(lab_shape) >"$LAB_DIR/etc/topology.conf"
	echo "BlockSizes=$LAB_NODES_PER_LEAF" >>"$LAB_DIR/etc/topology.conf"
	echo "TopologyPlugin=topology/block" >"$LAB_DIR/etc/topology"
}

# The fabric's own switches.
lab_write_tree() {
	lab_write_switches >"$LAB_DIR/etc/topology.conf"
	echo "TopologyPlugin=topology/tree" >"$LAB_DIR/etc/topology"
}

lab_write_switches() {
	local kind name first last pods=0
	while read -r kind name first last; do
		if [ "$kind" = leaf ]; then
			printf 'SwitchName=%s Nodes=n[%0*d-%0*d]\n' "$name" \
				${#LAB_NODES} "$first" ${#LAB_NODES} "$last"
		else
			echo "SwitchName=$name Switches=leaf[$first-$last]"
			pods=$((pods + 1))
		fi
	done < <(lab_shape)
	[ "$pods" -lt 2 ] || echo "SwitchName=core Switches=pod[0-$((pods - 1))]"
}

# What node $1 has, in slurm.conf's words.
lab_node_gres() {
	echo "gpu:$LAB_GPUS"
}

lab_write_gres() {
	echo "NodeName=$(lab_node) Name=gpu" \
		"File=$LAB_DIR/dev/gpu[0-$((LAB_GPUS - 1))]"
}

# ======== slurm.conf ========

# Folder of the installed Slurm's own plugins.
lab_stock_plugins() {
	local dir
	for dir in /usr/lib/*/slurm-wlm /usr/lib64/slurm /usr/lib/slurm \
		/usr/local/lib/slurm; do
		if [ -e "$dir/select_cons_tres.so" ]; then
			echo "$dir"
			return
		fi
	done
	lab_say "no select_cons_tres.so found: is slurmctld installed?"
	return 1
}

# Writes slurm.conf for everyone and controller.conf for slurmctld, which
# differ in shadow mode alone.
lab_configure() {
	local stock
	stock=$(lab_stock_plugins) || return 1
	: >"$LAB_DIR/etc/plugstack.conf"
	[ "$LAB_MODE" = stock ] ||
		cp "$LAB_DIR/etc/plugstack.weft" "$LAB_DIR/etc/plugstack.conf"
	case $LAB_MODE in
	named) lab_slurm_conf cons_tres_weft "$LAB_DIR/plugins:$stock" ;;
	*) lab_slurm_conf cons_tres "$stock" ;;
	esac >"$LAB_DIR/etc/slurm.conf"
	case $LAB_MODE in
	shadow) lab_slurm_conf cons_tres "$LAB_DIR/shadow:$stock" \
		>"$LAB_DIR/etc/controller.conf" ;;
	*) cp "$LAB_DIR/etc/slurm.conf" "$LAB_DIR/etc/controller.conf" ;;
	esac
}

# lab_slurm_conf SELECT PLUGIN_DIRS
lab_slurm_conf() {
	cat <<-END
		ClusterName=$LAB_CLUSTER
		SlurmctldHost=$LAB_HOST
		SlurmctldPort=$LAB_PORT
		SlurmUser=root
		SlurmdUser=root
		AuthType=auth/munge
		AuthInfo=socket=$LAB_DIR/munge/socket
		CredType=cred/munge
		StateSaveLocation=$LAB_DIR/state
		SlurmdSpoolDir=$LAB_DIR/spool/%n
		SlurmctldPidFile=$LAB_DIR/run/slurmctld.pid
		SlurmdPidFile=$LAB_DIR/run/slurmd.%n.pid
		SlurmctldLogFile=$LAB_DIR/log/slurmctld.log
		SlurmdLogFile=$LAB_DIR/log/slurmd.%n.log
		SlurmctldDebug=debug
		SlurmdDebug=info
		# In shadow mode slurmctld's file differs from the others' on purpose.
		DebugFlags=NO_CONF_HASH
		PluginDir=$2
		PlugStackConfig=$LAB_DIR/etc/plugstack.conf
		SelectType=select/$1
		SelectTypeParameters=CR_Core_Memory
		GresTypes=$LAB_GRES_TYPES
		$(cat "$LAB_DIR/etc/topology")
		ProctrackType=proctrack/linuxproc
		TaskPlugin=task/none
		SwitchType=switch/none
		MpiDefault=none
		JobAcctGatherType=jobacct_gather/none
		AccountingStorageType=accounting_storage/$LAB_ACCOUNTS
		JobCompType=jobcomp/none
		ReturnToService=2
		MaxJobCount=50000
		InactiveLimit=0
		KillWait=2
		Waittime=0
	END
	"lab_conf_$LAB_KIND"
	[ -z "$LAB_CONF" ] || printf '%s\n' "$LAB_CONF"
}

# Nodes claim more cores and memory than this machine has (config_overrides).
# DefMemPerCPU: without a default a job takes all memory and shares no node.
lab_conf_loopback() {
	local i
	cat <<-END
		SlurmdParameters=config_overrides
		SchedulerType=sched/backfill
		SchedulerParameters=${LAB_SCHEDULER:+$LAB_SCHEDULER,}bf_interval=1,bf_window=1440,batch_sched_delay=0,sched_interval=2
		PreemptType=preempt/partition_prio
		PreemptMode=REQUEUE
		DefMemPerCPU=512
		SlurmctldTimeout=300
		SlurmdTimeout=300
		MinJobAge=300
	END
	for ((i = 0; i < LAB_NODES; i++)); do
		echo "NodeName=$(lab_node "$i") NodeHostname=localhost" \
			"NodeAddr=127.0.0.1 Port=$((LAB_PORT + 1 + i))" \
			"Sockets=2 CoresPerSocket=32 ThreadsPerCore=1" \
			"RealMemory=512000 Gres=$(lab_node_gres "$i")"
	done
	echo "PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE PriorityTier=10"
	echo "PartitionName=low Nodes=ALL MaxTime=INFINITE PriorityTier=1"
}

# Cloud nodes need no slurmd: allocations are real, jobs stay configuring until
# cancelled.  A fixed address spares one name look-up a node; nobody listens.
lab_conf_cloud() {
	cat <<-END
		SlurmdPort=$((LAB_PORT + 1))
		SuspendProgram=/bin/true
		ResumeProgram=/bin/true
		SuspendTime=86400
		ResumeTimeout=36000
		SuspendTimeout=5
		ResumeRate=0
		SuspendRate=0
		PrivateData=cloud
		SchedulerType=sched/backfill
		SchedulerParameters=${LAB_SCHEDULER:+$LAB_SCHEDULER,}bf_interval=10,bf_window=1440,bf_max_job_test=1000,default_queue_depth=1000,sched_interval=5,batch_sched_delay=0
		PreemptType=preempt/none
		DefMemPerNode=1000
		MessageTimeout=5
		SlurmctldTimeout=300
		SlurmdTimeout=0
		MinJobAge=2
		NodeName=$(lab_node) NodeHostname=localhost NodeAddr=127.0.0.1 Port=9 Sockets=2 CoresPerSocket=32 ThreadsPerCore=1 RealMemory=512000 Gres=gpu:$LAB_GPUS State=CLOUD
		PartitionName=main Nodes=ALL Default=YES MaxTime=INFINITE
	END
}

# ======== start and stop ========

# Starts everything and waits until all nodes can take jobs.
lab_start() {
	lab_start_munged && lab_start_slurmctld || return 1
	[ "$LAB_KIND" = cloud ] || lab_start_slurmds || return 1
	if ! lab_until 60 lab_ready; then
		lab_say "the cluster was not ready after 60 s; slurmctld's log ends:"
		tail -n 15 "$LAB_DIR/log/slurmctld.log" >&2
		return 1
	fi
}

lab_start_munged() {
	local munge=$LAB_DIR/munge
	if ! getent hosts localhost >/dev/null; then
		lab_say "the name localhost is not known here:" \
			"add '127.0.0.1 localhost' to /etc/hosts"
		return 1
	fi
	[ -e "$munge/key" ] ||
		(umask 077 && head -c 1024 /dev/urandom >"$munge/key")
	/usr/sbin/munged --force --socket="$munge/socket" \
		--key-file="$munge/key" --pid-file="$LAB_DIR/run/munged.pid" \
		--seed-file="$munge/seed" --log-file="$LAB_DIR/log/munged.log" \
		--num-threads=2 2>"$LAB_DIR/log/munged.err" && return
	lab_say "munged did not start:"
	cat "$LAB_DIR/log/munged.err" >&2
	return 1
}

lab_start_slurmctld() {
	/usr/sbin/slurmctld -f "$LAB_DIR/etc/controller.conf" \
		</dev/null >"$LAB_DIR/log/slurmctld.err" 2>&1
	lab_until 30 lab_answers && return
	lab_say "slurmctld does not answer; its log ends:"
	tail -n 15 "$LAB_DIR/log/slurmctld.err" "$LAB_DIR/log/slurmctld.log" >&2
	return 1
}

lab_start_slurmds() {
	local i
	for ((i = 0; i < LAB_NODES; i++)); do
		lab_start_slurmd "$(lab_node "$i")" || return 1
	done
}

lab_start_slurmd() {
	mkdir -p "$LAB_DIR/spool/$1"
	/usr/sbin/slurmd -N "$1" -f "$SLURM_CONF" </dev/null \
		>"$LAB_DIR/log/slurmd.$1.err" 2>&1 && return
	lab_say "slurmd of $1 did not start:"
	tail -n 5 "$LAB_DIR/log/slurmd.$1.err" "$LAB_DIR/log/slurmd.$1.log" >&2
	return 1
}

lab_answers() {
	scontrol ping 2>/dev/null | grep -q 'is UP'
}

# Every node is there and free of trouble (idle; cloud nodes show idle~).
lab_ready() {
	local ready
	ready=$(sinfo -h -N -p main -t idle,alloc,mix -o '%N %t' 2>/dev/null |
		grep -cv '[*]')
	[ "$ready" = "$LAB_NODES" ]
}

lab_running() {
	[ -d "/proc/$1" ] && ! grep -q '^State:.Z' "/proc/$1/status" 2>/dev/null
}

# lab_end PID SECONDS: asks it to end, waits, then insists.
lab_end() {
	lab_running "$1" || return 0
	kill "$1" 2>/dev/null
	lab_until "$2" lab_gone "$1" && return
	kill -9 "$1" 2>/dev/null
	lab_until 5 lab_gone "$1"
}

lab_gone() {
	! lab_running "$1"
}

lab_pid() {
	cat "$LAB_DIR/run/$1.pid" 2>/dev/null
}

lab_stop_slurmctld() {
	local pid
	pid=$(lab_pid slurmctld)
	[ -z "$pid" ] || lab_end "$pid" 20
}

# Jobs go on.
lab_restart_slurmctld() {
	local known
	known=$(lab_reported)
	lab_stop_slurmctld && lab_start_slurmctld &&
		lab_until 60 lab_has_reported "$known" && lab_until 60 lab_ready
}

# Has slurmctld read its files again, and the nodes known to whoever did: from
# 23.11 on that is a new slurmctld.
lab_reconfigure() {
	local known
	known=$(lab_reported)
	scontrol reconfigure && lab_until 60 lab_has_reported "$known"
}

# How many nodes have reported to this slurmctld; a cloud node that runs nowhere
# never does.  Until then a node has no GPUs to give and takes no job, also if
# sinfo shows it allocated.
lab_reported() {
	scontrol show node -o 2>/dev/null |
		grep -c 'SlurmdStartTime=[^N ]'
}

lab_has_reported() {
	[ "$(lab_reported)" -ge "$1" ]
}

# lab_switch MODE: restarts slurmctld with another mode, jobs kept.  Only
# between stock and shadow: a named select type concerns every daemon.
lab_switch() {
	LAB_MODE=$1
	lab_configure && lab_restart_slurmctld
}

# Processes of this lab: they were told its slurm.conf or live in its folder.
# This shell and those it was started by are not among them.
lab_processes() {
	local proc pid
	for proc in /proc/[0-9]*; do
		pid=${proc#/proc/}
		[ "$pid" = $$ ] || [ "$pid" = "$BASHPID" ] && continue
		[ "$(cat "$proc/comm" 2>/dev/null)" = bash ] && continue
		if tr '\0' '\n' 2>/dev/null <"$proc/environ" |
			grep -qxF "SLURM_CONF=$LAB_DIR/etc/slurm.conf" ||
			tr '\0' ' ' 2>/dev/null <"$proc/cmdline" |
			grep -qF "$LAB_DIR/"; then
			lab_running "$pid" && echo "$pid"
		fi
	done
}

# Ends every daemon and job, removes the folder.  Safe to call twice, and from
# a half-made lab.
lab_destroy() {
	local pid file

	trap - EXIT
	[ -n "$LAB_DIR" ] && [ -d "$LAB_DIR" ] || return 0
	if [ "$LAB_KIND" != cloud ] && [ -S "$LAB_DIR/munge/socket" ]; then
		timeout 10 scancel --state=RUNNING --full -u "$(id -un)" \
			>/dev/null 2>&1
		lab_until 3 lab_no_jobs
	fi
	lab_stop_slurmctld
	for file in "$LAB_DIR"/run/slurmd.*.pid; do
		[ -e "$file" ] && kill "$(cat "$file")" 2>/dev/null
	done
	for file in "$LAB_DIR"/run/*.pid; do
		[ -e "$file" ] && lab_end "$(cat "$file")" 10
	done
	for pid in $(lab_processes); do
		lab_end "$pid" 2
	done
	rm -rf "$LAB_DIR"
	LAB_DIR=
	unset SLURM_CONF
}

lab_no_jobs() {
	[ -z "$(squeue -h -o %i 2>/dev/null)" ]
}

# ======== jobs ========

# lab_submit SBATCH_ARGS...: submits a job that sleeps; prints its id.
lab_submit() {
	sbatch --parsable -o /dev/null -e /dev/null "$@" \
		--wrap 'exec sleep 3600' | sed 's/;.*//'
}

# lab_job JOB FIELD: a field of scontrol's record.
lab_job() {
	scontrol show job -o "$1" 2>/dev/null | head -n 1 |
		tr ' ' '\n' | sed -n "s|^$2=||p" | head -n 1
}

# One of the states in $2 (a|b) is reached in good time.
lab_wait_job() {
	lab_until 30 lab_job_in "$1" "$2" && return
	lab_say "job $1 is $(lab_job "$1" JobState)" \
		"($(lab_job "$1" Reason)), not $2, after 30 s"
	return 1
}

lab_job_in() {
	[[ $(lab_job "$1" JobState) =~ ^($2)$ ]]
}

# Submits and waits until it runs; prints its id.  Cloud jobs count as running
# while their nodes are "configured".
lab_run() {
	local job
	job=$(lab_submit "$@") && [ -n "$job" ] || return 1
	echo "$job"
	lab_wait_job "$job" 'RUNNING|CONFIGURING'
}

# Nodes of a job, one a line.
lab_job_nodes() {
	local list
	list=$(lab_job "$1" NodeList)
	[ -n "$list" ] && [ "$list" != "(null)" ] && scontrol show hostnames "$list"
}

# GPU indices of a job: lines "NODE LIST", e.g. "n03 0-7".
lab_job_gpus() {
	local nodes gpus node
	scontrol show job -d -o "$1" | head -n 1 | tr ' ' '\n' |
		awk '/^Nodes=/ { nodes = substr($0, 7) }
		     /^GRES=gpu/ { sub(/.*IDX:/, ""); sub(/\).*/, "")
			     if (nodes != "") print nodes, $0 }' |
		while read -r nodes gpus; do
			for node in $(scontrol show hostnames "$nodes"); do
				echo "$node $gpus"
			done
		done
}

# What is taken now, in the words of `weft plan --busy`: "n00:0-3,n00:6,n04".
# Nodes that take no jobs count as wholly busy.
lab_busy() {
	local job node gpus part list=
	for job in $(squeue -h -t R,CF,S,CG -o %A); do
		while read -r node gpus; do
			for part in ${gpus//,/ }; do
				list+=",$node:$part"
			done
		done < <(lab_job_gpus "$job")
	done
	for node in $(sinfo -h -N -p main -t down,drain -o %N); do
		list+=",$node"
	done
	echo "${list#,}"
}

# Cancels every job and waits until the nodes are free again.
lab_clear() {
	scancel -u "$(id -un)" 2>/dev/null
	lab_until 60 lab_no_jobs && lab_until 60 lab_ready && return
	lab_say "jobs or nodes did not become free: $(squeue -h | head -n 3)"
	return 1
}

# ======== slurmctld's log ========

# The log's length now, for lab_log_since.
lab_log_mark() {
	wc -l <"$LAB_DIR/log/slurmctld.log"
}

# lab_log_since MARK PATTERN: lines written after MARK that match.
lab_log_since() {
	tail -n +"$(($1 + 1))" "$LAB_DIR/log/slurmctld.log" | grep -E -- "$2"
}
