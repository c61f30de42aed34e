/* SPDX-License-Identifier: GPL-3.0-or-later */
/* known.h - placements that have been timed, so that others need not be
 *
 * Private to placement/.  A step takes long to predict.  The last ones are kept
 * for the same placement, and for others on hosts that are alike where it does
 * not matter which hosts these are.
 */
#ifndef WEFT_PLACEMENT_OBJECTIVE_KNOWN_H
#define WEFT_PLACEMENT_OBJECTIVE_KNOWN_H

#include "costmodel/time/cost.h"
#include "topology/fabric.h"

struct weft_measure {
	struct weft_cost cost; /* busiest: on the links as the load of other
				* jobs leaves them */
	double goal;	       /* the cost, or seconds */
	double to_gain;	   /* of the goal, at most, by other domains; INFINITY
			    * where this is not known */
	double share_lost; /* of free slots, slots.h; 0 if not looked at */
	double value;	   /* goal * (1 + fragmentation * share_lost) */
	bool inferred;	   /* from another placement of equal step: the busiest
			    * link is as busy as that of the other, whose name
			    * it has */
};

#define WEFT_KNOWN 4

/* Zero-initialise. */
struct weft_known {
	uint32_t *where; /* [WEFT_KNOWN][n_ranks] the last placements */
	struct weft_measure measure[WEFT_KNOWN];
	bool anywhere[WEFT_KNOWN]; /* the step counts as that of others */
	uint32_t n;	/* kept so far, the nth at n modulo WEFT_KNOWN */
	uint32_t *twin; /* [2][hosts] scratch of zeros */
};

void weft_known_free(struct weft_known *known);

/* Whether the ranks of a[n] and b[n] share hosts with the same others; false
 * before a placement was kept. */
bool weft_known_alike(const struct weft_known *known,
		      const struct weft_fabric *f, const uint32_t *a,
		      const uint32_t *b, uint32_t n);

/* What is known of the time of where[n]: fills goal, to_gain, busiest of the
 * cost, and inferred, which it may only be where `infer`.  False: nothing. */
bool weft_known_find(const struct weft_known *known,
		     const struct weft_fabric *f, const uint32_t *where,
		     uint32_t n, bool infer, struct weft_measure *measure);

/* Keeps a placement that was timed.  anywhere: its step counts as that of all
 * on hosts that are alike.  Without memory it is not kept. */
void weft_known_keep(struct weft_known *known, const struct weft_fabric *f,
		     const uint32_t *where, uint32_t n,
		     const struct weft_measure *measure, bool anywhere);

#endif
