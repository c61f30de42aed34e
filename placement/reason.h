/* SPDX-License-Identifier: GPL-3.0-or-later */
/* reason.h - sentences that say why a placement is as it is, or why there is
 * none
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_REASON_H
#define WEFT_PLACEMENT_REASON_H

#include "placement/capacity/capacity.h"
#include "placement/placement.h"

/* Explains what is missing.  Returns true when the job cannot be placed for
 * that reason; false: nothing is obviously missing. */
bool reason_impossible(const struct capacity *s, struct weft_placement *p);

/* Names the limit on nodes for which an unplaced p has no place.  look: also
 * what would fit instead, which takes as long as choosing nodes several times.
 */
void reason_limits(const struct capacity *s, struct weft_placement *p,
		   bool look);

/* Says of a placed p how far its replicas are spread, where they are to be. */
void reason_groups(const struct capacity *s, struct weft_placement *p);

/* Explains a placed p: what it spans, which nodes it shares, what is left.
 * baseline: first-fit's cost, < 0 where it finds no place, NAN: not known. */
void reason_placed(const struct capacity *s, struct weft_placement *p,
		   double baseline);

/* Explains an allocation made elsewhere: what it spans, what it shares. */
void reason_given(const struct capacity *s, struct weft_placement *p);

#endif
