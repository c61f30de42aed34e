/* SPDX-License-Identifier: GPL-3.0-or-later */
/* deltas.c - who explains cables too many and too few */
#include "topology/audit/deltas.h"
#include "topology/fabric.h"

#include <stdlib.h>
#include <string.h>

int audit_deltas_add(struct audit_deltas *d, struct audit_delta delta,
		     struct weft_error *err)
{
	if (WEFT_GROW(d->item, d->n, d->room, err))
		return -1;
	d->item[d->n++] = delta;
	return 0;
}

void audit_deltas_free(struct audit_deltas *d)
{
	free(d->item);
	*d = (struct audit_deltas){0};
}

/* Of two with as many differences the lower one: an uplink belongs to it. */
static uint32_t culprit_find(const struct audit_deltas *d, uint32_t n_switches,
			     uint32_t *count)
{
	uint32_t best = WEFT_NONE;

	memset(count, 0, n_switches * sizeof(*count));
	for (uint32_t i = 0; i < d->n; i++) {
		if (d->item[i].told)
			continue;
		count[d->item[i].low]++;
		count[d->item[i].high]++;
	}
	for (uint32_t i = 0; i < d->n; i++) {
		const struct audit_delta *x = &d->item[i];

		if (x->told)
			continue;
		if (best == WEFT_NONE || count[x->low] > count[best])
			best = x->low;
		if (count[x->high] > count[best])
			best = x->high;
	}
	return best;
}

bool audit_deltas_next(struct audit_deltas *d, uint32_t n_switches,
		       uint32_t *scratch, struct audit_culprit *c)
{
	uint32_t sw = culprit_find(d, n_switches, scratch);

	*c = (struct audit_culprit){
		.sw = sw, .lost = WEFT_NONE, .gained = WEFT_NONE};
	if (sw == WEFT_NONE)
		return false;
	for (uint32_t i = 0; i < d->n; i++) {
		struct audit_delta *x = &d->item[i];
		uint32_t peer = x->low == sw ? x->high : x->low;

		if (x->told || (x->low != sw && x->high != sw))
			continue;
		x->told = true;
		c->n++;
		if (x->more < 0) {
			c->fewer += (uint32_t)-x->more;
			c->lost = c->lost == WEFT_NONE ? peer : c->lost;
		} else {
			c->more += (uint32_t)x->more;
			c->gained = c->gained == WEFT_NONE ? peer : c->gained;
		}
	}
	return true;
}
