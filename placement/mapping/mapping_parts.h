/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mapping_parts.h - the steps of a mapping
 *
 * Private to placement/mapping/.
 */
#ifndef WEFT_PLACEMENT_MAPPING_MAPPING_PARTS_H
#define WEFT_PLACEMENT_MAPPING_MAPPING_PARTS_H

#include "placement/mapping/effort.h"
#include "placement/mapping/graph.h"
#include "placement/mapping/tree.h"

/* ---- ranks that talk across nodes put on the same rail ---- */

/* The last step of a mapping, rank by rank: on a rail-optimised fabric two GPUs
 * of different nodes are nearer if both have the same index. */
struct alignment {
	const struct graph *g;
	const struct sites *s;
	struct effort *effort;
	struct tree t;	   /* of single sites */
	uint32_t *site_of; /* [g->n] */
	uint32_t *rank_at; /* [s->n] or UINT32_MAX */
	uint32_t n_rails;
	uint32_t *rail_site; /* [n_bins * n_rails] a site, or UINT32_MAX */
	uint32_t *best;	     /* [g->n] sites */
	uint32_t *order;     /* [n_bins] */
	double *pull;	     /* [n_bins] */
	bool *placed;	     /* [n_bins] */
	uint32_t size;	     /* of the largest bin */
	double *matrix;	     /* [size * size] */
	double *price;	     /* [2 * (size + 1)] and [size + 1] of slack */
	uint32_t *match;     /* [4 * (size + 1)] of the assignment */
};

/* Whether rails make a difference on these sites. */
bool alignment_matters(const struct sites *s);

/* Free with alignment_free in either case. */
int alignment_build(const struct graph *g, const struct sites *s,
		    struct effort *effort, struct alignment *r,
		    struct weft_error *err);
void alignment_free(struct alignment *r);

/* Every rank stays in its lowest domain: r->site_of from anything to a local
 * optimum in which each domain is optimal for the rest. */
void alignment_solve(struct alignment *r);
/* Spends what is left of the effort, or `work`, on single exchanges, also of
 * neighbouring domains; r->site_of ends no worse than it was.  heat: losses
 * accepted at first, in terms of what a wrong rail costs an average edge. */
void alignment_anneal(struct alignment *r, double heat, uint64_t work);

/* ---- ranks that belong together, as groups of one size ---- */

/* Groups of `size` vertices each, of which `of` names one per vertex. */
struct coarsening {
	uint32_t size, n_groups;
	uint32_t *of;  /* [g->n] */
	bool dominant; /* belong together clearly more than to others */
};

/* Pairs along heavy edges, and pairs of pairs, as long as the size divides both
 * `divisor` and the number of vertices: levels[0] is one vertex per group.
 * Returns the number of levels, at most COLLAPSE_MAX, or -1.  Free each. */
#define COLLAPSE_MAX 8
int coarsening_build(const struct graph *g, uint32_t divisor,
		     struct coarsening *levels, struct weft_error *err);
void coarsening_free(struct coarsening *levels, int n);

/* The largest groups that are held together by heavier edges than any between
 * two of them, all of one size of which domains of first[b + 1] - first[b]
 * sites (n_bins of them) have room for all.  size 1: there are none; -1 with
 * err when out of memory.  Free in either case. */
int coarsening_whole(const struct graph *g, const uint32_t *first,
		     uint32_t n_bins, struct coarsening *groups,
		     struct weft_error *err);

#endif
