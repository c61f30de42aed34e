/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sites.h - the places that ranks (or blocks of ranks) can take, in tree order
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_MAPPING_SITES_H
#define WEFT_PLACEMENT_MAPPING_SITES_H

#include "costmodel/job/spec.h"
#include "topology/fabric.h"

#define SITES_MAX_LOG 23 /* > log2(WEFT_MAX_GPUS) */

#define SITES_FEW 4 /* levels at which neighbours meet, mostly */

/* A site is `unit` GPUs of one node, named by the first.  Sites of one domain
 * are consecutive; hence two sites meet at the highest level at which any two
 * neighbours between them meet: a range maximum, answered in O(1) from
 * meet[k][i] = the maximum over neighbours i .. i + 2^k - 1. */
struct sites {
	uint32_t n;
	uint32_t *gpu;	/* [n] */
	uint32_t *node; /* [n] */
	uint32_t *rail; /* [n]; all zero unless ranks keep to rails here */
	uint8_t *meet[SITES_MAX_LOG];
	double distance[WEFT_MAX_LEVELS + 1][2]; /* in one metric, ties decided
						  * by another (sites_tie); the
						  * last row: not connected */
	/* NULL unless the fabric has a ring or torus: then a step beyond the
	 * first on that of a level is step[level] farther */
	const struct weft_fabric *stepped;
	double step[WEFT_MAX_LEVELS];
	bool plain; /* neither rails nor steps: the level tells the distance */
	/* Of plain sites whose neighbours meet at few levels, else NULL: the
	 * first site after each that is farther than the k-th nearest level;
	 * and the distances at these. */
	uint32_t *end[SITES_FEW - 1]; /* [n] */
	double few[SITES_FEW];
	void *memory;
};

/* gpu: n distinct GPUs, those of each domain consecutive.  rails: distinguish
 * them (sites of one GPU).  Free with sites_free in either case. */
int sites_build(const struct weft_fabric *f, const uint32_t *gpu, uint32_t n,
		bool rails, enum weft_metric metric, struct sites *s,
		struct weft_error *err);
void sites_free(struct sites *s);

/* Any tree with distances, which is no fabric.  Sites are in tree order. */
struct sites_tree {
	uint32_t n, n_levels;	/* 2..WEFT_MAX_LEVELS */
	const uint8_t *meet;	/* [n - 1] level at which i and i + 1 meet */
	const uint32_t *node;	/* [n] level 0 */
	const uint32_t *rail;	/* [n] index in the node; NULL: no rails */
	const double *distance; /* [n_levels] not falling */
	double rail_distance;	/* added between rails of two nodes */
};

/* Some of the sites of a tree: keep[n], ascending.  Free with sites_free in
 * either case. */
int sites_pick(const struct sites *from, const uint32_t *keep, uint32_t n,
	       struct sites *s, struct weft_error *err);

/* gpu[] is the site itself.  Free with sites_free in either case. */
int sites_from_tree(const struct sites_tree *tree, struct sites *s,
		    struct weft_error *err);

/* One number of a distance. */
double sites_metric(const struct weft_distance *d, enum weft_metric metric);

/* Where all network links have one rate, time is the same wherever a job lies,
 * but the links that it crosses are not.  So every metric has a second one that
 * decides between what ties, and a distance of sites is
 * metric + sites_tie * second: so small a part that it never outweighs a
 * difference in the metric itself that is worth the name. */
enum weft_metric sites_second(enum weft_metric metric);
double sites_tie(const struct weft_fabric *f, enum weft_metric metric);
/* The same of sums of distances, by metric. */
double sites_blend(const struct weft_fabric *f, enum weft_metric metric,
		   const double sum[WEFT_N_METRICS]);

/* Level at which sites a != b meet. */
static inline uint32_t sites_meet(const struct sites *s, uint32_t a, uint32_t b)
{
	uint32_t low = a < b ? a : b, length = a < b ? b - a : a - b;
	uint32_t k = 31 - (uint32_t)__builtin_clz(length);
	uint8_t left = s->meet[k][low];
	uint8_t right = s->meet[k][low + length - (1u << k)];

	return left > right ? left : right;
}

/* From a to b > a, where end[] is there and ends[] are those of a. */
static inline double sites_ahead(const struct sites *s,
				 const uint32_t ends[SITES_FEW - 1], uint32_t b)
{
	return s->few[(b >= ends[0]) + (b >= ends[1]) + (b >= ends[2])];
}

static inline double sites_distance(const struct sites *s, uint32_t a,
				    uint32_t b)
{
	uint32_t level = sites_meet(s, a, b);
	bool cross;
	double d;

	if (s->plain)
		return s->distance[level][0];
	cross = s->rail[a] != s->rail[b] && s->node[a] != s->node[b];
	d = s->distance[level][cross];
	if (s->stepped && level < s->stepped->n_levels)
		d += s->step[level] * weft_fabric_further(s->stepped, level,
							  s->gpu[a], s->gpu[b]);
	return d;
}

#endif
