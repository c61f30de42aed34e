/* SPDX-License-Identifier: GPL-3.0-or-later */
/* judge.h - the value of placements of one job, by one objective */
#ifndef WEFT_PLACEMENT_OBJECTIVE_JUDGE_H
#define WEFT_PLACEMENT_OBJECTIVE_JUDGE_H

#include "costmodel/time/cost.h"
#include "placement/capacity/slots.h"
#include "placement/job.h"
#include "placement/objective/known.h"
#include "placement/objective/objective.h"

/* What is the same for all of them, and scratch: one thread at a time. */
struct weft_judge {
	const struct weft_fabric *f;
	const struct weft_job *job;
	struct weft_objective objective;
	struct weft_slots slots;    /* empty without an occupancy */
	const struct weft_gpu *gpu; /* whose step; NULL: none is predicted, and
				     * the step is that of communication */
	/* Only for the step.  Values closer than this, in proportion, to that
	 * of the first placement measured, `reference`, are equal. */
	double same, reference;
	double reference_cost;	    /* of the same; 0: none has been measured */
	uint32_t reference_domains; /* that it enters and breaks of the level
				     * whose domains have a price */
	bool indifferent; /* no placement of the job is slower than another:
			   * between equal ones the share lost decides */
	struct weft_cost_scratch scratch;
	uint32_t *summed; /* [n_gpus] the placement whose sums are kept; NULL:
			   * none */
	struct weft_cost sums;
	/* No link above hosts is slower than what is below it: for ranks that
	 * share hosts with the same others, only hops tell places apart. */
	bool links_idle;
	bool anywhere; /* a step was measured that counts as that of all
			* placements on hosts that are alike */
	struct weft_known known; /* what has been measured */
	uint32_t n_measured;	 /* not looked up there */
	/* What the best set costs at least, in whichever order, where a part of
	 * the job has told orders apart; 0: none has. */
	double cheapest;
	double least_goal; /* no placement that is looked for has a smaller
			    * one; 0 unless its owner found out */
};

/* o: what is free before the job comes; NULL: the share lost is not looked at.
 * Keeps f, job and what the objective points at.  Free with
 * weft_judge_free in either case. */
int weft_judge_build(const struct weft_fabric *f, const struct weft_job *job,
		     const struct weft_occupancy *o,
		     const struct weft_objective *objective,
		     struct weft_judge *judge, struct weft_error *err);
void weft_judge_free(struct weft_judge *judge);

/* Measures where[r] for each rank r: distinct GPUs of f, connected where their
 * ranks exchange bytes. */
int weft_judge_measure(struct weft_judge *judge, const uint32_t *where,
		       struct weft_measure *measure, struct weft_error *err);

/* weft_cost_sums of the job, at once where it was asked for the same placement
 * the last time. */
int weft_judge_sums(struct weft_judge *judge, const uint32_t *where,
		    struct weft_cost *cost, struct weft_error *err);

/* Whether what was measured of others tells *goal, as weft_judge_measure has
 * it; counts as measured. */
bool weft_judge_infer(struct weft_judge *judge, const uint32_t *where,
		      double *goal);

/* *goal: weft_judge_measure finds no smaller one, in a small part of its time.
 * Where a GPU's step is the goal; counts as measured. */
int weft_judge_bound_one(struct weft_judge *judge, const uint32_t *where,
			 double *goal, struct weft_error *err);

/* From now on the share lost decides between equal placements.  o: what is free
 * before the job comes.  -1 with err when out of memory. */
int weft_judge_indifferent(struct weft_judge *judge,
			   const struct weft_occupancy *o,
			   struct weft_error *err);

/* Distances looked up for it, about. */
uint64_t weft_judge_work(const struct weft_judge *judge);

/* Whether one more is worth its time, after those measured so far, where the
 * caller set no limit: always for a job of up to EFFORT_FULL_GPUS. */
bool weft_judge_affords(const struct weft_judge *judge);

/* *value: no placement of the job on what is usable in o has a smaller one;
 * NAN where no bound is known (the step).  cost_bound: that of the sum of d * M
 * in the objective's metric. */
int weft_judge_bound(const struct weft_judge *judge,
		     const struct weft_occupancy *o, double cost_bound,
		     double *value, struct weft_error *err);

#endif
