/* SPDX-License-Identifier: GPL-3.0-or-later */
/* blockers.h - what stands between a job and a better place */
#ifndef WEFT_PLACEMENT_BLOCKERS_H
#define WEFT_PLACEMENT_BLOCKERS_H

#include "placement/capacity/running.h"
#include "placement/place.h"

/* What the end of running jobs brings. */
struct weft_relief {
	uint32_t job;	    /* index into the list; WEFT_NONE: nothing helps */
	double remaining_s; /* until then; INFINITY: not known */
	double cost;	    /* of the job to be placed, then */
};

/* Costs are in the job's metric; INFINITY: no place. */
struct weft_blockers {
	double cost;  /* now */
	double ideal; /* if no job of the list ran */
	/* running jobs on the nodes of that ideal place, those with most GPUs
	 * there first */
	uint32_t n_blockers;
	uint32_t *blocker;
	/* the one job whose end alone helps most; of those the soonest */
	struct weft_relief alone;
	/* the first end, all before it included, with which the job has any
	 * place; and the first with which it costs as good as the ideal */
	struct weft_relief fits, good;
	uint32_t n_looked; /* jobs whose end was tried alone */
};

/* What weft_blockers is asked. */
struct weft_blockers_request {
	const struct weft_fabric *f;
	const struct weft_job *job;
	const struct weft_occupancy *o; /* with the running jobs in it */
	const struct weft_running_list *running;
	const struct weft_place_options *options; /* of each trial; NULL: the
						   * defaults */
	const struct weft_placement *now;	  /* the job's place on o */
	double budget_s; /* wall clock for all trials; 0: none */
};

/* Two costs less than this apart, in proportion, are as good as each other. */
#define WEFT_BLOCKERS_SAME 0.01

/* Places the job again with jobs gone: all, one by one (those in the way
 * first), and in the order of their ends.  Free with weft_blockers_free in
 * either case. */
int weft_blockers(const struct weft_blockers_request *request,
		  struct weft_blockers *blockers, struct weft_error *err);
void weft_blockers_free(struct weft_blockers *blockers);

/* Adds what it says to p->why, in sentences. */
void weft_blockers_explain(const struct weft_blockers_request *request,
			   const struct weft_blockers *blockers,
			   struct weft_placement *p);

#endif
