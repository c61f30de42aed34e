/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bound.c - what a job costs at least, wherever it is placed
 *
 * Bytes that leave a domain of level l travel at least as far as the next
 * level.  With d(l) the least distance of GPUs that meet at level l or further
 * out, and X(l) a lower bound of the bytes between domains of level l,
 *
 *	cost >= d(0) * all bytes + sum over l of (d(l+1) - d(l)) * X(l).
 *
 * X(l) follows from the sizes of the domains alone, filled from the largest:
 * - a rank has at most size - 1 peers inside, its heaviest ones at best;
 * - Donath and Hoffman (IBM J. R&D 17(5), 1973): cutting a graph into parts of
 *   sizes s1 >= s2 >= ... cuts at least 1/2 sum s_i lambda_i, with lambda the
 *   ascending eigenvalues of its Laplacian;
 * - a ring that needs m domains is cut at least m times;
 * - each part pays for the lines of the grid that it fills in part
 *   (perimeter.c), or what parts of its size pay (contour.h), whichever
 *   domains are filled.
 */
#include "placement/objective/bound.h"
#include "base/bitset.h"
#include "base/clock.h"
#include "placement/bounds/contour.h"
#include "placement/bounds/cut.h"
#include "placement/bounds/perimeter.h"
#include "placement/bounds/spectrum.h"
#include "placement/job.h"
#include "placement/mapping/effort.h"
#include "placement/mapping/sites.h"
#include "placement/plan_cache.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One for each grid that the job's ranks are numbered by; none where no grid
 * does. */
#define JOB_GRIDS_MAX 3

struct job_grids {
	uint32_t n;
	struct lattice lattice[JOB_GRIDS_MAX];
	struct contour_lines lines[JOB_GRIDS_MAX];
};

/* ---- the grids in a job's traffic, and what parts of it send ---- */

/* The grids are that of dense layers, the same with rings over "cp" and "dp" as
 * one axis, and that of experts.
 */

#define MANY 100000   /* edges, at both ends */
#define WORK 20000000 /* sums, for one grid and level */

static struct lattice_walk walk_of(const struct weft_grid *grid, uint32_t axis)
{
	return (struct lattice_walk){{grid->size[axis], 1},
				     {grid->stride[axis], 1}};
}

/* The axes of a grid, a and b as one; a == b: each alone.  Returns how many,
 * 0 when they are too many or do not number n ranks. */
static uint32_t walk_grid(const struct weft_grid *grid, uint32_t a, uint32_t b,
			  uint32_t n, struct lattice_walk *walk)
{
	uint32_t walks = 0;
	uint64_t ranks = 1;

	for (uint32_t i = 0; i < grid->n_axes; i++) {
		ranks *= grid->size[i];
		if (grid->size[i] == 1 || (a != b && i == b))
			continue;
		if (walks == LATTICE_MAX_AXES)
			return 0;
		walk[walks] = walk_of(grid, i);
		if (a != b && i == a) {
			walk[walks].size[1] = grid->size[b];
			walk[walks].stride[1] = grid->stride[b];
		}
		walks++;
	}
	return ranks == n ? walks : 0;
}

static int add(struct job_grids *grids, struct cliques *t,
	       const struct lattice_walk *walk, uint32_t walks,
	       struct weft_error *err)
{
	uint32_t i = grids->n;

	if (!walks)
		return 0;
	grids->n++;
	return lattice_along(t, walk, walks, &grids->lattice[i], err) ||
			       contour_lines_build(&grids->lattice[i],
						   &grids->lines[i], err)
		       ? -1
		       : 0;
}

/* t: the job's traffic.  Free with job_grids_free in either case. */
static int job_grids_build(const struct weft_job *job, struct cliques *t,
			   struct job_grids *grids, struct weft_error *err)
{
	struct lattice_walk walk[LATTICE_MAX_AXES];
	const struct weft_grid *dense = &job->grid;
	uint32_t cp = weft_grid_axis(dense, "cp");
	uint32_t dp = weft_grid_axis(dense, "dp");
	struct weft_grid expert;

	memset(grids, 0, sizeof(*grids));
	if (job->spec.ep > 1) {
		if (weft_spec_expert_grid(&job->spec, &expert, err) ||
		    add(grids, t, walk,
			walk_grid(&expert, 0, 0, t->loose.n, walk), err))
			return -1;
		/* among experts' edges, those of dense layers cost more time
		 * to find than they tell */
		if (t->n_edges > MANY)
			return 0;
	}
	if (add(grids, t, walk, walk_grid(dense, 0, 0, t->loose.n, walk), err))
		return -1;
	if (cp < WEFT_MAX_AXES && dp < WEFT_MAX_AXES && dense->size[cp] > 1 &&
	    dense->size[dp] > 1) {
		uint32_t fast = dense->stride[cp] < dense->stride[dp] ? cp : dp;
		uint32_t slow = fast == cp ? dp : cp;

		if (add(grids, t, walk,
			walk_grid(dense, fast, slow, t->loose.n, walk), err))
			return -1;
	}
	return 0;
}

static void job_grids_free(struct job_grids *grids)
{
	for (uint32_t i = 0; i < grids->n; i++) {
		contour_lines_free(&grids->lines[i]);
		lattice_free(&grids->lattice[i]);
	}
	grids->n = 0;
}

/* Raises *bytes to what is sent between these parts at the least. */
static int job_grids_cut(const struct job_grids *grids,
			 const struct parts *parts, double *bytes,
			 struct weft_error *err)
{
	static const struct contour_terms kinds[] = {
		{1, 0, false, true},
		{1, 1, false, true},
		{1, 1, true, true},
	};
	const uint32_t n_kinds = sizeof(kinds) / sizeof(kinds[0]);

	for (uint32_t i = 0; i < n_kinds * grids->n; i++) {
		struct contour_terms terms = kinds[i % n_kinds];
		struct effort effort = {.work = WORK};
		struct contour c;
		double cut = 0;
		int rc;

		terms.even_at *= parts->size[0];
		rc = contour_build(&grids->lattice[i / n_kinds],
				   &grids->lines[i / n_kinds], &terms,
				   parts->size[0], &effort, &c, err);

		if (rc == 0 && c.complete)
			rc = cut_by_contour(&c, parts, &cut, err);
		contour_free(&c);
		if (rc)
			return -1;
		if (isfinite(cut))
			*bytes = fmax(*bytes, cut);
	}
	return 0;
}

/* ---- the bound ---- */

#define MAX_PRODUCTS 8

/* Cuts kept with a job: nodes of a busy cluster come in few sizes. */
#define MAX_KNOWN 64

/* What crosses domains of these sizes, which key stands for; 0: unused. */
struct known {
	uint64_t key;
	double bytes;
};

struct bounding {
	const struct capacity *s;
	uint32_t n_ranks;
	struct cliques traffic;
	double total;	   /* bytes */
	double *lambda;	   /* [n_ranks] ascending */
	uint32_t *of_size; /* [n_ranks + 1] domains of a level by capacity */
	uint32_t *size;	   /* [n_ranks] parts, largest first */
	uint32_t *room;	   /* [n_ranks] domains of a level, largest first */
	uint32_t n_products;
	struct product product[MAX_PRODUCTS];
	bool has_grids;
	struct job_grids grids;
	bool cut_short; /* time was up */
	struct known known[MAX_KNOWN];
};

static int build(struct bounding *b, const struct weft_job *job,
		 struct weft_error *err)
{
	uint32_t n = job->n_gpus;

	if (cliques_build(&job->traffic, &b->traffic, err))
		return -1;
	b->lambda = weft_calloc(n, sizeof(*b->lambda), err);
	b->of_size = weft_calloc((size_t)n + 1, sizeof(*b->of_size), err);
	b->size = weft_calloc(n, sizeof(*b->size), err);
	b->room = weft_calloc(n, sizeof(*b->room), err);
	if (!b->lambda || !b->of_size || !b->size || !b->room)
		return -1;
	b->n_ranks = n;
	b->total = weft_traffic_bytes(&job->traffic);
	b->n_products = spectrum_products(&job->grid, &b->traffic, b->product,
					  MAX_PRODUCTS);
	for (uint32_t i = 0; i < b->n_products; i++)
		if (spectrum_raise(&b->product[i], b->lambda, err))
			return -1;
	return 0;
}

/* What takes most of the time follows at the end, where there is some left. */
static bool is_late(struct bounding *b)
{
	double by_s = b->s->bound_by_s;

	b->cut_short |= by_s > 0 && weft_budget_passed(by_s);
	return b->cut_short;
}

/* GPUs that a domain can give, also one inside a node. */
static uint32_t capacity(const struct capacity *s, uint32_t domain)
{
	const struct weft_domain *d = &s->f->domains[domain];
	uint32_t node, n;
	uint64_t mask;

	if (d->level >= s->f->node_level)
		return s->cap[domain];
	node = s->f->gpu_node[d->first_gpu];
	mask = weft_mask_first(d->n_gpus)
	       << (d->first_gpu - s->f->nodes[node].first_gpu);
	n = weft_mask_count(s->o->free[node] & mask);
	return n < s->give[node] ? n : s->give[node];
}

/* Domains of the level by capacity, those beyond the job's size as if they had
 * that. */
static void count_sizes(struct bounding *b, uint32_t level)
{
	const struct capacity *s = b->s;
	const struct weft_level *l = &s->f->levels[level];
	uint32_t n = b->n_ranks;

	memset(b->of_size, 0, ((size_t)n + 1) * sizeof(*b->of_size));
	/* single nodes have been counted before */
	if (level == s->f->node_level && l->n_domains == s->f->n_nodes) {
		for (uint32_t c = 0; c <= WEFT_MAX_GPUS_PER_NODE; c++)
			b->of_size[c < n ? c : n] += s->n_of_give[c];
		return;
	}
	for (uint32_t i = 0; i < l->n_domains; i++) {
		uint32_t c = capacity(s, l->first_domain + i);

		b->of_size[c < n ? c : n]++;
	}
}

/* Sizes of the parts when domains of the level are filled from the largest; the
 * least even partition there is.  Returns the number of parts. */
static uint32_t fill_level(struct bounding *b, uint32_t level)
{
	uint32_t n = b->n_ranks, left = n, parts = 0;

	count_sizes(b, level);
	for (uint32_t c = n; c > 0 && left; c--) {
		for (uint32_t k = b->of_size[c]; k > 0 && left; k--) {
			b->size[parts] = c < left ? c : left;
			left -= b->size[parts++];
		}
	}
	return left ? 0 : parts;
}

/* All domains of the level that was filled last, but no more than there are
 * ranks: some are left empty, or in part. */
static struct parts level_parts(struct bounding *b, uint32_t level)
{
	const struct weft_job *job = b->s->job;
	struct parts p = {.n_vertices = b->n_ranks, .size = b->room};

	for (uint32_t c = b->n_ranks; c > 0; c--) {
		for (uint32_t k = b->of_size[c]; k > 0 && p.n < b->n_ranks;
		     k--) {
			p.size[p.n++] = c;
			p.n_sites += c;
		}
	}
	if (level >= b->s->f->node_level)
		p.step = job->gpus_per_node;
	if (level == b->s->f->node_level)
		p.max_used = job->max_nodes;
	/* NVLink domains that span nodes are fewer than these */
	if (b->s->f->levels[level].n_domains == b->s->f->n_nodes)
		p.min_used = job->min_nodes;
	return p;
}

/* Every part holds whole nodes' shares where these are fixed. */
static uint32_t part_step(const struct bounding *b, uint32_t level)
{
	uint32_t fixed = b->s->job->gpus_per_node;

	return fixed && level >= b->s->f->node_level ? fixed : 1;
}

/* *bytes: what crosses `parts` domains of a level at least. */
static int cut_level(struct bounding *b, uint32_t level, uint32_t parts,
		     const struct parts *room, double *bytes,
		     struct weft_error *err)
{
	double cut, spectral = 0;

	for (uint32_t i = 0; i < parts; i++)
		spectral += b->size[i] * b->lambda[i] / 2;
	if (cliques_beyond(&b->traffic, b->size[0] - 1, &cut, err))
		return -1;
	*bytes = fmax(cut / 2, spectral);
	for (uint32_t i = 0; i < b->n_products && !is_late(b); i++) {
		const struct product *p = &b->product[i];

		if (perimeter_cut(p, part_step(b, level), b->size, parts, &cut,
				  err))
			return -1;
		*bytes = fmax(*bytes, cut);
		*bytes = fmax(*bytes, spectrum_split(p, b->size, parts));
	}
	if (is_late(b))
		return 0;
	if (!b->has_grids &&
	    job_grids_build(b->s->job, &b->traffic, &b->grids, err)) {
		job_grids_free(&b->grids);
		return -1;
	}
	b->has_grids = true;
	return is_late(b) ? 0 : job_grids_cut(&b->grids, room, bytes, err);
}

/* A step of a hash that does not collide in practice (splitmix64's). */
static uint64_t mix(uint64_t sum, uint64_t value)
{
	uint64_t z = (sum ^ value) + UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* All that the cut of a level follows from, beside the job's traffic. */
static uint64_t level_key(const struct bounding *b, uint32_t level,
			  const struct parts *room)
{
	uint64_t key = mix(part_step(b, level), room->step);

	key = mix(key, (uint64_t)room->min_used << 32 | room->max_used);
	for (uint32_t i = 0, next; i < room->n; i = next) {
		for (next = i + 1;
		     next < room->n && room->size[next] == room->size[i];)
			next++;
		key = mix(key, (uint64_t)room->size[i] << 32 | (next - i));
	}
	return key ? key : 1;
}

/* *bytes: what crosses domains of a level at least. */
static int crossing(struct bounding *b, uint32_t level, double *bytes,
		    struct weft_error *err)
{
	uint32_t parts = fill_level(b, level);
	struct known *known;
	struct parts room;
	uint64_t key;

	*bytes = 0;
	if (parts < 2)
		return 0;
	room = level_parts(b, level);
	key = level_key(b, level, &room);
	known = &b->known[key % MAX_KNOWN];
	if (known->key == key) {
		*bytes = known->bytes;
		return 0;
	}
	if (cut_level(b, level, parts, &room, bytes, err))
		return -1;
	/* sums that a deadline ends are of no use to who has more time */
	if (!b->cut_short && !weft_deadline_passed())
		*known = (struct known){key, *bytes};
	return 0;
}

/* Least distance of GPUs that meet at `level` or further out. */
static double least_distance(const struct weft_fabric *f, uint32_t level,
			     enum weft_metric metric)
{
	double least = INFINITY;

	for (; level < f->n_levels; level++) {
		least = fmin(least,
			     sites_metric(&f->distance[level][0], metric));
		if (level > 0 && f->n_rails > 1)
			least = fmin(least, sites_metric(&f->distance[level][1],
							 metric));
	}
	return least;
}

/* Sums the increments; x[l] are the bytes that cross level l. */
static double sum_up(const struct bounding *b, const double *x,
		     enum weft_metric metric)
{
	const struct weft_fabric *f = b->s->f;
	double d = least_distance(f, 0, metric), next, sum;

	if (!isfinite(d) || b->total == 0)
		return 0;
	sum = d * b->total;
	for (uint32_t l = 0; l + 1 < f->n_levels; l++) {
		next = least_distance(f, l + 1, metric);
		if (!isfinite(next))
			break;
		sum += (next - d) * x[l];
		d = next;
	}
	return sum;
}

void bounding_free(struct bounding *b)
{
	if (!b)
		return;
	cliques_free(&b->traffic);
	free(b->lambda);
	free(b->of_size);
	free(b->size);
	free(b->room);
	job_grids_free(&b->grids);
	free(b);
}

struct cliques *bounding_traffic(struct bounding *b)
{
	return &b->traffic;
}

/* The one of the capacity's job: from its plan cache where that has one. */
static struct bounding *bounding_of(const struct capacity *s,
				    struct weft_error *err)
{
	struct bounding *b = s->plan_cache ? s->plan_cache->bounding : NULL;

	if (!b) {
		b = weft_calloc(1, sizeof(*b), err);
		if (!b)
			return NULL;
		b->s = s;
		if (build(b, s->job, err)) {
			bounding_free(b);
			return NULL;
		}
		if (s->plan_cache)
			s->plan_cache->bounding = b;
	}
	b->s = s;
	b->traffic.t = s->job->traffic;
	b->cut_short = false;
	return b;
}

static int all_crossings(struct bounding *b, double *x, struct weft_error *err)
{
	uint32_t n_levels = b->s->f->n_levels;

	for (uint32_t l = n_levels; l-- > 0;) {
		if (crossing(b, l, &x[l], err))
			return -1;
		/* what crosses a domain also crosses those inside it */
		if (l + 1 < n_levels)
			x[l] = fmax(x[l], x[l + 1]);
	}
	return 0;
}

int bound_measure(const struct capacity *s, double bound[WEFT_N_METRICS],
		  double crossing[WEFT_MAX_LEVELS], struct weft_error *err)
{
	double own[WEFT_MAX_LEVELS], *x = crossing ? crossing : own;
	struct bounding *b = bounding_of(s, err);
	int rc;

	memset(x, 0, WEFT_MAX_LEVELS * sizeof(*x));
	if (!b)
		return -1;
	rc = all_crossings(b, x, err);
	for (uint32_t m = 0; rc == 0 && m < WEFT_N_METRICS; m++)
		bound[m] = sum_up(b, x, m);
	if (!s->plan_cache)
		bounding_free(b);
	return rc;
}
