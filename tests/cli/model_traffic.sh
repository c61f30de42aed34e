#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

traffic() { run model traffic "$@"; }
job=model=llama3-8B,tp=2,cp=2,pp=2,dp=2,gbs=8

traffic --job "$job" --json
check "traffic answers" exits 0
check "the schema comes first" schema_first model
check "axes add up" json \
	'([.bytes_by_axis[]] | add) / .bytes_per_step - 1 | fabs < 1e-9'
check "calls name all that is needed" json '.calls | length > 10 and
	all(has("axis") and has("collective") and has("phase") and
	    has("overlap") and has("group") and has("group_ranks") and
	    has("first_stage") and has("stages") and has("size_bytes") and
	    has("count") and has("what"))'
check "each axis has calls" json \
	'[.calls[].axis] | unique == ["cp","dp","pp","tp"]'
cp "$work/out" "$work/traffic.json"

traffic --job "$job"
check "text: says how much" out "16 ranks, "
check "text: says what" out "tp all-gather of activations"

traffic --job "$job" --matrix
check "a matrix is CSV" out "from,to,bytes,axis"
cp "$work/out" "$work/m.csv"
traffic --job "gpus=16,traffic=$work/m.csv" --json
check "which is read again as it was" json \
	".bytes_per_step / $(jq .bytes_per_step "$work/traffic.json") - 1 |
		fabs < 1e-12"
check "pair by pair" json ".pairs == $(jq .pairs "$work/traffic.json")"
check "what was measured has no calls" json '.calls == []'

traffic --job "$job,algorithm=in-network" --json
check "switches are counted" json '.switches > 0'
traffic --job "$job,algorithm=in-network" --matrix
check "but no rank of a matrix" exits 1
check "and the message says so" err "reduced in the network"
traffic --job "model=grok1-314B,dp=8,ep=8" --json
check "experts exchange tokens" json '.bytes_by_axis.ep > 0'
traffic --job "model=grok1-314B,dp=8,ep=8"
check "in groups of their own" out "ep of experts"
traffic --job tp=0
check "a wrong spec is an error" exits 1
check "and says where" err "tp: \"0\" is not a whole number"
traffic
check "no job is a usage error" exits 2
traffic --job "$job" --matrix --json
check "CSV and JSON exclude each other" exits 2

finish
