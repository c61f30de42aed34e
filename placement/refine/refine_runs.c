/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refine_runs.c - sets of nodes on which groups of ranks have nodes of their
 * own
 *
 * A ring is as fast as the NICs of the node that has fewest of its ranks. Where
 * a group of ranks does not fill its last node, the next one has but a few
 * ranks there.  These sets take a few nodes more instead: as many as each group
 * needs, with about as many of its ranks on each.
 * The same of domains: those with but a few ranks of a group hold it up, so
 * other sets give each domain none of a group or an even part.
 */
#include "placement/refine/refine_parts.h"

#include <string.h>

/* Cells that a group of ranks is distributed to at most. */
#define MOST_PIECES 6

/* The next node from *i on that gives so much, in tree order. */
static bool take_next(struct refine *x, uint32_t *i, uint32_t end,
		      uint32_t count)
{
	while (*i < end && x->s->give[*i] < count)
		++*i;
	if (*i == end)
		return false;
	x->now[(*i)++] = (uint8_t)count;
	return true;
}

static int try_run(struct refine *x, uint32_t scope, uint32_t chunk)
{
	const struct weft_domain *d = &x->f->domains[scope];
	uint32_t tp = x->job->spec.tp ? x->job->spec.tp : 1;
	uint32_t unit = chunk % tp ? 1 : tp;
	uint32_t most = x->s->give_most / unit, n = chunk / unit, n_nodes;
	uint32_t i = d->first_node, end = i + d->n_nodes;
	bool better;

	if (!most || n <= most || n % most == 0 || x->job->n_gpus % chunk)
		return 0;
	n_nodes = (n + most - 1) / most;
	memset(x->now, 0, x->f->n_nodes);
	effort_spend(&x->a->effort, d->n_nodes);
	for (uint32_t run = 0; run < x->job->n_gpus / chunk; run++)
		for (uint32_t k = 0; k < n_nodes; k++)
			if (!take_next(
				    x, &i, end,
				    unit * (n / n_nodes + (k < n % n_nodes))))
				return 0;
	return refine_try(x, &better);
}

/* Distributes the job to the cells of a scope in tree order, so that of every
 * group of `chunk` ranks each cell has none or at least `least`; a multiple of
 * unit.
 */
static bool distribute_pieces(struct refine *x, uint32_t scope, uint32_t chunk,
			      uint32_t least, uint32_t unit)
{
	uint32_t rest = x->job->n_gpus, need = chunk;

	for (uint32_t i = 0; i < x->n_cells; i++) {
		struct cell *c = &x->cell[i];
		uint32_t room = c->cap - c->cap % unit;

		c->share = 0;
		if (!refine_is_inside(x, i, scope))
			continue;
		while (rest && room >= least) {
			uint32_t n = need < room ? need : room;

			if (n < need && need - n < least)
				n = need - least;
			if (n < least)
				break;
			c->share += n;
			room -= n;
			rest -= n;
			need = n < need ? need - n : chunk;
		}
	}
	return rest == 0;
}

/* The set with the largest least piece that there is room for. */
static int try_pieces(struct refine *x, uint32_t scope, uint32_t chunk,
		      uint32_t unit)
{
	uint32_t most = x->s->give_most, before = 0;
	struct rule rule = {unit <= most ? unit : node_set_divisor(unit, most),
			    false};

	if (x->job->gpus_per_node)
		rule = x->rule[0];
	if (!unit || !rule.unit || unit % rule.unit || chunk % unit ||
	    x->job->n_gpus % chunk)
		return 0;
	refine_cap(x, &rule);
	for (uint32_t m = 1; m <= MOST_PIECES; m++) {
		uint32_t least = chunk / m - chunk / m % unit;

		if (!least || least == before)
			continue;
		before = least;
		effort_spend(&x->a->effort, x->n_cells);
		if (distribute_pieces(x, scope, chunk, least, unit))
			return refine_try_shares(x, &rule);
	}
	return 0;
}

/* Replicas of one stage, those that exchange gradients, and the stages of one
 * replica; multiples of groups of experts, of tensor groups, of GPUs. */
int refine_pieces(struct refine *x, uint32_t scope)
{
	const struct weft_spec *spec = &x->job->spec;
	uint32_t tp = spec->tp ? spec->tp : 1, dp = spec->dp ? spec->dp : 1;
	const uint32_t unit[] = {
		spec->ep > 1 ? spec->ep * (spec->etp ? spec->etp : 1) : tp, tp,
		1};
	const uint32_t chunk[] = {dp * tp, dp, tp * (spec->pp ? spec->pp : 1)};

	for (uint32_t i = 0; i < 9; i++) {
		if (effort_spent(&x->a->effort))
			return 0;
		if (try_pieces(x, scope, chunk[i / 3], unit[i % 3]))
			return -1;
	}
	return 0;
}

int refine_runs(struct refine *x, uint32_t scope)
{
	for (uint32_t i = 0; i < x->n_chunks && !x->job->gpus_per_node; i++)
		if (!effort_spent(&x->a->effort) &&
		    try_run(x, scope, x->chunk[i]))
			return -1;
	return 0;
}
