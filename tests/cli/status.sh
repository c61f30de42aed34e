#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"

FIXTURES=$work/site
cp -r "${WEFT_SRCDIR:-.}/tests/cli/slurm" "$FIXTURES"
chmod -R u+w "$FIXTURES"
SLURM_CONF=$FIXTURES/slurm.conf
PATH=$FIXTURES:$PATH
export FIXTURES SLURM_CONF PATH

run status --json
check "tells the status" exits 0
check "json: schema comes first" schema_first status
check "json: what is free, closed nodes aside" json \
	'.gpus == 128 and .gpus_free == 14 and .nodes_free == 1 and
	 .nodes_closed == 1'
check "json: jobs of a size that fit, by level" json \
	'.levels[] | select(.name == "leaf") | .fits["4"] == 3 and
	 .fits["8"] == 1 and .fits["16"] == 0'
check "json: the largest fit and where" json \
	'.levels[] | select(.name == "leaf") | .largest_fit_gpus == 8 and
	 .largest_domain == "leaf1"'
check "json: who waits, and why" json \
	'.waiting | length == 2 and .[0].job == "5" and .[0].gpus == 32 and
	 (.[0].reason | test("^weft: leaf leaf1 has"))'
check "json: what running jobs' nodes bring" json \
	'.running | length == 3 and .[0].job == 1 and
	 .[0].gain.stock_step_s == 0.649'
check "json: what jobs were promised" json \
	'.promises | .kept.switches == 0 and .broken == []'
check "json: decisions by cause" json '.decisions.narrowed > 0'
check "json: quantiles of their time" json '.planning.p99_s >= .planning.p50_s'
run status
check "says it to people" exits 0
check "what is free" out "14 of 128 GPUs free"
check "what running jobs' nodes bring" out \
	"step 633 ms, stock Slurm 649 ms, gain 2.4 %"
check "or that any nodes do" out "communication 500 ms, any nodes"
check "or that no time was left" out "1.5 s, stock Slurm not computed in time"
check "who waits" out "leaf leaf1 has 1 of 4 nodes free"

# ---- the page ----

run status --html
check "makes a page" exits 0
check "that begins with what is free" out \
	"<h1>lab: 14 of 128 GPUs are free, 2 jobs wait</h1>"
check "says who waits, and why" out \
	"<td>32</td><td>2026-11-21T23:28:03</td><td>weft: leaf leaf1 has"
check "draws the domains with their jobs" out "n07 GPU 0: free"
check "loads nothing" not grep -qE 'src=|href=|<script' "$work/out"
cat >"$work/records" <<'EOF'
{"job": 1, "cause": "narrowed", "start_s": 1000000, "nodes": 4, "gpus": 32, "on": "n[00-03]"}
{"job": 2, "cause": "narrowed", "start_s": 1001000, "nodes": 1, "gpus": 4, "on": "n04"}
{"job": 3, "cause": "narrowed", "start_s": 1001000, "nodes": 99, "gpus": 8}
{"job": 1, "start_s": 1000000, "end_s": 1001000}
{"job": 2, "start_s": 1001000, "end_s": 1002000}
{"job": 3, "start_s": 1001000, "end_s": 1002000}
EOF
PATH=${PATH#*:} run status --html --saved="$work/records" \
	--fabric "$FIXTURES/fabric.yaml"
check "of records alone, without Slurm" exits 0
check "a domain is full while its job runs" out \
	"leaf0: 32 of 32 GPUs, 01-12 13:46 to 01-12 14:03"
check "and free from its end on" out \
	"leaf0: 0 of 32 GPUs, 01-12 14:03 to 01-12 14:20"
check "a domain further out holds what is in it" out \
	"pod0: 4 of 64 GPUs, 01-12 14:03 to 01-12 14:19"
check "jobs without nodes are left out, and counted" out \
	"Of 3 jobs 1 are left out"
check "what was free in which pieces" out "At the end: 128, 128 and 64 GPUs"
run status --html --json
check "a page is no JSON" exits 2

sed 's/\(NodeName=n07 .*State=\)[A-Z+]*/\1IDLE+CLOUD+POWERED_DOWN/' \
	"$FIXTURES/nodes" >"$work/nodes"
cp "$FIXTURES/nodes" "$work/nodes.kept"
cp "$work/nodes" "$FIXTURES/nodes"
run status --json
check "nodes that are powered down count as free, and are counted" json \
	'.nodes_powered_down == 1 and .gpus_free == 14 and .nodes_closed == 1'
run status
check "which is said" out "1 of the free is powered down until a job comes"
cp "$work/nodes.kept" "$FIXTURES/nodes"

# ---- records ----

run status --saved --json
check "tells what the nodes saved" exits 0
check "json: schema comes first" schema_first saved
check "json: a job is told once, with its end" json \
	'[.jobs[] | .job] == [11, 12, 13, 14] and
	 (.jobs[0] | .gain.gain == 0.25 and .end_s == 1789407200) and
	 (.jobs[3] | has("end_s") | not)'
check "json: by week and mode, of jobs that have ended" json \
	'[.weeks[] | [.week, .mode, .jobs, .compared]] ==
	 [["2026-09-14", "observe", 2, 1], ["2026-09-21", "observe", 1, 1],
	  ["2026-09-21", "place", 1, 1]]'
check "json: what is saved is a share of the time" json \
	'(.weeks[0] | .gpu_s == 48 * 7200 + 8 * 3600 and
	  .compared_gpu_s == 48 * 7200 and .saved_gpu_s == 12 * 7200 and
	  .saved_at_most_gpu_s == 0) and
	 (.weeks[2] | .saved_gpu_s == 0 and
	  (.saved_at_most_gpu_s - 1440 | fabs) < 1e-6)'
check "json: broken lines are counted" json '.broken_lines == 1'
run status --saved
check "says it to people" exits 0
check "the week's sum" out "104.0        24.0  25.0 %"
check "a job with its nodes and weft's" out \
	"step 3.2 s, with weft 2.4 s: 25.0 %; on n[05,07-11], weft: n[08-13]"
check "or why it was not compared" out "not compared: no placement fits"
check "or that any nodes do" out "any nodes"
run status --saved="$FIXTURES/nowhere"
check "a file that is not there is an error" exits 1
run status --saved --verify
check "--verify is about something else" exits 2

# ---- metrics ----

# Rules of promtool's: each sample's family has HELP and TYPE once, before it;
# counters end in _total; a histogram's buckets only grow, up to +Inf = count.
lint() {
	awk '
	function bad(why) { print FILENAME ":" FNR ": " why ": " $0; failed = 1 }
	/^# HELP / { if ($3 in help) bad("a second HELP"); help[$3] = 1
		if (NF < 4 || $NF !~ /[.]$/) bad("no sentence of help"); next }
	/^# TYPE / { if (!($3 in help)) bad("TYPE without HELP")
		if ($3 in type) bad("a second TYPE"); type[$3] = $4
		if ($4 == "counter" && $3 !~ /_total$/) bad("a counter without _total")
		if ($4 != "counter" && $3 ~ /_total$/) bad("a _total that is no counter")
		if ($3 ~ /_(ms|us|minutes|hours)$/) bad("no base unit"); next }
	/^#/ { bad("a comment"); next }
	{
		if ($0 !~ /^weft_[a-z_]+([{][a-z]+="([^"\\]|\\.)*"(,[a-z]+="([^"\\]|\\.)*")*[}])? [-+0-9.eE]+$/)
			bad("no sample")
		name = $0; sub(/[{ ].*/, "", name)
		family = name; sub(/_(bucket|sum|count)$/, "", family)
		if (type[family] != "histogram") family = name
		if (!(family in type)) bad("no TYPE before it")
		if (seen[$1]++) bad("twice")
		if (name ~ /_bucket$/) {
			if ($NF < last) bad("buckets shrink")
			last = $NF
		}
		if (name ~ /_count$/ && $NF != last) bad("count is not that of +Inf")
	}
	END { if (!("weft_info" in type)) { print "no weft_info"; failed = 1 }
		exit failed }' "$1"
}

run status --prometheus
check "prints metrics" exits 0
check "the last week's records, too" out 'weft_week_jobs{mode="observe"} 0'
check "as Prometheus reads them" lint "$work/out"
check "decisions by cause" out 'weft_decisions_total{cause="narrowed"}'
check "fallbacks by cause" out 'weft_fallbacks_total{cause="no-room"}'
check "but not those that are none" sh -c \
	"! grep -q 'fallbacks_total{cause=\"narrowed\"}' '$work/out'"
check "times of decisions" out 'weft_decision_seconds_bucket{le="+Inf"}'
check "free GPUs by domain" out \
	'weft_domain_free_gpus{level="leaf",domain="leaf1"} 14'
check "the largest fit by domain" out \
	'weft_domain_largest_fit_gpus{level="leaf",domain="leaf1"} 8'
check "the cost ratio of jobs" out 'weft_job_cost_ratio{job="1"} 1'
cp "$work/out" "$work/printed"
run status --prometheus="$work/weft.prom"
check "writes a file" exits 0
check "with the same" cmp "$work/printed" "$work/weft.prom"
check "that others may read" test "$(stat -c %a "$work/weft.prom")" = 644
check "and leaves no other" test ! -e "$work/weft.prom.new"
check "silently" silent out
chmod 600 "$FIXTURES/status.json"
run status --prometheus
check "metrics name no jobs where the status file is private" sh -c \
	"! grep -q 'job=\"' '$work/out'"
check "though they count them" out 'weft_waiting_jobs '
chmod 644 "$FIXTURES/status.json"
run status --prometheus=/nonexistent/weft.prom
check "a file that cannot be written is an error" exits 1

# ---- without the plugin's file ----

rm "$FIXTURES/status.json"
run status --json
check "what Slurm knows is told without the plugin" exits 0
check "json: of running jobs nothing is" json '.running == null'
check "json: its own counts are null" json \
	'.decisions == null and .gpus_free == 14'
run status
check "people are told why" out "decisions are not known: "
run status --prometheus
check "metrics: the plugin is down" out "weft_up 0"
check "and well-formed" lint "$work/out"
run status --verify
check "there is nothing to verify" exits 1
echo '{"schema": "weft.other/1"}' >"$FIXTURES/status.json"
run status
check "another file is not taken for it" out 'expected the schema weft.state/1'

# ---- verify ----

cp "${WEFT_SRCDIR:-.}/tests/cli/slurm/status.json" "$FIXTURES/status.json"
run status --verify
check "the plugin's occupancy agrees with Slurm's jobs" exits 0
sed -i 's/"n05", "gpus": "0-7", "gpus_free": "4-7"/"n05", "gpus": "0-7", "gpus_free": "3-7"/' \
	"$FIXTURES/status.json"
run status --verify
check "a GPU too many is found" exits 3
check "and told" out "n05: weft takes GPUs 0,1,2 as taken, jobs have 0,1,2,3"
run status --verify --json
check "in JSON, too" json '.verify == [{"node": "n05", "weft": "0,1,2",
	"slurm": "0,1,2,3"}]'
run status --prometheus --verify
check "one thing at a time" exits 2
finish
