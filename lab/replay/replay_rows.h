/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay_rows.h - every job of a replay as a row of CSV */
#ifndef WEFT_LAB_REPLAY_REPLAY_ROWS_H
#define WEFT_LAB_REPLAY_REPLAY_ROWS_H

#include "lab/replay/replay.h"

#include <stdio.h>

/* The file that is being written; it gets its name when it is whole, unless it
 * is a link, device or pipe.
 * nodes[job]: hostlist of what the job got under the policy that runs. */
struct replay_rows {
	const char *path; /* NULL: no rows */
	char *part; /* what it is called until then; NULL: as in the end */
	FILE *out;
	const struct weft_replay *replay;
	char **nodes;
};

/* Free with replay_rows_free in either case. */
int replay_rows_open(const char *path, const struct weft_replay *replay,
		     struct replay_rows *rows, struct weft_error *err);
/* Keeps the nodes of a job that starts, as weft_replay_options.started. */
int replay_rows_started(void *rows, uint32_t job, const uint32_t *where,
			uint32_t n);
/* Writes the rows of one policy. */
void replay_rows_write(struct replay_rows *rows,
		       const struct weft_replay_outcome *outcome);
int replay_rows_close(struct replay_rows *rows, struct weft_error *err);
void replay_rows_free(struct replay_rows *rows);

#endif
