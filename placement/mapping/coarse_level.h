/* SPDX-License-Identifier: GPL-3.0-or-later */
/* coarse_level.h - a mapping problem with its ranks in groups of one size
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_MAPPING_COARSE_LEVEL_H
#define WEFT_PLACEMENT_MAPPING_COARSE_LEVEL_H

#include "placement/mapping/coarsening.h"
#include "placement/mapping/local_search.h"

struct coarse_level {
	const struct graph *g;
	const struct sites *s;
	const struct coarsening *groups;
	uint32_t *first_member; /* [n_groups + 2] into member */
	uint32_t *member;	/* [g->n] ranks of each group */
	uint32_t *slot_at; /* [s->n] slot of each site, or the one before */
	struct tree below; /* where each bin of it takes one group: */
	bool raised;	   /* then its bins are the slots of tree */
	struct tree tree;
	struct graph items;
	struct local_search local_search;
};

/* Keeps g, s and groups, and pointers into itself.  Free with coarse_level_free
 * in either case. */
int coarse_level_build(const struct graph *g, const struct sites *s,
		       const struct coarsening *groups, struct effort *effort,
		       struct coarse_level *stage, struct weft_error *err);
void coarse_level_free(struct coarse_level *stage);

/* climb.now becomes the arrangement, as far as it keeps groups together: each
 * goes to where its first rank is, while there is room. */
void coarse_level_read(struct coarse_level *stage, const uint32_t *site_of);
/* Cost of climb.now, with what is inside of the groups as near as can be. */
double coarse_level_cost(const struct coarse_level *stage);
void coarse_level_write(const struct coarse_level *stage,
			const struct assignment *from, uint32_t *site_of);

#endif
