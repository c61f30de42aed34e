/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bottleneck.c - how long the busiest link needs at least
 *
 * With X(l) a lower bound of the bytes between domains of level l (bound.c):
 *	links	those above the domains of the level together carry as much up;
 *		a job of n ranks uses at most n of them, at best the fastest, so
 *		the busiest needs X(l) over their capacity
 *	NICs	n of them, one a rank, send what leaves nodes: the busiest needs
 *		X(node) / n over the rate of one
 */
#include "placement/bottleneck.h"

#include <math.h>
#include <stdlib.h>

/* Sums of the same bytes in another order differ by this much at most. */
#define ROUNDING 1e-9

static int descending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

/* Capacity of the links that the job can use at most. */
static int level_rate(const struct supply *s, uint32_t l, double *sum,
		      struct weft_error *err)
{
	const struct weft_level *level = &s->f->levels[l];
	double *rate = weft_calloc(level->n_domains, sizeof(*rate), err);
	uint32_t n = 0;

	*sum = 0;
	if (!rate)
		return -1;
	for (uint32_t i = 0; i < level->n_domains; i++) {
		uint32_t d = level->first_domain + i;

		if (s->cap[d])
			rate[n++] = weft_cost_uplink_rate(s->f, d);
	}
	qsort(rate, n, sizeof(*rate), descending);
	for (uint32_t i = 0; i < n && i < s->job->n_gpus; i++)
		*sum += rate[i];
	free(rate);
	return 0;
}

int bottleneck_bound(const struct supply *s,
		     const double crossing[WEFT_MAX_LEVELS], double *time_s,
		     struct weft_error *err)
{
	const struct weft_fabric *f = s->f;
	double rate;
	uint32_t l = f->node_level;

	*time_s = 0;
	/* sums made in the network cross a link once for many ranks */
	if (s->job->traffic.n_switches || l + 1 >= f->n_levels)
		return 0;
	*time_s = crossing[l] / s->job->n_gpus /
		  f->levels[l + 1].link.rate_bytes_per_s;
	for (; l + 1 < f->n_levels; l++) {
		if (level_rate(s, l, &rate, err))
			return -1;
		if (rate > 0)
			*time_s = fmax(*time_s, crossing[l] / rate);
	}
	*time_s *= 1 - ROUNDING;
	return 0;
}
