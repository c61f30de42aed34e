#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

overlap() { run model overlap "$@"; }
# near FILTER VALUE: the last answer's number is VALUE to 0.01 %.
near() { json "(($1) / $2 - 1) | fabs < 1e-4"; }

# kernel START LENGTH, reduce START LENGTH FLOATS: events, in microseconds.
kernel() {
	printf '{"ph":"X","cat":"kernel","name":"gemm","ts":%s,"dur":%s,
		"args":{"stream":7}}' "$1" "$2"
}
reduce() {
	printf '{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce_RING_LL",
		"ts":%s,"dur":%s,"args":{"stream":20,"dtype":"Float",
		"Collective name":"allreduce","Group size":2,
		"In msg nelems":%s,"Out msg nelems":%s,
		"Process Group Name":"0","Process Group Ranks":"[0, 1]"}}' \
		"$1" "$2" "$3" "$3"
}
# trace RANK EVENT...
trace() {
	printf '{"distributedInfo":{"rank":%s,"world_size":2},"traceEvents":[' "$1"
	shift
	printf '{"ph":"X","cat":"user_annotation","name":"ProfilerStep#1",
		"ts":0,"dur":100,"args":{}}'
	printf ',%s' "$@"
	echo ']}'
}
# Computing 0..40, all-reduce 20..60 on rank 0; rank 1 begins it at 30.
trace 0 "$(kernel 0 40)" "$(reduce 20 40 25000)" >"$work/0.json"
trace 1 "$(kernel 0 30)" "$(reduce 30 30 25000)" >"$work/1.json"
gzip -k "$work/1.json"

overlap
check "no trace is a usage error" exits 2
overlap "$work/0.json" --latency 5us
check "a latency without a link is a usage error" exits 2
overlap "$work/missing.json"
check "a missing file is an error" exits 1
check "that names it" err "missing.json: No such file"
check "and prints nothing else" silent out
echo '{"traceEvents":[{"ph"' >"$work/cut.json"
overlap "$work/cut.json"
check "a file cut short is an error" exits 1
check "with its place" err "cut.json:1:17: the file ends inside"
overlap "$work/0.json" "$work/0.json"
check "two traces of one rank are an error" err "is of rank 0, as is"

overlap "$work/0.json" --json
check "one trace answers" exits 0
check "the schema comes first" schema_first model
check "the name of the model follows" json '.model == "overlap"'
check "nothing was left out" json '.traces[0].skipped == 0'
check "tau_comp" near '.ranks[0].tau_comp_s' 40e-6
check "tau_comm" near '.ranks[0].tau_comm_s' 40e-6
check "tau_overlap" near '.ranks[0].tau_overlap_s' 20e-6
check "eta_overlap" near '.ranks[0].eta_overlap' 0.5
check "exposed" near '.ranks[0].exposed_s' 20e-6
check "a collective's bytes" near '.collectives[0].bytes' 100000
check "and its exposed part" near '.collectives[0].exposed_s' 20e-6
check "no model without a link" json '.collectives[0].model_s == null'
check "no waits with one trace" json '.collectives[0].wait_s == null'
check "every advice has its basis" json \
	'(.advice | length == 7) and all(.advice[]; .basis | length > 0)'
check "what is not recorded gains nothing" json \
	'.advice[] | select(.name == "stragglers") | .gain_s == null'

overlap "$work/0.json" "$work/1.json.gz" --link 10GB/s --latency 1us --json \
	--matrix "$work/m.csv" --collectives "$work/c.csv"
check "two traces answer" exits 0
check "rank 0 waited" near '.ranks[0].waited_s' 10e-6
check "for rank 1" near '.ranks[1].caused_s' 10e-6
check "who waited for whom" json '.waits | length == 1 and
	.[0].rank == 0 and .[0].for == 1 and .[0].count == 1'
check "which began last" json '.ranks[1].last == 1 and .ranks[0].last == 0'
check "the ring's closed form" near '.collectives[0].model_s' 12e-6
check "bytes per step" near '.matrix.bytes_per_step' 200000
check "the matrix has a header" grep -qx from,to,bytes "$work/m.csv"
check "and both directions" grep -qx 1,0,100000 "$work/m.csv"
check "a line per collective and rank" \
	[ "$(grep -c ^all_reduce,2,100000,3e-05 "$work/c.csv")" -eq 2 ]
check "nothing is left half-written" \
	[ "$(find "$work" -name '*.part' | wc -l)" -eq 0 ]

overlap "$work/0.json" "$work/1.json" --link 10GB/s
check "text has eta" out "50.0 %"
check "and bars" out "|########"
check "and who began last" out "1 of 1"
check "and who waited" out "rank 0 waited 10 us for rank 1"
check "and the model" out "model"
check "and advice" out "what would shorten a step"
overlap "$work/0.json" --convention printed
check "the printed eta is named" out "hidden share of the shorter"

echo '{"schema":"1.0.1","nodes":[{"name":"record_param_comms","inputs":
	[[1,2,0,30,4,"cuda:0"],1,7,0,"all_to_allv",[1,2],[3,0]]}]}' >"$work/g.json"
overlap "$work/g.json" --matrix "$work/g.csv"
check "an execution trace alone has no ranks to write" exits 1
check "and says what is missing" err "which ranks exchanged bytes"
check "and writes nothing" [ ! -e "$work/g.csv" ]
sed 's/"1.0.1"/"1.0.1"/; s/,7,0,/,7,1,/' "$work/g.json" >"$work/h.json"
overlap "$work/g.json" "$work/h.json" --matrix "$work/g.csv"
check "all ranks' traces are enough" exits 0
check "to place the splits" grep -qx 0,1,80 "$work/g.csv"
check "times are not made up" out "no times"
ln -s "$work/named.csv" "$work/link"
overlap "$work/g.json" "$work/h.json" --matrix "$work/link"
check "a link that names the file stays one" test -L "$work/link"
check "and the file is written" test -s "$work/named.csv"
overlap "$work/0.json" --matrix /nonexistent/m.csv
check "a file that cannot be written is an error" exits 1

finish
