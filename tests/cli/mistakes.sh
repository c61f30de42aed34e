#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# A hundred wrong inputs, and the line that each is answered with: mistakes.tsv
# has the arguments, the exit status and the line, separated by tabs.
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

table=$(cd "${WEFT_SRCDIR:-.}/tests/cli" && pwd)/mistakes.tsv
case $weft in
/*) ;;
*) weft=$PWD/$weft ;;
esac
cd "$work" || exit 1
"$weft" synth pod:2 leaf:2 node:4 gpu:8 >F
cp F G

# shellcheck disable=SC2317 # called by check
answers() {
	exits "$1" && { err "$2" || out "$2"; }
}

while IFS='	' read -r arguments status line; do
	set -f
	# shellcheck disable=SC2086 # words
	run $arguments </dev/null
	set +f
	check "$arguments" answers "$status" "$line"
done <"$table"
check "they are a hundred at least" test "$n_cases" -ge 100
finish
