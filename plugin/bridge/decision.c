/* SPDX-License-Identifier: GPL-3.0-or-later */
/* decision.c - names and counts of what became of questions */
#include "plugin/bridge/decision.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const weft_cause_names[WEFT_N_CAUSES] = {
	[WEFT_CAUSE_PASS] = "passed on",
	[WEFT_CAUSE_NO_SPEC] = "no spec",
	[WEFT_CAUSE_UNWANTED] = "not wanted",
	[WEFT_CAUSE_SILENT] = "silent",
	[WEFT_CAUSE_NARROWED] = "narrowed",
	[WEFT_CAUSE_OBSERVED] = "observed",
	[WEFT_CAUSE_SPEC] = "spec ignored",
	[WEFT_CAUSE_UNCLEAR] = "request not understood",
	[WEFT_CAUSE_FOREIGN] = "a required node is not in the fabric",
	[WEFT_CAUSE_NO_ROOM] = "too little is free now",
	[WEFT_CAUSE_NO_PLAN] = "no placement fits the request",
	[WEFT_CAUSE_REFUSED] = "Slurm declined weft's nodes",
	[WEFT_CAUSE_WAITS] = "waits for a better place",
	[WEFT_CAUSE_NO_MEMORY] = "out of memory",
	[WEFT_CAUSE_AMISS] = "weft's figures contradict each other",
	[WEFT_CAUSE_RESTING] = "weft rests after slow decisions",
	[WEFT_CAUSE_LATE] = "no time was left for a plan",
	[WEFT_CAUSE_NOT_BEGUN] = "Slurm did not start it on weft's nodes",
};

const char *const weft_cause_codes[WEFT_N_CAUSES] = {
	[WEFT_CAUSE_PASS] = "pass",
	[WEFT_CAUSE_NO_SPEC] = "no-spec",
	[WEFT_CAUSE_UNWANTED] = "unwanted",
	[WEFT_CAUSE_NARROWED] = "narrowed",
	[WEFT_CAUSE_OBSERVED] = "observed",
	[WEFT_CAUSE_SPEC] = "spec",
	[WEFT_CAUSE_UNCLEAR] = "unclear",
	[WEFT_CAUSE_FOREIGN] = "foreign",
	[WEFT_CAUSE_NO_ROOM] = "no-room",
	[WEFT_CAUSE_NO_PLAN] = "no-plan",
	[WEFT_CAUSE_REFUSED] = "refused",
	[WEFT_CAUSE_WAITS] = "waits",
	[WEFT_CAUSE_NO_MEMORY] = "no-memory",
	[WEFT_CAUSE_AMISS] = "amiss",
	[WEFT_CAUSE_RESTING] = "resting",
	[WEFT_CAUSE_LATE] = "late",
	[WEFT_CAUSE_NOT_BEGUN] = "not-begun",
};

struct weft_counters weft_counters;

void weft_decision_free(struct weft_decision *decision)
{
	free(decision->where);
	weft_baselines_free(&decision->baselines);
	memset(decision, 0, sizeof(*decision));
}

static uint32_t bucket_of(double planning_s)
{
	double limit_s = WEFT_FIRST_BUCKET_S;
	uint32_t bucket = 0;

	while (bucket + 1 < WEFT_N_TIME_BUCKETS && planning_s > limit_s) {
		limit_s *= 2;
		bucket++;
	}
	return bucket;
}

void weft_counters_add(struct weft_counters *counters, enum weft_cause cause,
		       double planning_s)
{
	counters->by_cause[cause]++;
	if (cause <= WEFT_CAUSE_SILENT)
		return;
	counters->by_time[bucket_of(planning_s)]++;
	counters->planning_ns += (uint64_t)(planning_s * 1e9);
}

void weft_counters_text(const struct weft_counters *counters, char *text,
			size_t size)
{
	size_t used = 0;

	text[0] = '\0';
	for (uint32_t c = WEFT_CAUSE_SILENT + 1; c < WEFT_N_CAUSES; c++) {
		uint64_t n = counters->by_cause[c];

		if (n && used < size)
			used += (size_t)snprintf(
				text + used, size - used, "%s%s %" PRIu64,
				used ? ", " : "", weft_cause_names[c], n);
	}
	if (used && used < size)
		snprintf(text + used, size - used, "; planning %.0f ms in all",
			 (double)counters->planning_ns / 1e6);
}
