/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay_report.h - what weft replay found, to people and to programs */
#ifndef WEFT_LAB_REPLAY_REPLAY_REPORT_H
#define WEFT_LAB_REPLAY_REPLAY_REPORT_H

#include "lab/replay/job_trace.h"
#include "lab/replay/replay.h"

struct replay_answer {
	const char *trace; /* path */
	const struct job_trace_skipped *skipped;
	double scale;
	const struct weft_replay *replay;
	uint32_t n;	  /* policies */
	bool interrupted; /* there would have been more */
	const struct weft_replay_outcome *outcomes;
};

/* {"schema": "weft.replay/1", ...}; -1 with err when out of memory. */
int replay_json(const struct replay_answer *a, struct weft_error *err);

/* One line per policy. */
void replay_text(const struct replay_answer *a);

/* True for levels that tell where a job is: outside the node, and not the one
 * domain of everything. */
bool replay_level_tells(const struct weft_fabric *f, uint32_t level);

#endif
