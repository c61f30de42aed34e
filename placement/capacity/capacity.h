/* SPDX-License-Identifier: GPL-3.0-or-later */
/* capacity.h - what every node and domain can give to one job
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_CAPACITY_CAPACITY_H
#define WEFT_PLACEMENT_CAPACITY_CAPACITY_H

#include "placement/capacity/occupancy.h"
#include "placement/job.h"
#include "placement/objective/judge.h"

/* Domains are those of the fabric from node_level outwards; entries of the
 * levels inside a node are unused.
 *
 * shape[] is equal for domains that differ only in the names and the order of
 * their parts: ties are decided by it first, by index last, so that renaming
 * nodes does not change what a placement costs. */
struct capacity {
	const struct weft_fabric *f;
	const struct weft_job *job;
	const struct weft_occupancy *o;
	struct weft_judge *judge; /* of job on o, set by who compares; or NULL
				   */
	struct weft_plan_cache *plan_cache; /* of the job, likewise */
	double bound_by_s; /* of CLOCK_MONOTONIC: the bound may be a
			    * lesser one from then on; 0: never */
	uint32_t unit;	   /* a node gives a multiple of this */
	uint32_t *give;	   /* [n_nodes] GPUs */
	/* nodes by what they give, and by how many GPUs are usable at all */
	uint32_t n_of_give[WEFT_MAX_GPUS_PER_NODE + 1];
	uint32_t n_of_usable[WEFT_MAX_GPUS_PER_NODE + 1];
	/* hence of all nodes: usable GPUs, in sum and the most of one; how
	 * many give some, the most and the least of those, what all of them
	 * give a multiple of; bit n - 1: there are nodes of n GPUs */
	uint32_t usable, usable_most;
	uint32_t n_giving, give_most, give_least, give_common;
	uint64_t sizes;
	uint32_t cap_most[WEFT_MAX_LEVELS]; /* of the level's domains */
	uint64_t *node_shape;		    /* [n_nodes] */
	uint32_t *cap;			    /* [n_domains] sum of give */
	uint32_t *n_givers;	/* [n_domains] nodes with give > 0 */
	uint32_t *must;		/* [n_domains] required nodes inside */
	uint32_t *n_untouched;	/* [n_domains] nodes without a busy GPU */
	uint64_t *shape;	/* [n_domains] */
	uint32_t *domain_order; /* [n_domains] children of d, best first, at
				 * first_child once is_sorted[d] */
	uint32_t *node_order;	/* [n_nodes] the same for nodes, at first_node
				 */
	bool *is_sorted;	/* [n_domains] */
	uint8_t *seen, *n_on;	/* [n_domains], [n_nodes] zeros; scratch of
				 * callers */
	void *memory;
	/* of a kept one: what it was built from, and scratch; else NULL */
	uint32_t fixed;	      /* the job's GPUs per node; 0: any number */
	uint64_t *was_free;   /* [n_nodes] */
	uint32_t *was_usable; /* [n_nodes] as weft_occupancy_give says */
	uint32_t *changed;    /* [n_nodes] */
};

/* min_give: nodes that could give less than this give nothing (0: all give);
 * required nodes are exempt.  Free with capacity_free in either case. */
int capacity_build(const struct weft_fabric *f, const struct weft_job *job,
		   const struct weft_occupancy *o, uint32_t unit,
		   uint32_t min_give, struct capacity *s,
		   struct weft_error *err);
void capacity_free(struct capacity *s);

/* Brings s, zeros or kept from an earlier decision, up to date: a capacity of
 * single GPUs, built anew only where o has changed.  Only for an occupancy
 * without weights and required nodes.  After an error free it. */
int capacity_renew(const struct weft_fabric *f, const struct weft_job *job,
		   const struct weft_occupancy *o, struct capacity *s,
		   struct weft_error *err);

/* True when a capacity of that unit and min_give would be the same. */
bool capacity_suits(const struct capacity *s, uint32_t unit, uint32_t min_give);

/* True when no GPU of the domain is busy. */
static inline bool capacity_untouched(const struct capacity *s, uint32_t domain)
{
	return s->n_untouched[domain] == s->f->domains[domain].n_nodes;
}

/* Puts the domain's parts into the order in which they are taken: most GPUs
 * first; at equal size partly used ones first, then the admin's weight. */
int capacity_sort(struct capacity *s, uint32_t domain, struct weft_error *err);

/* The least that a required node must give. */
static inline uint32_t capacity_least(const struct capacity *s)
{
	return s->job->gpus_per_node ? s->job->gpus_per_node : 1;
}

/* True when the domain, which has GPUs enough, can hold the whole job. */
bool capacity_keeps_limits(const struct capacity *s, uint32_t domain);

/* True when the domain alone can hold the whole job; asked of every node. */
static inline bool capacity_holds(const struct capacity *s, uint32_t domain)
{
	return s->cap[domain] >= s->job->n_gpus &&
	       capacity_keeps_limits(s, domain);
}

#endif
