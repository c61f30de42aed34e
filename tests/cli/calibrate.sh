#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

# log PROGRAM NODES GPUS_PER_NODE LATENCY_US GB_PER_S: what nccl-tests prints.
log() {
	awk -v program="$1" -v nodes="$2" -v per="$3" -v a="$4" -v b="$5" 'BEGIN {
		print "# Collective test starting: " program
		print "# Using devices"
		for (r = 0; r < nodes * per; r++)
			printf "#  Rank %2d Group  0 Pid %d on n%d device %2d [%02x] GPU\n",
				r, 1000 + r, int(r / per), r % per, r % per
		print "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong"
		for (s = 8; s <= 2 ^ 32; s *= 4) {
			t = a + s / b / 1000
			printf "%12.0f %12.0f float sum -1 %.2f 0.0 0.0 0 %.2f 0.0 0.0 0\n",
				s, s / 4, t, t
		}
		print "# Out of bounds values : 0 OK"
		print "# Avg bus bandwidth    : 1.0"
	}'
}
log all_gather_perf 1 8 15 400 >"$work/one.log"
log all_reduce_perf 2 8 24 200 >"$work/two.log"
log all_reduce_perf 8 8 36 180 | sed 's/^/ 0: /' >"$work/eight.log"

run calibrate "$work/one.log" "$work/two.log" "$work/eight.log"
check "fits three runs" exits 0
check "text: each collective" out "all_gather"
check "text: NVLink, nearly 7/8 of 400 GB/s" out "link nvlink: 349 GB/s per GPU"
check "nothing on stderr then" silent err

run calibrate --json "$work/one.log" "$work/two.log" "$work/eight.log"
check "json: schema comes first" schema_first calibrate
check "json: a link per fit" json '.links | length == 3'
check "json: latency" json '.links[] | select(.level == "nvlink")
	| .latency_s > 14.9e-6 and .latency_s < 15.1e-6'
check "json: bus bandwidth" json '.links[] | select(.nodes == 8)
	| .ranks == 64 and .busbw_bytes_per_s > 354e9
	and .busbw_bytes_per_s < 355e9'
check "json: the error of the fit" json '.mape_pct < 1'
check "json: no row is lost" json '.rows == 45 and (.unused_rows | length == 0)'
check "json: latency of the network from two numbers of nodes" json \
	'.fabric_links[] | select(.level == "leaf")
	| .latency_s > 2.9e-6 and .latency_s < 3.1e-6'

run calibrate --yaml --level spine "$work/one.log" "$work/two.log" \
	"$work/eight.log"
check "yaml: names the level" out "  spine: {bandwidth: "
{
	printf 'weft: fabric/1\nname: alpha\nnodes:\n  n[00-15]: 8\n'
	printf 'levels:\n  spine:\n    S0: n[00-15]\n'
	cat "$work/out"
} >"$work/f.yaml"
run fabric --json "$work/f.yaml"
check "yaml: a fabric file takes it" exits 0
check "yaml: with its shares" json '[.levels[].shares[-1][1]]
	| length == 2 and all(. > 0.95)'
check "yaml: with its figures" json '.levels[0].rate_bytes_per_s > 348e9 and .levels[0].rate_bytes_per_s < 350e9'

run calibrate --json --predict 1M,1024 --on 1,4 "$work/two.log" \
	"$work/eight.log"
check "predicts each size on each number of nodes" json \
	'[.predictions[] | [.nodes, .size_bytes]]
	== [[1, 1048576], [1, 1024], [4, 1048576], [4, 1024]]'
check "between the measured numbers" json \
	'.predictions[3].time_s > 24e-6 and .predictions[3].time_s < 36e-6'
check "and called so" json '[.predictions[].basis]
	== ["beyond", "beyond", "between", "between"]'
log all_reduce_perf 1 8 15 209 >"$work/reduce.log"
run calibrate --json --predict 16G --on 1,4 --network 96GB/s "$work/reduce.log"
check "a given network limits what one node lets expect" json \
	'.predictions[1].time_s > 0.3467 and .predictions[1].time_s < 0.348'
check "of which one number of nodes is the basis" json \
	'[.predictions[].basis] == ["measured", "single"]'
run calibrate --predict 16G --on 4 "$work/reduce.log"
check "text: that is a guess" out "(a guess: one number of nodes was measured)"
run calibrate --network fast "$work/reduce.log"
check "--network wants a rate" exits 2
run calibrate --predict 1G "$work/one.log"
check "text: predictions" out "all_gather of 1073741824 bytes on 1 node: 2.7"

grep -v '^#.*all_gather' "$work/one.log" >"$work/nameless.log"
run calibrate "$work/nameless.log"
check "an unknown collective is refused" exits 3
check "and asked for" out "which collective?"
run calibrate --collective all-gather - <"$work/nameless.log"
check "--collective tells it, also for standard input" exits 0

head -c 1700 "$work/one.log" >"$work/killed.log"
run calibrate --json "$work/killed.log"
check "a killed run is fitted" json '.links | length == 1'
check "and told" json '.partial_runs == 1'
check "its last row is named by line" json \
	'.unused_rows == [] or .unused_rows[0].text == "it is cut off"'

sed 's/ 0 [0-9.]* 0.0 0.0 0$/ 7 1.0 0.0 0.0 0/' "$work/one.log" >"$work/wrong.log"
run calibrate "$work/wrong.log"
check "wrong results are refused" exits 3
check "with the reason" out "rows have wrong results"

run calibrate "$work/f.yaml"
check "a file without results is an error" exits 1
check "which names it" err "$work/f.yaml: no result of nccl-tests"
check "nothing on stdout then" silent out
run calibrate "$work/absent.log"
check "a missing file is an error" exits 1

# ---- archives and Inspector files ----

run calibrate --json "$work/one.log" "$work/two.log"
jq 'del(.logs)' "$work/out" | sed "s|$work/||g" >"$work/apart.json"
tar -C "$work" -czf "$work/both.tar.gz" one.log two.log
run calibrate --json "$work/both.tar.gz"
check "an archive is read as its files are" exits 0
jq 'del(.logs)' "$work/out" | sed "s|$work/both.tar.gz:||g" >"$work/together.json"
check "with the same fits" cmp "$work/apart.json" "$work/together.json"
head -c 900 "$work/one.log" >"$work/part.log"
tar -C "$work" -cf - one.log | head -c 1000 >"$work/cut.tar"
run calibrate "$work/cut.tar"
check "an archive that is cut off is an error" exits 1
check "which says so" err "cut.tar: the tar archive ends in the middle of a file"
mkdir "$work/empty" && tar -C "$work" -cf "$work/none.tar" empty
run calibrate "$work/none.tar"
check "one without a text, too" err "no text in this tar archive"

# Eight ranks, 20 us and 300 GB/s of bus bandwidth; messages of an all-gather are
# one rank's part.
awk 'BEGIN {
	for (rank = 0; rank < 8; rank += 7)
		for (k = 10; k < 30; k += 2) {
			s = 2 ^ k
			t = 20e-6 + 1.75 * s / 300e9
			printf "{\"header\":{\"id\":\"0x1\",\"rank\":%d,\"n_ranks\":8,\"nnodes\":1},\"metadata\":{\"hostname\":\"n%d\"},\"coll_perf\":{\"coll\":\"AllReduce\",\"coll_sn\":%d,\"coll_msg_size_bytes\":%d,\"coll_exec_time_us\":%.3f,\"coll_algobw_gbs\":%.6f,\"coll_busbw_gbs\":%.6f}}\n", rank, rank, k, s, t * 1e6, s / t / 1e9, 1.75 * s / t / 1e9
			t = 20e-6 + 7 * s / 300e9
			printf "{\"coll_perf\":{\"coll\":\"AllGather\",\"coll_sn\":%d,\n\"coll_msg_size_bytes\":%d,\"coll_exec_time_us\":%.3f,\"coll_algobw_gbs\":%.6f}}\n", k, s, t * 1e6, 8 * s / t / 1e9
		}
}' >"$work/inspector.log"
run calibrate --json "$work/inspector.log"
check "Inspector files are logs" exits 0
check "json: each kind of call is a run, headers hold on" json \
	'[.links[] | [.collective, .ranks, .nodes]] | sort ==
	 [["all_gather", 8, 1], ["all_reduce", 8, 1]]'
check "json: both at the rate that was measured" json \
	'[.links[].busbw_bytes_per_s / 3e11] | all(. > 0.98 and . < 1.02)'
echo '{"coll_perf":{"coll":"Dance","coll_msg_size_bytes":8}}' >"$work/odd.log"
run calibrate "$work/odd.log"
check "a call of no kind is told with its line" out "odd.log:1: "
run calibrate --predict 3X "$work/one.log"
check "a size without sense is a usage error" exits 2
run calibrate --collective all_bananas "$work/one.log"
check "so is an unknown collective" exits 2
run calibrate --json --yaml "$work/one.log"
check "and two formats at once" exits 2
# ---- a job's own steps ----
job=gpus=64,tp=8,pp=2,vpp=5,gbs=512,zero=1,model=llama3-70B
awk 'BEGIN { for (i = 1; i <= 40; i++) printf " iteration %8d/ 1000 | " \
	"elapsed time per iteration (ms): %.1f | lr: 1\n", i,
	(i < 4 ? 90000 : 61000 + 100 * (i % 5)) }' >"$work/megatron.log"
run calibrate --steps "$work/megatron.log" --job $job --json \
	--into "$work/site.csv"
check "steps: the median without the first ones" json \
	'.steps == 36 and (.step_s - 61.2 | fabs) < 0.001'
check "steps: the correction and its interval" json \
	'(.efficiency * .step_s / .predicted_s - 1 | fabs) < 1e-6 and
	.low < 1 and .high > 1 and .runs == 1'
awk 'BEGIN { for (i = 1; i <= 40; i++) printf "Training | global_step: %d | " \
	"train_step_timing in s: 66.5 | consumed: 1\n", i }' >"$work/nemo.log"
run calibrate --steps "$work/nemo.log" --job $job --json \
	--into "$work/site.csv"
check "steps: a second run widens the interval" json \
	'.runs == 2 and .low < 0.97 and .high > 1.03'
run model step --job $job --json --calibrate "$work/site.csv"
check "steps: the site's table is one of runs" json \
	'.step_s > 61.2 and .step_s < 66.5'
printf %s "$(cat "$work/site.csv")" >"$work/edited.csv"
cp "$work/nemo.log" "$work/the \"last\".log"
run calibrate --steps "$work/the \"last\".log" --job $job --json \
	--into "$work/edited.csv"
check "steps: a last line without its end, and quotes in a name" \
	json '.runs == 3'
awk 'BEGIN { for (i = 1; i <= 20; i++) printf "step: %d  loss: 8.1  " \
	"tps: 1,024  tflops: 300\n", i }' >"$work/titan.log"
run calibrate --steps "$work/titan.log" --job $job --json
check "steps: torchtitan says tokens per second and GPU" json \
	'(.step_s - 64 | fabs) < 1e-9'
awk 'BEGIN { for (i = 1; i <= 20; i++) printf "Epoch 0: : %d%%|##| %d/100 " \
	"[00:48<00:00, reduced_train_loss=0.01, train_step_timing in s=61.2]\r",
	i, i }' >"$work/bar.log"
run calibrate --steps "$work/bar.log" --job $job --json
check "steps: lines of a progress bar" json '.steps == 17 and .step_s == 61.2'
awk 'BEGIN { for (i = 1; i <= 20; i++) printf "Step Time : 61.20s GPU " \
	"utilization: 512.3MODEL_TFLOP/s/GPU\n" }' >"$work/bridge.log"
run calibrate --steps "$work/bridge.log" --job $job --json
check "steps: Megatron Bridge's" json '.steps == 17 and .step_s == 61.2'
awk 'BEGIN { for (i = 1; i <= 20; i++) printf "completed step: %d, seconds: " \
	"61.2, TFLOP/s/device: 412.1\n", i }' >"$work/maxtext.log"
run calibrate --steps "$work/maxtext.log" --job $job --json
check "steps: MaxText's" json '.steps == 17 and .step_s == 61.2'

# What an Inspector writes of a rank: tp calls of each layer, and buckets of
# gradients in each step, the first three of which are slower.  kind: verbose,
# dumped (each call when it was made), late (all at the end), missing (every
# fifth is not there) or shards (each micro-batch exchanges the same).
inspector() {
	awk -v kind="$1" '
	function call(comm, coll, size, at) {
		n[comm coll]++
		if (kind == "missing" && ++all % 5 == 0)
			return
		printf "{\"header\": {\"id\": \"%s\", \"rank\": 3, \"n_ranks\": 8, " \
			"\"nnodes\": 1}, \"metadata\": {\"dump_timestamp_us\": " \
			"%.0f}, \"coll_perf\": {\"coll\": \"%s\", \"coll_sn\": %d, " \
			"\"coll_msg_size_bytes\": %d, \"coll_exec_time_us\": 9",
			comm, 1e6 * (kind == "late" ? 1e7 : at), coll,
			n[comm coll], size
		if (kind == "verbose" || kind == "shards")
			printf ", \"event_trace_ts\": {\"coll_start_ts\": %.0f}",
				1e6 * at
		print "}}"
	}
	BEGIN {
		call("0xd", "ReduceScatter", 4, 1e6)
		for (at = 1e6; step < 23; step++) {
			long = step < 3 ? 90 : 61 + 0.1 * (step % 5)
			for (m = 0; m < 8; m++)
				for (l = 0; l < 4; l++)
					call(kind == "shards" ? "0xd" : "0xt",
						"AllGather", 1e6 + (l == 3),
						at + long * (m + l / 4) / 9)
			for (b = 0; b < 4 && kind != "shards"; b++)
				call("0xd", "ReduceScatter", b < 3 ? 4e8 : 1e8,
					at + long * 0.9 + b)
			at += long
		}
		printf "{\"header\": {\"id\""
	}' >"$work/inspector.$1.log"
	run calibrate --steps "$work/inspector.$1.log" --job "$2" --json
}
for kind in verbose dumped missing; do
	inspector $kind $job
	check "steps: an Inspector's calls, $kind" json \
		'.steps > 15 and (.step_s - 61.2 | fabs) < 0.1 and
		(.efficiency * .step_s / .predicted_s - 1 | fabs) < 1e-6'
done
inspector shards gpus=64,zero=3,gbs=512,model=llama3-70B
check "steps: micro-batches that all exchange shards" json \
	'.steps > 15 and (.step_s - 61.2 | fabs) < 7'
inspector late $job
check "steps: calls that were all written at the end" exits 1
check "steps: say what to set" err NCCL_INSPECTOR_DUMP_VERBOSE
run calibrate --steps "$work/inspector.verbose.log" --json \
	--job gpus=64,tp=8,pp=2,vpp=5,gbs=8192,zero=1,model=llama3-70B
check "steps: no call is made once a step of another job" err "once a step"
tar -C "$work" -czf "$work/ranks.tgz" inspector.verbose.log inspector.dumped.log
run calibrate --steps "$work/ranks.tgz" --job $job --json
check "steps: one rank's file of an archive" json '.steps < 22'

shape=gpus=64,tp=8,gbs=512,zero=1,layers=24,hidden=4096,heads=32,ffn=16384
shape=$shape,vocab=50000,seq=2048,attention=flash2
run calibrate --steps "$work/nemo.log" --job $shape --json \
	--into "$work/shape.csv"
check "steps: a job that gives its model's shape" exits 0
predicted=$(jq .predicted_s "$work/out")
run model step --table "$work/shape.csv" --json
check "steps: the row kept says all that the job did" json \
	"(.rows[0].step_s / $predicted - 1 | fabs) < 1e-9"
run model step --job $shape --json
check "steps: which is predicted as the job itself" json \
	"(.step_s / $predicted - 1 | fabs) < 1e-9"
printf 'row_id,gpu,step_s\n' >"$work/narrow.csv"
run calibrate --steps "$work/nemo.log" --job $job --into "$work/narrow.csv"
check "steps: a table without room for the job is an error" exits 1
check "steps: that names the column" err '"job"'
check "steps: and leaves the table alone" \
	[ "$(cat "$work/narrow.csv")" = row_id,gpu,step_s ]
run calibrate --steps "$work/site.csv" --job $job
check "steps: a log without any is an error" exits 1
check "steps: that says which are known" err torchtitan
run calibrate --steps "$work/titan.log"
check "steps: without a job a usage error" exits 2
finish
