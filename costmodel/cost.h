/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost.h - what a placement costs: sum over pairs of d(i,j) * M(i,j) */
#ifndef WEFT_COSTMODEL_COST_H
#define WEFT_COSTMODEL_COST_H

#include "costmodel/traffic.h"
#include "topology/fabric.h"

/* Sums are over ordered pairs, per step, by metric:
 * [WEFT_HOPS] byte-hops, [WEFT_LATENCY] byte-seconds, [WEFT_TIME] seconds. */
struct weft_cost {
	double total[WEFT_N_METRICS];
	double by_axis[WEFT_N_AXES][WEFT_N_METRICS];
	double by_level[WEFT_MAX_LEVELS][WEFT_N_METRICS];
	double bytes_by_level[WEFT_MAX_LEVELS];
	/* The link that needs longest for its share of the step: the uplink
	 * (or downlink) of one domain, or a GPU's own NIC. */
	struct {
		double time_s; /* bytes / capacity */
		double bytes;
		uint32_t level;	 /* level of the domain below the link */
		uint32_t domain; /* index into fabric.domains; WEFT_NONE: no
				  * byte leaves any domain */
		bool up;	 /* towards the top */
	} busiest;
};

/* Scratch for many evaluations on one fabric; zero-initialise, then reuse. */
struct weft_cost_scratch {
	double *up, *down; /* [n_domains] bytes */
	uint32_t *touched; /* [n_domains] */
	uint32_t n_domains;
};
void weft_cost_scratch_free(struct weft_cost_scratch *scratch);

/* Cost of traffic t when rank r runs on GPU where[r] (t->n_ranks distinct GPUs
 * of f that are connected).  scratch may be NULL (then it allocates).
 * O(edges * depth). */
int weft_cost(const struct weft_fabric *f, const struct weft_traffic *t,
	      const uint32_t *where, struct weft_cost_scratch *scratch,
	      struct weft_cost *cost, struct weft_error *err);

/* Capacity of the link above a domain, bytes per second and direction: its
 * GPUs times the parent level's rate over the parent level's oversubscription.
 */
double weft_cost_uplink_rate(const struct weft_fabric *f, uint32_t domain);

#endif
