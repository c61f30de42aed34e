/* SPDX-License-Identifier: GPL-3.0-or-later */
/* comparison.c - which of two placements is the better one */
#include "placement/objective/comparison.h"

#include "base/bitset.h"
#include "placement/mapping/sites.h"
#include "placement/nodes/limits.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int compare_real(double a, double b)
{
	if (a == b || fabs(a - b) <= COMPARISON_SAME * fmax(fabs(a), fabs(b)))
		return 0;
	return a < b ? -1 : 1;
}

static int compare_count(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* Counts the untouched domains of each level that a placement enters.  One GPU
 * in each domain is enough to find those around it. */
static int count_broken(const struct capacity *s, const uint32_t *where,
			uint32_t broken[WEFT_MAX_LEVELS],
			struct weft_error *err)
{
	const struct weft_fabric *f = s->f;
	uint32_t n = s->job->n_gpus;
	uint32_t *gpu = weft_realloc(NULL, n, sizeof(*gpu), err);

	if (!gpu)
		return -1;
	memcpy(gpu, where, n * sizeof(*gpu));
	for (uint32_t l = f->node_level; l < f->n_levels; l++) {
		const uint32_t *domain = f->gpu_domain[l];
		uint8_t *seen = s->seen;
		uint32_t first = f->levels[l].first_domain, n_domains = 0;

		for (uint32_t i = 0; i < n; i++) {
			uint32_t d = domain[gpu[i]];

			if (seen[d - first])
				continue;
			seen[d - first] = 1;
			broken[l] += capacity_untouched(s, d);
			gpu[n_domains++] = gpu[i];
		}
		n = n_domains;
		for (uint32_t i = 0; i < n; i++)
			seen[domain[gpu[i]] - first] = 0;
	}
	free(gpu);
	return 0;
}

/* Innermost domain from node_level outwards that holds every rank. */
static uint32_t tightest(const struct capacity *s, const uint32_t *where)
{
	const struct weft_fabric *f = s->f;
	uint32_t low = where[0], high = where[0], level;

	for (uint32_t r = 1; r < s->job->n_gpus; r++) {
		low = where[r] < low ? where[r] : low;
		high = where[r] > high ? where[r] : high;
	}
	level = weft_fabric_meet(f, low, high);
	if (level < f->node_level)
		level = f->node_level;
	return level < f->n_levels ? f->gpu_domain[level][low] : WEFT_NONE;
}

static bool keeps_to_preferred(const struct capacity *s, const uint32_t *where)
{
	uint32_t level = s->job->prefer_level;
	uint32_t d;

	if (level == WEFT_NONE)
		return true;
	d = s->f->gpu_domain[level][where[0]];
	for (uint32_t r = 1; r < s->job->n_gpus; r++)
		if (s->f->gpu_domain[level][where[r]] != d)
			return false;
	return true;
}

static int measure_shares(const struct capacity *s, const uint32_t *where,
			  struct shares shares[WEFT_MAX_LEVELS],
			  struct weft_error *err)
{
	const struct weft_fabric *f = s->f;
	uint32_t *taken = weft_calloc(f->n_domains, sizeof(*taken), err);

	if (!taken)
		return -1;
	for (uint32_t l = f->node_level; l < f->n_levels; l++) {
		for (uint32_t i = 0; i < s->job->n_gpus; i++) {
			uint32_t n = ++taken[f->gpu_domain[l][where[i]]];

			shares[l].n_used += n == 1;
			if (n > shares[l].largest)
				shares[l].largest = n;
		}
	}
	free(taken);
	return 0;
}

/* Domain of each GPU at the level whose domains have a price: the outermost
 * with less above it than its GPUs can send; else NVLink domains that span
 * nodes; else NULL. */
static const uint32_t *priced_domains(const struct weft_fabric *f)
{
	uint32_t inner = f->node_level, level = f->n_levels - 1;

	while (level > inner + 1 &&
	       !(f->levels[level].link.oversubscription > 1))
		level--;
	if (level > inner + 1)
		return f->gpu_domain[level - 1];
	return f->levels[inner].n_domains < f->n_nodes ? f->gpu_domain[inner]
						       : NULL;
}

/* Domains with a price that a placement enters; those that it leaves partly
 * free count twice. */
static uint32_t count_priced(const struct capacity *s, const uint32_t *where)
{
	const struct weft_slots *slots = &s->judge->slots;
	const uint32_t *domain = priced_domains(s->f);
	uint32_t n = 0;

	if (!domain || !slots->fabric)
		return 1;
	for (uint32_t r = 0; r < s->job->n_gpus; r++)
		slots->taken[domain[where[r]]]++;
	for (uint32_t r = 0; r < s->job->n_gpus; r++) {
		uint32_t d = domain[where[r]];

		if (slots->taken[d])
			n += 1 + (slots->taken[d] < slots->n_free[d]);
		slots->taken[d] = 0;
	}
	return n;
}

/* Seconds are compared in tiers, so that no thousandth of a predicted time is
 * bought with half as much traffic again.  In tiers, since "less than so much
 * apart" is no order: a could tie with b and b with c, but a not with c.  The
 * middle of one is the first placement's, which is the cheapest; those that
 * cost more, or enter or break more domains, have to gain as much as that is
 * worth, and those that break fewer may lose as much.  Each domain multiplies
 * the value, so that two placements compare alike whichever was first. */
static void find_tier(const struct capacity *s, const uint32_t *where,
		      struct comparison *r)
{
	struct weft_judge *judge = s->judge;
	uint32_t n_domains = 0;
	bool step = judge->objective.goal == WEFT_GOAL_STEP;
	double same = step ? judge->same : COMPARISON_STEP;
	double value = r->measure.value;
	double cost = r->measure.cost.total[s->job->spec.metric], more;

	if (!(judge->reference_cost > 0))
		judge->reference_cost = cost;
	if (step)
		n_domains = count_priced(s, where);
	if (step && judge->reference_domains == 0)
		judge->reference_domains = n_domains;
	more = (double)n_domains - judge->reference_domains;
	value *= pow(1 + WEFT_PRICE_OF_DOMAIN, more);
	if (step && judge->gpu && cost > judge->reference_cost)
		value *= 1 + WEFT_PRICE_OF_COST *
				     (cost / judge->reference_cost - 1);
	r->in_tiers = judge->objective.goal != WEFT_GOAL_COST;
	r->tier = INT64_MIN;
	if (r->in_tiers && value > 0 && judge->reference > 0)
		r->tier = llround(log(value / judge->reference) / log1p(same));
}

bool comparison_is_even(const struct capacity *s, const uint32_t *where)
{
	const uint32_t *node = s->f->gpu_node;
	uint32_t n = s->job->n_gpus;
	bool even = true;

	for (uint32_t i = 0; i < n; i++)
		s->n_on[node[where[i]]]++;
	for (uint32_t i = 0; i < n; i++)
		even &= s->n_on[node[where[i]]] == s->n_on[node[where[0]]];
	for (uint32_t i = 0; i < n; i++)
		s->n_on[node[where[i]]] = 0;
	return even;
}

bool comparison_suffices(const struct capacity *s, const struct comparison *r)
{
	return !s->judge->indifferent && comparison_is_least(s, r);
}

bool comparison_is_least(const struct capacity *s, const struct comparison *r)
{
	const struct weft_judge *judge = s->judge;

	return r->measure.value <= judge->least_goal * (1 + COMPARISON_STEP);
}

int comparison_is_beaten(const struct capacity *s, const uint32_t *where,
			 const struct comparison *best, bool *beaten,
			 struct weft_error *err)
{
	struct weft_judge *judge = s->judge;
	struct weft_cost cost;
	int order = 0;

	*beaten = false;
	if (judge->objective.goal != WEFT_GOAL_STEP || !best->prefers ||
	    best->lost)
		return 0;
	/* No step is shorter: what destroys more, or as much and costs more, is
	 * not worth predicting. */
	if (judge->indifferent)
		order = compare_real(weft_slots_lost(&judge->slots, where),
				     best->share_lost);
	else if (!comparison_suffices(s, best))
		return 0;
	*beaten = order > 0;
	if (order)
		return 0;
	if (weft_judge_sums(judge, where, &cost, err))
		return -1;
	*beaten = cost.total[s->job->spec.metric] >
		  best->cost * (1 + COMPARISON_SAME);
	return 0;
}

int comparison_is_slower(const struct capacity *s, const uint32_t *where,
			 const struct comparison *best, bool *slower,
			 struct weft_error *err)
{
	struct weft_judge *judge = s->judge;
	struct comparison bound = {0};

	*slower = false;
	/* Only a step that is predicted tells whether it is that of all
	 * places, which counts where nodes are taken evenly (apart.c). */
	if (judge->objective.goal != WEFT_GOAL_STEP || !judge->gpu ||
	    !best->prefers || best->lost ||
	    (judge->links_idle && !judge->anywhere && best->even))
		return 0;
	if (weft_judge_bound_one(judge, where, &bound.measure.value, err))
		return -1;
	find_tier(s, where, &bound);
	*slower = bound.tier > best->tier;
	if (*slower)
		return 0;
	/* what it costs more counts, too, and has to be known for its step */
	if (weft_judge_sums(judge, where, &bound.measure.cost, err))
		return -1;
	find_tier(s, where, &bound);
	*slower = bound.tier > best->tier;
	return 0;
}

int comparison_measure(const struct capacity *s, const uint32_t *where,
		       struct comparison *r, struct weft_error *err)
{
	const struct weft_fabric *f = s->f;
	uint64_t sizes = 0;
	uint32_t d;

	memset(r, 0, sizeof(*r));
	/* first, because it also checks where[] */
	if (weft_judge_measure(s->judge, where, &r->measure, err))
		return -1;
	r->even = comparison_is_even(s, where);
	d = tightest(s, where);
	find_tier(s, where, r);
	if (s->judge->indifferent)
		r->share_lost = r->measure.share_lost;
	r->prefers = keeps_to_preferred(s, where);
	r->cost = r->measure.cost.total[s->job->spec.metric];
	r->second = r->measure.cost.total[sites_second(s->job->spec.metric)];
	r->lowest = where[0];
	for (uint32_t i = 0; i < s->job->n_gpus; i++) {
		if (s->o->weight)
			r->weight += s->o->weight[f->gpu_node[where[i]]];
		if (where[i] < r->lowest)
			r->lowest = where[i];
		sizes |= UINT64_C(1)
			 << (f->nodes[f->gpu_node[where[i]]].n_gpus - 1);
	}
	r->n_sizes = weft_mask_count(sizes);
	if (count_broken(s, where, r->broken, err))
		return -1;
	if (d != WEFT_NONE)
		r->slack = s->cap[d] - s->job->n_gpus;
	if (s->job->spec.spread == WEFT_FAILURE_DOMAIN)
		return limits_lost(s, where, &r->lost, err);
	if (s->job->spec.spread == WEFT_BALANCE)
		return measure_shares(s, where, r->shares, err);
	return 0;
}

/* All zero, hence equal, unless the job is to be balanced. */
static int compare_shares(const struct comparison *a,
			  const struct comparison *b)
{
	int order = 0;

	for (uint32_t l = WEFT_MAX_LEVELS; l > 0 && !order; l--) {
		const struct shares *x = &a->shares[l - 1];
		const struct shares *y = &b->shares[l - 1];

		order = compare_count(x->n_used, y->n_used);
		if (!order)
			order = compare_count(x->largest, y->largest);
	}
	return order;
}

static int compare_value(const struct comparison *a, const struct comparison *b)
{
	if (a->in_tiers)
		return (a->tier > b->tier) - (a->tier < b->tier);
	return compare_real(a->measure.value, b->measure.value);
}

int comparison_compare(const struct comparison *a, const struct comparison *b)
{
	int order;

	if (a->prefers != b->prefers)
		return a->prefers ? -1 : 1;
	if (a->lost != b->lost)
		return a->lost < b->lost ? -1 : 1;
	order = compare_value(a, b);
	if (!order)
		order = compare_real(a->share_lost, b->share_lost);
	if (!order)
		order = compare_real(a->cost, b->cost);
	if (!order)
		order = compare_real(a->measure.value, b->measure.value);
	if (!order)
		order = compare_real(a->measure.cost.busiest.time_s,
				     b->measure.cost.busiest.time_s);
	if (!order)
		order = compare_real(a->second, b->second);
	if (!order)
		order = compare_shares(a, b);
	if (!order)
		order = compare_count(a->n_sizes, b->n_sizes);
	if (!order)
		order = compare_count(a->weight, b->weight);
	if (!order)
		order = compare_real(a->measure.share_lost,
				     b->measure.share_lost);
	for (uint32_t l = WEFT_MAX_LEVELS; l > 0 && !order; l--)
		order = compare_count(a->broken[l - 1], b->broken[l - 1]);
	if (!order)
		order = compare_count(a->slack, b->slack);
	if (!order)
		order = compare_count(a->lowest, b->lowest);
	return order;
}
