/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refine_local_search.c - sets of nodes that exchange GPUs, domains and nodes
 */
#include "placement/refine/refine_parts.h"

#include <string.h>

void refine_count(struct refine *x)
{
	for (uint32_t i = 0; i < x->n_cells; i++) {
		const struct weft_domain *d = &x->f->domains[x->cell[i].domain];

		x->cell[i].share = 0;
		for (uint32_t k = 0; k < d->n_nodes; k++)
			x->cell[i].share += x->take[d->first_node + k];
	}
}

/* `n` GPUs of the job go from one cell to another. */
static int try_shift(struct refine *x, const struct rule *rule,
		     const struct cell *from, const struct cell *to, uint32_t n,
		     bool *better)
{
	if (!n || n > from->share || to->share + n > to->cap)
		return 0;
	memcpy(x->now, x->take, x->f->n_nodes);
	if (!refine_fill(x, from, rule, from->share - n) ||
	    !refine_fill(x, to, rule, to->share + n))
		return 0;
	return refine_try(x, better);
}

/* What two cells have changes places. */
static int try_swap(struct refine *x, const struct rule *rule,
		    const struct cell *a, const struct cell *b, bool *better)
{
	if (a->share == b->share || a->share > b->cap || b->share > a->cap)
		return 0;
	memcpy(x->now, x->take, x->f->n_nodes);
	if (!refine_fill(x, a, rule, b->share) ||
	    !refine_fill(x, b, rule, a->share))
		return 0;
	return refine_try(x, better);
}

static int try_pair(struct refine *x, const struct rule *rule,
		    const struct cell *from, const struct cell *to,
		    bool *better)
{
	uint32_t room = to->cap > to->share ? to->cap - to->share : 0;
	uint32_t even =
		from->share > to->share ? (from->share - to->share) / 2 : 0;

	if (try_shift(x, rule, from, to, from->share, better) || *better)
		return *better ? 0 : -1;
	if (to->share && try_swap(x, rule, from, to, better))
		return -1;
	if (*better)
		return 0;
	if (to->share && (try_shift(x, rule, from, to, room, better)))
		return -1;
	if (*better)
		return 0;
	if (try_shift(x, rule, from, to, even, better))
		return -1;
	for (uint32_t i = 0; i < x->n_chunks && !*better; i++) {
		uint32_t rest = from->share % x->chunk[i];

		if (try_shift(x, rule, from, to, rest ? rest : x->chunk[i],
			      better))
			return -1;
	}
	return 0;
}

/* One round over all pairs; ends at the first that gains. */
static int try_pairs(struct refine *x, const struct rule *rule, bool *better)
{
	refine_cap(x, rule);
	refine_count(x);
	for (uint32_t i = 0; i < x->n_cells; i++) {
		uint64_t before = 0;

		if (!x->cell[i].share)
			continue;
		for (uint32_t k = 0; k < x->n_cells; k++) {
			const struct cell *to = &x->cell[k];
			uint64_t shape = x->s->shape[to->domain];

			if (k == i || (!to->share && shape == before))
				continue;
			if (effort_spent(&x->a->effort))
				return 0;
			if (!to->share)
				before = shape;
			if (try_pair(x, rule, &x->cell[i], to, better))
				return -1;
			if (*better)
				return 0;
		}
	}
	return 0;
}

bool refine_is_inside(const struct refine *x, uint32_t cell, uint32_t domain)
{
	const struct weft_domain *d = &x->f->domains[domain];
	uint32_t gpu = x->f->domains[x->cell[cell].domain].first_gpu;

	return gpu >= d->first_gpu && gpu < d->first_gpu + d->n_gpus;
}

/* Cells in use first, those with most room before others. */
static uint32_t sort_room(struct refine *x, uint32_t domain)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->n_cells; i++) {
		const struct cell *c = &x->cell[i], *o;
		uint32_t at;

		if (refine_is_inside(x, i, domain) || c->cap <= c->share)
			continue;
		for (at = n++; at > 0; at--) {
			o = &x->cell[x->order[at - 1]];
			if ((c->share > 0) != (o->share > 0)
				    ? o->share > 0
				    : o->cap - o->share >= c->cap - c->share)
				break;
			x->order[at] = x->order[at - 1];
		}
		x->order[at] = i;
	}
	return n;
}

/* A domain gives up all it has to others, one cell after the other. */
static int try_vacate(struct refine *x, const struct rule *rule,
		      uint32_t domain, bool unused, bool *better)
{
	uint32_t need = 0, n = sort_room(x, domain);

	memcpy(x->now, x->take, x->f->n_nodes);
	for (uint32_t i = 0; i < x->n_cells; i++) {
		if (!x->cell[i].share || !refine_is_inside(x, i, domain))
			continue;
		need += x->cell[i].share;
		refine_fill(x, &x->cell[i], rule, 0);
	}
	if (need == x->job->n_gpus && !unused)
		return 0;
	for (uint32_t i = 0; i < n && need; i++) {
		struct cell *c = &x->cell[x->order[i]];
		uint32_t more = c->cap - c->share;

		if (unused && c->share)
			continue;
		more = more < need ? more : need;
		if (!refine_fill(x, c, rule, c->share + more))
			return 0;
		need -= more;
	}
	return need ? 0 : refine_try(x, better);
}

static int try_vacating(struct refine *x, const struct rule *rule, bool *better)
{
	uint32_t last = WEFT_NONE;

	refine_cap(x, rule);
	refine_count(x);
	for (uint32_t l = x->level; l < x->f->domains[x->scope].level; l++) {
		for (uint32_t i = 0; i < x->n_cells && !*better; i++) {
			uint32_t gpu =
				x->f->domains[x->cell[i].domain].first_gpu;
			uint32_t d = x->f->gpu_domain[l][gpu];

			if (!x->cell[i].share || d == last)
				continue;
			last = d;
			if (effort_spent(&x->a->effort))
				return 0;
			if (try_vacate(x, rule, d, false, better) ||
			    (!*better && try_vacate(x, rule, d, true, better)))
				return -1;
		}
	}
	return 0;
}

/* `n` GPUs of the job go from one node to another. */
static int try_node(struct refine *x, uint32_t from, uint32_t to, uint32_t n,
		    bool *better)
{
	if (!n || x->take[from] < n || x->take[to] + n > x->s->give[to])
		return 0;
	memcpy(x->now, x->take, x->f->n_nodes);
	x->now[from] = (uint8_t)(x->now[from] - n);
	x->now[to] = (uint8_t)(x->now[to] + n);
	return refine_try(x, better);
}

/* All that a node gives, or what makes the two alike. */
static int try_two(struct refine *x, uint32_t from, uint32_t to, bool *better)
{
	uint32_t a = x->take[from], b = x->take[to];

	if (try_node(x, from, to, a, better))
		return -1;
	if (!*better && a > b + 1 && try_node(x, from, to, (a - b) / 2, better))
		return -1;
	return 0;
}

/* Nodes that are alike are looked at once in a cell. */
static int try_nodes(struct refine *x, bool *better)
{
	const struct weft_domain *d = &x->f->domains[x->scope];
	uint32_t end = d->first_node + d->n_nodes;

	for (uint32_t i = d->first_node; i < end; i++) {
		uint64_t before = 0;

		if (!x->take[i] ||
		    (i > d->first_node && x->take[i] == x->take[i - 1] &&
		     x->s->node_shape[i] == x->s->node_shape[i - 1]))
			continue;
		for (uint32_t k = d->first_node; k < end && !*better; k++) {
			uint64_t shape = x->s->node_shape[k] + x->take[k];

			if (k == i || shape == before)
				continue;
			before = shape;
			if (effort_spent(&x->a->effort))
				return 0;
			if (try_two(x, i, k, better))
				return -1;
		}
	}
	return 0;
}

int refine_local_search(struct refine *x)
{
	bool better = true;

	while (better && !effort_spent(&x->a->effort)) {
		better = false;
		for (uint32_t r = 0; r < x->n_rules && !better; r++)
			if (try_vacating(x, &x->rule[r], &better) ||
			    (!better && try_pairs(x, &x->rule[r], &better)))
				return -1;
		if (!better && try_nodes(x, &better))
			return -1;
	}
	return 0;
}
