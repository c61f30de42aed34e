/* SPDX-License-Identifier: GPL-3.0-or-later */
/* order.c - rank orders worth trying: nestings and tilings of the job's axes */
#include "placement/ranks/order.h"

#include "base/clock.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DENSE   22	      /* orders that nest the axes of the dense grid */
#define MAX_TILED   2	      /* orders that are tilings */
#define MAX_CHOSEN  1	      /* that of nest_choose */
#define MOST_EDGES  (1 << 19) /* of cuts that are kept: some 8 MB */
#define MOST_LOOKED (1 << 17) /* entries of rows, to tell tilings apart */
#define SAME	    1e-9      /* sums of the same terms in another order */

static int add_order(struct orders *o, const struct nest *nest,
		     struct weft_error *err)
{
	uint32_t *rank = weft_realloc(NULL, o->n_ranks, sizeof(*rank), err);

	if (!rank)
		return -1;
	nest_enumerate(nest, rank);
	o->nest[o->n] = *nest;
	o->rank[o->n++] = rank;
	return 0;
}

/* The order that was added last is one of those before it. */
static bool is_repeated(const struct orders *o)
{
	const uint32_t *last = o->rank[o->n - 1];

	for (uint32_t k = 0; k + 1 < o->n; k++)
		if (memcmp(o->rank[k], last, o->n_ranks * sizeof(*last)) == 0)
			return true;
	return false;
}

/* Every permutation of a nest's axes, up to `most` orders in all. */
static int add_nestings(struct orders *o, struct nest nest, uint32_t most,
			struct weft_error *err)
{
	do {
		if (weft_deadline_check(err) || add_order(o, &nest, err))
			return -1;
		if (is_repeated(o))
			free(o->rank[--o->n]);
	} while (o->n < most && nest_next(&nest));
	return 0;
}

struct cliques *orders_traffic(struct orders *o)
{
	return o->shared ? o->shared : &o->own;
}

/* Of `tile` ranks on a node, and whole domains above. */
static uint32_t expect_levels(const struct weft_job *job,
			      const struct weft_fabric *f, uint32_t tile,
			      struct nest_level level[WEFT_MAX_LEVELS])
{
	uint32_t l = 0;

	for (; l + 1 < f->n_levels; l++) {
		uint32_t each = f->n_gpus / f->levels[l].n_domains;

		if (l <= f->node_level && tile < each)
			each = tile;
		level[l] = nest_level_even(f, job, l, each);
	}
	return l;
}

/* The one for which the schedule's bytes cost least on whole domains: with
 * many axes it is none of the first nestings. */
static int add_chosen(struct orders *o, const struct weft_job *job,
		      const struct weft_fabric *f, uint32_t tile,
		      struct weft_error *err)
{
	struct nest_level level[WEFT_MAX_LEVELS];
	uint32_t n_levels = expect_levels(job, f, tile, level);
	struct nest nest;
	double cost;

	if (nest_choose(job, level, n_levels, &nest, &cost, err))
		return -1;
	if (add_order(o, &nest, err))
		return -1;
	if (is_repeated(o))
		free(o->rank[--o->n]);
	return 0;
}

int orders_build(const struct weft_job *job, const struct weft_fabric *f,
		 uint32_t tile, struct cliques *shared, struct orders *o,
		 struct weft_error *err)
{
	const struct weft_grid *expert = &job->schedule.expert;
	uint32_t n = job->n_gpus;

	memset(o, 0, sizeof(*o));
	o->n_ranks = n;
	o->shared = shared;
	if ((!shared && cliques_build(&job->traffic, &o->own, err)) ||
	    add_nestings(o, nest_natural(&job->grid, n), MAX_DENSE, err) ||
	    (expert->n_ranks == n &&
	     add_nestings(o, nest_natural(expert, n),
			  ORDERS_MAX - MAX_TILED - MAX_CHOSEN, err)))
		return -1;
	return add_chosen(o, job, f, tile, err);
}

/* The runs of `block` ranks that orders are cut into. */
struct runs {
	uint32_t block, n;
	struct nest of[ORDERS_MAX]; /* those of each order */
};

static void runs_start(const struct orders *o, uint32_t block, struct runs *r)
{
	memset(r, 0, sizeof(*r));
	r->block = block;
	r->n = o->n_ranks / block;
}

/* The first order that has the runs of order k, one after the other in another
 * way; it may be k. */
static uint32_t find_runs(const struct orders *o, uint32_t k, struct runs *r)
{
	uint32_t j = 0;

	if (!nest_runs(&o->nest[k], r->block, &r->of[k]))
		r->of[k] = (struct nest){.n = 1, .stride = {k}};
	while (j < k && memcmp(&r->of[j], &r->of[k], sizeof(r->of[k])) != 0)
		j++;
	return j;
}

/* The best tiling of one size so far. */
struct tiling {
	struct orders *o;
	struct runs runs;
	uint32_t *rank; /* [n_ranks] scratch */
	uint32_t *mark; /* [n_ranks] scratch: the turn of a rank's run */
	uint32_t turn;
	double most;   /* bytes that a rank can keep in its run */
	double inside; /* bytes that stay in runs, at best so far */
	struct nest best;
	bool found;
};

static double most_inside(const struct cliques *c)
{
	const struct graph *g = &c->loose;
	double most = 0;

	for (uint32_t v = 0; v < g->n; v++) {
		double sum = 0;

		for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++)
			sum += g->weight[e] / 2;
		for (uint32_t i = c->n ? c->first[v] : 0;
		     c->n && i < c->first[v + 1]; i++) {
			const struct weft_clique *one = &c->t.cliques[c->of[i]];

			sum += (one->n_members - 1) * one->bytes;
		}
		most = sum > most ? sum : most;
	}
	return most;
}

/* Bytes that loose edges keep inside of a run of ranks. */
static double inside_run(struct tiling *t, const uint32_t *rank)
{
	const struct graph *g = &orders_traffic(t->o)->loose;
	uint32_t block = t->runs.block, turn = ++t->turn;
	double sum = 0;

	for (uint32_t i = 0; i < block; i++)
		t->mark[rank[i]] = turn;
	for (uint32_t i = 0; i < block; i++)
		for (uint32_t e = g->row[rank[i]]; e < g->row[rank[i] + 1]; e++)
			sum += t->mark[g->peer[e]] == turn ? g->weight[e] : 0;
	return sum / 2;
}

/* Bytes that stay inside of an order's runs; of a large job as many in every
 * order, which do as well to tell orders apart.  Not all of them where these
 * cannot be more than the most so far. */
static double inside_runs(struct tiling *t, const uint32_t *rank)
{
	const struct cliques *c = orders_traffic(t->o);
	uint32_t stride = 1 + c->n_edges / MOST_LOOKED;
	uint32_t block = t->runs.block, n = t->runs.n;
	double sum = 0;

	for (uint32_t k = 0; k < n; k += stride) {
		double left = (n - k) * (block * t->most);

		if (sum + left / stride + block * t->most <= t->inside)
			break;
		sum += inside_run(t, rank + k * block) +
		       cliques_inside(c, rank + k * block, block);
	}
	return sum;
}

static void try_tiling(void *data, const struct nest *nest)
{
	struct tiling *t = data;
	double inside;

	if (weft_deadline_passed())
		return;
	nest_enumerate(nest, t->rank);
	inside = inside_runs(t, t->rank);
	if (inside <= t->inside * (1 + SAME))
		return;
	t->inside = inside;
	t->best = *nest;
	t->found = true;
}

/* The best tiling, and the same with its outer parts the other way round. */
static int add_tiled(struct orders *o, const struct tiling *t,
		     struct weft_error *err)
{
	struct nest nest = t->best;
	uint32_t inner = 0, size = 1;

	if (add_order(o, &nest, err))
		return -1;
	while (size < t->runs.block)
		size *= nest.size[inner++];
	if (nest.n - inner < 2)
		return 0;
	for (uint32_t i = inner, j = nest.n - 1; i < j; i++, j--)
		nest_swap(&nest, i, j);
	return add_order(o, &nest, err);
}

int orders_tile(struct orders *o, const struct weft_job *job, uint32_t size,
		struct weft_error *err)
{
	struct nest natural = nest_common(job);
	struct tiling t = {.o = o};
	int rc = -1;

	if (size < 2 || size >= o->n_ranks || o->n_ranks % size ||
	    natural.n < 2)
		return 0;
	t.rank = weft_calloc(o->n_ranks, sizeof(*t.rank), err);
	t.mark = weft_calloc(o->n_ranks, sizeof(*t.mark), err);
	if (!t.rank || !t.mark)
		goto out;
	runs_start(o, size, &t.runs);
	t.most = most_inside(orders_traffic(o));
	for (uint32_t k = 0; k < o->n && !weft_deadline_passed(); k++)
		if (find_runs(o, k, &t.runs) == k)
			t.inside = fmax(t.inside, inside_runs(&t, o->rank[k]));
	nest_tilings(&natural, size, try_tiling, &t);
	rc = weft_deadline_check(err);
	if (rc == 0 && t.found)
		rc = add_tiled(o, &t, err);
out:
	free(t.rank);
	free(t.mark);
	return rc;
}

static void cut_free(struct orders_cut *cut)
{
	for (uint32_t k = 0; k < ORDERS_MAX; k++) {
		graph_free(&cut->graph[k]);
		clique_runs_free(&cut->cliques[k]);
	}
	cut->block = 0;
}

void orders_free(struct orders *o)
{
	for (uint32_t i = 0; i < ORDERS_CUTS; i++)
		cut_free(&o->cut[i]);
	for (uint32_t k = 0; k < o->n; k++)
		free(o->rank[k]);
	cliques_free(&o->own);
	free(o->priced);
	memset(o, 0, sizeof(*o));
}

/* Whether the cuts are too large to be kept beside another one. */
static bool is_full(const struct orders *o)
{
	uint64_t n_edges = 0;

	for (uint32_t i = 0; i < ORDERS_CUTS; i++)
		for (uint32_t k = 0; k < o->n && o->cut[i].block; k++)
			n_edges += o->cut[i].graph[k].n_edges;
	return n_edges > MOST_EDGES;
}

/* Makes room in turn: the cut after the one that was made last. */
static struct orders_cut *find_room(struct orders *o)
{
	bool full = is_full(o);

	for (uint32_t i = 0; i < ORDERS_CUTS && full; i++)
		cut_free(&o->cut[i]);
	o->last = (o->last + 1) % ORDERS_CUTS;
	cut_free(&o->cut[o->last]);
	return &o->cut[o->last];
}

/* Cuts an order that has runs of its own; run: [n_ranks] scratch. */
static int cut_first(struct orders *o, struct orders_cut *cut,
		     const struct runs *r, uint32_t k, uint32_t *run,
		     struct weft_error *err)
{
	struct cliques *c = orders_traffic(o);
	const struct graph *g =
		cut->in_cliques ? &c->loose : cliques_whole(c, err);
	const uint32_t *rank = o->rank[k];

	for (uint32_t i = 0; i < r->n; i++)
		for (uint32_t m = 0; m < r->block; m++)
			run[*rank++] = i;
	if (!g || weft_deadline_check(err) ||
	    graph_contract(g, run, r->n, &cut->graph[k], err))
		return -1;
	return cut->in_cliques ? clique_runs_build(c, o->rank[k], r->block,
						   &cut->cliques[k], err)
			       : 0;
}

/* The same of one that has those of order j.  All orders list the lowest rank
 * of a run first. */
static int cut_alike(const struct orders *o, struct orders_cut *cut,
		     const struct runs *r, uint32_t j, uint32_t k,
		     uint32_t *run, struct weft_error *err)
{
	uint32_t *name = run + o->n_ranks;

	for (uint32_t i = 0; i < r->n; i++)
		run[o->rank[k][i * r->block]] = i;
	for (uint32_t i = 0; i < r->n; i++)
		name[i] = run[o->rank[j][i * r->block]];
	if (weft_deadline_check(err) ||
	    graph_rename_half(&cut->graph[j], name, &cut->graph[k], err))
		return -1;
	return cut->in_cliques ? clique_runs_rename(&cut->cliques[j], name,
						    &cut->cliques[k], err)
			       : 0;
}

static int cut_graphs(struct orders *o, struct orders_cut *cut, uint32_t block,
		      struct weft_error *err)
{
	uint32_t *run = weft_calloc(o->n_ranks, 2 * sizeof(*run), err);
	uint32_t first[ORDERS_MAX];
	struct runs r;
	int rc = run ? 0 : -1;

	runs_start(o, block, &r);
	for (uint32_t k = 0; k < o->n; k++)
		first[k] = find_runs(o, k, &r);
	/* the whole graph of the first one makes those of the others */
	for (uint32_t j = 0; j < o->n && rc == 0; j++) {
		if (first[j] < j)
			continue;
		rc = cut_first(o, cut, &r, j, run, err);
		for (uint32_t k = j + 1; k < o->n && rc == 0; k++)
			if (first[k] == j)
				rc = cut_alike(o, cut, &r, j, k, run, err);
		if (rc == 0)
			rc = graph_halve(&cut->graph[j], err);
	}
	free(run);
	return rc;
}

int orders_cut(struct orders *o, uint32_t block, const struct weft_fabric *f,
	       struct weft_error *err)
{
	const struct cliques *c = orders_traffic(o);
	bool in_cliques = c->n && f->n_rails <= 1 && !f->has_steps;
	struct orders_cut *cut;

	for (o->now = 0; o->now < ORDERS_CUTS; o->now++)
		if (o->cut[o->now].block == block &&
		    o->cut[o->now].in_cliques == in_cliques)
			return 0;
	cut = find_room(o);
	o->now = o->last;
	cut->in_cliques = in_cliques;
	if (cut_graphs(o, cut, block, err))
		return -1;
	cut->n_edges = 2 * cut->graph[0].n_edges;
	if (in_cliques &&
	    cliques_count_edges(c, &cut->cliques[0], &cut->graph[0], block,
				&cut->n_edges, err))
		return -1;
	cut->block = block;
	return 0;
}

/* Of sites that have ends. */
static double ahead_cost(const struct graph *g, const struct sites *s)
{
	double sum = g->inside * s->distance[0][0];

	for (uint32_t v = 0; v < g->n; v++) {
		const uint32_t ends[] = {s->end[0][v], s->end[1][v],
					 s->end[2][v]};

		for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++)
			sum += g->weight[e] * sites_ahead(s, ends, g->peer[e]);
	}
	return sum;
}

static double edges_cost(const struct graph *g, const struct sites *s)
{
	double sum = g->inside * s->distance[0][0];

	if (s->end[0])
		return ahead_cost(g, s);
	for (uint32_t v = 0; v < g->n; v++)
		for (uint32_t e = g->row[v]; e < g->row[v + 1]; e++)
			sum += g->weight[e] * sites_distance(s, v, g->peer[e]);
	return sum;
}

double orders_cost(struct orders *o, uint32_t k, const struct sites *s)
{
	const struct orders_cut *cut = &o->cut[o->now];
	double cost = edges_cost(&cut->graph[k], s);

	return cut->in_cliques ? cost + clique_runs_cost(orders_traffic(o),
							 &cut->cliques[k], s)
			       : cost;
}

struct orders_priced *orders_priced_at(struct orders *o, uint64_t key)
{
	if (!o->priced)
		o->priced =
			weft_calloc(ORDERS_PRICED, sizeof(*o->priced), NULL);
	return o->priced ? &o->priced[key % ORDERS_PRICED] : NULL;
}
