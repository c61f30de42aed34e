# SPDX-License-Identifier: GPL-3.0-or-later
# wire.jq - a scenario's object from what its jobs are, took and were to take.

def seconds: {step_s, axis_s};

# A step takes longer while another job sends than while it does not: what is
# predicted of jobs beside each other is the mean.
def steps_of_several: if ($said | length) > 1 then .step_s = .mean_s else . end;

{
	bench: "wire",
	scenario: $name,
	network: $network,
	jobs: [range($said | length) as $i | $said[$i] as $job |
		($measured[$i] | steps_of_several) as $measured |
		($known[] | select(.scenario == $job.base) | .jobs[0]) // null |
		. as $base | {
			spec: $job.spec,
			ranks: $job.ranks,
			base: (if $base then $job.base else null end),
			measured: ($measured | seconds),
			steps: $measured.steps,
			predicted: ($predicted[$i] | seconds),
			error: ($predicted[$i].step_s / $measured.step_s - 1),
			measured_times: (if $base then
				$measured.step_s / $base.measured.step_s
				else null end),
			predicted_times: (if $base then
				$predicted[$i].step_s / $base.predicted.step_s
				else null end)
		} |
		.ratio = (if $base then .predicted_times / .measured_times
			else null end)]
}
