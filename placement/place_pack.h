/* SPDX-License-Identifier: GPL-3.0-or-later */
/* place_pack.h - the default strategy
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_PLACE_PACK_H
#define WEFT_PLACEMENT_PLACE_PACK_H

#include "placement/place.h"

/* Row "pack" of weft_strategies. */
int place_pack(struct capacity *s, const struct weft_place_options *options,
	       struct weft_placement *p, struct weft_error *err);

#endif
