/* SPDX-License-Identifier: GPL-3.0-or-later */
/* place.h - choosing GPUs and rank order for a job */
#ifndef WEFT_PLACEMENT_PLACE_H
#define WEFT_PLACEMENT_PLACE_H

#include "placement/capacity/occupancy.h"
#include "placement/job.h"
#include "placement/objective/objective.h"
#include "placement/placement.h"

#include <signal.h>
#include <stdio.h>

struct weft_strategy;

/* What decisions on one job have in common, kept by those that ask about it
 * again and again; one thread at a time.  NULL with err. */
struct weft_plan_cache;
struct weft_plan_cache *weft_plan_cache_build(struct weft_error *err);
void weft_plan_cache_free(struct weft_plan_cache *plan_cache);

/* Zeroes mean the defaults. */
struct weft_place_options {
	const char *method; /* name of a strategy; NULL: "pack" */
	uint64_t seed;	    /* same seed and work_limit, same answer */
	/* steps of search; 0: the strategy's default, of which jobs of more
	 * than 512 GPUs get a share, 512 for as many GPUs as they have, so that
	 * the whole decision takes milliseconds */
	uint64_t work_limit;
	double budget_s; /* wall clock; 0: none.  At the bound: the best
			  * found so far, and what is known by then as the
			  * lower bound; first-fit is not looked at */
	bool search_on;	 /* "pack" with a budget and no work_limit: searches
			  * again and again until the budget is spent or
			  * nothing more is expected, and keeps the best */
	/* a strategy that is not in the table, instead of method; those that
	 * need a solver are libraries of their own, so that slurmctld loads
	 * none */
	const struct weft_strategy *strategy;
	const volatile sig_atomic_t *stop; /* not 0: answer now; NULL: never */
	/* what makes a placement better; NULL: what the spec asks for,
	 * weft_objective_of_spec */
	const struct weft_objective *objective;
	/* of earlier decisions on jobs that differ from this one at most in
	 * where they may go and in limits, except gpus_per_node; NULL: none */
	struct weft_plan_cache *plan_cache;
	/* gets a program that proves the bound, if the method has one, as
	 * weft-plan(1) says; NULL: not wanted */
	FILE *certificate;
	/* called now and then with the state of a long search; NULL: never */
	void (*progress)(void *listener, const char *text);
	void *listener;
};

struct capacity; /* what nodes can give to the job; placement/'s own */

/* place() gets p with metric and bound set, at which it may stop looking; it
 * fills placed, where (malloc'ed) and method, weft_place the rest. */
struct weft_strategy {
	const char *name, *help;
	int (*place)(struct capacity *s,
		     const struct weft_place_options *options,
		     struct weft_placement *p, struct weft_error *err);
};

extern const struct weft_strategy weft_strategies[];
extern const uint32_t weft_n_strategies;

/* Under a deadline of the thread (base/clock.h) what was found by then is
 * the answer, with NAN for its cost and bound where there was no time to look;
 * without anything found -1 with WEFT_ELATE.
 *
 * Places `job` on the usable GPUs of o.  Returns 0 also when no placement
 * exists (p->placed false); -1 only on bad options, a step that is the goal and
 * cannot be predicted, or out of memory.
 * Of what it finds and what "first-fit" finds, the better one (of a job of more
 * than 512 GPUs, whose default leaves no step to predict, its own where
 * first-fit's costs more): by prefer=
 * first, then by the objective's value (times less than a thousandth apart may
 * count as equal), by cost in p->metric, which is the
 * objective's, by the busiest link, the admin's weights, on fabrics of up to
 * 4,096 GPUs by the share of slots that it destroys without need, and by how
 * few untouched domains it breaks.  Fills cost, bound, gap (both of the cost,
 * whatever the goal is), method and why.  Free with weft_placement_free in
 * either case. */
int weft_place(const struct weft_fabric *f, const struct weft_job *job,
	       const struct weft_occupancy *o,
	       const struct weft_place_options *options,
	       struct weft_placement *p, struct weft_error *err);

/* A place that keeps every limit of the job, chosen by the structure of the
 * fabric alone, with the ranks in the order of axes that keeps most bytes
 * close: looks at no pairs of ranks, compares and prices nothing, so that cost
 * and bound are NAN.  Returns as weft_place does. */
int weft_place_first(const struct weft_fabric *f, const struct weft_job *job,
		     const struct weft_occupancy *o, struct weft_placement *p,
		     struct weft_error *err);

/* Rank order alone: the best found assignment of job's ranks to the n_ranks
 * GPUs gpus[]; for allocations made elsewhere and for weft score.  Never worse
 * than the given order, rank r on gpus[r], by the objective.  Fills as
 * weft_place does; the bound is that of any order on these GPUs. */
int weft_place_ranks(const struct weft_fabric *f, const struct weft_job *job,
		     const uint32_t *gpus,
		     const struct weft_place_options *options,
		     struct weft_placement *p, struct weft_error *err);

/* The same by structure, as weft_place_first orders them. */
int weft_place_first_ranks(const struct weft_fabric *f,
			   const struct weft_job *job, const uint32_t *gpus,
			   struct weft_placement *p, struct weft_error *err);

/* The cost of ranks already placed: where[r] for each rank r.  The bound is
 * that of any placement on these GPUs and the usable ones of o (NULL: on the
 * whole fabric, as if nothing else ran on it).  Fills as weft_place does. */
int weft_place_score(const struct weft_fabric *f, const struct weft_job *job,
		     const struct weft_occupancy *o, const uint32_t *where,
		     struct weft_placement *p, struct weft_error *err);

#endif
