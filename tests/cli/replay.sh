#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

"$weft" synth --profile roce-llama3 pod:2 leaf:2 node:4 gpu:8 >"$work/f.yaml"
cat >"$work/t.csv" <<'EOF'
submit_s,duration_s,gpus,job
0,100,64,first
10,50,128,whole
20,10,8,small
30,200,16,late
EOF
replay() { run replay --fabric "$work/f.yaml" "$@"; }

replay --json --trace "$work/t.csv"
check "runs a stream" exits 0
check "json: schema comes first" schema_first replay
check "json: what the contract promises" json '.policies | length == 5 and
	all(has("mean_cost_ratio") and has("mean_wait_s") and
	has("makespan_s") and has("utilisation"))'
check "all jobs run" json '.jobs == 4 and all(.policies[]; .jobs == 4)'
check "jobs on several nodes are told apart" json \
	'all(.policies[]; .multi_node.jobs == 3)'
check "weft's mean is the ideal here" json \
	'.policies[0] | .policy == "weft" and .mean_cost_ratio < 1.001'
check "random is not better than weft" json \
	'.policies | (map(select(.policy == "random"))[0].mean_cost_ratio) >=
	(.[0].mean_cost_ratio)'
check "levels outside the node are told" json \
	'.policies[0].multi_node.mean_domains | keys == ["leaf", "pod"]'
check "nothing on stderr where nobody watches" silent err
check "the field's metrics are there" json 'all(.policies[];
	.gar > 0 and .sor == .utilisation and .gfr == 0 and
	.jwtd_s.max == .max_wait_s and .multi_node.jtted_ratio.p50 >= 1 and
	.multi_node.jtted_s.mean > 0)'
check "a place that others share is slower than alone" json \
	'all(.policies[].multi_node; .mean_step_ratio >=
	.mean_alone_step_ratio - 1e-9)'
jq 'del(.policies[].mean_decision_s, .policies[].max_decision_s)' \
	"$work/out" >"$work/a"
replay --json --trace "$work/t.csv"
jq 'del(.policies[].mean_decision_s, .policies[].max_decision_s)' \
	"$work/out" >"$work/b"
check "the same question has the same answer" cmp "$work/a" "$work/b"

replay --json --trace "$work/t.csv" --as-recorded
check "the small job is backfilled: waits of 0, 90, 0 and 120 s" json \
	'all(.policies[] | select(.policy != "slurm-block");
	.mean_wait_s == 52.5 and .makespan_s == 350)'
check "a trace can be taken at its word" json \
	'.stretch == false and all(.policies[]; .goodput == .sor)'
replay --json --trace "$work/t.csv" --queue fifo --policy slurm-tree \
	--as-recorded
check "without backfill it waits its turn" json \
	'.queue == "fifo" and .policies[0].mean_wait_s == 85'
replay --json --trace "$work/t.csv" --policy weft,random --scale 2 \
	--as-recorded
check "arrivals can be stretched" json \
	'(.policies | length == 2) and .policies[0].max_wait_s == 90'
replay --json --trace "$work/t.csv" --policy weft --load 2
check "or scaled to a load" json '(.scale -
	(6400 + 6400 + 80 + 3200) / (2 * 30 * 128)) | fabs < 1e-9'
replay --json --trace "$work/t.csv" --policy weft --limit 1
check "or cut" json '.jobs == 1 and .policies[0].makespan_s == 100'
replay --json --trace "$work/t.csv" --policy random
check "placement lengthens jobs" json \
	'.stretch and (.policies[0] | .goodput < .utilisation)'
replay --trace "$work/t.csv"
check "text: a line per policy" out "slurm-block  "
check "text: in the field's words" out "JTTED"
check "text: says how many" out "4 jobs, 3 on several nodes, on 128 GPUs"

replay --trace "$work/t.csv" --policy weft,first-fit --as-recorded \
	--csv "$work/rows.csv"
check "rows are written" exits 0
check "a row for each job and policy" test "$(wc -l <"$work/rows.csv")" -eq 9
check "a row says where" grep -q '^weft,"whole",10,100,150,90,128,16,.*"n\[' \
	"$work/rows.csv"
# Its rows are on the way to the file when a policy is through.
seq 0 19999 | awk 'BEGIN { print "submit_s,duration_s,gpus,job" }
	{ print 20 * $1 ",500," 2 ^ ($1 % 7) ",j" $1 }' >"$work/long.csv"
"$weft" replay --fabric "$work/f.yaml" --trace "$work/long.csv" --json \
	--policy first-fit,weft,random --as-recorded --csv "$work/long.rows" \
	>"$work/out" 2>"$work/err" &
pid=$!
# A file that is missing is as empty as one with a head alone.
until [ "$(wc -c 2>/dev/null <"$work/long.rows.part" || echo 0)" -gt 4096 ]; do
	kill -0 $pid 2>/dev/null || break
	sleep 0.1
done
kill -INT $pid
wait $pid
code=$?
check "an interrupt takes the policies that are through" exits 0
check "and says so" json \
	'.interrupted and [.policies[].policy] == ["first-fit"]'
check "with their rows" test "$(wc -l <"$work/long.rows")" -eq 20001

replay --trace "$work/t.csv" --policy weft --csv "$work/no/rows.csv"
check "a file that cannot be written is an error" exits 1

cat >"$work/odd.csv" <<'EOF'
when,start,end,n,each,tp,model
2017-10-03 10:30:41,5000,65000,2,8,8,
2017-10-03 10:31:41,nan,None,1,8,,
2017-10-03 10:32:41,1000,31000,4,8,4,llama3-8B
,0,1000,1,8,,
2017-10-03 10:33:41,0,1000,0,8,,
2017-10-03 10:34:41,0,1000,99,8,,
EOF
odd='submit=when,duration=end-start:ms,gpus=n*each'
replay --json --policy weft --trace "$work/odd.csv" --columns "$odd" \
	--as-recorded
check "columns may be products, differences and dates" json \
	'.jobs == 2 and .policies[0].makespan_s == 150'
check "what is left out is counted" json '.skipped ==
	{no_submit: 1, no_duration: 1, no_gpus: 1, larger_than_fabric: 1}'
gzip -k "$work/odd.csv"
jq 'del(.trace, .policies[].mean_decision_s, .policies[].max_decision_s)' \
	"$work/out" >"$work/a"
replay --json --policy weft --trace "$work/odd.csv.gz" --columns "$odd" \
	--as-recorded
jq 'del(.trace, .policies[].mean_decision_s, .policies[].max_decision_s)' \
	"$work/out" >"$work/b"
check "a compressed table is the same" cmp "$work/a" "$work/b"
head -c 100 "$work/odd.csv.gz" >"$work/cut.csv.gz"
replay --trace "$work/cut.csv.gz" --columns "$odd"
check "half a compressed table is an error" err "damaged gzip data"
replay --policy weft --trace "$work/odd.csv" --columns "$odd" \
	--csv "$work/rows.csv"
check "axes of the table are the job's" grep -q \
	'"gpus=32,nodes=4,gpus_per_node=8,tp=4,model=llama3-8B"' \
	"$work/rows.csv"
check "a job without a name has its line's" grep -q '^weft,"line 2",' \
	"$work/rows.csv"

replay --trace "$work/odd.csv"
check "a column that is missing is asked for" err \
	'weft: --columns: the table has no column "submit_s"; say submit=COLUMN'
replay --trace "$work/odd.csv" --columns "submit=wen,$odd"
check "an unknown column gets the nearest" err \
	'weft: --columns: column 8: the table has no column "wen"; did you mean "when"?'
replay --trace "$work/odd.csv" --columns "sumbit=when"
check "an unknown role gets the nearest" err 'is "submit"'
replay --trace "$work/odd.csv" --columns "submit=when:ks"
check "an unknown unit is an error" err "expected a unit"
replay --trace "$work/odd.csv" --columns "submit=when,submit=when"
check "a role may come once" err "each role once"
replay --trace "$work/odd.csv" --columns "submit=when,duration=end,gpus=model"
check "a cell that is no number is named by line and column" err \
	"weft: $work/odd.csv:4:38: model: \"llama3-8B\" is neither"
printf 'submit_s,duration_s,gpus,tp\n0,1,8,3\n' >"$work/bad.csv"
replay --trace "$work/bad.csv"
check "axes that do not suit a job are an error" err 'job "line 2"'
printf 'submit_s,duration_s,gpus,tp,pp\n0,1,8,4.0,nan\n' >"$work/real.csv"
replay --policy weft --trace "$work/real.csv" --csv "$work/rows.csv"
check "whole numbers may be written as 4.0, and nothing as nan" grep -q \
	',tp=4"' "$work/rows.csv"
replay --trace "$work/t.csv" --columns submit=submit_s:d,duration=duration_s:d
check "days are a unit" exits 0
replay --json --policy weft --limit 1 --trace "$work/t.csv" \
	--columns "duration=duration_s*1e-1-submit_s"
check "constants may have exponents" json '.policies[0].makespan_s == 10'
ln -s file "$work/link"
replay --policy weft --trace "$work/t.csv" --csv "$work/link"
check "what a link names is written, the link stays" test -L "$work/link"
check "and has the rows" grep -q '"n\[' "$work/file"
replay --trace "$work/t.csv" --columns "duration=duration_s*1e13"
check "an absurd time is an error" err "t.csv:2: more than thirty thousand"
printf 'submit_s,duration_s,gpus\n0,0,8\n' >"$work/none.csv"
replay --trace "$work/none.csv"
check "a table without a job is an error" err "no job in it"
replay --trace "$work/absent.csv"
check "a missing file is an error" exits 1

cat >"$work/t.swf" <<'EOF'
; Version: 2.2
    1        0     -1     50   16    -1    -1   -1     -1    -1 -1   1   1  -1 -1 -1 -1 -1
    2       10     -1     20   -1    -1    -1   32     -1    -1 -1   1   1  -1 -1 -1 -1 -1
    3       20     -1     -1   16    -1    -1   16     -1    -1 -1   1   1  -1 -1 -1 -1 -1
    4       30     -1     10   -1    -1    -1   -1     -1    -1 -1   1   1  -1 -1 -1 -1 -1
EOF
replay --json --policy first-fit --trace "$work/t.swf"
check "the Standard Workload Format is read" json \
	'.jobs == 2 and .policies[0].makespan_s == 50 and
	.skipped.no_duration == 1 and .skipped.no_gpus == 1'
echo "5 40 -1 ten" >>"$work/t.swf"
replay --policy first-fit --trace "$work/t.swf"
check "a line that is none of it is an error" err "weft: $work/t.swf:6:9: "
replay --trace "$work/t.swf" --columns submit=a
check "it needs no columns" exits 1

replay --policies
check "--policies lists them" out "slurm-tree"
replay --trace "$work/t.csv" --policy slrum-tree
check "an unknown policy is a usage error" exits 2
check "it gets the nearest" err '"slurm-tree"'
replay --trace "$work/t.csv" --queue lifo
check "an unknown queue is a usage error" exits 2
replay
check "no trace is a usage error" exits 2
run replay --trace "$work/t.csv"
check "no fabric is a usage error" exits 2
replay --trace "$work/t.csv" --load 1 --scale 1
check "load and scale exclude each other" exits 2
finish
