/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pairwise_fit.c - the fewest nodes and links that explain the slow pairs */
#include "costmodel/measured/pairwise_fit.h"

#include "base/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CAUSES 32
/* A cause makes pairs slower by so many standard errors of the median. */
#define MIN_ERRORS 4.0
/* Ends that were measured with fewer others tell nothing of themselves. */
#define MIN_PAIRS 3
/* Candidates that are looked at closely in each round. */
#define SHORTLIST 24

/* ---- classes ---- */

double pairwise_rest(const struct pairwise_fit *fit, uint32_t point)
{
	const struct pairwise_point *at = &fit->points[point];

	return fit->center[at->level] - at->log_rate - at->explained;
}

/* What is left of a class when its causes are taken away: its middle, and how
 * much it scatters (1.4826 MAD is the deviation of a normal distribution; at
 * least one per cent, below which measurements mean nothing). */
static void class_center(struct pairwise_fit *fit, uint32_t level)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < fit->n; i++)
		if (fit->points[i].level == level)
			fit->scratch[n++] = fit->points[i].log_rate +
					    fit->points[i].explained;
	fit->size[level] = n;
	if (n == 0)
		return;
	fit->center[level] = weft_median(fit->scratch, n);
	for (uint32_t i = 0; i < n; i++)
		fit->scratch[i] = fabs(fit->scratch[i] - fit->center[level]);
	fit->scale[level] = fmax(1.4826 * weft_median(fit->scratch, n), 0.01);
}

static void centers_find(struct pairwise_fit *fit)
{
	for (uint32_t level = 0; level <= fit->f->n_levels; level++)
		class_center(fit, level);
}

/* ---- candidates ---- */

static uint32_t domain_of(const struct pairwise_fit *fit, uint32_t node,
			  uint32_t level)
{
	return fit->f->gpu_domain[level][fit->f->nodes[node].first_gpu];
}

static bool is_of(const struct pairwise_fit *fit, uint32_t point,
		  const struct pairwise_cause *cause)
{
	const struct pairwise_point *at = &fit->points[point];
	uint32_t level, a, b;

	if (cause->part == PAIRWISE_NODE)
		return at->a == cause->index || at->b == cause->index;
	level = fit->f->domains[cause->index].level;
	a = domain_of(fit, at->a, level);
	b = domain_of(fit, at->b, level);
	if (cause->part == PAIRWISE_INSIDE)
		return at->level == level && a == cause->index;
	return a != b && (a == cause->index || b == cause->index);
}

/* Sum of what is left of a candidate's pairs, for the shortlist: positive and
 * negative cancel where the candidate is not the cause. */
struct tally {
	struct pairwise_cause cause;
	double sum;
	uint32_t n;
	double score;
};

static void tally_add(struct tally *t, double rest)
{
	/* One pair that hardly moved is not a whole node's fault. */
	t->sum += fmin(rest, 1);
	t->n++;
}

WEFT_COMPARATOR(compare_tallies, struct tally,
		WEFT_DOWN(score) WEFT_UP(cause.part) WEFT_UP(cause.index));

/* tallies: [n_nodes + 2 n_domains]. */
static void tallies_fill(const struct pairwise_fit *fit, struct tally *tallies)
{
	const struct weft_fabric *f = fit->f;

	for (uint32_t i = 0; i < fit->n; i++) {
		const struct pairwise_point *at = &fit->points[i];
		double rest = pairwise_rest(fit, i);

		tally_add(&tallies[at->a], rest);
		tally_add(&tallies[at->b], rest);
		if (at->level < f->n_levels)
			tally_add(&tallies[f->n_nodes + f->n_domains +
					   domain_of(fit, at->a, at->level)],
				  rest);
		for (uint32_t l = f->node_level + 1;
		     l < at->level && l < f->n_levels; l++) {
			tally_add(
				&tallies[f->n_nodes + domain_of(fit, at->a, l)],
				rest);
			tally_add(
				&tallies[f->n_nodes + domain_of(fit, at->b, l)],
				rest);
		}
	}
}

/* The most promising first; returns how many are worth a look. */
static uint32_t shortlist(const struct pairwise_fit *fit, struct tally *tallies)
{
	const struct weft_fabric *f = fit->f;
	uint32_t n = f->n_nodes + 2 * f->n_domains, kept = 0;

	memset(tallies, 0, n * sizeof(*tallies));
	tallies_fill(fit, tallies);
	for (uint32_t i = 0; i < n; i++) {
		struct tally t = tallies[i];

		if (t.n < MIN_PAIRS)
			continue;
		t.cause.part = i < f->n_nodes ? PAIRWISE_NODE
			       : i < f->n_nodes + f->n_domains
				       ? PAIRWISE_UPLINK
				       : PAIRWISE_INSIDE;
		t.cause.index =
			i < f->n_nodes ? i : (i - f->n_nodes) % f->n_domains;
		t.score = t.sum / sqrt(t.n);
		tallies[kept++] = t;
	}
	if (kept)
		qsort(tallies, kept, sizeof(*tallies), compare_tallies);
	return kept < SHORTLIST ? kept : SHORTLIST;
}

/* ---- one candidate ---- */

/* How much slower the candidate's pairs are than the others of their classes:
 * where a class has no others, nothing can be told.  Leaves the differences in
 * scratch[0..n_pairs) and the scatter in *scale. */
static void effect_find(struct pairwise_fit *fit, struct pairwise_cause *cause,
			double *scale)
{
	double *inside = fit->scratch, *outside = fit->scratch + fit->n;
	uint32_t n = 0;

	*scale = 0;
	for (uint32_t l = 0; l <= fit->f->n_levels; l++) {
		uint32_t n_out = 0, first = n;
		double other;

		if (fit->size[l] == 0)
			continue;
		for (uint32_t i = 0; i < fit->n; i++) {
			if (fit->points[i].level != l)
				continue;
			if (is_of(fit, i, cause))
				inside[n++] = pairwise_rest(fit, i);
			else
				outside[n_out++] = pairwise_rest(fit, i);
		}
		if (n_out == 0) {
			n = first;
			continue;
		}
		other = weft_median(outside, n_out);
		for (uint32_t i = first; i < n; i++)
			inside[i] -= other;
		for (uint32_t i = 0; i < n_out; i++)
			outside[i] = fabs(outside[i] - other);
		if (n > first)
			*scale = fmax(*scale,
				      1.4826 * weft_median(outside, n_out));
	}
	*scale = fmax(*scale, 0.01);
	cause->n_pairs = n;
	cause->effect = n >= MIN_PAIRS ? weft_median(inside, n) : 0;
}

/* Fills in the effect and what it explains; false where it is none. */
static bool cause_try(struct pairwise_fit *fit, struct pairwise_cause *cause)
{
	double scale;

	effect_find(fit, cause, &scale);
	if (cause->effect < PAIRWISE_MIN_EFFECT ||
	    cause->effect < MIN_ERRORS * 1.2533 * scale / sqrt(cause->n_pairs))
		return false;
	cause->gain = 0;
	for (uint32_t i = 0; i < cause->n_pairs; i++)
		cause->gain += fabs(fit->scratch[i]) -
			       fabs(fit->scratch[i] - cause->effect);
	return cause->gain > 0;
}

/* A pair is as slow as its slowest part. */
static void cause_apply(struct pairwise_fit *fit,
			const struct pairwise_cause *cause)
{
	for (uint32_t i = 0; i < fit->n; i++)
		if (is_of(fit, i, cause) &&
		    fit->points[i].explained < cause->effect)
			fit->points[i].explained = cause->effect;
	centers_find(fit);
}

static bool is_known(const struct pairwise_fit *fit,
		     const struct pairwise_cause *cause)
{
	for (uint32_t i = 0; i < fit->n_causes; i++)
		if (fit->causes[i].part == cause->part &&
		    fit->causes[i].index == cause->index)
			return true;
	return false;
}

/* One after the other, the cause that explains most of what is left. */
static void causes_find(struct pairwise_fit *fit, struct tally *tallies)
{
	while (fit->n_causes < MAX_CAUSES) {
		struct pairwise_cause best = {0};
		uint32_t n = shortlist(fit, tallies);

		for (uint32_t i = 0; i < n; i++) {
			struct pairwise_cause cause = tallies[i].cause;

			if (!is_known(fit, &cause) && cause_try(fit, &cause) &&
			    cause.gain > best.gain)
				best = cause;
		}
		if (!(best.gain > 0))
			return;
		fit->causes[fit->n_causes++] = best;
		cause_apply(fit, &best);
	}
}

/* ---- one by one, or alike ---- */

/* What the causes leave unexplained. */
static double loss(const struct pairwise_fit *fit)
{
	double sum = 0;

	for (uint32_t i = 0; i < fit->n; i++)
		sum += fmin(fabs(pairwise_rest(fit, i)), 1);
	return sum;
}

static void causes_clear(struct pairwise_fit *fit)
{
	fit->n_causes = 0;
	for (uint32_t i = 0; i < fit->n; i++)
		fit->points[i].explained = 0;
	centers_find(fit);
}

/* Nodes that are slow alike, where they explain more than what stands out one
 * by one. */
static int causes_choose(struct pairwise_fit *fit, struct tally *tallies,
			 struct weft_error *err)
{
	struct pairwise_cause set[MAX_CAUSES];
	uint32_t n;
	double left;

	centers_find(fit);
	n = pairwise_set_find(fit, set, MAX_CAUSES, err);
	if (n == WEFT_NONE)
		return -1;
	causes_find(fit, tallies);
	left = loss(fit);
	if (n) {
		struct pairwise_cause greedy[MAX_CAUSES];
		uint32_t n_greedy = fit->n_causes;

		memcpy(greedy, fit->causes, n_greedy * sizeof(*greedy));
		causes_clear(fit);
		for (uint32_t i = 0; i < n; i++) {
			fit->causes[fit->n_causes++] = set[i];
			cause_apply(fit, &set[i]);
		}
		if (loss(fit) < 0.8 * left) {
			causes_find(fit, tallies);
		} else {
			causes_clear(fit);
			for (uint32_t i = 0; i < n_greedy; i++) {
				fit->causes[fit->n_causes++] = greedy[i];
				cause_apply(fit, &greedy[i]);
			}
		}
	}
	pairwise_set_share(fit);
	return 0;
}

/* ---- the whole ---- */

static int points_make(const struct weft_pairwise *p, uint32_t test,
		       struct pairwise_fit *fit, struct weft_error *err)
{
	const struct weft_fabric *f = fit->f;

	fit->points = weft_calloc(p->n_pairs, sizeof(*fit->points), err);
	fit->scratch =
		weft_calloc(2 * (size_t)p->n_pairs, sizeof(*fit->scratch), err);
	fit->causes = weft_calloc(MAX_CAUSES, sizeof(*fit->causes), err);
	if (!fit->points || !fit->scratch || !fit->causes)
		return -1;
	for (uint32_t i = 0; i < p->n_pairs; i++) {
		const struct weft_pairwise_pair *pair = &p->pairs[i];

		if (pair->test != test || !(pair->rate_bytes_per_s > 0))
			continue;
		fit->points[fit->n++] = (struct pairwise_point){
			.pair = i,
			.a = pair->a,
			.b = pair->b,
			.level =
				weft_fabric_meet(f, f->nodes[pair->a].first_gpu,
						 f->nodes[pair->b].first_gpu),
			.log_rate = log(pair->rate_bytes_per_s),
		};
	}
	return 0;
}

int pairwise_fit_build(const struct weft_pairwise *p, uint32_t test,
		       const struct weft_fabric *f, struct pairwise_fit *fit,
		       struct weft_error *err)
{
	struct tally *tallies;

	*fit = (struct pairwise_fit){.f = f};
	if (points_make(p, test, fit, err))
		return -1;
	tallies = weft_calloc(f->n_nodes + 2 * (size_t)f->n_domains,
			      sizeof(*tallies), err);
	if (!tallies)
		return -1;
	if (causes_choose(fit, tallies, err)) {
		free(tallies);
		return -1;
	}
	free(tallies);
	return 0;
}

void pairwise_fit_free(struct pairwise_fit *fit)
{
	free(fit->points);
	free(fit->causes);
	free(fit->scratch);
	*fit = (struct pairwise_fit){0};
}
