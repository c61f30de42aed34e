#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2154,SC2034 # of lib.sh
# The schemas of what --json prints, and the object of a failure.  Whether the
# objects of all commands are as the schemas say is looked at where they are
# tested: lib.sh.
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

schemas=$WEFT_SRCDIR/doc/schema
"$weft" synth leaf:2 node:2 gpu:8 >"$work/f.yaml"

# ---- a failure ----

plan() { run plan --json -f "$work/f.yaml" "$@"; }
failed() { exits "$1" && json ".schema == \"weft.error/1\" and
	(.error | .exit == $1 and ($2))"; }

plan -j gpus=8,tq=8
check "a wrong spec" failed 1 '(.message | contains("tq")) and .command == "plan"'
check "what was meant is a hint" json '.error.hint == "did you mean \"tp\"?"'
check "standard error says it, too" err 'tq'
run plan --json -f "$work/none.yaml" -j gpus=8
check "a missing file is named" failed 1 ".file == \"$work/none.yaml\" and
	.line == null and .hint == null"
printf 'weft: 1\nnodes: [\n' >"$work/broken.yaml"
run fabric --json "$work/broken.yaml"
check "a mistake in a file has a line" failed 1 '.line >= 2 and .column >= 1 and
	.command == "fabric"'
plan
check "a word that is missing" failed 2 '.message | length > 10'
plan -j gpus=8 --nonsense
check "an option that is unknown" failed 2 '.message | contains("--nonsense")'
check "what argp prints is on standard error" err "Try \`weft plan --help'"
run replay --json -f "$work/f.yaml" --trace "$work/none"
check "a command of weft-lab" failed 1 ".command == \"replay\" and
	.file == \"$work/none\""
unset WEFT_RANKS
run ranks --json
check "no answer" failed 3 '.message | contains("WEFT_RANKS")'
plan -j gpus=1024
check "a negative answer is an answer" json '.placed == false'
plan -j gpus=8
check "a plan" exits 0
cp "$work/out" "$work/plan.json"
run plan -f "$work/f.yaml" -j gpus=8,tq=8
check "without --json there is no object" silent out
"$weft" spec -- torchrun train.py --json >"$work/out" 2>"$work/err"
check "what follows -- is no option of weft" not out weft.error

# ---- schemas ----

for command in $("$weft" --help | sed -n 's/^  \([a-z]*\)  .*/\1/p'); do
	"$weft" "$command" --help >"$work/out" 2>&1
	! grep -q -e '--json' "$work/out" ||
		check "$command has a schema" test -f "$schemas/$command-1.json"
done
for file in "$schemas"/*.json; do
	name=${file##*/}
	check "$name is installed" grep -q "schema/$name " \
		"$WEFT_SRCDIR/doc/local.mk"
done

if ! python3 -c 'import jsonschema' 2>/dev/null; then
	finish
fi
validate() {
	python3 "$WEFT_SRCDIR/tests/cli/schema.py" "$@"
}
check "no schema lets unknown keys pass" validate --closed
check "the plan is as its schema says" validate "$work/plan.json"
jq '.objective.luck = 7' "$work/plan.json" >"$work/more.json"
check "an unknown key is refused" not validate "$work/more.json"
jq 'del(.ranks[0].gpu)' "$work/plan.json" >"$work/less.json"
check "so is a missing one" not validate "$work/less.json"
jq '.gpus = "8"' "$work/plan.json" >"$work/text.json"
check "and a text for a number" not validate "$work/text.json"
jq '.schema = "weft.other/1"' "$work/plan.json" >"$work/other.json"
check "and an object without a schema" not validate "$work/other.json"
finish
