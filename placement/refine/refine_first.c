/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refine_first.c - the sets of nodes from which the search starts */
#include "placement/refine/refine_parts.h"

#include "placement/nodes/candidates.h"

#include <string.h>

/* Scopes in which the first sets are made, and domains more than needed. */
#define MAX_SCOPES   32
#define MORE_DOMAINS 4

/* The cells of a scope that give something, most first. */
static uint32_t sort_cells(struct refine *x, uint32_t scope)
{
	const struct weft_domain *d = &x->f->domains[scope];
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->n_cells; i++) {
		const struct cell *c = &x->cell[i];
		uint32_t gpu = x->f->domains[c->domain].first_gpu, at;

		if (!c->cap || gpu < d->first_gpu ||
		    gpu >= d->first_gpu + d->n_gpus)
			continue;
		for (at = n++; at > 0; at--) {
			if (x->cell[x->order[at - 1]].cap >= c->cap)
				break;
			x->order[at] = x->order[at - 1];
		}
		x->order[at] = i;
	}
	return n;
}

static void clear_shares(struct refine *x)
{
	for (uint32_t i = 0; i < x->n_cells; i++)
		x->cell[i].share = 0;
}

/* Takes `need` in multiples of `chunk` from the cells that have most and give
 * nothing yet; the last cell is the one that the rest fills best. */
static int try_compact(struct refine *x, const struct rule *rule, uint32_t n,
		       uint32_t chunk, uint32_t need)
{
	for (uint32_t i = 0; i < n && need; i++) {
		struct cell *c = &x->cell[x->order[i]];
		uint32_t cap = c->cap - c->cap % chunk, k = i;

		if (c->share)
			continue;
		while (cap >= need && k + 1 < n &&
		       x->cell[x->order[k + 1]].cap >= need) {
			k++;
			if (!x->cell[x->order[k]].share)
				c = &x->cell[x->order[k]];
		}
		c->share = cap < need ? cap : need;
		need -= c->share;
	}
	return need ? 0 : refine_try_shares(x, rule);
}

/* Two sets: from the cells that have most, and first from those in which no GPU
 * stays free, since no later job shares their links. */
static int try_full(struct refine *x, const struct rule *rule, uint32_t n,
		    uint32_t chunk)
{
	uint32_t need = x->job->n_gpus, rest = need;

	clear_shares(x);
	if (try_compact(x, rule, n, chunk, need))
		return -1;
	clear_shares(x);
	for (uint32_t i = 0; i < n && rest; i++) {
		struct cell *c = &x->cell[x->order[i]];

		if (c->cap % chunk || c->cap > rest ||
		    c->cap < x->s->cap[c->domain])
			continue;
		c->share = c->cap;
		rest -= c->cap;
	}
	return rest < need ? try_compact(x, rule, n, chunk, rest) : 0;
}

/* The same of m cells, multiples of the chunk. */
static int try_even(struct refine *x, const struct rule *rule, uint32_t n,
		    uint32_t m, uint32_t chunk)
{
	uint32_t need = x->job->n_gpus, share = (need + m - 1) / m, first = n;

	share = (share + chunk - 1) / chunk * chunk;
	while (first > 0 && x->cell[x->order[first - 1]].cap < share)
		first--;
	clear_shares(x);
	/* the smallest of those that are large enough */
	for (uint32_t i = first; i-- > 0 && need;) {
		struct cell *c = &x->cell[x->order[i]];

		c->share = share < need ? share : need;
		need -= c->share;
	}
	return need ? 0 : refine_try_shares(x, rule);
}

/* As even as the m cells that have most allow, in multiples of the chunk: those
 * that have less give all. */
static int try_level(struct refine *x, const struct rule *rule, uint32_t m,
		     uint32_t chunk)
{
	uint32_t need = x->job->n_gpus;

	clear_shares(x);
	for (uint32_t left = m; left > 0; left--) {
		struct cell *c = &x->cell[x->order[left - 1]];
		uint32_t cap = c->cap - c->cap % chunk;
		uint32_t level = (need + left - 1) / left;

		level = (level + chunk - 1) / chunk * chunk;
		level = level < need ? level : need;
		c->share = cap < level ? cap : level;
		need -= c->share;
	}
	return need ? 0 : refine_try_shares(x, rule);
}

/* Takes nodes that give so much, of the cells in use first. */
static uint32_t take_nodes(struct refine *x, uint32_t n, uint32_t give,
			   uint32_t need)
{
	for (uint32_t used = 2; used-- > 0;) {
		for (uint32_t i = 0; i < n && need >= give; i++) {
			struct cell *c = &x->cell[x->order[i]];
			uint32_t before = need;

			if ((c->share > 0) != used)
				continue;
			need = refine_take_alike(x, &x->f->domains[c->domain],
						 give, need);
			c->share += before - need;
		}
	}
	return need;
}

/* The nodes that give most, whichever cell they are in. */
static int try_fullest(struct refine *x, const struct rule *rule, uint32_t n)
{
	uint32_t need = x->job->n_gpus, give = x->s->give_most;

	clear_shares(x);
	memset(x->now, 0, x->f->n_nodes);
	for (give -= give % rule->unit; give; give -= rule->unit)
		need = take_nodes(x, n, give, need);
	/* no node that is left gives as little as the rest */
	for (uint32_t i = 0; i < n && need; i++) {
		struct cell *c = &x->cell[x->order[i]];
		uint32_t room = c->cap - c->share;

		room = room < need ? room : need;
		c->share += room;
		need -= room;
	}
	return need ? 0 : refine_try_shares(x, rule);
}

/* On m cells, if they have room. */
static int try_cells(struct refine *x, const struct rule *rule, uint32_t n,
		     uint32_t m, uint32_t chunk)
{
	if (try_even(x, rule, n, m, chunk))
		return -1;
	return x->is_thorough ? try_level(x, rule, m, chunk) : 0;
}

/* How many of the first n cells hold the job; 0: not even all. */
static uint32_t count_needed(const struct refine *x, uint32_t n)
{
	uint32_t least = 0, sum = 0;

	while (least < n && sum < x->job->n_gpus)
		sum += x->cell[x->order[least++]].cap;
	return sum < x->job->n_gpus ? 0 : least;
}

/* Tuples of nodes that give alike, for a search of their own. */
static int try_tuples(struct refine *x, uint32_t n, uint32_t least)
{
	int rc;

	x->is_extra = true;
	rc = refine_tuples(x, n, least);
	x->is_extra = false;
	return rc;
}

static int try_scope(struct refine *x, const struct rule *rule, uint32_t scope)
{
	uint32_t n = sort_cells(x, scope), least = count_needed(x, n);

	if (!least)
		return 0;
	if (try_full(x, rule, n, 1))
		return -1;
	for (uint32_t i = 0; i < x->n_chunks; i++)
		if (try_full(x, rule, n, x->chunk[i]))
			return -1;
	if (x->is_thorough && !rule->same && try_fullest(x, rule, n))
		return -1;
	if (x->is_thorough && !rule->same && rule->unit == 1 &&
	    try_tuples(x, n, least))
		return -1;
	for (uint32_t m = least; m <= n && m < least + MORE_DOMAINS; m++) {
		if (try_cells(x, rule, n, m, rule->unit))
			return -1;
		for (uint32_t i = 0; i < x->n_chunks; i++)
			if (try_cells(x, rule, n, m, x->chunk[i]))
				return -1;
	}
	return 0;
}

/* Domains that hold the job, those that differ in nothing once: the ones that
 * candidates.c takes, then others. */
static uint32_t list_scopes(const struct refine *x, uint32_t *scope)
{
	uint32_t top = x->f->domains[x->scope].level, n = 0;

	for (uint32_t l = x->level; l <= top; l++) {
		const struct weft_level *level = &x->f->levels[l];
		uint64_t before = 0;

		if (n + CANDIDATES_PICKS > MAX_SCOPES)
			break;
		n += candidates_pick(x->s, l, scope + n);
		for (uint32_t i = 0; i < level->n_domains; i++) {
			uint32_t d = level->first_domain + i;

			if (n + CANDIDATES_PICKS * (top - l) >= MAX_SCOPES)
				break;
			if (x->s->shape[d] == before ||
			    !capacity_holds(x->s, d))
				continue;
			before = x->s->shape[d];
			scope[n++] = d;
		}
	}
	return n;
}

/* Pairs of nodes that hold a part of a tensor group. */
static int try_pairs(struct refine *x, uint32_t scope)
{
	static const struct rule any = {1, false};
	uint32_t n, least;

	if (x->job->gpus_per_node || effort_spent(&x->a->effort))
		return 0;
	refine_cap(x, &any);
	n = sort_cells(x, scope);
	least = count_needed(x, n);
	return least ? refine_pairs(x, n, least) : 0;
}

/* The pairs whose smaller part is largest, in the innermost scope that has
 * such: there may not be the effort for a second set. */
static int try_large_parts(struct refine *x, const uint32_t *scope, uint32_t n)
{
	static const struct rule any = {1, false};
	bool found = false, more = true;

	if (x->job->gpus_per_node)
		return 0;
	refine_cap(x, &any);
	memcpy(x->top, x->now, x->f->n_nodes);
	for (uint32_t part = x->job->spec.tp / 2; part && more; part--) {
		uint32_t level = WEFT_NONE;

		more = false;
		for (uint32_t i = 0; i < n && !found; i++) {
			uint32_t n_cells;

			if (x->f->domains[scope[i]].level == level ||
			    effort_spent(&x->a->effort))
				continue;
			level = x->f->domains[scope[i]].level;
			n_cells = sort_cells(x, scope[i]);
			if (!count_needed(x, n_cells))
				continue;
			if (refine_pairs_of(x, n_cells, part, &found))
				return -1;
			more |= refine_may_pair(x);
		}
		more &= !found;
	}
	memcpy(x->now, x->top, x->f->n_nodes);
	return 0;
}

int refine_first(struct refine *x)
{
	uint32_t scope[MAX_SCOPES], n = list_scopes(x, scope);
	bool better;

	x->is_first = true;
	if (x->is_broken && !x->is_thorough && try_large_parts(x, scope, n))
		return -1;
	/* what has been found */
	if (refine_try(x, &better))
		return -1;
	for (uint32_t i = 0; i < n; i++)
		if (refine_runs(x, scope[i]))
			return -1;
	/* first, as nothing else gains as much */
	for (uint32_t i = 0; i < n && (x->is_broken || x->is_thorough); i++)
		if (try_pairs(x, scope[i]))
			return -1;
	for (uint32_t r = 0; r < x->n_rules; r++) {
		refine_cap(x, &x->rule[r]);
		x->rule_now = r;
		for (uint32_t i = 0; i < n; i++)
			if (try_scope(x, &x->rule[r], scope[i]))
				return -1;
	}
	if (refine_segments(x))
		return -1;
	x->is_extra = true;
	for (uint32_t i = 0; i < n; i++)
		if (refine_pieces(x, scope[i]))
			return -1;
	x->is_extra = x->is_first = false;
	return 0;
}
