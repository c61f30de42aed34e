# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=sh
# lib.sh - what the command line tests share; sourced, POSIX sh.
#
# A case is one call of `check`; results are TAP, and the script's exit status
# is the number of failures (at most 1).

: "${WEFT_BUILDDIR:=.}" "${WEFT_SRCDIR:=.}"
weft=$WEFT_BUILDDIR/weft
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
unset WEFT_FABRIC COLUMNS
n_cases=0 n_failed=0

command -v jq >/dev/null || {
	echo "Bail out! jq is not installed"
	exit 1
}

# check TEXT COMMAND...: passes when the command does.
check() {
	text=$1
	shift
	n_cases=$((n_cases + 1))
	if "$@" >"$work/check.out" 2>&1; then
		echo "ok $n_cases - $text"
	else
		n_failed=$((n_failed + 1))
		echo "not ok $n_cases - $text"
		sed 's/^/# /' "$work/check.out" "$work/out" "$work/err"
	fi
}

# run ARG...: weft ARG..., its stdout, stderr and exit status in $work/out,
# $work/err and $code.
run() {
	"$weft" "$@" >"$work/out" 2>"$work/err"
	code=$?
	case " $* " in
	*" --json "*) json_keep ;;
	esac
}

# What a command printed as JSON is looked at when all is done.
n_json=0
json_keep() {
	n_json=$((n_json + 1))
	mkdir -p "$work/json"
	[ ! -s "$work/out" ] || cp "$work/out" "$work/json/$n_json.json"
}

# Every object that was printed is as its schema says.
json_check() {
	[ -d "$work/json" ] || return
	if python3 -c 'import jsonschema' 2>/dev/null; then
		check "every object is as its schema says" python3 \
			"$WEFT_SRCDIR/tests/cli/schema.py" "$work"/json/*.json
	else
		n_cases=$((n_cases + 1))
		echo "ok $n_cases - schemas # SKIP python3-jsonschema is missing"
	fi
}

# exits CODE: of the last run.
exits() {
	[ "$code" -eq "$1" ] || {
		echo "exit status $code, expected $1"
		return 1
	}
}

# out TEXT, err TEXT: stdout or stderr of the last run has this fixed string.
out() { grep -qF -- "$1" "$work/out"; }
err() { grep -qF -- "$1" "$work/err"; }
not() { ! "$@"; }
silent() { [ ! -s "$work/$1" ]; }

# json FILTER: the jq filter is true of the last run's stdout.
json() { jq -e "$1" "$work/out"; }

# near PATH VALUE: the number there is that, within 0.01 %.
near() { json "(.$1 / $2 - 1) | fabs < 1e-4"; }

# one NAME true|false: whether setup's or doctor's check of that name is ok.
one() { json ".checks[] | select(.name == \"$1\") | .ok == $2"; }
# says NAME TEXT: its text has this fixed string.
says() {
	jq -r ".checks[] | select(.name == \"$1\") | .text" "$work/out" |
		grep -qF -- "$2"
}

# schema_first NAME: the first key of the object is its schema.
schema_first() {
	[ "$(jq -r 'keys_unsorted[0]' "$work/out")" = schema ] &&
		[ "$(jq -r .schema "$work/out")" = "weft.$1/1" ]
}

finish() {
	json_check
	echo "1..$n_cases"
	[ "$n_failed" -eq 0 ]
	exit
}
