/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refine_fill.c - which nodes of a cell give what the cell has of the job */
#include "placement/refine/refine_parts.h"

#include <string.h>

static uint32_t by_rule(const struct refine *x, const struct rule *rule,
			uint32_t node)
{
	uint32_t give = x->s->give[node];

	if (rule->same)
		return give < rule->unit ? 0 : rule->unit;
	return give - give % rule->unit;
}

static bool is_untouched(const struct refine *x, uint32_t node)
{
	return x->s->o->free[node] == weft_mask_first(x->f->nodes[node].n_gpus);
}

/* The node of a cell to take `need` from: the one that it fills best, else the
 * one that gives most; of equals one in use. */
static uint32_t find_node(const struct refine *x, const struct weft_domain *d,
			  uint32_t need)
{
	uint32_t best = WEFT_NONE, best_give = 0;

	for (uint32_t i = d->first_node; i < d->first_node + d->n_nodes; i++) {
		uint32_t give = x->now[i] ? 0 : x->give[i];
		bool better = best_give < need
				      ? give > best_give
				      : give >= need && give < best_give;

		if (give && give == best_give)
			better = is_untouched(x, best) && !is_untouched(x, i);
		if (!give || !better)
			continue;
		best = i;
		best_give = give;
	}
	return best;
}

uint32_t refine_take_alike(struct refine *x, const struct weft_domain *d,
			   uint32_t give, uint32_t need)
{
	uint32_t end = d->first_node + d->n_nodes;

	for (uint32_t untouched = 0; untouched < 2; untouched++) {
		for (uint32_t i = d->first_node; i < end && need >= give; i++) {
			if (x->now[i] || x->give[i] != give ||
			    is_untouched(x, i) != untouched)
				continue;
			x->now[i] = (uint8_t)give;
			need -= give;
		}
	}
	return need;
}

/* Takes `need` GPUs from the nodes of a cell anew. */
bool refine_fill(struct refine *x, const struct cell *cell,
		 const struct rule *rule, uint32_t need)
{
	const struct weft_domain *d = &x->f->domains[cell->domain];

	memset(x->now + d->first_node, 0, d->n_nodes);
	while (need) {
		uint32_t node = find_node(x, d, need);

		effort_spend(&x->a->effort, d->n_nodes / 2 + 1);
		if (node == WEFT_NONE)
			return false;
		if (x->give[node] <= need) {
			need = refine_take_alike(x, d, x->give[node], need);
			continue;
		}
		if (rule->same)
			return false;
		x->now[node] = (uint8_t)need;
		need = 0;
	}
	return true;
}

/* Writes what nodes and cells give over the last one where there is no room. */
static struct gives *add_gives(struct refine *x, const struct rule *rule)
{
	struct gives *g;

	x->n_gives += x->n_gives < REFINE_GIVES;
	g = &x->gives[x->n_gives - 1];
	g->rule = *rule;
	for (uint32_t i = 0; i < x->n_cells; i++) {
		const struct weft_domain *d = &x->f->domains[x->cell[i].domain];

		g->cap[i] = 0;
		for (uint32_t k = d->first_node; k < d->first_node + d->n_nodes;
		     k++) {
			g->of_node[k] = (uint8_t)by_rule(x, rule, k);
			g->cap[i] += g->of_node[k];
		}
	}
	effort_spend(&x->a->effort, x->f->n_nodes);
	return g;
}

void refine_cap(struct refine *x, const struct rule *rule)
{
	struct gives *g = NULL;

	for (uint32_t i = 0; i < x->n_gives && !g; i++)
		if (x->gives[i].rule.unit == rule->unit &&
		    x->gives[i].rule.same == rule->same)
			g = &x->gives[i];
	if (!g)
		g = add_gives(x, rule);
	x->give = g->of_node;
	for (uint32_t i = 0; i < x->n_cells; i++)
		x->cell[i].cap = g->cap[i];
}

int refine_try_shares(struct refine *x, const struct rule *rule)
{
	bool better, filled = true;

	/* there are thousands of sets to fill, on a large fabric slowly */
	if (effort_spent(&x->a->effort))
		return 0;
	memset(x->now, 0, x->f->n_nodes);
	for (uint32_t i = 0; i < x->n_cells && filled; i++)
		if (x->cell[i].share)
			filled = refine_fill(x, &x->cell[i], rule,
					     x->cell[i].share);
	return filled ? refine_try(x, &better) : 0;
}
