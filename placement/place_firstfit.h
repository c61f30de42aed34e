/* SPDX-License-Identifier: GPL-3.0-or-later */
/* place_firstfit.h - the baseline, which every strategy must not fall behind
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_PLACE_FIRSTFIT_H
#define WEFT_PLACEMENT_PLACE_FIRSTFIT_H

#include "placement/capacity/capacity.h"
#include "placement/place.h"

/* Row "first-fit" of weft_strategies. */
int place_firstfit(struct capacity *s, const struct weft_place_options *options,
		   struct weft_placement *p, struct weft_error *err);

/* Writes the job's GPUs to where[].  s: the capacity of single GPUs.  1: found;
 * 0: first-fit finds no place; -1 with err. */
int firstfit_find(const struct capacity *s, uint32_t *where,
		  struct weft_error *err);

#endif
