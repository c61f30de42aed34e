/* SPDX-License-Identifier: GPL-3.0-or-later */
/* comparison.h - which of two placements is the better one
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_OBJECTIVE_COMPARISON_H
#define WEFT_PLACEMENT_OBJECTIVE_COMPARISON_H

#include "placement/capacity/capacity.h"

/* Domains of a level that a placement uses, and the GPUs in the one that gives
 * most: how even it is. */
struct shares {
	uint32_t n_used, largest;
};

/* Costs that differ by less, in proportion, are sums of the same terms in
 * another order. */
#define COMPARISON_SAME 1e-9

/* A cost that is so near the least possible, in proportion, is taken for it:
 * what lies between is of the second metric (sites.c). */
#define COMPARISON_REACHED 1e-8

/* Times of the busiest link closer than this, in proportion, may count as
 * equal. */
#define COMPARISON_STEP 1e-3

/* In the order in which they decide; smaller is better in all but the first. */
struct comparison {
	bool prefers; /* keeps to prefer= */
	int64_t tier; /* of values that are times: equal ones have the same */
	bool in_tiers;
	/* with spread=failure-domain: replicas that one takes at most */
	uint32_t lost;
	double share_lost; /* 0 unless the job is indifferent to its place */
	bool even;	   /* every node that it uses gives as many GPUs */
	/* its value, and after `cost` that again, as tiers are wide, and
	 * the time of its busiest link */
	struct weft_measure measure;
	double cost;   /* sum of d * M in the job's metric */
	double second; /* sum of d * M in the metric that decides ties */
	/* only with spread=balance; outermost decides first */
	struct shares shares[WEFT_MAX_LEVELS];
	uint32_t n_sizes; /* numbers of GPUs that its nodes have */
	uint64_t weight;  /* admin's weights, summed over the GPUs */
	uint32_t broken[WEFT_MAX_LEVELS]; /* untouched domains that it
					   * touches; outermost decides first */
	uint32_t slack;	 /* GPUs left in the tightest domain around it */
	uint32_t lowest; /* GPU index */
};

/* s: any capacity of the same job and occupancy that has a judge. */
int comparison_measure(const struct capacity *s, const uint32_t *where,
		       struct comparison *r, struct weft_error *err);

/* Whether all nodes have as many ranks.  Where not, those with few may have to
 * send as much as others do with many NICs, wherever they are. */
bool comparison_is_even(const struct capacity *s, const uint32_t *where);

/* Whether nothing better by more than what counts as equal can be found. */
bool comparison_is_least(const struct capacity *s, const struct comparison *r);

/* The same, and room for other jobs does not decide either. */
bool comparison_suffices(const struct capacity *s, const struct comparison *r);

/* Whether where[] can be told to rank behind *best by its cost alone, which is
 * much cheaper than its time: *best suffices and costs less. */
int comparison_is_beaten(const struct capacity *s, const uint32_t *where,
			 const struct comparison *best, bool *beaten,
			 struct weft_error *err);

/* The same by a lower bound of its step, which takes a small part of the time
 * to predict it, and counts as a measurement; of a set of GPUs that was placed
 * in another order of ranks. */
int comparison_is_slower(const struct capacity *s, const uint32_t *where,
			 const struct comparison *best, bool *slower,
			 struct weft_error *err);

/* < 0: a is better; 0: equal; > 0: b is better. */
int comparison_compare(const struct comparison *a, const struct comparison *b);

#endif
