/* SPDX-License-Identifier: GPL-3.0-or-later */
/* place_grouped.h - jobs whose nodes must lie in groups
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_PLACE_GROUPED_H
#define WEFT_PLACEMENT_PLACE_GROUPED_H

#include "placement/place.h"

/* Places a job with segments, parts or replicas to be spread; fills p as
 * place_pack does.  p->placed stays false when no layout was found: then, and
 * only where layouts are not binding, another way may find a place. */
int place_grouped(struct capacity *s, const struct weft_place_options *options,
		  struct weft_placement *p, struct weft_error *err);

#endif
