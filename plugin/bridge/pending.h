/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pending.h - what keeps a job waiting, and the nearest way out, in a sentence:
 * no Slurm types
 */
#ifndef WEFT_PLUGIN_BRIDGE_PENDING_H
#define WEFT_PLUGIN_BRIDGE_PENDING_H

#include "plugin/bridge/bridge.h"
#include "plugin/bridge/request.h"

#define WEFT_PENDING_SIZE 200

/* A running job. */
struct weft_ending {
	uint32_t job_id;
	int64_t end_s; /* seconds since the epoch; 0: not known */
};

struct weft_pending {
	struct weft_bridge *bridge;
	const struct weft_request *request;
	const struct weft_shape *shape;
	/* what is free and usable for the job now; nodes that it may not have
	 * are closed */
	const struct weft_occupancy *o;
	uint32_t n_endings;
	const struct weft_ending
		*endings; /* soonest first, unknown ends last */
	bool more;	  /* jobs run beside those of the endings */
	/* gives back in o what the running job has */
	void (*release)(const void *context, const struct weft_ending *ending,
			struct weft_occupancy *o);
	const void *context;
	double budget_s; /* for all that is tried */
	int64_t now_s;
	/* The sentence is for a user to whom the site does not show others'
	 * jobs, or nodes. */
	bool hide_jobs, hide_nodes;
};

/* "leaf leaf2 has 3 of 4 nodes free; fits when job 812 ends (14:05), or with
 * within=pod" into text; what was not found out within the budget is left out.
 * false: nothing can be said. */
bool weft_pending_explain(const struct weft_pending *pending,
			  char text[WEFT_PENDING_SIZE]);

/* ---- what was said before ---- */

#define WEFT_PENDING_SLOTS 512

/* Sentences by job_id, direct-mapped: a clash costs one more explanation.
 * Zero-initialise.  Times are of any steady clock. */
struct weft_pending_memory {
	struct {
		uint32_t job_id;
		double at_s;
		char text[WEFT_PENDING_SIZE];
	} slots[WEFT_PENDING_SLOTS];
	double quiet_until_s; /* no explanations before */
};

/* The sentence about a job that is not older than age_s, or NULL. */
const char *weft_pending_recall(const struct weft_pending_memory *memory,
				uint32_t job_id, double now_s, double age_s);

/* Whether one more explanation may be made now: they take a fiftieth of the
 * time at most. */
bool weft_pending_may(const struct weft_pending_memory *memory, double now_s);

/* An explanation was made from start_s to end_s; text "": nothing to say. */
void weft_pending_keep(struct weft_pending_memory *memory, uint32_t job_id,
		       const char *text, double start_s, double end_s);

#endif
