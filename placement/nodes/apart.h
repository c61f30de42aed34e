/* SPDX-License-Identifier: GPL-3.0-or-later */
/* apart.h - whether a job takes as long on nodes that lie far apart
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_NODES_APART_H
#define WEFT_PLACEMENT_NODES_APART_H

#include "placement/objective/comparison.h"

/* *can: a step takes as long when the nodes of from[], of which *best is the
 * ranking, are spread over their part of the fabric.  Where nodes have unequal
 * shares it may depend on them: false.  where[n_gpus]: scratch.  -1 with err.
 */
int apart_is_as_good(const struct capacity *s, const uint32_t *from,
		     const struct comparison *best, uint32_t *where, bool *can,
		     struct weft_error *err);

#endif
