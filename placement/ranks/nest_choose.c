/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nest_choose.c - the order of axes that keeps most bytes close */
#include "placement/mapping/sites.h"
#include "placement/ranks/nest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_LANES  32	/* kinds of groups, counted separately */
#define MAX_TRIED  64	/* nests of one grid */
#define MAX_ENDS   512	/* domains of a level that are looked at */
#define MAX_SHARES 1024 /* of axes that are kept */
#define SAME	   1e-9 /* sums of the same terms in another order */

/* A ring is as fast as the domain allows in which it has fewest ranks, each
 * with its NIC; so much of its cost are the bytes, wherever they leave a
 * domain. */
#define BYTES_COUNT 0.1

/* What all calls among the same groups send alike: over rings, or to all. */
struct lane {
	const struct weft_call *first;
	bool to_all;
	double n_ranks;	  /* of a group */
	bool ends;	  /* the two ends of a pipeline, which n_ranks has */
	double bytes;	  /* of a rank and step */
	uint32_t n_parts; /* ranks of a group differ by parts of their number,
			   * fastest first */
	uint64_t low[WEFT_MAX_AXES], high[WEFT_MAX_AXES];
};

/* How groups of `size` ranks, `apart` from each other, lie in the domains of a
 * level. */
struct share {
	uint32_t level, apart, size; /* size 0: none is kept */
	double n_domains;	     /* that one is in, on the average */
	double cut;		     /* share of groups that are in several */
	double together; /* share of pairs of ranks, each with itself among
			  * them, that are in one */
	double least;	 /* ranks that one has in a domain, of those cut */
};

/* What nest_choose is about, and what it has found. */
struct choice {
	uint32_t n_ranks, n_levels, n_lanes;
	const struct nest_level *level;
	struct lane lane[MAX_LANES];
	struct share share[MAX_SHARES];
	double least;
	struct nest best;
};

/* ---- groups ---- */

static bool is_of(const struct lane *lane, const struct weft_call *call)
{
	const struct weft_call *first = lane->first;

	return lane->to_all == (call->collective == WEFT_ALL_TO_ALL) &&
	       first->expert_grid == call->expert_grid && first->n == call->n &&
	       strcmp(first->group, call->group) == 0;
}

static void add_part(struct lane *lane, uint64_t low, uint64_t high)
{
	uint32_t i = lane->n_parts++;

	for (; i > 0 && lane->low[i - 1] > low; i--) {
		lane->low[i] = lane->low[i - 1];
		lane->high[i] = lane->high[i - 1];
	}
	lane->low[i] = low;
	lane->high[i] = high;
}

static void lane_open(const struct weft_schedule *s,
		      const struct weft_call *call, struct lane *lane)
{
	const struct weft_grid *grid =
		call->expert_grid ? &s->expert : &s->dense;

	*lane = (struct lane){
		.first = call,
		.to_all = call->collective == WEFT_ALL_TO_ALL,
		.n_ranks = 1,
	};
	for (uint32_t a = 0; a < grid->n_axes; a++) {
		uint64_t low = grid->stride[a];

		if (grid->size[a] == 1 || !weft_call_has(call, grid->name[a]))
			continue;
		add_part(lane, low, low * grid->size[a]);
		lane->n_ranks *= grid->size[a];
	}
	lane->ends = lane->n_ranks > call->n;
}

/* Calls of further kinds than there is room for are left out. */
static void lanes_fill(struct choice *c, const struct weft_schedule *s)
{
	for (uint32_t i = 0; i < s->n_calls; i++) {
		const struct weft_call *call = &s->calls[i];
		uint32_t k = 0;

		while (k < c->n_lanes && !is_of(&c->lane[k], call))
			k++;
		if (k == MAX_LANES)
			continue;
		if (k == c->n_lanes)
			lane_open(s, call, &c->lane[c->n_lanes++]);
		c->lane[k].bytes +=
			call->count * call->n_stages *
			weft_volume_collective(call->collective, call->n,
					       call->size_bytes);
	}
}

/* ---- shares ---- */

/* Where the i-th domain ends. */
static uint64_t end_at(const struct nest_level *level, uint32_t i)
{
	return level->end ? level->end[i] : (uint64_t)(i + 1) * level->each;
}

/* Adds the stretch of `extent` ranks from `first` on, which the domains from *i
 * on end inside of. */
static void stretch_add(const struct nest_level *level, uint64_t first,
			uint64_t extent, uint32_t n, uint32_t *i,
			struct share *s)
{
	uint64_t before = first, end = first + extent;
	double together = 0, size = s->size, n_domains = 0;

	for (; before < end; n_domains++) {
		uint64_t to = *i < n ? end_at(level, *i) : end;
		double members;

		if (to < end)
			++*i;
		else
			to = end;
		members = (double)(to - before) / s->apart;
		together += members * fmax(members, 1) / (size * size);
		s->least = fmin(s->least, fmax(members, 1));
		before = to;
	}
	s->n_domains += (double)extent * (fmin(n_domains, size) - 1);
	s->together -= (double)extent * (1 - together);
	s->cut += (double)extent;
}

static void share_fill(const struct nest_level *level, uint32_t n_ranks,
		       struct share *s)
{
	uint64_t extent = (uint64_t)s->apart * s->size;
	uint32_t n = level->n < MAX_ENDS ? level->n : MAX_ENDS, i = 0;
	double all = fmin((double)end_at(level, n - 1), n_ranks);

	s->least = s->size;
	while (i < n && end_at(level, i) < n_ranks) {
		uint64_t end = end_at(level, i);

		if (end % extent == 0)
			i++;
		else
			stretch_add(level, end - end % extent, extent, n, &i,
				    s);
	}
	s->n_domains = 1 + s->n_domains / all;
	s->together = fmax(1 + s->together / all, 0);
	s->cut = fmin(s->cut / all, 1);
}

/* Nests come back to the same axes. */
static const struct share *share_of(struct choice *c, uint32_t level,
				    uint32_t apart, uint32_t size)
{
	uint32_t at = (apart * 31 + size) * 7 + level;
	struct share *s = &c->share[at % MAX_SHARES];

	if (s->size == size && s->apart == apart && s->level == level)
		return s;
	*s = (struct share){.level = level, .apart = apart, .size = size};
	share_fill(&c->level[level], c->n_ranks, s);
	return s;
}

/* ---- nests ---- */

/* The same of a group whose ranks differ in several axes. */
struct total {
	double n_domains, whole, together, least;
};

static void total_add(struct choice *c, uint32_t level, uint64_t apart,
		      uint64_t size, struct total *t)
{
	const struct share *s =
		share_of(c, level, (uint32_t)apart, (uint32_t)size);

	t->n_domains *= s->n_domains;
	t->whole *= 1 - s->cut;
	t->together *= s->together;
	t->least *= s->least;
}

/* The part of the lane's groups, by rank, wherever the nest has it. */
static void part_add(struct choice *c, uint32_t level, const struct nest *nest,
		     uint64_t from, uint64_t to, struct total *t)
{
	uint64_t at = 1;

	for (uint32_t i = 0; i < nest->n; at *= nest->size[i++]) {
		uint64_t first = nest->stride[i];
		uint64_t end = first * nest->size[i];
		uint64_t low = first > from ? first : from;
		uint64_t high = end < to ? end : to;

		if (high > low && low % first == 0 && high % low == 0)
			total_add(c, level, at * (low / first), high / low, t);
	}
}

/* Of the lane's bytes.  A ring visits all members in a domain before it leaves,
 * as the library has it. */
static double share_leaving(struct choice *c, const struct lane *lane,
			    uint32_t level, const struct nest *nest)
{
	struct total t = {1, 1, 1, 1};
	double n = lane->n_ranks;

	if (n < 2)
		return 0;
	for (uint32_t p = 0; p < lane->n_parts; p++)
		part_add(c, level, nest, lane->low[p], lane->high[p], &t);
	if (lane->ends)
		return 1 - t.whole;
	if (lane->to_all)
		return (1 - t.together) * n / (n - 1);
	if (t.whole >= 1)
		return 0;
	return BYTES_COUNT * fmin((t.n_domains - t.whole) / n, 1) +
	       (1 - BYTES_COUNT) / t.least;
}

static double cost_of(struct choice *c, const struct nest *nest)
{
	double cost = 0;

	for (uint32_t l = 0; l < c->n_levels; l++)
		for (uint32_t k = 0; k < c->n_lanes && c->level[l].farther > 0;
		     k++)
			cost += c->lane[k].bytes * c->level[l].farther *
				share_leaving(c, &c->lane[k], l, nest);
	return cost;
}

static void consider(void *data, const struct nest *nest)
{
	struct choice *c = data;
	double cost = cost_of(c, nest);

	if (cost >= c->least * (1 - SAME))
		return;
	c->least = cost;
	c->best = *nest;
}

static void consider_grid(struct choice *c, const struct weft_grid *grid)
{
	struct nest nest = nest_natural(grid, c->n_ranks);
	uint32_t n_left = MAX_TRIED;

	do
		consider(c, &nest);
	while (--n_left > 0 && nest_next(&nest));
}

/* Tiles that fill the innermost domains, where these are alike. */
static void consider_tilings(struct choice *c, const struct weft_job *job)
{
	const struct nest natural = nest_common(job);

	for (uint32_t l = 0; l < c->n_levels; l++) {
		uint32_t size = c->level[l].each;

		if (!(c->level[l].farther > 0))
			continue;
		if (size > 1 && size < c->n_ranks && c->n_ranks % size == 0)
			nest_tilings(&natural, size, consider, c);
		return;
	}
}

static double distance_at(const struct weft_fabric *f, enum weft_metric metric,
			  uint32_t level)
{
	double by_metric[WEFT_N_METRICS];

	for (int m = 0; m < WEFT_N_METRICS; m++)
		by_metric[m] = sites_metric(&f->distance[level][0], m);
	return sites_blend(f, metric, by_metric);
}

double nest_farther(const struct weft_fabric *f, enum weft_metric metric,
		    uint32_t level)
{
	return distance_at(f, metric, level + 1) -
	       distance_at(f, metric, level);
}

struct nest_level nest_level_even(const struct weft_fabric *f,
				  const struct weft_job *job, uint32_t level,
				  uint32_t each)
{
	return (struct nest_level){
		.n = (job->n_gpus + each - 1) / each,
		.each = each,
		.farther = nest_farther(f, job->spec.metric, level),
	};
}

int nest_choose(const struct weft_job *job, const struct nest_level *level,
		uint32_t n_levels, struct nest *best, double *cost,
		struct weft_error *err)
{
	const struct weft_schedule *s = &job->schedule;
	struct choice *c;

	*best = nest_natural(&job->grid, job->n_gpus);
	*cost = 0;
	if (!n_levels || s->dense.n_ranks != job->n_gpus)
		return 0;
	c = weft_calloc(1, sizeof(*c), err);
	if (!c)
		return -1;
	c->n_ranks = job->n_gpus;
	c->level = level;
	c->n_levels = n_levels;
	c->best = *best;
	lanes_fill(c, s);
	c->least = cost_of(c, &c->best);
	consider_grid(c, &s->dense);
	if (s->expert.n_ranks == job->n_gpus)
		consider_grid(c, &s->expert);
	consider_tilings(c, job);
	*best = c->best;
	*cost = c->least;
	free(c);
	return 0;
}
