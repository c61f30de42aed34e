/* SPDX-License-Identifier: GPL-3.0-or-later */
/* perimeter.h - the least traffic that leaves a set of ranks of a given size
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_BOUNDS_PERIMETER_H
#define WEFT_PLACEMENT_BOUNDS_PERIMETER_H

#include "placement/bounds/spectrum.h"

/* Least bytes that any `size` ranks exchange with the others, both directions;
 * 0 where finding out would take long.  size < p->n_ranks.  -1: no memory. */
int perimeter_least(const struct product *p, uint32_t size, double *bytes,
		    struct weft_error *err);

/* Least bytes between the parts when the ranks are cut into parts of at most
 * these sizes, largest first, all but the last part of them full; sizes are
 * multiples of step.  0 where finding out would take long.  -1: no memory. */
int perimeter_cut(const struct product *p, uint32_t step, const uint32_t *size,
		  uint32_t n_sizes, double *bytes, struct weft_error *err);

#endif
