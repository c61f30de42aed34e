/* SPDX-License-Identifier: GPL-3.0-or-later */
/* known.h - placements that have been measured, so that others need not be
 *
 * Private to placement/.  A step takes long to predict, and searches look at
 * many placements that differ only in which of several equal domains they use.
 * Such placements have the same signature: the domains of each level in the
 * order in which ranks first use them, and what the links above them carry.
 */
#ifndef WEFT_PLACEMENT_OBJECTIVE_KNOWN_H
#define WEFT_PLACEMENT_OBJECTIVE_KNOWN_H

#include "costmodel/time/cost.h"
#include "costmodel/time/load.h"
#include "topology/fabric.h"

struct weft_measure {
	struct weft_cost cost; /* busiest: on the links as the load of other
				* jobs leaves them */
	double goal;	       /* the cost, or seconds */
	double to_gain;	   /* of the goal, at most, by other domains; INFINITY
			    * where this is not known */
	double share_lost; /* of free slots, slots.h; 0 if not looked at */
	double value;	   /* goal * (1 + fragmentation * share_lost) */
	bool is_bound;	   /* goal is a lower bound; nothing else is known */
	bool inferred;	   /* from another placement of equal step: the busiest
			    * link is as busy as that of the other, whose name
			    * it has */
};

/* What is the same for all placements of which one stands for the others. */
struct weft_signature {
	uint64_t exact; /* of the very same GPUs */
	uint64_t links; /* of those that use equal links alike */
	uint64_t hosts; /* of those whose ranks share hosts with the same
			 * others */
};

struct weft_known_one;

/* Zero-initialise. */
struct weft_known {
	struct weft_known_one *one; /* [n] */
	uint32_t n, room, next;	    /* next: that is written over when full */
	uint32_t *at;		    /* hash table of indices into one[], + 1 */
	uint64_t *met; /* [n_domains + n_nodes] scratch: when a domain was last
			* met, and as which one */
	uint32_t turn; /* of met */
};

void weft_known_free(struct weft_known *known);

/* The signature of where[n] on links with that load (NULL: idle).  False: there
 * is no such GPU, or out of memory. */
bool weft_known_sign(struct weft_known *known, const struct weft_fabric *f,
		     const struct weft_load *load, const uint32_t *where,
		     uint32_t n, struct weft_signature *signature);

/* What was measured of a placement with equal links: all but share_lost and
 * value.  False: nothing. */
bool weft_known_find(const struct weft_known *known,
		     const struct weft_signature *signature,
		     struct weft_measure *measure);

/* The time of one whose step counts as that of all on hosts that are alike:
 * goal, to_gain, and the busiest link. */
bool weft_known_find_time(const struct weft_known *known,
			  const struct weft_signature *signature,
			  struct weft_measure *measure);

/* Keeps a placement that was measured.  anywhere: its step counts as that of
 * all on hosts that are alike.  Without memory it is not kept. */
void weft_known_keep(struct weft_known *known,
		     const struct weft_signature *signature,
		     const struct weft_measure *measure, bool anywhere);

#endif
