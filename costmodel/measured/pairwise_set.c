/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pairwise_set.c - nodes that are slow alike
 *
 * Where four of eight nodes share one drop, 22 of the 28 pairs have a slow end:
 * the middle of the class is that of the slow, and no node stands out among the
 * others.  But a node that is well has fast pairs with its like, and one that
 * is slow has none: by their fastest pairs the two kinds lie apart.
 */
#include "base/compare.h"
#include "costmodel/measured/pairwise_fit.h"

#include <math.h>
#include <stdlib.h>

/* Two that are slow are found one by one; what is normal needs three. */
#define LEAST_SLOW 2
#define LEAST_WELL 3
/* The drop is one where pairs scatter by less than this share of it. */
#define SCATTER 0.25
/* Drops that differ by less are one. */
#define SAME_DROP 0.05

struct ranked {
	uint32_t node;
	uint32_t n_pairs;
	double fast[2]; /* what is left of its two fastest pairs, ascending */
};

WEFT_COMPARATOR(compare_ranked, struct ranked, WEFT_UP(fast[1]) WEFT_UP(node));

static void pair_take(struct ranked *r, double rest)
{
	r->n_pairs++;
	if (rest < r->fast[0]) {
		r->fast[1] = r->fast[0];
		r->fast[0] = rest;
	} else if (rest < r->fast[1]) {
		r->fast[1] = rest;
	}
}

/* Nodes that were measured with enough others, those with the fastest pairs
 * first; their number. */
static uint32_t nodes_rank(const struct pairwise_fit *fit, struct ranked *list)
{
	uint32_t n = fit->f->n_nodes, kept = 0;

	for (uint32_t k = 0; k < n; k++)
		list[k] = (struct ranked){k, 0, {INFINITY, INFINITY}};
	for (uint32_t i = 0; i < fit->n; i++) {
		double rest = pairwise_rest(fit, i);

		pair_take(&list[fit->points[i].a], rest);
		pair_take(&list[fit->points[i].b], rest);
	}
	for (uint32_t k = 0; k < n; k++)
		if (list[k].n_pairs >= LEAST_WELL)
			list[kept++] = list[k];
	if (kept)
		qsort(list, kept, sizeof(*list), compare_ranked);
	return kept;
}

/* How many are well: up to the widest gap. */
static uint32_t gap_find(const struct ranked *list, uint32_t n)
{
	double widest = PAIRWISE_MIN_EFFECT;
	uint32_t well = 0;

	for (uint32_t i = LEAST_WELL; i + LEAST_SLOW <= n; i++) {
		double gap = list[i].fast[1] - list[i - 1].fast[1];

		if (gap > widest) {
			widest = gap;
			well = i;
		}
	}
	return well;
}

/* Median and scatter of what is left of pairs with so many slow ends. */
static uint32_t ends_look(struct pairwise_fit *fit, const bool *slow,
			  uint32_t ends, double *middle, double *scale)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < fit->n; i++)
		if ((uint32_t)slow[fit->points[i].a] + slow[fit->points[i].b] ==
		    ends)
			fit->scratch[n++] = pairwise_rest(fit, i);
	if (!n)
		return 0;
	*middle = weft_median(fit->scratch, n);
	for (uint32_t i = 0; i < n; i++)
		fit->scratch[i] = fabs(fit->scratch[i] - *middle);
	*scale = 1.4826 * weft_median(fit->scratch, n);
	return n;
}

/* The drop that the slow ones share, or 0. */
static double drop_find(struct pairwise_fit *fit, const bool *slow)
{
	double well, well_scale, cross, cross_scale, drop;

	if (ends_look(fit, slow, 0, &well, &well_scale) < LEAST_WELL ||
	    ends_look(fit, slow, 1, &cross, &cross_scale) < LEAST_WELL)
		return 0;
	drop = cross - well;
	return drop >= PAIRWISE_MIN_EFFECT && well_scale < SCATTER * drop &&
			       cross_scale < SCATTER * drop
		       ? drop
		       : 0;
}

uint32_t pairwise_set_find(struct pairwise_fit *fit,
			   struct pairwise_cause *causes, uint32_t most,
			   struct weft_error *err)
{
	uint32_t nodes = fit->f->n_nodes, n, well, found = 0;
	struct ranked *list = weft_calloc(nodes, sizeof(*list), err);
	bool *slow = weft_calloc(nodes, sizeof(*slow), err);
	double drop = 0;

	if (!list || !slow) {
		free(list);
		free(slow);
		return WEFT_NONE;
	}
	n = nodes_rank(fit, list);
	well = gap_find(list, n);
	for (uint32_t i = well; well && i < n; i++)
		slow[list[i].node] = true;
	if (well && n - well <= most)
		drop = drop_find(fit, slow);
	for (uint32_t i = well; drop > 0 && i < n; i++)
		causes[found++] = (struct pairwise_cause){
			.part = PAIRWISE_NODE,
			.index = list[i].node,
			.effect = drop,
			/* half of each pair is the other end's */
			.gain = drop * list[i].n_pairs / 2,
			.n_pairs = list[i].n_pairs,
		};
	free(list);
	free(slow);
	return found;
}

void pairwise_set_share(struct pairwise_fit *fit)
{
	struct pairwise_cause *c = fit->causes;

	for (uint32_t i = 0; i < fit->n_causes; i++) {
		double first = c[i].effect, sum = 0;
		uint32_t n = 0;

		for (uint32_t k = i; k < fit->n_causes; k++)
			if (c[k].part == PAIRWISE_NODE && !c[k].shared &&
			    fabs(c[k].effect - first) < SAME_DROP) {
				sum += c[k].effect;
				n++;
			}
		if (n < 2 || c[i].part != PAIRWISE_NODE || c[i].shared)
			continue;
		for (uint32_t k = i; k < fit->n_causes; k++)
			if (c[k].part == PAIRWISE_NODE && !c[k].shared &&
			    fabs(c[k].effect - first) < SAME_DROP) {
				c[k].effect = sum / n;
				c[k].shared = true;
			}
	}
}
