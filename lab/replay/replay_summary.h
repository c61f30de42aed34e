/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay_summary.h - from every job's fate to the few numbers of a policy
 *
 * Private to lab/replay/.
 */
#ifndef WEFT_LAB_REPLAY_REPLAY_SUMMARY_H
#define WEFT_LAB_REPLAY_REPLAY_SUMMARY_H

#include "lab/replay/replay.h"

/* Fills all of the outcome but policy, jobs, parted_s and decisions from those.
 */
int replay_summarise(const struct weft_replay *r,
		     struct weft_replay_outcome *outcome,
		     struct weft_error *err);

#endif
