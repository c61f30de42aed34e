/* SPDX-License-Identifier: GPL-3.0-or-later */
/* contour.h - the least weight that leaves a set of a lattice, by its size
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_BOUNDS_CONTOUR_H
#define WEFT_PLACEMENT_BOUNDS_CONTOUR_H

#include "placement/bounds/lattice.h"
#include "placement/mapping/effort.h"

/* Vertices in parts of sizes s1, s2, ... have edges of at least
 *
 *	sum of least[s_i] - back
 *
 * between the parts. */
struct contour {
	uint32_t max;  /* sizes up to this */
	double *least; /* [max + 1]; least[0] is 0 */
	double back;
	bool complete; /* false: the effort did not last, and nothing holds */
	bool exact;    /* false: less than without `quick` */
};

/* How the parts share the bill. */
struct contour_terms {
	/* A path in m pieces is cut m - 1 times.  Either each piece pays half
	 * of the cuts at its ends (0), or each pays one cut and one a path is
	 * given back (1), or something between. */
	double pieces;
	/* Layers along the last axis differ in weight.  Vertices of heavy ones
	 * earn so much that parts of this size cost the same in all, so that
	 * not every part is priced as if it lay in the lightest; 0: no. */
	uint32_t even_at;
	/* Along every axis but the heaviest, count the most that parts can hold
	 * instead of the least that leaves them: better for small parts of
	 * lines whose edges differ. */
	bool inside;
	/* Do not take long: a millisecond or so. */
	bool quick;
};

/* Lines of the lattice, one per axis. */
struct contour_lines {
	uint32_t n;
	struct line line[LATTICE_MAX_AXES];  /* of edge[] */
	struct line cover[LATTICE_MAX_AXES]; /* of cover[] */
};
int contour_lines_build(const struct lattice *l, struct contour_lines *lines,
			struct weft_error *err);
void contour_lines_free(struct contour_lines *lines);

/* Free with contour_free in either case. */
int contour_build(const struct lattice *l, const struct contour_lines *lines,
		  const struct contour_terms *terms, uint32_t max,
		  struct effort *effort, struct contour *c,
		  struct weft_error *err);
void contour_free(struct contour *c);

#endif
