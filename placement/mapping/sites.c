/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sites.c - the places that ranks can take, and how far apart they are */
#include "placement/mapping/sites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double sites_metric(const struct weft_distance *d, enum weft_metric metric)
{
	if (metric == WEFT_HOPS)
		return d->hops;
	return metric == WEFT_LATENCY ? d->latency_s : d->time_s_per_byte;
}

/* A millionth of the farthest distance: far above rounding, far below what a
 * model of a network can tell. */
#define TIE 1e-6

enum weft_metric sites_second(enum weft_metric metric)
{
	return metric == WEFT_HOPS ? WEFT_TIME : WEFT_HOPS;
}

static double farthest(const struct weft_fabric *f, enum weft_metric metric)
{
	double most = 0;

	for (uint32_t level = 0; level < f->n_levels; level++)
		for (int cross = 0; cross < 2; cross++)
			most = fmax(most,
				    sites_metric(&f->distance[level][cross],
						 metric));
	return most;
}

double sites_tie(const struct weft_fabric *f, enum weft_metric metric)
{
	double second = farthest(f, sites_second(metric));

	return second > 0 ? TIE * farthest(f, metric) / second : 0;
}

double sites_blend(const struct weft_fabric *f, enum weft_metric metric,
		   const double sum[WEFT_N_METRICS])
{
	return sum[metric] + sites_tie(f, metric) * sum[sites_second(metric)];
}

static int allocate(struct sites *s, uint32_t n, struct weft_error *err)
{
	uint32_t rows = 1;
	char *p;

	while ((1u << rows) < n)
		rows++;
	p = weft_calloc(n, (3 + SITES_FEW - 1) * sizeof(uint32_t) + rows, err);
	if (!p)
		return -1;
	s->memory = p;
	s->gpu = (uint32_t *)(void *)p;
	s->node = s->gpu + n;
	s->rail = s->node + n;
	for (uint32_t k = 0; k < rows; k++)
		s->meet[k] = (uint8_t *)(s->rail + (size_t)SITES_FEW * n) +
			     (size_t)k * n;
	return 0;
}

/* The other rows of meet from the first. */
static void build_meets(struct sites *s)
{
	for (uint32_t k = 1; (1u << k) < s->n; k++) {
		const uint8_t *below = s->meet[k - 1];

		const uint8_t *right = below + (1u << (k - 1));
		uint8_t *meet = s->meet[k];
		uint32_t n = s->n - (1u << k);

		for (uint32_t i = 0; i < n; i++)
			meet[i] = below[i] > right[i] ? below[i] : right[i];
	}
}

/* The levels at which neighbours meet, ascending; SITES_FEW + 1: too many. */
static uint32_t few_levels(const struct sites *s, uint8_t level[SITES_FEW])
{
	bool met[WEFT_MAX_LEVELS + 1] = {false};
	uint32_t n = 0;

	for (uint32_t i = 0; i + 1 < s->n; i++)
		met[s->meet[0][i]] = true;
	for (uint32_t l = 0; l <= WEFT_MAX_LEVELS && n <= SITES_FEW; l++) {
		if (met[l] && n < SITES_FEW)
			level[n] = (uint8_t)l;
		n += met[l];
	}
	return n;
}

/* Fills end[] and few[]. */
static void build_ends(struct sites *s)
{
	uint8_t level[SITES_FEW] = {0};
	uint32_t n = few_levels(s, level), end[SITES_FEW - 1];

	if (!s->plain || n > SITES_FEW)
		return;
	for (uint32_t k = 0; k < n; k++)
		s->few[k] = s->distance[level[k]][0];
	for (uint32_t k = 0; k + 1 < SITES_FEW; k++) {
		s->end[k] = s->rail + (k + 1) * (size_t)s->n;
		end[k] = s->n;
	}
	for (uint32_t i = s->n; i-- > 0;) {
		for (uint32_t k = 0; k + 1 < SITES_FEW; k++) {
			if (i + 1 < s->n && k < n && s->meet[0][i] > level[k])
				end[k] = i + 1;
			s->end[k][i] = end[k];
		}
	}
}

static void build_distances(const struct weft_fabric *f, struct sites *s,
			    enum weft_metric metric)
{
	double tie = sites_tie(f, metric);

	for (uint32_t level = 0; level < f->n_levels; level++) {
		struct weft_distance step = {1, f->levels[level].hop_latency_s,
					     0};

		s->step[level] =
			sites_metric(&step, metric) +
			tie * sites_metric(&step, sites_second(metric));
		for (int cross = 0; cross < 2; cross++) {
			const struct weft_distance *d =
				&f->distance[level][cross];

			s->distance[level][cross] =
				sites_metric(d, metric) +
				tie * sites_metric(d, sites_second(metric));
		}
	}
	/* GPUs of one NVLink domain do not use rails */
	s->distance[0][1] = s->distance[0][0];
	s->distance[f->n_levels][0] = s->distance[f->n_levels][1] = INFINITY;
}

int sites_build(const struct weft_fabric *f, const uint32_t *gpu, uint32_t n,
		bool rails, enum weft_metric metric, struct sites *s,
		struct weft_error *err)
{
	memset(s, 0, sizeof(*s));
	s->n = n;
	if (allocate(s, n, err))
		return -1;
	memcpy(s->gpu, gpu, n * sizeof(*gpu));
	for (uint32_t i = 0; i < n; i++) {
		s->node[i] = f->gpu_node[gpu[i]];
		s->rail[i] = rails && f->n_rails > 1
				     ? weft_fabric_rail(f, gpu[i])
				     : 0;
	}
	for (uint32_t i = 0; i + 1 < n; i++)
		s->meet[0][i] =
			(uint8_t)weft_fabric_meet(f, gpu[i], gpu[i + 1]);
	build_meets(s);
	build_distances(f, s, metric);
	s->stepped = f->has_steps ? f : NULL;
	s->plain = !f->has_steps && !(rails && f->n_rails > 1);
	build_ends(s);
	return 0;
}

int sites_from_tree(const struct sites_tree *tree, struct sites *s,
		    struct weft_error *err)
{
	memset(s, 0, sizeof(*s));
	s->n = tree->n;
	s->plain = !tree->rail;
	if (allocate(s, tree->n, err))
		return -1;
	for (uint32_t i = 0; i < tree->n; i++) {
		s->gpu[i] = i;
		s->node[i] = tree->node[i];
		s->rail[i] = tree->rail ? tree->rail[i] : 0;
		if (i + 1 < tree->n)
			s->meet[0][i] = tree->meet[i];
	}
	build_meets(s);
	for (uint32_t level = 0; level < tree->n_levels; level++) {
		double *distance = s->distance[level];

		distance[0] = tree->distance[level];
		distance[1] = distance[0] + (level ? tree->rail_distance : 0);
	}
	s->distance[tree->n_levels][0] = s->distance[tree->n_levels][1] =
		INFINITY;
	return 0;
}

int sites_pick(const struct sites *from, const uint32_t *keep, uint32_t n,
	       struct sites *s, struct weft_error *err)
{
	*s = (struct sites){
		.n = n, .stepped = from->stepped, .plain = from->plain};
	memcpy(s->distance, from->distance, sizeof(s->distance));
	memcpy(s->step, from->step, sizeof(s->step));
	if (allocate(s, n, err))
		return -1;
	for (uint32_t i = 0; i < n; i++) {
		s->gpu[i] = from->gpu[keep[i]];
		s->node[i] = from->node[keep[i]];
		s->rail[i] = from->rail[keep[i]];
		if (i + 1 < n)
			s->meet[0][i] =
				(uint8_t)sites_meet(from, keep[i], keep[i + 1]);
	}
	build_meets(s);
	return 0;
}

void sites_free(struct sites *s)
{
	free(s->memory);
	memset(s, 0, sizeof(*s));
}
