# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154,SC2317 # differential sets and calls them
# SPDX-License-Identifier: GPL-3.0-or-later
# twins.sh - two slurmctlds, stock and weft, in one state.
#
# lab.sh knows one cluster: "use TWIN" makes it that one.

salloc_pid=

LAB_KIND=cloud LAB_NODES_PER_LEAF=4
# Other work on this machine is not to use a decision's time up.
LAB_BUDGET='200 ms'
declare -A twin_dir twin_port twin_cluster scontrol_pid scontrol_in scontrol_out
declare -A cycles_since

use() {
	twin=$1
	LAB_DIR=${twin_dir[$1]:-}
	LAB_PORT=${twin_port[$1]:-}
	LAB_CLUSTER=${twin_cluster[$1]:-$1}
	LAB_MODE=stock LAB_BUILD=
	if [ "$1" = weft ] && [ "$WEFT_MODE" != stock ]; then
		LAB_MODE=$WEFT_MODE
		LAB_BUILD=$WEFT_BUILDDIR
	fi
	export SLURM_CONF=$LAB_DIR/etc/slurm.conf
}

# ======== clients ========

# As a user without rights in Slurm.  From 25.11 on Slurm takes the name nobody for
# a number that no job may have.
AS_USER='setpriv --reuid=daemon --regid=daemon --clear-groups --'

# ask CLIENT ARGUMENTS...: of the twin in use.  One that has not answered for a
# minute is not asked again: stock's slurmctld sometimes loops for ever below
# gres_select_filter_select_and_set, and each client would wait in vain.
ask() {
	local rc
	is_silent && return 1
	timeout --foreground 60 "$@"
	rc=$?
	[ $rc != 124 ] || : >"$LAB_DIR/silent"
	return $rc
}

is_silent() {
	[ -e "$LAB_DIR/silent" ]
}

scontrol() {
	ask scontrol "$@"
}

squeue() {
	ask squeue "$@"
}

sdiag() {
	ask sdiag
}

scancel() {
	ask scancel "$@"
}

# ======== files of the case ========

# lines KIND: those of the case, without the word.
lines() {
	sed -n "s/^$1 //p" "$case_now"
}

lab_write_gres() {
	lines gres | sed "s|@|$LAB_DIR/|"
}

lab_write_switches() {
	lines switch
}

lab_write_fabric() {
	{
		echo "weft: fabric/1"
		echo "name: twins"
		echo "profile: dgx-h100-superpod"
		echo "nodes:"
		lines 'fabric nodes' | sed 's/^/  /'
		echo "levels:"
		echo "  leaf:"
		lines 'fabric leaf' | sed 's/^/    /'
		echo "  pod:"
		lines 'fabric pod' | sed 's/^/    /'
	} >"$LAB_DIR/etc/fabric.yaml"
}

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
		SlurmctldParameters=power_save_interval=1
		PrivateData=cloud
		SchedulerType=sched/backfill
		SchedulerParameters=bf_interval=1,sched_interval=1,batch_sched_delay=0
		MessageTimeout=30
		SlurmctldTimeout=300
		SlurmdTimeout=0
		MinJobAge=300
	END
	[ "$LAB_ACCOUNTS" = none ] || accounts_conf_client
	lines slurm
}

# ======== start and stop ========

twins_create() {
	local name
	case_now=/dev/null
	for name in stock weft; do
		use "$name"
		LAB_SALT=$((LAB_SALT + 500))
		lab_create || return 1
		twin_dir[$name]=$LAB_DIR
		twin_port[$name]=$LAB_PORT
		twin_cluster[$name]=$name${work##*/}
		# lab.sh would end the last one alone.
		# shellcheck disable=SC2154 # of differential
		trap 'twins_destroy; [ $BASHPID != $$ ] || twins_leave' EXIT
		# One key, that slurmdbd understands all.
		[ -z "$accounts_dir" ] ||
			cp "$accounts_dir/munge/key" "$LAB_DIR/munge/key"
		lab_start_munged || return 1
		chmod 755 "$LAB_DIR" "$LAB_DIR/munge"
	done
}

# Ended between cases, by a signal.
twins_leave() {
	accounts_end
	rm -rf "$folder"
}

twins_destroy() {
	local name file
	trap - EXIT
	for name in "${!twin_dir[@]}"; do
		use "$name"
		end_slurmctld
		for file in "$LAB_DIR"/run/*.pid; do
			[ -e "$file" ] && lab_end "$(cat "$file")" 10
		done
		rm -rf "$LAB_DIR"
	done
	twin_dir=()
}

# twins_begin FILE: fresh slurmctlds on the case's cluster.
twins_begin() {
	local name value
	case_now=$1
	while read -r name value; do
		# LAB_NODES, LAB_TOPOLOGY, LAB_ACCOUNTS, select
		declare -g "$name=$value"
	done < <(lines 'set' | tr '=' ' ')
	for name in stock weft; do
		use "$name"
		end_slurmctld
		rm -rf "$LAB_DIR/state" "$LAB_DIR/log" "$LAB_DIR/silent"
		mkdir "$LAB_DIR/state" "$LAB_DIR/log"
		rm -f "$LAB_DIR/etc/topology.conf"
		lab_write_fabric
		lab_write_weft
		"lab_write_$LAB_TOPOLOGY"
		lab_write_gres >"$LAB_DIR/etc/gres.conf"
		lab_configure || return 1
		sed -i "s/^SelectTypeParameters=.*/SelectTypeParameters=$select/" \
			"$LAB_DIR"/etc/{slurm,controller}.conf
		lab_start_slurmctld && lab_until 60 lab_ready || return 1
		[ "$LAB_MODE" = stock ] || lab_until 30 weft_is_on || return 1
	done
	runs=()
}

# On a busy machine its files may be read late.
weft_is_on() {
	grep -q 'weft: mode place' "$LAB_DIR/log/slurmctld.log"
}

# scontrol_ask COMMAND: what the twin's one scontrol prints, into told.  Starting a
# client costs many times what an answer does.
scontrol_ask() {
	local text
	told=
	! is_silent || return
	[ -n "${scontrol_pid[$twin]:-}" ] || scontrol_start
	printf '%s\nversion\n' "$1" >&"${scontrol_in[$twin]}"
	while read -r -t 60 -u "${scontrol_out[$twin]}" text; do
		case $text in
		scontrol:* | '') ;;
		slurm*' '[0-9]*.[0-9]*) return ;;
		*) told+=${told:+$'\n'}$text ;;
		esac
	done
	: >"$LAB_DIR/silent"
	scontrol_end
}

scontrol_start() {
	local in out
	rm -f "$LAB_DIR"/run/scontrol.*
	mkfifo "$LAB_DIR"/run/scontrol.{in,out}
	exec {in}<>"$LAB_DIR/run/scontrol.in" {out}<>"$LAB_DIR/run/scontrol.out"
	command scontrol <&"$in" >&"$out" 2>&1 &
	scontrol_pid[$twin]=$!
	scontrol_in[$twin]=$in scontrol_out[$twin]=$out
	printf 'oneliner\ndetails\n' >&"$in"
}

# Its library for lines catches SIGTERM, and may lose it.
scontrol_end() {
	local in=${scontrol_in[$twin]:-} out=${scontrol_out[$twin]:-}
	[ -n "${scontrol_pid[$twin]:-}" ] || return 0
	kill -KILL "${scontrol_pid[$twin]}"
	wait "${scontrol_pid[$twin]}" 2>/dev/null
	exec {in}>&- {out}>&-
	scontrol_pid[$twin]=
}

# What it would save is of no use.  The number in its file may be another's by now.
end_slurmctld() {
	local pid
	scontrol_end
	pid=$(lab_pid slurmctld)
	rm -f "$LAB_DIR/run/slurmctld.pid"
	is_ours "$pid" || return
	kill -9 "$pid"
	until lab_gone "$pid"; do
		sleep 0.02
	done
}

is_ours() {
	[ -n "$1" ] && tr '\0' ' ' 2>/dev/null <"/proc/$1/cmdline" |
		grep -qF "slurmctld -f $LAB_DIR/"
}

# Both are still there, and answer.
have_survived() {
	local name
	for name in stock weft; do
		use $name
		! is_silent && is_ours "$(lab_pid slurmctld)" && continue
		differ gone "slurmctld of $name"
		return 1
	done
}

# both COMMAND...
both() {
	local name
	for name in stock weft; do
		use $name
		"$@"
	done
}

# ======== the state ========

state_node() {
	# shellcheck disable=SC2086 # words
	both quietly scontrol update $1
}

# Both have the same clock, or a job that ends at its start would differ.  24.11
# reserves nodes by when the jobs on them end, to the second, and the twins' jobs did
# not start in the same one: what lies elsewhere then is none, to be counted.
state_reserve() {
	local name=${1%% *}
	# shellcheck disable=SC2086 # words
	both quietly scontrol create reservation $1
	[ "$(both nodes_reserved "${name#*=}" | uniq | wc -l)" = 2 ] || return 0
	both quietly scontrol delete "$name"
	echo "reserve: elsewhere" >>"$work/decided"
}

nodes_reserved() {
	scontrol show reservation -o "$1" | sed -nE 's/.* Nodes=([^ ]*) .*/\1/p'
}

quietly() {
	"$@" >>"$LAB_DIR/log/commands" 2>&1
}

# A job on named nodes that runs in both, or in none.
state_run() {
	local words verdict=() name
	read -ra words <<<"$1"
	for name in stock weft; do
		use $name
		decide_now "${words[@]}"
		salloc_end KILL
		verdict+=("$said")
		runs+=("$name $id")
		[ "$said" = starts ] || quietly scancel "$id"
	done
	[ "${verdict[0]}" = "${verdict[1]}" ] ||
		differ state "$1: stock ${verdict[0]}, weft ${verdict[1]}"
}

# What is taken of each node, and what it does; what is reserved.
state_of() {
	scontrol show reservation -o |
		sed -nE 's/^ReservationName=([^ ]*) .* Nodes=([^ ]*) .* TRES=([^ ]*) .*/\1=\2=\3/p'
	scontrol show node -d -o |
		sed -E 's/.*NodeName=([^ ]*) .*CPUAlloc=([0-9]*) .*GresUsed=([^ ]*) .*AllocMem=([0-9]*) .* State=([^ ]*) .*/\1 \2 \3 \4 \5/'
}

# states_are_alike COLUMNS: of state_of's.
states_are_alike() {
	local name
	for name in stock weft; do
		use $name
		state_of | cut -d ' ' -f "$1" >"$work/state.$name"
	done
	! grep -q 'POWER_UP' "$work/state.stock" "$work/state.weft" &&
		cmp -s "$work/state.stock" "$work/state.weft"
}

# A fault, and nothing more to compare, where they are not alike.  Nodes that are
# to be powered up are a second later; the jobs that are tried power up others.
compare_states() {
	local columns=1-4
	[ -n "$tried" ] || columns=1-5
	lab_until 6 states_are_alike $columns && return
	# What is left of a refused job may start after all, later than submit's scancel.
	both quietly scancel -n wrap
	lab_until 6 states_are_alike $columns && return
	differ state "$(diff "$work/state.stock" "$work/state.weft" | xargs)"
	return 1
}

# The jobs before have powered up some nodes of the one and some of the other, and
# Slurm chooses by that: with --contiguous, say, it starts a job on nodes that are up
# which it refuses while they are down.
level_states() {
	both power_up "$(both nodes_up | sort -u)"
	compare_states
}

# power_up NODES: one a line, sorted; those of them that are down.
power_up() {
	local lacking
	lacking=$(nodes_up | sort | comm -13 - <(echo "$1") | paste -sd ,)
	[ -z "$lacking" ] ||
		quietly scontrol update "NodeName=$lacking" State=POWER_UP
}

# set_weight NODE WEIGHT: of its own, without a second one.
set_weight() {
	scontrol_ask "update NodeName=$1 Weight=${2:-$((weight_of[$1] % 1000000))}"
}

nodes_up() {
	state_of | awk 'NF == 5 && $5 !~ /POWERED_DOWN/ { print $1 }'
}

# What a site would rather not have: lines "NODE WEIGHT", and 1000000 more for a
# node that is powered down.
read_weights() {
	local node weight
	declare -gA weight_of=()
	use stock
	while read -r node weight; do
		weight_of[$node]=$weight
	done < <(scontrol show node -o | sed -nE 's/^NodeName=([^ ]*) .* State=([^ ]*) .* Weight=([0-9]+) .*/\1 \3 \2/p' |
		awk '{ print $1, $2 + ($3 ~ /POWERED_DOWN/ ? 1000000 : 0) }')
	untouched=yes
}

# ======== one job on the twin in use ========

# Each decide_WAY sets said (starts, waits, held or refused), id, the record and text, what was said besides.

# salloc is not let wait for nodes that never come up; its end, by salloc_end, is
# the job's, or not.
decide_now() {
	id='' said=refused text='' record=''
	! is_silent || return
	# shellcheck disable=SC2086 # words
	exec {salloc_fd}< <(exec $AS_USER salloc --no-shell "$@" 2>&1)
	salloc_pid=$!
	while true; do
		read -r -t 60 -u "$salloc_fd" text || {
			[ $? -le 128 ] || : >"$LAB_DIR/silent"
			break
		}
		case $text in
		*'Granted job allocation '*) said=starts ;;
		*'Pending job allocation '*) said=waits ;;
		*) continue ;;
		esac
		id=${text##* }
		break
	done
	if [ -n "$id" ]; then
		read_record
		[ "$said" != waits ] || await_next "$@"
	else
		salloc_end TERM
	fi
}

# salloc_reads SECONDS: what salloc still says; fails where it does not end.
salloc_reads() {
	local rc=0
	while [ $rc = 0 ]; do
		read -r -t "$1" -u "$salloc_fd" _
		rc=$?
	done
	[ $rc -le 128 ]
}

# salloc_end SIGNAL: with KILL its job stays, with TERM it gives it back.  A
# signal that comes while salloc logs, or just before it begins to wait, is lost;
# that of 26.05 ends with the signal then, and leaves the job in the queue.  Bash 5.2
# may wait for ever for the process of a substitution that has ended by itself: the
# end of its output must do.
salloc_end() {
	local tries
	[ -n "$salloc_pid" ] || return 0
	for tries in 1 2 3 4; do
		kill "-$1" "$salloc_pid" 2>/dev/null
		salloc_reads "$tries" && break
	done
	salloc_reads 1 || kill -KILL "$salloc_pid" 2>/dev/null
	exec {salloc_fd}<&-
	salloc_pid=
	[ "$1" != TERM ] || [ -z "$id" ] || quietly scancel "$id"
}

read_record() {
	scontrol_ask "show job $id"
	record=$told
	text=${record#* Reason=}
	text=${text%% Dependency=*}
	case $record in
	*JobState=PENDING*) said=waits ;;
	*JobState=RUNNING* | *JobState=CONFIGURING*) said=starts ;;
	*) said=ended ;;
	esac
	[[ $said != waits || ! $text =~ Held|BadConstraints ]] || said=held
}

# The main scheduler looks at new jobs once a second, and backfill, which alone
# starts heterogeneous ones.
decide_queued() {
	queue "$@"
	await_scheduler
}

queue() {
	submit "$@"
	id=$text
	[[ $id =~ ^[0-9]+$ ]] || id=
	# Of an array, the first task.
	[ -z "$id" ] || [[ " $* " != *' --array='* ]] || id+=_0
	patience=4
	[[ ! " $* " =~ \ (:\ |--prefer=|--qos=|--constraint=\[) ]] || patience=6
	! names_partitions "$@" || patience=6
	cycles_begin
}

# The scheduler tries other nodes than the preferred ones in a later cycle; of
# nodes by feature backfill asks for all tasks, the main scheduler does not; and
# limits on what a user has, which it tests after the choice of nodes, may allow
# stock's nodes and not weft's, which then leaves the next cycle to stock.  Where a
# job waits in the first of its partitions, the main scheduler gives nodes of that
# one to no other in the same cycle: backfill starts it there.  A job with a
# deadline is only tested when it comes in, and its reason may be weft's by then.
may_start_next() {
	[[ " $* " =~ \ --(prefer|deadline)= ]] || names_partitions "$@" ||
		is_held_by_limit
}

names_partitions() {
	[[ " $* " =~ \ -p\ [a-z]*, ]]
}

is_held_by_limit() {
	[[ $text =~ ^(QOS|Assoc) ]]
}

# What is read before depends on the moment.  A job without a reason is one that Slurm
# has not looked at yet.
await_next() {
	if may_start_next "$@"; then
		await_longer
	elif [ "$text" = None ]; then
		patience=4
		cycles_begin
		await_scheduler
	fi
}

await_longer() {
	patience=6
	cycles_begin
	await_scheduler
}

await_scheduler() {
	while [ -n "$id" ]; do
		read_record
		[ "$said" = waits ] || break
		[ "$text" = None ] || [ "$patience" = 6 ] || break
		! cycles_passed "$patience" $((patience - 2)) || break
		sleep 0.1
	done
}

# How often the main scheduler and backfill have looked at the queue.
cycles() {
	sdiag | sed -n 's/.*Total cycles: *//p' | xargs
}

cycles_begin() {
	cycles_since[$twin]="${EPOCHREALTIME//[.,]/} $(cycles)"
}

# cycles_passed SECONDS CYCLES: of the twin's main scheduler since cycles_begin, of
# which one takes a second; on a busy machine they come later, and are waited for,
# though not for ever.  Backfill runs only after changes, and leaves out jobs that a
# limit holds back: one cycle, of other jobs.
cycles_passed() {
	local begin main backfill main_now backfill_now us
	read -r begin main backfill <<<"${cycles_since[$twin]}"
	us=$((${EPOCHREALTIME//[.,]/} - begin))
	[ $us -ge $(($1 * 1000000)) ] || return
	[ $us -lt $(($1 * 5000000)) ] || return 0
	read -r main_now backfill_now < <(cycles)
	[ $((main_now - main)) -ge "$2" ] || return
	[ "$backfill_now" != "$backfill" ] || is_held_by_limit ||
		[ $us -ge $(($1 * 2000000)) ]
}

# sbatch's last line in text.
submit() {
	local said_all
	id='' said=refused record=''
	# shellcheck disable=SC2086 # words
	mapfile -t said_all < <(ask $AS_USER sbatch --parsable -D / \
		-o /dev/null --wrap true "$@" 2>&1)
	text=${said_all[-1]:-}
	# Slurm sometimes keeps, and starts, the first components of a job of which
	# it refuses a later one.
	[[ $text =~ ^[0-9]+$ || " $* " != *' : '* ]] || quietly scancel -n wrap
}

# When, to ten seconds: the twins' jobs did not start in the same moment.  25.11
# has an "a" for which there is no word.
decide_test() {
	local begin soon
	submit --test-only "$@"
	[[ $text =~ ' to start at '([^ ]+)(' a')?' using '([0-9]+)' processors on nodes '([^ ]+) ]] ||
		return
	begin=${BASH_REMATCH[1]}
	said=starts
	record=" NodeList=${BASH_REMATCH[4]} NumCPUs=${BASH_REMATCH[3]} "
	printf -v soon '%(%FT%T)T' $((EPOCHSECONDS + 2))
	if [[ $begin > $soon ]]; then
		said=waits
		text="for $((($(date -d "$begin" +%s) - EPOCHSECONDS + 5) / 10))0 s"
	fi
}

# decide WAY WORDS...: and leaves everything as it was.
decide() {
	local way=$1
	shift
	"decide_$way" "$@"
	if [ -n "$salloc_pid" ]; then
		salloc_end TERM
	elif [ -n "$id" ]; then
		quietly scancel "${id%_*}"
	fi
}

# Value of KEY= in the record, into REPLY.
field() {
	REPLY=${record#* "$1"=}
	[ "$REPLY" != "$record" ] || REPLY=' '
	REPLY=${REPLY%%[[:space:]]*}
}
