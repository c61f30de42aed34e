/* SPDX-License-Identifier: GPL-3.0-or-later */
/* deltas.h - cables too many and too few between switches, and whose fault
 *
 * Private to the audit.  A moved cable shows at three switches: the one whose
 * cable it is, the one that lost it and the one that got it.  Whoever takes
 * part in most differences explains them.
 */
#ifndef WEFT_TOPOLOGY_AUDIT_DELTAS_H
#define WEFT_TOPOLOGY_AUDIT_DELTAS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

struct audit_delta {
	uint32_t low, high; /* switches */
	int more;	    /* cables more than there should be; never 0 */
	bool told;
};

struct audit_deltas {
	struct audit_delta *item;
	uint32_t n, room;
};

/* Someone who explains some of them. */
struct audit_culprit {
	uint32_t sw;
	uint32_t n;	      /* differences that it takes part in */
	uint32_t fewer, more; /* cables, over them */
	/* the other switch of the first missing and of the first added cable,
	 * or WEFT_NONE */
	uint32_t lost, gained;
};

int audit_deltas_add(struct audit_deltas *d, struct audit_delta delta,
		     struct weft_error *err);
void audit_deltas_free(struct audit_deltas *d);

/* Who explains most of what has not been reported, the lower tier first; marks
 * that as told.  False when nothing is left.  n_switches: of all. */
bool audit_deltas_next(struct audit_deltas *d, uint32_t n_switches,
		       uint32_t *scratch, struct audit_culprit *culprit);

#endif
