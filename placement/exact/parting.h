/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parting.h - what a placement costs at least that does not keep a block whole
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_EXACT_PARTING_H
#define WEFT_PLACEMENT_EXACT_PARTING_H

#include "placement/exact/blocks.h"
#include "placement/mapping/effort.h"

/* No placement in which the ranks of some block of b are in several NVLink
 * domains costs less than *bound; 0 where nothing can be said.  least:
 * boundary_least of b->g.  known: the cost beyond which it does not matter.
 * effort: its time only. */
int parting_bound(const struct blocks *b, const double *least, double known,
		  const struct effort *effort, double *bound,
		  struct weft_error *err);

#endif
