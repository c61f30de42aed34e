/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost.h - what a placement costs: sum over pairs of d(i,j) * M(i,j) */
#ifndef WEFT_COSTMODEL_TIME_COST_H
#define WEFT_COSTMODEL_TIME_COST_H

#include "costmodel/traffic/traffic.h"
#include "topology/fabric.h"

struct weft_load; /* load.h: what other jobs send over the links */

/* Sums are over ordered pairs, per step, by metric:
 * [WEFT_HOPS] byte-hops, [WEFT_LATENCY] byte-seconds, [WEFT_TIME] seconds. */
struct weft_cost {
	double total[WEFT_N_METRICS];
	double by_axis[WEFT_N_AXES][WEFT_N_METRICS];
	double by_level[WEFT_MAX_LEVELS][WEFT_N_METRICS];
	double bytes_by_level[WEFT_MAX_LEVELS];
	/* The link that needs longest for its share of the step: the uplink or
	 * downlink of one domain, or one GPU's own NIC.  A domain's link
	 * carries the bytes between GPUs inside and outside of it; a NIC those
	 * that leave its node (its NVLink domain, where that spans nodes) and
	 * has the rate of the first network level, before oversubscription,
	 * which is above it.  A bundle of rails counts as one switch.  Of equal
	 * ones the outermost, then the lowest index; a NIC only when slower
	 * than every domain's link. */
	struct {
		double time_s; /* bytes over what the job can have of it */
		double bytes;
		uint32_t level;	 /* level of the domain below the link */
		uint32_t domain; /* index into fabric.domains; WEFT_NONE: no
				  * byte leaves any domain */
		uint32_t gpu;	 /* the GPU whose NIC it is, inside `domain`;
				  * WEFT_NONE: the domain's link */
		bool up;	 /* towards the top */
	} busiest;
};

/* Scratch for many evaluations; zero-initialise, then reuse, also on another
 * fabric.  Between calls up, down, seen and used are all zero. */
struct weft_cost_scratch {
	double *up, *down;	   /* [n_domains] bytes */
	double *nic_up, *nic_down; /* [n_ranks] bytes */
	uint32_t *touched;	   /* [n_domains] */
	uint32_t *seen; /* [n_domains] the last switch that used it */
	uint64_t *used; /* [n_gpus] bitset: GPUs that have a rank */
	uint32_t n_domains, n_ranks, n_gpus;
	uint32_t n_touched;
};
void weft_cost_scratch_free(struct weft_cost_scratch *scratch);

/* Bytes that go through a switch of the network count once, as far as the
 * members' domains reach: half of the way is up, half down.  On the links of a
 * domain the members inside it have one sum together.
 *
 * Cost of traffic t when rank r runs on GPU where[r]: t->n_ranks distinct GPUs
 * of f, connected where their ranks exchange bytes.  scratch may be NULL (then
 * it allocates).  O((ranks + edges) * depth), where edges of t->cliques count
 * as little as ranks if no level is a ring or torus. */
int weft_cost(const struct weft_fabric *f, const struct weft_traffic *t,
	      const uint32_t *where, struct weft_cost_scratch *scratch,
	      struct weft_cost *cost, struct weft_error *err);

/* The same but for the busiest link, which stays WEFT_NONE: in half the time.
 */
int weft_cost_sums(const struct weft_fabric *f, const struct weft_traffic *t,
		   const uint32_t *where, struct weft_cost_scratch *scratch,
		   struct weft_cost *cost, struct weft_error *err);

/* The same as weft_cost while other jobs use the links, too: the busiest link
 * is the one that needs longest at the rate that they leave, and distances are
 * as ever. */
int weft_cost_shared(const struct weft_load *load, const struct weft_traffic *t,
		     const uint32_t *where, struct weft_cost_scratch *scratch,
		     struct weft_cost *cost, struct weft_error *err);

/* Adds to up[d] and down[d] the bytes of a step on the link above each domain
 * d of f.  t and where as above. */
int weft_cost_links(const struct weft_fabric *f, const struct weft_traffic *t,
		    const uint32_t *where, double *up, double *down,
		    struct weft_error *err);

/* Capacity of the link above a domain, bytes per second and direction: what the
 * fabric's cables or uplinks say of it, else its GPUs times the parent level's
 * rate over the parent level's oversubscription.  INFINITY at the top level,
 * which has no link above it. */
double weft_cost_uplink_rate(const struct weft_fabric *f, uint32_t domain);

#endif
