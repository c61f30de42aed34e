#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# What holds for every command: help, version, exit codes, where text goes.
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

run --version
check "--version exits 0" exits 0
check "--version names weft" out "weft "
run --help
check "--help exits 0" exits 0
for command in synth fabric import export plan score replay map model calibrate; do
	check "--help lists $command" out "  $command"
done
run
check "no command is a usage error" exits 2
check "usage goes to stderr" silent out
run plna
check "an unknown command is a usage error" exits 2
check "an unknown command gets the nearest" err 'did you mean "plan"'
run --nonsense
check "an unknown global option is a usage error" exits 2

for command in synth fabric import export plan score replay map model calibrate; do
	run "$command" --help
	check "$command --help exits 0" exits 0
	run "$command" --nonsense
	check "$command: an unknown option is a usage error" exits 2
	run "$command"
	check "$command: missing arguments are a usage error" exits 2
	check "$command: nothing on stdout then" silent out
done

WEFT_FABRIC='' "$weft" fabric >"$work/out" 2>"$work/err"
code=$?
check "an empty file name is none" exits 2

run fabric "$work/absent.yaml"
check "a missing file is an error" exits 1
check "the message begins with weft: FILE:" err "weft: $work/absent.yaml: "

check "the completion is valid bash" bash -n \
	"${WEFT_SRCDIR:-.}/contrib/completion/weft"
for command in $("$weft" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
	check "the completion knows $command" grep -q "[' ]$command " \
		"${WEFT_SRCDIR:-.}/contrib/completion/weft"
done

# --fabric in place of FILE, --output of a command and of one in weft-lab.
"$weft" synth leaf:2 node:2 gpu:8 >"$work/f.yaml"
for command in fabric audit draw; do
	run "$command" -f "$work/f.yaml"
	check "$command takes the fabric as an option" exits 0
done
run fabric -f "$work/f.yaml" -o "$work/answer"
check "weft fabric takes both options" exits 0
run model conventions -o "$work/answer.model"
check "a command of weft-lab writes to a file" \
	grep -q seed_gib "$work/answer.model"

if [ -w /dev/full ]; then
	"$weft" synth leaf:2 node:2 gpu:8 >/dev/full 2>"$work/err"
	code=$?
	check "output that cannot be written is an error" exits 1
fi
finish
