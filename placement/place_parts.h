/* SPDX-License-Identifier: GPL-3.0-or-later */
/* place_parts.h - the ways to choose GPUs, and the steps that they and the
 * pricing of given ones share
 *
 * Private to placement/.  Those that return int: 0, or -1 with err.
 */
#ifndef WEFT_PLACEMENT_PLACE_PARTS_H
#define WEFT_PLACEMENT_PLACE_PARTS_H

#include "placement/objective/comparison.h"
#include "placement/place.h"

/* The job has traffic of as many ranks as GPUs. */
int place_check_traffic(const struct weft_job *job, struct weft_error *err);

/* The spec's objective unless the options have one; *own is the job in the
 * objective's metric. */
struct weft_objective place_objective(const struct weft_job *job,
				      const struct weft_place_options *options,
				      struct weft_job *own);

/* An answer without a place. */
void place_start(const struct weft_job *job, struct weft_placement *p);

/* Bound first: strategies stop when they reach it. */
int place_set_bound(const struct capacity *s, struct weft_placement *p,
		    struct weft_error *err);

/* When the time that the options grant from now on is over; 0: never. */
double place_deadline(const struct weft_place_options *options);

/* From p, whose ranking is *ranking, by the goal itself where it is not the
 * cost. */
int place_pursue(const struct capacity *s,
		 const struct weft_place_options *options, double deadline_s,
		 struct weft_placement *p, struct comparison *comparison,
		 struct weft_error *err);

/* What the strategy finds, or first-fit or the ranks in order where that is
 * better, and what is found besides in the time that is left.  *comparison: of
 * p where it is placed; *baseline: first-fit's cost, -1 or as it was where that
 * is not known. */
int place_search(struct capacity *s, const struct weft_strategy *strategy,
		 const struct weft_place_options *options,
		 struct weft_placement *p, struct comparison *comparison,
		 double *baseline, struct weft_error *err);

/* From where[], cost and bound to the rest of the answer. */
int place_finish(const struct weft_fabric *f, struct weft_placement *p,
		 struct weft_error *err);

/* Rows "pack", the default, and "first-fit", the baseline, of weft_strategies.
 */
int place_pack(struct capacity *s, const struct weft_place_options *options,
	       struct weft_placement *p, struct weft_error *err);
int place_firstfit(struct capacity *s, const struct weft_place_options *options,
		   struct weft_placement *p, struct weft_error *err);

/* First-fit alone: writes the job's GPUs to where[].  s: the capacity of single
 * GPUs.  1: found; 0: first-fit finds no place; -1 with err. */
int firstfit_find(const struct capacity *s, uint32_t *where,
		  struct weft_error *err);

/* Places a job with segments, parts or replicas to be spread; fills p as
 * place_pack does.  p->placed stays false when no layout was found: then, and
 * only where layouts are not binding, another way may find a place. */
int place_grouped(struct capacity *s, const struct weft_place_options *options,
		  struct weft_placement *p, struct weft_error *err);

#endif
