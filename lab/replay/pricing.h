/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pricing.h - what placements cost, each kind of placement priced once
 *
 * Two placements of a job cost the same when their ranks meet at the same
 * levels, in domains of the same sizes: names and numbers do not matter.  A
 * stream of jobs repeats few such shapes.  Private to lab/replay/.
 */
#ifndef WEFT_LAB_REPLAY_PRICING_H
#define WEFT_LAB_REPLAY_PRICING_H

#include "costmodel/time/cost.h"
#include "costmodel/time/step.h"
#include "placement/job.h"

/* A job that is placed again and again. */
struct pricing_job {
	const struct weft_job *job;
	const struct weft_schedule *schedule; /* NULL: steps are not timed */
	uint32_t id;			      /* different for different jobs */
};

struct price {
	double cost;			   /* in the job's metric */
	double step_s;			   /* 0: not timed */
	uint32_t domains[WEFT_MAX_LEVELS]; /* used, at each level */
};

struct pricing {
	const struct weft_fabric *f;
	const struct weft_gpu *gpu;
	struct priced *table; /* private: open addressing, [n_places] */
	uint32_t n_places, n_priced;
	uint32_t *ordinal; /* [n_domains + n_nodes] in order of first use */
	uint32_t *stamp;   /* [n_domains + n_nodes] the last shape using it */
	uint32_t n_shapes;
	struct weft_cost_scratch scratch;
};

/* gpu: NULL where steps are not timed.  Free with pricing_free in either case.
 */
int pricing_build(const struct weft_fabric *f, const struct weft_gpu *gpu,
		  struct pricing *p, struct weft_error *err);
void pricing_free(struct pricing *p);

int pricing_find(struct pricing *p, const struct pricing_job *job,
		 const uint32_t *where, struct price *price,
		 struct weft_error *err);

#endif
