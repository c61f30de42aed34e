/* SPDX-License-Identifier: GPL-3.0-or-later */
/* arrange.h - which rank on which of the chosen GPUs
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_ARRANGE_H
#define WEFT_PLACEMENT_ARRANGE_H

#include "placement/choice.h"
#include "placement/order.h"
#include "placement/place.h"
#include "placement/search.h"

struct arranger {
	struct supply *s; /* of single GPUs */
	const struct weft_fabric *f;
	const struct weft_job *job;
	struct orders orders;
	struct effort effort;
};

/* Free with arranger_free in either case. */
int arranger_build(struct supply *s, const struct weft_place_options *options,
		   struct arranger *a, struct weft_error *err);
void arranger_free(struct arranger *a);

/* Ranks per block that every node of the choice takes a multiple of; 1 where
 * the GPUs of a node are not all alike. */
uint32_t choice_block(const struct choice *c, const struct weft_fabric *f);

/* Cost of the best plain order on gpus[], in tree order. */
int arrange_price(struct arranger *a, const uint32_t *gpus, uint32_t block,
		  double *cost, struct weft_error *err);

/* The best arrangement found: where[r] for each rank.  May leave the choice for
 * other free GPUs nearby that cost less, within the job's limits.  Spends one
 * of `turns` parts of what is left of the effort. */
int arrange_choice(struct arranger *a, const struct choice *c, uint32_t turns,
		   uint32_t *where, struct weft_error *err);

/* The best order found on exactly the free GPUs of o, job->n_gpus in number. */
int arrange_ranks(const struct weft_fabric *f, const struct weft_job *job,
		  const struct weft_occupancy *o,
		  const struct weft_place_options *options, uint32_t *where,
		  struct weft_error *err);

#endif
