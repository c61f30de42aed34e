# SPDX-License-Identifier: GPL-3.0-or-later
# wire.summary.jq - how far weft's seconds are from the wire's, over all scenarios

def abs: if . < 0 then -. else . end;
def median: sort | if length == 0 then null else
	(.[(length - 1) / 2 | floor] + .[length / 2 | floor]) / 2 end;

# Over pairs whose measured seconds differ by more than 3 %.
def tau:
	[.[] | [.measured.step_s, .predicted.step_s]] as $all |
	[range($all | length) as $i | range($i) as $j |
		[$all[$i], $all[$j]] |
		select((.[0][0] / .[1][0] | log | abs) > 0.03) |
		(.[0][0] - .[1][0]) * (.[0][1] - .[1][1]) |
		if . > 0 then 1 elif . < 0 then -1 else 0 end] |
	if length == 0 then null else add / length end;

map(select(type == "object")) |
[.[] | .scenario as $name | .jobs[] | .scenario = $name] as $jobs |
[$jobs[] | select(.ratio) | .off = (.ratio - 1 | abs)] as $ratios |
{
	bench: "wire",
	summary: true,
	scenarios: length,
	jobs: ($jobs | length),
	ratio_error: {
		median: ($ratios | map(.off) | median),
		worst: ($ratios | map(.off) | max),
		worst_scenario: ($ratios | max_by(.off).scenario)
	},
	seconds_error: {
		median: ($jobs | map(.error | abs) | median),
		worst: ($jobs | map(.error | abs) | max),
		worst_scenario: ($jobs | max_by(.error | abs).scenario)
	},
	kendall_tau: ($jobs | tau)
}
