/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bisection.h - items dealt out to bins from nothing, by repeated cuts
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_MAPPING_BISECTION_H
#define WEFT_PLACEMENT_MAPPING_BISECTION_H

#include "placement/mapping/assignment.h"
#include "placement/mapping/bisect.h"

struct bisection {
	struct assignment *assignment;
	struct bisector *bisector;
	uint32_t *items;  /* [n] to be dealt out */
	uint32_t *local;  /* [n] index of each in the piece at work */
	uint32_t *buffer; /* [n] */
	uint32_t *bins;	  /* [n_bins] to be filled, in order */
	uint32_t *quota;  /* [n_bins] items of each bin */
	bool *open;	  /* [n_bins] being filled */
	uint64_t *key;	  /* [2 * n_bins] */
	uint32_t *weight; /* [n_bins] slots of each domain */
};

/* Free with bisection_free in either case. */
int bisection_build(struct assignment *assignment, struct bisector *bisector,
		    struct bisection *m, struct weft_error *err);
void bisection_free(struct bisection *m);

/* Deals all items out to all bins, domains in random order; spare slots go to
 * random bins, rather to small ones.  False: the effort ran out; the assignment
 * is then without meaning. */
bool bisection_all(struct bisection *m);
/* The same with the items of these bins; the others stay. */
bool bisection_some(struct bisection *m, const uint32_t *bins, uint32_t n_bins);

#endif
