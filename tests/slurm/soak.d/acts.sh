# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# acts.sh - the actions of soak: act_VERB WORDS for each verb of actions.awk.
#
# None of them may fail the run: to ask Slurm for what it refuses (a requeue of a
# job that has just ended) is part of the trouble.

# Lines of slurmctld's log that these actions explain.
EXPECTED_LOG='(keeping the fabric|all jobs are placed by Slurm alone).*(fabric|weft)\.yaml'
EXPECTED_LOG+='|health\.yaml'

# Jobs may be requeued from here on.  Of one that is before its nodes were up
# Slurm 22.05 loses the GPUs, in its record or on the nodes: a recount tells.
# shellcheck disable=SC2034 # soak looks at strict
act_requeues() {
	strict=
	EXPECTED_LOG+='|a recount found other GPUs free'
}

# In lines, out K of them, drawn by seed and action.
# shellcheck disable=SC2154 # soak sets line
draw() {
	awk -v seed="$SEED$line" -v k="$1" '
	{ all[NR] = $0 }
	END {
		srand(seed)
		for (n = NR; k-- > 0 && n > 0; all[i] = all[n--]) {
			i = int(rand() * n) + 1
			print all[i]
		}
	}'
}

# jobs_in STATES: ids, array tasks by their own.
jobs_in() {
	squeue -h -t "$1" -o %A | sort -n
}

# on_some STATES K COMMAND...: once for all of K jobs drawn.
on_some() {
	local ids
	mapfile -t ids < <(jobs_in "$1" | draw "$2")
	shift 2
	[ ${#ids[@]} = 0 ] || "$@" "${ids[@]}" >/dev/null 2>&1
}

# ======== jobs ========

# Weft's words may hold any byte; blanks they do not.
act_submit() {
	local name=${1%% *} words=() word id made=1
	for word in ${1#* }; do
		word=${word//@last/${last_id:-1}}
		[[ $word == *\\* ]] && printf -v word %b "$word"
		words+=("$word")
		[[ $word =~ ^--array=0-([0-9]+)$ ]] &&
			made=$((BASH_REMATCH[1] + 1))
		[ "$word" = : ] && words+=(-o /dev/null -Q) && made=2
	done
	n_jobs=$((n_jobs + made))
	id=$(sbatch --parsable -o /dev/null -J "$name" "${words[@]}" \
		"$LAB_DIR/job" 2>"$LAB_DIR/sbatch.err")
	if [ -z "$id" ]; then
		refused=$((refused + made))
		sed 's/^/	/' "$LAB_DIR/sbatch.err" >>"$LAB_DIR/log/actions"
		return
	fi
	last_id=${id%%;*}
	submitted_at=$EPOCHSECONDS
	case " ${words[*]} " in
	*' : '*) echo "$last_id het" ;;
	*' --array='*) echo "$last_id array $made" ;;
	*) echo "$last_id" ;;
	esac >>"$LAB_DIR/submitted"
}

# Cancels, and says so to lost.awk: of a task that never ran nothing remains.
cancel() {
	printf '%s\n' "$@" >>"$LAB_DIR/cancelled"
	printf '%s\n' "$@" | xargs -r -n 500 scancel 2>/dev/null
}

# Ends a share of what runs.
act_end() {
	local n ids
	mapfile -t ids < <(jobs_in R,CF,S)
	n=$(awk -v n=${#ids[@]} -v share="$1" 'BEGIN { print int(n * share) }')
	mapfile -t ids < <(printf '%s\n' "${ids[@]}" | draw "$n")
	[ "$n" = 0 ] || cancel "${ids[@]}"
}

# No more than so many jobs wait, or the queue would outgrow the cluster.
act_thin() {
	local ids drawn
	mapfile -t ids < <(squeue -h -r -t PD -o %i | sort)
	[ ${#ids[@]} -gt "$1" ] || return
	mapfile -t drawn < <(printf '%s\n' "${ids[@]}" |
		draw $((${#ids[@]} - $1)))
	cancel "${drawn[@]}"
}

act_cancel() {
	on_some PD,R,CF,S "$1" cancel
}

act_requeue() {
	on_some R,CF,S "$1" one_by_one scontrol requeue
}

act_hold() {
	on_some PD "$1" one_by_one scontrol hold
}

act_release() {
	local id
	squeue -h -t PD -o '%A %r' | sed -n 's/ Job[A-Za-z]*Held.*//p' |
		while read -r id; do
			scontrol release "$id" 2>/dev/null
		done
}

act_prio() {
	on_some PD "$1" one_by_one set_priority
}

set_priority() {
	scontrol update jobid="$1" priority=$((1000000 + $1))
}

act_suspend() {
	on_some R,CF "$1" one_by_one scontrol suspend
}

act_resume() {
	on_some S 100 one_by_one scontrol resume
}

# one_by_one COMMAND [WORD] -- IDS: scontrol takes one job at a time.
one_by_one() {
	local command=("$1") id
	shift
	while [[ ${1:-} =~ ^[a-z] ]]; do
		command+=("$1")
		shift
	done
	for id in "$@"; do
		"${command[@]}" "$id"
	done
}

# Everything ends, asked again as long as jobs come back from a requeue.
end_all() {
	local i
	act_resume
	for ((i = 0; i < 5; i++)); do
		squeue -h -r -o %i >>"$LAB_DIR/cancelled"
		scancel -u "$(id -un)" 2>/dev/null
		lab_until 10 lab_no_jobs && return
	done
}

# The main scheduler has gone through the queue since the last submission.
act_settle() {
	cycles=$(cycles_done)
	lab_until 5 cycle_ended
}

cycles_done() {
	sdiag | sed -n '/^Main/,/^Backfilling/s/^[[:space:]]*Total cycles: *//p'
}

cycle_ended() {
	[ "$(cycles_done)" != "$cycles" ]
}

# ======== nodes, partitions, reservations ========

# No slurmd answers for a cloud node: after a restart slurmctld would wait for
# those that had jobs.  Powered down, they are as new.
act_rouse() {
	local names
	names=$(scontrol show node -o |
		sed -n 's/^NodeName=\([^ ]*\) .* State=IDLE[^ ]*NOT_RESPONDING.*/\1/p' |
		xargs | tr ' ' ,)
	[ -z "$names" ] ||
		scontrol update nodename="$names" state=power_down_force 2>/dev/null
}

act_node() {
	scontrol update nodename="${1#* }" state="${1% *}" reason=soak 2>/dev/null
}

act_partition() {
	scontrol update partitionname="${1% *}" state="${1#* }" 2>/dev/null
}

act_reserve() {
	scontrol create reservation="${1% *}" starttime=now duration=30 \
		nodes="${1#* }" users=root flags=ignore_jobs >/dev/null 2>&1
}

act_unreserve() {
	scontrol delete reservation="$1" >/dev/null 2>&1
}

# ======== files ========

# into FILE: the text on stdin, at once.
into() {
	cat >"$LAB_DIR/etc/$1.new" && mv "$LAB_DIR/etc/$1.new" "$LAB_DIR/etc/$1"
}

# Valid changes first; then what slurmctld must not take.
act_fabric() {
	local good=$LAB_DIR/fabric.good
	case $1 in
	good) cat "$good" ;;
	rates) sed 's/oversubscription: 2/oversubscription: 3/' "$good" ;;
	rename) sed 's/leaf3:/rack3:/; s/leaf\[0-3\]/leaf[0-2],rack3/' "$good" ;;
	remove) sed 's/n\[000-255\]/n[000-254]/; s/n\[240-255\]/n[240-254]/' \
		"$good" ;;
	broken) head -c 200 "$good" ;;
	missing) echo ;;
	esac | into fabric.yaml
	[ "$1" != missing ] || rm -f "$LAB_DIR/etc/fabric.yaml"
	act_reconfigure
}

# From "off" to the next "mend" no job needs a word of weft.
act_settings() {
	local good=$LAB_DIR/weft.good
	[[ $1 != off && $1 != ignore ]] || off_begins
	case $1 in
	broken) printf 'weft: slurm/1\nfabric: [' ;;
	off) sed 's/^fabric/enabled: no\nfabric/' "$good" ;;
	ignore) sed 's/^fabric/unspecified: ignore\nfabric/' "$good" ;;
	*) cat "$good" ;;
	esac | into weft.yaml
	[ "$1" != missing ] || rm -f "$LAB_DIR/etc/weft.yaml"
	act_reconfigure
}

off_begins() {
	off_since=${off_since:-$EPOCHSECONDS}
}

# The seconds in which weft was off; what is off now ends later.
off_list() {
	cat "$LAB_DIR/off.past"
	[ -z "$off_since" ] || echo "$off_since $((EPOCHSECONDS + 10))"
}

# Weft reads it by itself; a broken one leaves the last good one in force.
act_health() {
	case $1 in
	ill*) printf 'weft: health/1\nnodes:\n  %s: 1.5\nlinks:\n  leaf7: 2\n' \
		"${1#* }" ;;
	broken*) printf 'weft: health/1\nnodes: [' ;;
	*) printf 'weft: health/1\n' ;;
	esac | into health.yaml
}

act_mend() {
	into weft.yaml <"$LAB_DIR/weft.good"
	into fabric.yaml <"$LAB_DIR/fabric.good"
	act_reconfigure
	[ -z "$off_since" ] ||
		echo "$off_since $((EPOCHSECONDS + 1))" >>"$LAB_DIR/off.past"
	off_since=
	for partition in main half urgent; do
		scontrol update partitionname=$partition state=up
	done
}

act_reconfigure() {
	reconfigures=$((reconfigures + 1))
	lab_reconfigure 2>/dev/null
}

# ======== slurmctld ========

# SIGKILL.  A job of which slurmctld had not yet saved the record would be lost
# with or without weft: it saves every few seconds.
act_kill() {
	[ "$1" != mended ] || act_mend
	[ "$1" = mended ] || off_begins
	lab_until 30 submissions_saved ||
		fault "slurmctld saves no state"
	lab_running "$slurmctld_pid" || fault "slurmctld was gone before"
	kill -9 "$slurmctld_pid"
	lab_until 10 lab_gone "$slurmctld_pid"
	kills=$((kills + 1))
	lab_start_slurmctld || fault "slurmctld does not come back"
	slurmctld_pid=$(lab_pid slurmctld)
}

submissions_saved() {
	[ "$(stat -c %Y "$LAB_DIR/state/job_state" 2>/dev/null || echo 0)" \
		-gt "${submitted_at:-0}" ]
}

act_checkpoint() {
	checkpoint "$1"
}
