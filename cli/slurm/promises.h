/* SPDX-License-Identifier: GPL-3.0-or-later */
/* promises.h - what running jobs asked of their nodes, whoever placed them, and
 * whether they have it: from scontrol's records
 */
#ifndef WEFT_CLI_SLURM_PROMISES_H
#define WEFT_CLI_SLURM_PROMISES_H

#include "cli/slurm/snapshot.h"
#include "topology/fabric.h"

#include <stdbool.h>
#include <stdio.h>

enum promise_kind {
	PROMISE_SWITCHES,  /* --switches=N, unless the wait for it is over */
	PROMISE_SEGMENT,   /* --segment=N of topology/block, or of the spec */
	PROMISE_SPLIT,	   /* split= of the spec */
	PROMISE_WITHIN,	   /* within= of the spec */
	PROMISE_EXCLUSIVE, /* --exclusive=topo */
	PROMISE_N_KINDS
};
extern const char *const promise_names[PROMISE_N_KINDS];

/* One that a job does not have. */
struct promise {
	char job[32];
	enum promise_kind kind;
	char text[160]; /* what was asked for, and what the job has */
};

struct promises {
	uint32_t n_kept[PROMISE_N_KINDS], n_broken[PROMISE_N_KINDS];
	uint32_t n;
	struct promise *broken; /* [n] */
};

/* jobs, topology: what "scontrol --oneliner show job" and "show topology" say;
 * topology NULL: Slurm knows none.  snapshot: where specs are that Slurm does
 * not show.  Free with promises_free in either case. */
int promises_parse(const struct weft_fabric *f, FILE *jobs, FILE *topology,
		   const struct snapshot *snapshot, struct promises *promises,
		   struct weft_error *err);
void promises_free(struct promises *promises);

/* The same of the running Slurm. */
int promises_read(const struct weft_fabric *f, const struct snapshot *snapshot,
		  struct promises *promises, struct weft_error *err);

#endif
