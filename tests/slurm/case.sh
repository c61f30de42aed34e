# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# case.sh - what the live cases have in common: sourced by tests/slurm/run.

# The job of most cases: 8 nodes of 8 GPUs, tensor groups within a node.
# shellcheck disable=SC2034 # used by the cases
SPEC=tp=8,pp=2,dp=4
# shellcheck disable=SC2034
WHOLE=(-N8 --gpus-per-node=8)

# Length of slurmctld's log when the case began; run sets it.
case_since=0

skip() {
	echo "$*"
	exit 77
}

# For cases about what only weft does.
need_weft() {
	[ "$LAB_MODE" != stock ] || skip "stock mode: there is no weft"
}

# need_topology NAME: for cases about what stock itself knows of the fabric; run
# leaves them out where it knows something else.
need_topology() {
	[ "$LAB_TOPOLOGY" = "$1" ] || fail "run on topology/$LAB_TOPOLOGY"
}

fail() {
	echo "FAILED: $*"
	return 1
}

# expect WHAT GOT WANTED
expect() {
	[ "$2" = "$3" ] || fail "$1: got '$2', expected '$3'"
}

# expect_match WHAT GOT REGEX
expect_match() {
	[[ $2 =~ $3 ]] || fail "$1: got '$2', expected a match of '$3'"
}

# Words or lines in, one sorted line out.
one_line() {
	tr ' ' '\n' | sort | xargs
}

# Nodes of hostlist $1, sorted, one line.
expand() {
	scontrol show hostnames "$1" | one_line
}

job_nodes() {
	lab_job_nodes "$1" | one_line
}

# The command that was built.
weft() {
	"$WEFT_BUILDDIR/weft" "$@"
}

# occupy NODES GPUS: a job that takes so many GPUs of each of these nodes; one
# for each node where stock lets no job cross its blocks at will.
occupy() {
	local n node
	if [ "$LAB_TOPOLOGY" = block ] && [[ $1 == *[,[]* ]]; then
		for node in $(scontrol show hostnames "$1"); do
			occupy "$node" "$2"
		done
		return
	fi
	n=$(scontrol show hostnames "$1" | wc -l)
	lab_run -N"$n" -w "$1" --gpus-per-node="$2" --comment=weft:off \
		--job-name=occupy >/dev/null
}

# plan SPEC [WEFT_PLAN_OPTIONS...]: the nodes that the command line chooses with
# what is taken now.  Call it before the job is submitted.
plan() {
	local spec=$1 busy nodes
	shift
	busy=$(lab_busy)
	nodes=$("$WEFT_BUILDDIR/weft" plan --json \
		--fabric "$LAB_DIR/etc/fabric.yaml" \
		${busy:+--busy "$busy"} --job "$spec" "$@" |
		jq -r '.nodes[]' | one_line)
	[ -n "$nodes" ] || fail "weft plan places nothing for $spec" >&2 ||
		return 1
	echo "$nodes"
}

# expect_plan SPEC PLAN_SPEC SBATCH_ARGS...: a job with that spec lands on the
# nodes that `weft plan` names for PLAN_SPEC.
expect_plan() {
	local spec=$1 wanted job
	wanted=$(plan "$2")
	shift 2
	job=$(lab_run --comment="weft:$spec" "$@")
	expect "nodes of $spec" "$(job_nodes "$job")" "$wanted"
	expect_match "comment" "$(comment "$job")" 'weft: .*cost|weft: .*bound'
}

# What weft wrote into the job's record; blanks and all.
comment() {
	scontrol show job "$1" | sed -n 's/^ *SystemComment=//p'
}

# A line of slurmctld's log since the case began.
expect_log() {
	lab_until 30 log_has "$1" || fail "no line in slurmctld's log has '$1'"
}

log_has() {
	lab_log_since "$case_since" "$1" >/dev/null
}

# still_waits JOB: a job of less priority runs, so JOB was asked about before it
# and not started.
still_waits() {
	local later
	later=$(lab_submit -N1 -n1 --mem=1M --time=1)
	lab_wait_job "$later" RUNNING || fail "nothing runs beside job $1"
	expect "state of job $1" "$(lab_job "$1" JobState)" PENDING
	scancel "$later"
}

# expect_start_time JOB: backfill has planned it.
expect_start_time() {
	lab_until 30 has_start_time "$1" || fail "job $1 gets no start time"
}

has_start_time() {
	[[ $(lab_job "$1" StartTime) =~ ^20 ]]
}

# Where backfill means to start a job that waits.
nodes_awaited() {
	expand "$(lab_job "$1" SchedNodeList)"
}

# expect_pending_reason JOB REASON: as Slurm words it.
expect_pending_reason() {
	lab_until 30 has_reason "$1" "$2" ||
		fail "reason of job $1: $(lab_job "$1" Reason), not $2"
}

has_reason() {
	[ "$(lab_job "$1" Reason)" = "$2" ]
}

expect_alive() {
	lab_answers || fail "slurmctld is gone"
}

# How many leaf switches the nodes given (words) lie under.
leafs_of() {
	local node
	for node in $1; do
		echo $((10#${node#n} / LAB_NODES_PER_LEAF))
	done | sort -u | wc -l
}

# Everything a case may have changed, back as it was.
lab_reset() {
	local reservation node
	lab_running "$(lab_pid slurmctld)" || lab_start_slurmctld || return 1
	scancel -u root 2>/dev/null
	lab_until 30 lab_no_jobs || fail "jobs stay: $(squeue -h | head -n 2)"
	scontrol show reservation -o 2>/dev/null |
		sed -n 's/^ReservationName=\([^ ]*\) .*/\1/p' |
		while read -r reservation; do
			scontrol delete "reservation=$reservation"
		done
	if [ -e "$LAB_DIR/changed" ]; then
		rm -f "$LAB_DIR/changed"
		lab_write_fabric
		lab_write_weft
		lab_configure
		scontrol update nodename="$(lab_node)" weight=1 features=
		sinfo -h -N -p main -t drain,down -o %N | while read -r node; do
			scontrol update nodename="$node" state=resume
		done
		lab_reconfigure
	fi
	lab_until 30 lab_ready ||
		fail "nodes stay busy: $(sinfo -h -p main -o '%N %t' | xargs)"
}

# To be said before nodes' records or weft's files are changed.
changing() {
	touch "$LAB_DIR/changed"
}

# ---- what weft knows, weft-status-file(5) ----

# status FILTER: of the snapshot.
status() {
	jq -r "$1" "$LAB_DIR/run/status.json"
}

# status_becomes FILTER WANTED: in good time.
status_becomes() {
	lab_until 30 status_is "$1" "$2" ||
		fail "$1 is '$(status "$1")', not '$2'"
}

status_is() {
	[ "$(status "$1")" = "$2" ]
}

# The filter for the free GPUs of node $1.
free_gpus() {
	echo ".nodes[] | select(.name == \"$1\") | .gpus_free"
}

# Asks for a recount and waits for it; what differed is printed.
recount() {
	local before
	before=$(status '.recount.counts // 0')
	touch "$LAB_DIR/run/status.json.verify"
	lab_until 30 test ! -e "$LAB_DIR/run/status.json.verify"
	# Any question has it done.
	sbatch --test-only -N1 --gpus-per-node=1 --comment=weft:tp=1 \
		--wrap true >/dev/null 2>&1
	lab_until 30 counted_since "$before" || fail "no recount"
	status '.recount | [.cpus_differ, .memory_differ, .gpus_differ,
		.gpus_given_twice] | @csv'
}

counted_since() {
	[ "$(status '.recount.counts // 0')" -gt "$1" ]
}
