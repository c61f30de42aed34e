/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refine_columns.c - groups of ranks that lie across several nodes
 *
 * Where gradients outweigh what tensor groups exchange, a group lies on m nodes
 * with an equal part on each, so that a node holds m times as many ranks of one
 * part, whose rings stay inside it.  Nodes that give different numbers of GPUs
 * do so in tuples of m that give the same.
 */
#include "placement/refine/refine_parts.h"

#include <stdlib.h>
#include <string.h>

/* Cells beyond those that are needed, in which tuples are looked for. */
#define MORE_CELLS 4

/* Whether m nodes can hold each tensor group. */
static bool suits(const struct refine *x, uint32_t m)
{
	uint32_t tp = x->job->spec.tp;

	return tp >= m && tp % m == 0 && x->job->n_gpus % tp == 0;
}

/* ---- the GPUs of a set in another order ---- */

/* Appends the GPUs of m nodes group by group.  at[k * step]: where those of the
 * k-th node begin in x->gpus; each has `count`.  Returns how many are listed.
 */
static uint32_t list_tuple(struct refine *x, const uint32_t *at, uint32_t step,
			   uint32_t m, uint32_t count, uint32_t n)
{
	uint32_t part = x->job->spec.tp / m;

	for (uint32_t i = 0; i < count; i += part)
		for (uint32_t k = 0; k < m; k++)
			for (uint32_t j = 0; j < part; j++)
				x->aligned[n++] = x->gpus[at[k * step] + i + j];
	return n;
}

/* Appends the nodes that give `count`, as far as they make tuples: nodes of one
 * part of the groups follow one another, those of a tuple lie apart. */
static uint32_t list_tuples(struct refine *x, uint32_t m, uint32_t count,
			    bool *listed, uint32_t n)
{
	const struct node_set *c = &x->node_set;
	uint32_t *at = x->scratch, n_alike = 0, n_tuples, sum = 0;

	for (uint32_t i = 0; i < c->n_nodes; i++)
		n_alike += c->count[i] == count;
	n_tuples = count % (x->job->spec.tp / m) ? 0 : n_alike / m;
	n_alike = 0;
	for (uint32_t i = 0; i < c->n_nodes; i++) {
		if (c->count[i] == count && n_alike < n_tuples * m) {
			at[n_alike++] = sum;
			listed[i] = true;
		}
		sum += c->count[i];
	}
	for (uint32_t t = 0; t < n_tuples; t++)
		n = list_tuple(x, at + t, n_tuples, m, count, n);
	return n;
}

int refine_columns(struct refine *x, uint32_t m, bool *differs)
{
	const struct node_set *c = &x->node_set;
	size_t size = x->job->n_gpus * sizeof(*x->gpus);
	uint32_t most = 0, n = 0, sum = 0;
	bool *listed;

	*differs = false;
	if (!suits(x, m))
		return 0;
	listed = weft_calloc(c->n_nodes, sizeof(*listed), x->err);
	if (!listed)
		return -1;
	for (uint32_t i = 0; i < c->n_nodes; i++)
		most = most > c->count[i] ? most : c->count[i];
	for (uint32_t count = most; count; count--)
		n = list_tuples(x, m, count, listed, n);
	for (uint32_t i = 0; i < c->n_nodes; i++) {
		for (uint32_t k = 0; k < c->count[i] && !listed[i]; k++)
			x->aligned[n++] = x->gpus[sum + k];
		sum += c->count[i];
	}
	free(listed);
	*differs = memcmp(x->aligned, x->gpus, size) != 0;
	return 0;
}

/* ---- sets ---- */

struct tuples {
	uint32_t m, part;
	uint32_t need; /* GPUs that are not taken yet */
	uint32_t n;    /* nodes of the next tuple, */
	uint32_t node[REFINE_COLUMNS];
};

/* Adds a node to the next tuple; when that is full, it is taken. */
static void add_node(struct refine *x, struct tuples *t, uint32_t node)
{
	uint32_t count = x->s->give[node] - x->s->give[node] % t->part;

	t->node[t->n++] = node;
	if (t->n < t->m)
		return;
	t->n = 0;
	count = count * t->m < t->need ? count : t->need / t->m;
	for (uint32_t k = 0; k < t->m; k++)
		x->now[t->node[k]] = (uint8_t)count;
	t->need -= count * t->m;
}

/* Tuples of m nodes in the cells order[0..n), of those that give most first; a
 * tuple gives what its last node does. */
static int try_tuples(struct refine *x, uint32_t n, uint32_t m)
{
	struct tuples t = {
		.m = m, .part = x->job->spec.tp / m, .need = x->job->n_gpus};
	bool better;

	effort_spend(&x->a->effort, x->f->n_nodes);
	memset(x->now, 0, x->f->n_nodes);
	for (uint32_t i = 0; i < x->n_cells; i++)
		x->cell[i].share = 0;
	for (uint32_t i = 0; i < n; i++)
		x->cell[x->order[i]].share = 1;
	for (uint32_t give = x->s->give_most; give >= t.part; give--)
		for (uint32_t i = 0; i < x->n_cells; i++) {
			const struct weft_domain *d =
				&x->f->domains[x->cell[i].domain];

			for (uint32_t k = 0; k < d->n_nodes && t.need; k++)
				if (x->cell[i].share &&
				    x->s->give[d->first_node + k] == give)
					add_node(x, &t, d->first_node + k);
		}
	return t.need ? 0 : refine_try(x, &better);
}

int refine_tuples(struct refine *x, uint32_t n, uint32_t least)
{
	for (uint32_t m = 2; m <= REFINE_COLUMNS; m *= 2) {
		if (!suits(x, m))
			continue;
		for (uint32_t k = least; k <= n && k < least + MORE_CELLS; k++)
			if (!effort_spent(&x->a->effort) && try_tuples(x, k, m))
				return -1;
		if (!effort_spent(&x->a->effort) && try_tuples(x, n, m))
			return -1;
	}
	return 0;
}
