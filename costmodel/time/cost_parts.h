/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost_parts.h - one evaluation of a placement, as it goes on
 *
 * Private to costmodel/time/cost*.c.
 */
#ifndef WEFT_COSTMODEL_TIME_COST_PARTS_H
#define WEFT_COSTMODEL_TIME_COST_PARTS_H

#include "costmodel/time/cost.h"

/* Bytes by what decides their distance: summed first, multiplied once. */
struct sums {
	double bytes[WEFT_N_AXES][WEFT_MAX_LEVELS][2];
	/* times the steps beyond the first on a ring or torus */
	double further[WEFT_N_AXES][WEFT_MAX_LEVELS];
};

struct evaluation {
	const struct weft_fabric *f;
	const struct weft_traffic *t;
	const uint32_t *where;
	const struct weft_load *load; /* or NULL */
	bool links;		      /* what they carry is wanted, too */
	struct weft_cost_scratch *scratch;
	struct sums sums;
};

static inline void cost_load_add(struct weft_cost_scratch *s, double *load,
				 uint32_t domain, double bytes)
{
	/* Bytes of an edge are positive, so zero means not seen yet. */
	if (s->up[domain] == 0 && s->down[domain] == 0)
		s->touched[s->n_touched++] = domain;
	load[domain] += bytes;
}

/* Fails: no link joins two ranks. */
int cost_unconnected(const struct evaluation *e, uint32_t rank, uint32_t peer,
		     struct weft_error *err);

/* Whether what a clique costs follows from how many members domains have: not
 * where neighbours on a ring are nearer, or hosts below the network hold nodes.
 */
bool cost_counts_tell(const struct weft_fabric *f);

/* Adds what the members of a clique send.  O(members * depth). */
int cost_clique_add(struct evaluation *e, const struct weft_clique *c,
		    struct weft_error *err);

#endif
