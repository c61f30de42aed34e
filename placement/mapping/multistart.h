/* SPDX-License-Identifier: GPL-3.0-or-later */
/* multistart.h - many starts, and long work on the best of them
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_MAPPING_MULTISTART_H
#define WEFT_PLACEMENT_MAPPING_MULTISTART_H

#include "placement/mapping/local_search.h"

/* Called with every assignment that is the best so far; false ends the search.
 */
typedef bool (*multistart_offer)(void *context, const struct assignment *s);

/* Searches until the effort is spent, the offer says so, or series of starts of
 * growing length have found nothing better.  c->now as it comes is one of the
 * starts of each; from_given: of the first series the only one.  -1 for lack of
 * memory. */
int multistart_run(struct local_search *c, bool from_given,
		   multistart_offer offer, void *context,
		   struct weft_error *err);

#endif
