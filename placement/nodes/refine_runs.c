/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refine_runs.c - sets of nodes on which groups of ranks have nodes of their
 * own
 *
 * A ring is as fast as the NICs of the node that has fewest of its ranks. Where
 * a group of ranks does not fill its last node, the next one has but a few
 * ranks there.  These sets take a few nodes more instead: as many as each group
 * needs, with about as many of its ranks on each.
 */
#include "placement/nodes/refine_parts.h"

#include <string.h>

/* The next node from *i on that gives so much, in tree order. */
static bool take_next(struct refine *x, uint32_t *i, uint32_t end,
		      uint32_t count)
{
	while (*i < end && x->s->give[*i] < count)
		++*i;
	if (*i == end)
		return false;
	x->now[(*i)++] = count;
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
	memset(x->now, 0, x->f->n_nodes * sizeof(*x->now));
	effort_spend(&x->a->effort, d->n_nodes);
	for (uint32_t run = 0; run < x->job->n_gpus / chunk; run++)
		for (uint32_t k = 0; k < n_nodes; k++)
			if (!take_next(
				    x, &i, end,
				    unit * (n / n_nodes + (k < n % n_nodes))))
				return 0;
	return refine_try(x, &better);
}

int refine_runs(struct refine *x, uint32_t scope)
{
	for (uint32_t i = 0; i < x->n_chunks && !x->job->gpus_per_node; i++)
		if (!effort_spent(&x->a->effort) &&
		    try_run(x, scope, x->chunk[i]))
			return -1;
	return 0;
}
