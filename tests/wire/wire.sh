# shellcheck shell=bash
# SPDX-License-Identifier: GPL-3.0-or-later
# wire.sh - jobs on a network of name spaces, measured and predicted: sourced by
# tests/wire/run and tests/bench/wire.
#
#	wire_create && wire_network hosts=16 leafs=4 pods=2
#	wire_job a dp=8 0 8 1 9 4 12 5 13
#	wire_measure a && wire_predict a

WIRE_HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
WEFT_BUILDDIR=${WEFT_BUILDDIR:-$PWD}
WIRE_RANK=$WEFT_BUILDDIR/tests/wire/rank
WIRE_NAME=${WIRE_NAME:-}	# of the name spaces; set by wire_create
WIRE_DIR=${WIRE_DIR:-}	# scratch folder of this run
WIRE_WORDS=()		# of the network that is up
WIRE_SECONDS=4		# how long jobs run beside each other
export LC_ALL=C

# Why nothing can be measured here; nothing where it can.
wire_refused() {
	local tool
	for tool in ip tc nsenter jq; do
		if ! command -v $tool >/dev/null; then
			echo "$tool is not installed"
			return
		fi
	done
	if [ "$(id -u)" != 0 ]; then
		echo "name spaces need root"
	elif [ ! -x "$WIRE_RANK" ]; then
		echo "no $WIRE_RANK: make builds it where g++ and libgloo-dev are"
	elif ! ip netns add "weft-try-$$" 2>/dev/null; then
		echo "name spaces are refused here"
	elif ! ip -n "weft-try-$$" link add try0 type veth peer name try1 2>/dev/null ||
		! ip -n "weft-try-$$" link add try2 type bridge 2>/dev/null ||
		! tc -n "weft-try-$$" qdisc add dev try0 root tbf rate 1mbit \
			burst 16k latency 1s 2>/dev/null; then
		echo "there is no veth, bridge or sch_tbf here"
	fi
	ip netns del "weft-try-$$" 2>/dev/null
}

# Removes what killed runs have left; from here on everything of this run ends
# with the shell.
wire_create() {
	"$WIRE_HERE/network" sweep weft-wire
	WIRE_NAME=weft-wire-$$
	WIRE_DIR=${TMPDIR:-/tmp}/$WIRE_NAME
	trap wire_destroy EXIT
	trap 'exit 129' HUP
	trap 'exit 130' INT
	trap 'exit 143' TERM
	mkdir "$WIRE_DIR"
}

wire_destroy() {
	trap - EXIT
	[ -n "$WIRE_DIR" ] || return 0
	jobs -pr | xargs -r kill 2>/dev/null
	"$WIRE_HERE/network" down "$WIRE_NAME"
	rm -rf "$WIRE_DIR"
	WIRE_DIR=
}

# wire_network WORD...: builds the network, or gives the one that is up other
# rates where it has the same shape.
wire_network() {
	if [ "$(wire_shape "$@")" = "$(wire_shape "${WIRE_WORDS[@]}")" ] &&
		[ ${#WIRE_WORDS[@]} -gt 0 ]; then
		"$WIRE_HERE/network" rates "$WIRE_NAME" "$@" || return 1
	else
		"$WIRE_HERE/network" down "$WIRE_NAME"
		"$WIRE_HERE/network" up "$WIRE_NAME" "$@" || return
	fi
	WIRE_WORDS=("$@")
	"$WIRE_HERE/network" fabric "$@" >"$WIRE_DIR/fabric.yaml"
}

wire_shape() {
	printf '%s\n' "$@" | grep -E '^(hosts|leafs|pods|rails)=' | sort
}

# What each link has carried so far: "LINK UP_BYTES DOWN_BYTES".
wire_bytes() {
	"$WIRE_HERE/network" bytes "$WIRE_NAME" "${WIRE_WORDS[@]}"
}

# wire_job JOB SPEC HOST...: rank i is on HOST i, a number, or HOST.RAIL.  The
# calls of a step are those that weft derives from the spec, whose model is
# dense.yaml, or moe.yaml where it has experts.
wire_job() {
	local dir=$WIRE_DIR/$1 spec=$2
	shift 2
	rm -rf "$dir"
	mkdir "$dir"
	case $spec in
	*ep=*) spec+=,model=$WIRE_HERE/moe.yaml ;;
	*) spec+=,model=$WIRE_HERE/dense.yaml ;;
	esac
	spec=gpus=$#,$spec
	echo "$spec" >"$dir/spec"
	printf '%s\n' "$@" >"$dir/hosts"
	awk -F. '{ printf "n%02d:%d\n", $1, $2 }' "$dir/hosts" >"$dir/ranks"
	"$WEFT_BUILDDIR/weft" model traffic --json --job "$spec" |
		jq -r --arg spec "$spec" -f "$WIRE_HERE/step.jq" \
			>"$dir/step" && [ -s "$dir/step" ]
}

# wire_ranks JOB REPEAT: its ranks, in the background; their numbers are added
# to `ranks`.
wire_ranks() {
	local dir=$WIRE_DIR/$1 host i=0 n urgent=()
	# They sleep but for the network; other work here is not to delay them.
	! chrt -r 1 true 2>/dev/null || urgent=(chrt -r 1)
	rm -rf "$dir/store"
	mkdir "$dir/store"
	n=$(wc -l <"$dir/hosts")
	while read -r host; do
		nsenter --net="/run/netns/$WIRE_NAME-h${host%.*}" \
			"${urgent[@]}" "$WIRE_RANK" --interface "eth$(wire_rail "$host")" \
			--store "$dir/store" --step "$dir/step" --rank $i \
			--size "$n" --repeat "$2" \
			>"$dir/out.$i" 2>"$dir/err.$i" </dev/null &
		ranks+=($!)
		i=$((i + 1))
	done <"$dir/hosts"
}

wire_rail() {
	[[ $1 == *.* ]] && echo "${1#*.}" || echo 0
}

# wire_measure JOB...: runs them beside each other; JOB/measured is what rank 0
# of each printed.  One job alone makes three steps.
wire_measure() {
	local job rank ranks=() repeat=0 failed=0
	[ $# -gt 1 ] || repeat=3
	for job; do
		wire_ranks "$job" $repeat
	done
	[ $repeat -gt 0 ] || wire_together "$@"
	for rank in "${ranks[@]}"; do
		wait "$rank" || failed=1
	done
	for job; do
		cp "$WIRE_DIR/$job/out.0" "$WIRE_DIR/$job/measured"
		[ -s "$WIRE_DIR/$job/measured" ] || failed=1
		[ $failed = 0 ] || cat "$WIRE_DIR/$job"/err.* >&2
	done
	return $failed
}

# Lets them begin at once, and tells them when to stop.
wire_together() {
	local job try
	for job; do
		for ((try = 0; try < 600; try++)); do
			[ ! -e "$WIRE_DIR/$job/store/ready" ] || break
			sleep 0.1
		done
	done
	for job; do
		: >"$WIRE_DIR/$job/store/go"
	done
	sleep "$WIRE_SECONDS"
	for job; do
		echo "$EPOCHREALTIME" >"$WIRE_DIR/$job/store/stop.new"
		mv "$WIRE_DIR/$job/store/stop.new" "$WIRE_DIR/$job/store/stop"
	done
}

# wire_predict JOB [OTHER...]: what `weft score` says of its ranks, where the
# others run as well; one JSON object like the measured one.
wire_predict() {
	local dir=$WIRE_DIR/$1 state=()
	shift
	if [ $# -gt 0 ]; then
		wire_state "$@" >"$dir/state.yaml"
		state=(--state "$dir/state.yaml")
	fi
	"$WEFT_BUILDDIR/weft" score --json --fabric "$WIRE_DIR/fabric.yaml" \
		--job "$(cat "$dir/spec")" --ranks "$dir/ranks" \
		${state+"${state[@]}"} |
		jq -c '.latency_s as $latency_s | .communication_s |
			with_entries(.value += $latency_s[.key]) |
			{axis_s: with_entries(select(.value > 0)),
			 step_s: add}'
}

# Other jobs as weft-state(5): their steps hold nothing but communication.
wire_state() {
	local job
	echo "weft: state/1"
	echo "jobs:"
	for job; do
		echo "  - id: $job"
		echo "    gpus: $(paste -sd, "$WIRE_DIR/$job/ranks")"
		echo "    job: $(cat "$WIRE_DIR/$job/spec")"
		echo "    step_s: $(wire_predict "$job" | jq .step_s)"
	done
}
