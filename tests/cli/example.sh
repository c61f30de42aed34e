#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck disable=SC2154,SC2034 # of lib.sh
# The example program of the documentation places a job as weft plan does.
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

example=${WEFT_BUILDDIR:-.}/doc/example/place
"$weft" synth leaf:2 node:4 gpu:8 >"$work/fabric.yaml"

"$example" "$work/fabric.yaml" gpus=16,tp=8 'n[0-1]' >"$work/out" 2>"$work/err"
code=$?
check "the example places a job" exits 0
check "it prints each rank" [ "$(wc -l <"$work/out")" = 16 ]
check "it leaves busy nodes alone" sh -c "! grep -q 'n[01] ' '$work/out'"

"$example" "$work/fabric.yaml" gpus=16,tq=8 >"$work/out" 2>"$work/err"
code=$?
check "a wrong key is an error" exits 1
check "the error names it" grep -q tq "$work/err"

"$example" "$work/fabric.yaml" gpus=128,tp=8 >"$work/out" 2>"$work/err"
check "no room is an answer" grep -q 'no room' "$work/out"
finish
