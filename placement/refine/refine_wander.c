/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refine_wander.c - local searches from near the best set of nodes
 *
 * Iterated local search (Lourenco, Martin and Stuetzle 2003): a few random
 * moves of the job's GPUs between domains, then local search; the next one
 * starts from the better of both ends.
 */
#include "placement/refine/refine_parts.h"

#include <string.h>

/* Searches in vain after which nothing more is expected. */
#define VAIN_SEARCHES 40
#define MOST_MOVES    3
#define TRIALS	      16

/* What moving the ranks of one set may take: 0.5 ms; of the best set in the
 * end: this part of the effort, with which the mapper runs, too. */
#define POLISHING  100000
#define LAST_SHARE 4

/* First sets that take this many times as long are not polished. */
#define HOPELESS 1.5

/* GPUs that go from one cell to another: all, so many whole groups, or any
 * multiple of what the rule's nodes give. */
static uint32_t amount(struct refine *x, const struct rule *rule,
		       const struct cell *from, uint32_t room)
{
	struct effort *e = &x->a->effort;
	uint32_t unit = rule->unit, most;

	most = from->share < room ? from->share : room;
	if (effort_below(e, 3) == 0)
		return most;
	if (x->n_chunks && effort_below(e, 2))
		unit = x->chunk[effort_below(e, x->n_chunks)];
	return most < unit ? most : unit * (1 + effort_below(e, most / unit));
}

/* A random one of the cells in use. */
static struct cell *pick_used(struct refine *x)
{
	uint32_t n = 0, k;

	for (uint32_t i = 0; i < x->n_cells; i++)
		n += x->cell[i].share > 0;
	k = effort_below(&x->a->effort, n);
	for (uint32_t i = 0; i < x->n_cells; i++)
		if (x->cell[i].share && k-- == 0)
			return &x->cell[i];
	return x->cell;
}

/* GPUs of the job go from a random cell to another, in x->now. */
static bool move_cells(struct refine *x, const struct rule *rule)
{
	struct effort *e = &x->a->effort;

	for (uint32_t i = 0; i < TRIALS; i++) {
		struct cell *from = pick_used(x);
		struct cell *to = &x->cell[effort_below(e, x->n_cells)];
		uint32_t n;

		if (from == to || to->share >= to->cap)
			continue;
		n = amount(x, rule, from, to->cap - to->share);
		if (!refine_fill(x, from, rule, from->share - n) ||
		    !refine_fill(x, to, rule, to->share + n))
			return false;
		from->share -= n;
		to->share += n;
		return true;
	}
	return false;
}

/* The node that has the k-th of the job's GPUs, in x->now. */
static uint32_t node_at(const struct refine *x, uint32_t k)
{
	uint32_t node = x->f->domains[x->scope].first_node;

	while (k >= x->now[node])
		k -= x->now[node++];
	return node;
}

/* The same of nodes. */
static bool move_nodes(struct refine *x)
{
	const struct weft_domain *d = &x->f->domains[x->scope];
	struct effort *e = &x->a->effort;

	for (uint32_t i = 0; i < TRIALS; i++) {
		uint32_t from = node_at(x, effort_below(e, x->job->n_gpus));
		uint32_t to = d->first_node + effort_below(e, d->n_nodes);
		uint32_t n = x->s->give[to] - x->now[to];

		effort_spend(e, d->n_nodes / 2 + 1);
		if (from == to || !n)
			continue;
		n = n < x->now[from] ? n : x->now[from];
		if (effort_below(e, 2))
			n = 1 + effort_below(e, n);
		x->now[from] = (uint8_t)(x->now[from] - n);
		x->now[to] = (uint8_t)(x->now[to] + n);
		return true;
	}
	return false;
}

static int kick(struct refine *x, bool *moved)
{
	struct effort *e = &x->a->effort;
	const struct rule *rule = &x->rule[effort_below(e, x->n_rules)];

	bool nodes = x->n_cells == 1 || effort_below(e, 4) == 0;

	*moved = true;
	memcpy(x->now, x->take, x->f->n_nodes);
	refine_cap(x, rule);
	refine_count(x);
	for (uint32_t n = 1 + effort_below(e, MOST_MOVES); n && *moved; n--)
		*moved = nodes ? move_nodes(x) : move_cells(x, rule);
	if (!*moved)
		return 0;
	x->is_lost = true;
	if (effort_below(e, 3) == 0)
		x->nesting = effort_below(e, x->a->orders.n);
	if (refine_try(x, moved))
		return -1;
	x->is_lost = false;
	return 0;
}

static void keep(struct refine *x, bool higher)
{
	size_t size = x->f->n_nodes;

	if (higher) {
		memcpy(x->top, x->take, size);
		x->peak = x->current;
		x->peak_nesting = x->nesting;
	} else {
		memcpy(x->take, x->top, size);
		x->current = x->peak;
		x->nesting = x->peak_nesting;
	}
}

/* Climbs, by orders of ranks, too. */
static int local_search(struct refine *x)
{
	bool better = true;

	while (better && !effort_spent(&x->a->effort))
		if (refine_local_search(x) || refine_orders(x, &better))
			return -1;
	return 0;
}

/* From the best of the extra sets, where that is better than the first search's
 * end. */
static int search_extra(struct refine *x)
{
	bool higher;

	if (!x->has_extra || !refine_is_better(x, &x->extra_is, &x->peak))
		return 0;
	memcpy(x->take, x->extra, x->f->n_nodes);
	x->current = x->extra_is;
	x->nesting = x->extra_nesting;
	if (local_search(x))
		return -1;
	higher = refine_is_better(x, &x->current, &x->peak);
	keep(x, higher);
	return higher ? refine_polish(x, POLISHING) : 0;
}

/* Ranks of the best first set of each rule change places, too: in no order that
 * is tried may it be what it is worth. */
static int polish_first(struct refine *x)
{
	for (uint32_t i = 0; i < x->n_rules; i++) {
		const struct found *first = &x->first[i];

		if (!first->is_any ||
		    first->is.measure.goal > HOPELESS * x->peak.measure.goal)
			continue;
		memcpy(x->take, first->take, x->f->n_nodes);
		x->current = first->is;
		x->nesting = first->nesting;
		if (refine_polish(x, POLISHING))
			return -1;
	}
	keep(x, false);
	return 0;
}

static int wander(struct refine *x)
{
	uint32_t vain = 0;

	if (local_search(x) || refine_polish(x, POLISHING))
		return -1;
	keep(x, true);
	if (search_extra(x) || polish_first(x))
		return -1;
	while (vain++ < VAIN_SEARCHES && !effort_spent(&x->a->effort)) {
		bool moved, higher;

		if (kick(x, &moved))
			return -1;
		if (moved && local_search(x))
			return -1;
		higher = moved && refine_is_better(x, &x->current, &x->peak);
		if (higher)
			vain = 0;
		keep(x, higher);
		if (higher && refine_polish(x, POLISHING))
			return -1;
	}
	keep(x, false);
	return 0;
}

int refine_wander(struct refine *x)
{
	struct effort *e = &x->a->effort;
	uint64_t last = e->work / LAST_SHARE;

	if (x->is_lost)
		return 0;
	e->work -= last;
	if (wander(x))
		return -1;
	e->work += last;
	if (x->s->judge->objective.goal == WEFT_GOAL_COST)
		return refine_polish(x, e->work);
	if (refine_polish(x, e->work / 2))
		return -1;
	memcpy(x->take, x->cheap, x->f->n_nodes);
	x->nesting = x->cheap_nesting;
	return refine_polish(x, e->work);
}
