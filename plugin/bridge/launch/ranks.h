/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ranks.h - which rank of a job that has got its GPUs is to run on which: no
 * Slurm types
 */
#ifndef WEFT_PLUGIN_BRIDGE_LAUNCH_RANKS_H
#define WEFT_PLUGIN_BRIDGE_LAUNCH_RANKS_H

#include "plugin/bridge/bridge.h"
#include "topology/rank_map.h"

struct weft_ranks_question {
	const char *spec; /* NULL: none */
	bool leave;	  /* the admin's default; the spec has the last word */
	/* GPUs that the job's ranks use, in the order in which Slurm lays ranks
	 * by itself; WEFT_NONE inside: one that the fabric does not know */
	uint32_t n_gpus;
	const uint32_t *given;
	/* the plan's GPU of each rank; NULL: the nodes are not weft's choice */
	uint32_t n_planned;
	const uint32_t *planned;
	double budget_s; /* for another order than the plan's; 0: none left */
};

/* where NULL: weft has no order for the job, and why says so (static text). */
struct weft_ranks {
	uint32_t n;
	uint32_t *where;   /* [n] fabric GPUs; malloc'ed */
	enum weft_env env; /* the variables that the job asked for */
	struct weft_rank_nvlink nvlink; /* where it asked for any */
	const char *why;
};

/* The plan's order where the job has the plan's GPUs, else the best found on
 * those it has.  Free ranks->where in any case. */
void weft_ranks_settle(struct weft_bridge *bridge,
		       const struct weft_ranks_question *question,
		       struct weft_ranks *ranks);

/* What the job's environment is to say of it; malloc'ed.  NULL where there is
 * nothing to say; *ranks may have lost its order then, with a new why. */
char *weft_ranks_text(const struct weft_fabric *f, uint32_t job_id,
		      struct weft_ranks *ranks);

/* The first rank of each of the fabric's nodes, WEFT_NONE of those without any;
 * malloc'ed.  NULL where the ranks of a node do not follow each other: that
 * order cannot be told by nodes. */
uint32_t *weft_ranks_of_nodes(const struct weft_fabric *f,
			      const struct weft_ranks *ranks);

/* Forgets the order: it will not be followed. */
void weft_ranks_drop(struct weft_ranks *ranks, const char *why);

/* Appends to a sentence whether the ranks are weft's. */
void weft_ranks_tell(const struct weft_ranks *ranks, char text[WEFT_TEXT_SIZE]);

#endif
