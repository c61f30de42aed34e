/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tree.h - sites as a tree of uneven domains, for the mapper
 *
 * Only what changes a cost is kept: levels of equal distance are one.  A slot
 * takes one item, a bin is a domain of the lowest level; slots of one bin are
 * consecutive, and so are bins of one domain.  Private to placement/.
 */
#ifndef WEFT_PLACEMENT_MAPPING_TREE_H
#define WEFT_PLACEMENT_MAPPING_TREE_H

#include "placement/mapping/sites.h"

struct tree {
	uint32_t n_slots, n_bins;
	uint32_t height;  /* levels, at least 1 */
	uint32_t *first;  /* [n_bins + 1] first slot */
	uint32_t *bin;	  /* [n_slots] */
	uint32_t *domain; /* [n_bins * height] row b: of bin b, innermost
			   * first, which is b itself */
	/* Items may exchange slots of one kind: those have the same shape. */
	uint32_t *kind; /* [n_slots] */
	uint32_t n_kinds;
	uint32_t *site; /* [n_slots] first site, or in the tree above the
			 * first slot of the tree below */
	/* Between two items that meet at a level. */
	double distance[WEFT_MAX_LEVELS + 2];
};

/* Slots of `unit` neighbouring sites of one lowest domain; what is left over
 * of a domain cannot be used.  Free with tree_free in either case. */
int tree_build(const struct sites *s, uint32_t unit, struct tree *t,
	       struct weft_error *err);
/* The tree whose slots are the bins of t, of which height > 1. */
int tree_raise(const struct tree *t, struct tree *up, struct weft_error *err);
void tree_free(struct tree *t);

/* Level at which bins a and b meet; 0 if they are one. */
static inline uint32_t tree_meet(const struct tree *t, uint32_t a, uint32_t b)
{
	const uint32_t *of_a = t->domain + (size_t)a * t->height;
	const uint32_t *of_b = t->domain + (size_t)b * t->height;
	uint32_t level = 0;

	while (level + 1 < t->height && of_a[level] != of_b[level])
		level++;
	return level;
}

#endif
