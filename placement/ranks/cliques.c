/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cliques.c - a job's traffic as cliques and loose edges */
#include "placement/ranks/cliques.h"

#include <stdlib.h>
#include <string.h>

#define SAME 1e-9 /* sums of the same terms in another order */

static void count_cliques(const struct weft_traffic *t, uint32_t *count)
{
	for (uint32_t k = 0; k < t->n_cliques; k++) {
		const struct weft_clique *c = &t->cliques[k];

		for (uint32_t i = 0; i < c->n_members; i++)
			count[t->member[c->first_member + i]]++;
	}
}

static int index_cliques(const struct weft_traffic *t, struct cliques *c,
			 struct weft_error *err)
{
	uint32_t n_members = 0;

	c->n = t->n_cliques;
	for (uint32_t k = 0; k < c->n; k++)
		n_members += t->cliques[k].n_members;
	c->first = weft_calloc((size_t)t->n_ranks + 2, sizeof(*c->first), err);
	c->of = weft_calloc(n_members, sizeof(*c->of), err);
	c->met = weft_calloc((size_t)c->n + 1, sizeof(*c->met), err);
	if (!c->first || !c->of || !c->met)
		return -1;
	count_cliques(t, c->first + 2);
	for (uint32_t r = 0; r < t->n_ranks; r++) {
		c->disjoint &= c->first[r + 2] < 2;
		c->first[r + 2] += c->first[r + 1];
	}
	for (uint32_t k = 0; k < c->n; k++) {
		const struct weft_clique *one = &t->cliques[k];
		double n = one->n_members;

		for (uint32_t i = 0; i < one->n_members; i++) {
			uint32_t r = t->member[one->first_member + i];

			c->of[c->first[r + 1]++] = k;
		}
		c->pairs += n * (n - 1) * one->bytes;
	}
	return 0;
}

/* Whether the ranks are in one clique. */
static bool share_clique(const struct cliques *c, uint32_t a, uint32_t b)
{
	for (uint32_t i = c->first[a]; i < c->first[a + 1]; i++)
		for (uint32_t k = c->first[b]; k < c->first[b + 1]; k++)
			if (c->of[i] == c->of[k])
				return true;
	return false;
}

/* Entries of the whole graph, a pair that is in several cliques as often. */
static uint32_t count_edges(const struct cliques *c)
{
	const struct graph *g = &c->loose;
	uint32_t n = g->n_edges;

	for (uint32_t k = 0; k < c->n; k++)
		n += c->t->cliques[k].n_members *
		     (c->t->cliques[k].n_members - 1);
	for (uint32_t v = 0; v < g->n && c->n; v++)
		for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++)
			n -= share_clique(c, v, g->peer[e]);
	return n;
}

int cliques_build(const struct weft_traffic *t, struct cliques *c,
		  struct weft_error *err)
{
	bool counts = t->loose && t->n_cliques && !t->n_switches;

	memset(c, 0, sizeof(*c));
	c->t = t;
	c->disjoint = true;
	if ((counts && index_cliques(t, c, err)) ||
	    graph_build(counts ? t->loose : t, &c->loose, err))
		return -1;
	c->n_edges = count_edges(c);
	return 0;
}

void cliques_free(struct cliques *c)
{
	free(c->first);
	free(c->of);
	free(c->met);
	graph_free(&c->loose);
	graph_free(&c->whole);
	memset(c, 0, sizeof(*c));
}

const struct graph *cliques_whole(struct cliques *c, struct weft_error *err)
{
	if (!c->n)
		return &c->loose;
	if (!c->whole.n && graph_build(c->t, &c->whole, err)) {
		graph_free(&c->whole);
		return NULL;
	}
	return &c->whole;
}

double cliques_weight(const struct cliques *c, uint32_t a, uint32_t b)
{
	const struct graph *g = &c->loose;
	double weight = 0;

	for (uint32_t e = g->row[a]; e < g->row[a + 1]; e++)
		if (g->peer[e] == b)
			weight = g->weight[e];
	if (!c->n)
		return weight;
	for (uint32_t i = c->first[a]; i < c->first[a + 1]; i++)
		for (uint32_t k = c->first[b]; k < c->first[b + 1]; k++)
			if (c->of[i] == c->of[k])
				weight += 2 * c->t->cliques[c->of[i]].bytes;
	return weight;
}

/* Entries of a rank's row at most. */
static uint32_t row_most(const struct cliques *c, uint32_t v)
{
	uint32_t n = c->loose.row[v + 1] - c->loose.row[v];

	for (uint32_t i = c->n ? c->first[v] : 0; c->n && i < c->first[v + 1];
	     i++)
		n += c->t->cliques[c->of[i]].n_members - 1;
	return n;
}

int clique_row_build(const struct cliques *c, struct clique_row *row,
		     struct weft_error *err)
{
	uint32_t most = 0;

	memset(row, 0, sizeof(*row));
	for (uint32_t v = 0; v < c->loose.n; v++)
		if (row_most(c, v) > most)
			most = row_most(c, v);
	row->peer = weft_calloc(most, sizeof(*row->peer), err);
	row->weight = weft_calloc(most, sizeof(*row->weight), err);
	row->at = weft_calloc(c->loose.n, sizeof(*row->at), err);
	row->scratch = weft_calloc(most, sizeof(*row->scratch), err);
	return row->peer && row->weight && row->at && row->scratch ? 0 : -1;
}

void clique_row_free(struct clique_row *row)
{
	free(row->peer);
	free(row->weight);
	free(row->at);
	free(row->scratch);
	memset(row, 0, sizeof(*row));
}

/* Entries of at[] are checked, so they need not be cleared. */
static void row_add(struct clique_row *row, uint32_t peer, double weight)
{
	uint32_t at = row->at[peer];

	if (at < row->n && row->peer[at] == peer) {
		row->weight[at] += weight;
		return;
	}
	row->at[peer] = row->n;
	row->peer[row->n] = peer;
	row->weight[row->n++] = weight;
}

double cliques_beyond(const struct cliques *c, uint32_t v, uint32_t most,
		      struct clique_row *row)
{
	const struct graph *g = &c->loose;

	if (row_most(c, v) <= most)
		return 0;
	row->n = 0;
	for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++)
		row_add(row, g->peer[e], g->weight[e]);
	for (uint32_t i = c->n ? c->first[v] : 0; c->n && i < c->first[v + 1];
	     i++) {
		const struct weft_clique *one = &c->t->cliques[c->of[i]];
		const uint32_t *member = c->t->member + one->first_member;

		for (uint32_t k = 0; k < one->n_members; k++)
			if (member[k] != v)
				row_add(row, member[k], 2 * one->bytes);
	}
	return graph_beyond(row->weight, row->n, most, row->scratch);
}

/* Members met so far in the turn. */
static uint64_t *met_in(const struct cliques *c, uint32_t clique, uint64_t turn)
{
	uint64_t *met = &c->met[clique];

	if (*met >> 32 != (uint32_t)turn)
		*met = turn << 32;
	return met;
}

double cliques_inside(const struct cliques *c, const uint32_t *rank, uint32_t n)
{
	uint64_t turn;
	double bytes = 0;

	if (!c->n)
		return 0;
	turn = ++c->met[c->n];
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t k = c->first[rank[i]]; k < c->first[rank[i] + 1];
		     k++) {
			uint64_t *met = met_in(c, c->of[k], turn);

			bytes += 2 * (uint32_t)(*met)++ *
				 c->t->cliques[c->of[k]].bytes;
		}
	}
	return bytes;
}

/* Marks run `to` as one that run `from` sends to; 1 where it is a new one. */
static uint32_t mark_run(uint32_t *seen, uint32_t from, uint32_t to)
{
	if (to == from || seen[to] == from + 1)
		return 0;
	seen[to] = from + 1;
	return 1;
}

int cliques_count_edges(const struct cliques *c, uint32_t block, uint32_t *n,
			struct weft_error *err)
{
	const struct graph *g = &c->loose;
	uint32_t n_runs = g->n / block;
	uint32_t *seen = weft_calloc(n_runs + c->n, sizeof(*seen), err);
	uint32_t *entered = seen + n_runs;

	*n = 0;
	if (!seen)
		return -1;
	for (uint32_t v = 0; v < g->n; v++) {
		uint32_t run = v / block;

		for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++)
			*n += mark_run(seen, run, g->peer[e] / block);
		for (uint32_t i = c->first[v]; i < c->first[v + 1]; i++) {
			const struct weft_clique *one =
				&c->t->cliques[c->of[i]];
			const uint32_t *member =
				c->t->member + one->first_member;

			/* the other ranks of the run send to the same ones */
			if (entered[c->of[i]] == run + 1)
				continue;
			entered[c->of[i]] = run + 1;
			for (uint32_t k = 0; k < one->n_members; k++)
				*n += mark_run(seen, run, member[k] / block);
		}
	}
	free(seen);
	return 0;
}

/* Lists the members of one run behind those of the runs before. */
static void list_run(const struct cliques *c, const uint32_t *rank,
		     uint32_t block, struct clique_runs *runs)
{
	uint32_t from = runs->first[runs->n], end = from, kept = from;
	uint64_t turn = ++c->met[c->n];

	for (uint32_t i = 0; i < block; i++) {
		for (uint32_t k = c->first[rank[i]]; k < c->first[rank[i] + 1];
		     k++) {
			uint64_t *met = met_in(c, c->of[k], turn);
			uint32_t before = (uint32_t)(*met)++;

			if (!before)
				runs->of[end++] = c->of[k];
			runs->inside += before * c->t->cliques[c->of[k]].bytes;
		}
	}
	for (uint32_t k = from; k < end; k++) {
		uint32_t n = (uint32_t)c->met[runs->of[k]];

		if (n == c->t->cliques[runs->of[k]].n_members)
			continue;
		runs->of[kept] = runs->of[k];
		runs->n_members[kept++] = (uint8_t)n;
	}
	runs->first[++runs->n] = kept;
}

int clique_runs_build(const struct cliques *c, const uint32_t *rank,
		      uint32_t block, struct clique_runs *runs,
		      struct weft_error *err)
{
	uint32_t n_ranks = c->loose.n, n_members = c->first[n_ranks];

	memset(runs, 0, sizeof(*runs));
	runs->first = weft_calloc((size_t)n_ranks / block + 1,
				  sizeof(*runs->first), err);
	runs->of = weft_calloc(n_members, sizeof(*runs->of), err);
	runs->n_members = weft_calloc(n_members, sizeof(*runs->n_members), err);
	if (!runs->first || !runs->of || !runs->n_members)
		return -1;
	for (uint32_t i = 0; i < n_ranks; i += block)
		list_run(c, rank + i, block, runs);
	return 0;
}

void clique_runs_free(struct clique_runs *runs)
{
	free(runs->first);
	free(runs->of);
	free(runs->n_members);
	memset(runs, 0, sizeof(*runs));
}

/* Bytes between members in one domain of a level but in different runs: those
 * that are there send to each that comes. */
static double sent_inside(const struct cliques *c,
			  const struct clique_runs *runs, const uint8_t *meet,
			  uint32_t level)
{
	uint64_t turn = ++c->met[c->n];
	double sum = 0;

	for (uint32_t i = 0; i < runs->n; i++) {
		if (i && meet[i - 1] > level)
			turn = ++c->met[c->n];
		for (uint32_t k = runs->first[i]; k < runs->first[i + 1]; k++) {
			uint64_t *met = met_in(c, runs->of[k], turn);
			uint32_t n = runs->n_members[k];

			sum += (double)(n * (uint32_t)*met) *
			       c->t->cliques[runs->of[k]].bytes;
			*met += n;
		}
	}
	return sum;
}

double clique_runs_cost(const struct cliques *c, const struct clique_runs *runs,
			const struct sites *s)
{
	double before = 0, all = c->pairs, cost = 0;
	uint32_t top = 0, least = WEFT_MAX_LEVELS;

	for (uint32_t i = 0; i + 1 < s->n; i++) {
		top = s->meet[0][i] > top ? s->meet[0][i] : top;
		least = s->meet[0][i] < least ? s->meet[0][i] : least;
	}
	for (uint32_t l = 0; l < top; l++) {
		double inside = 2 * runs->inside;

		if (l >= least)
			inside += 2 * sent_inside(c, runs, s->meet[0], l);
		cost += (inside - before) * s->distance[l][0];
		before = inside;
	}
	/* what is left when nothing is would be infinitely far at times */
	if (all - before > SAME * all)
		cost += (all - before) * s->distance[top][0];
	return cost;
}
