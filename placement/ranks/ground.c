/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ground.c - improving an arrangement in blocks of GPUs, whole nodes or less */
#include "placement/ranks/ground.h"

#include "base/bitset.h"
#include "placement/mapping/mapping.h"

#include <stdlib.h>
#include <string.h>

/* The mapper begins from nothing again and again: with fewer steps than this
 * local search from the plain order gets further. */
#define MAPPER_WORK 400000

/* Where GPUs of a node differ, which ones it gives is part of the search. */
static uint64_t node_mask(const struct ground *g, uint32_t node)
{
	uint64_t mask = g->s->o->free[node];

	return g->alike ? node_set_gpus(g->s->o, node, g->s->give[node]) : mask;
}

int ground_build(const struct capacity *s, const struct node_set *c,
		 struct ground *g, struct weft_error *err)
{
	const struct weft_fabric *f = s->f;
	uint32_t n = 0, i, k;
	uint32_t *p;

	memset(g, 0, sizeof(*g));
	g->s = s;
	g->n_nodes = c->n_nodes;
	g->alike = f->node_level == 0 && f->n_rails == 1;
	for (i = 0; i < c->n_nodes; i++)
		n += weft_mask_count(node_mask(g, c->node[i]));
	p = weft_calloc((size_t)n * 2 + c->n_nodes * 2 + 1, sizeof(*p), err);
	if (!p)
		return -1;
	g->memory = p;
	g->n_gpus = n;
	g->gpu = p;
	g->rank = g->gpu + n;
	g->node = g->rank + n;
	g->first = g->node + c->n_nodes;
	for (i = 0, n = 0; i < c->n_nodes; i++) {
		uint64_t rest = node_mask(g, c->node[i]);

		g->node[i] = c->node[i];
		g->first[i] = n;
		weft_mask_foreach (k, rest)
			g->gpu[n++] = f->nodes[c->node[i]].first_gpu + k;
	}
	g->first[i] = n;
	return 0;
}

void ground_free(struct ground *g)
{
	free(g->memory);
	memset(g, 0, sizeof(*g));
}

int ground_put(struct ground *g, const uint32_t *where, struct weft_error *err)
{
	const struct weft_fabric *f = g->s->f;
	uint32_t *place = weft_calloc(f->n_nodes, sizeof(*place), err);

	if (!place)
		return -1;
	for (uint32_t i = 0; i < g->n_nodes; i++)
		place[g->node[i]] = i;
	for (uint32_t k = 0; k < g->n_gpus; k++)
		g->rank[k] = WEFT_NONE;
	for (uint32_t r = 0; r < g->s->job->n_gpus; r++) {
		uint32_t k = g->first[place[f->gpu_node[where[r]]]];

		while (g->gpu[k] != where[r])
			k++;
		g->rank[k] = r;
	}
	free(place);
	return 0;
}

/* Ascending ranks on the first GPUs of each node. */
static void tidy_node(struct ground *g, uint32_t i)
{
	uint32_t *rank = g->rank + g->first[i];
	uint32_t size = g->first[i + 1] - g->first[i];

	for (uint32_t k = 1; k < size; k++) {
		uint32_t r = rank[k], at = k;

		/* WEFT_NONE is the highest number, so it goes last */
		for (; at > 0 && rank[at - 1] > r; at--)
			rank[at] = rank[at - 1];
		rank[at] = r;
	}
}

void ground_get(struct ground *g, uint32_t *where)
{
	for (uint32_t i = 0; i < g->n_nodes && g->alike; i++)
		tidy_node(g, i);
	for (uint32_t k = 0; k < g->n_gpus; k++)
		if (g->rank[k] != WEFT_NONE)
			where[g->rank[k]] = g->gpu[k];
}

/* One search over blocks, and the arrays it works on. */
struct coarse_level {
	struct ground *g;
	uint32_t unit, n_items;
	uint32_t *start;   /* [sites] where in gpu[] the site's block is */
	uint32_t *first;   /* [sites] its first GPU */
	uint32_t *host_of; /* [sites] */
	uint32_t *item_at; /* [sites] */
	uint32_t *site_of; /* [sites], n_items used */
	uint32_t *before;  /* [n_gpus] ranks at the start */
	struct host *hosts;
	struct sites sites;
	struct graph items;
	/* where rows are made when they are read: what makes them, and the cost
	 * of all */
	struct graph_rows rows;
	struct graph_lazy lazy;
	bool is_lazy;
	double cost, inside; /* inside: bytes that stay in blocks */
	uint32_t *group;     /* [ranks] item */
	uint32_t *memory;
};

static void coarse_level_free(struct coarse_level *st)
{
	free(st->memory);
	free(st->hosts);
	sites_free(&st->sites);
	graph_free(&st->items);
	graph_lazy_free(&st->lazy);
	cliques_rows_free(&st->rows);
	free(st->group);
}

static int stage_allocate(struct coarse_level *st, struct weft_error *err)
{
	uint32_t n = st->g->n_gpus;

	st->memory = weft_calloc(n, 6 * sizeof(uint32_t), err);
	st->hosts = weft_calloc(st->g->n_nodes, sizeof(*st->hosts), err);
	if (!st->memory || !st->hosts)
		return -1;
	st->start = st->memory;
	st->first = st->start + n;
	st->host_of = st->first + n;
	st->item_at = st->host_of + n;
	st->site_of = st->item_at + n;
	st->before = st->site_of + n;
	memcpy(st->before, st->g->rank, n * sizeof(*st->before));
	return 0;
}

/* Cuts the GPUs of a node into blocks.  False when ranks sit on a part of a
 * block: this unit does not suit the arrangement. */
static bool cut_node(struct coarse_level *st, uint32_t host, uint32_t *n_sites)
{
	const struct ground *g = st->g;
	uint32_t k = g->first[host], end = g->first[host + 1];

	for (; k < end; k += st->unit) {
		uint32_t left = end - k < st->unit ? end - k : st->unit, n = 0;

		for (uint32_t i = 0; i < left; i++)
			n += g->rank[k + i] != WEFT_NONE;
		if (n && n != st->unit)
			return false;
		if (left < st->unit)
			break;
		st->start[*n_sites] = k;
		st->first[*n_sites] = g->gpu[k];
		st->host_of[*n_sites] = host;
		st->item_at[*n_sites] = n ? st->n_items : WEFT_NONE;
		if (n)
			st->site_of[st->n_items++] = *n_sites;
		st->hosts[host].used += n;
		++*n_sites;
	}
	return true;
}

static bool cut(struct coarse_level *st, uint32_t *n_sites)
{
	const struct capacity *s = st->g->s;

	for (uint32_t i = 0; i < st->g->n_nodes; i++) {
		uint32_t node = st->g->node[i];

		st->hosts[i].most = s->give[node];
		st->hosts[i].required =
			s->o->required && weft_bitset_has(s->o->required, node);
		if (!cut_node(st, i, n_sites))
			return false;
	}
	return true;
}

/* The cost of edges that are in no clique, and bytes of them in blocks. */
static void add_loose(struct coarse_level *st, const struct graph *loose)
{
	for (uint32_t v = 0; v < loose->n; v++) {
		uint32_t a = st->group[v];

		for (uint32_t e = loose->row[v]; e < loose->row[v + 1]; e++) {
			uint32_t b = st->group[loose->peer[e]];

			if (loose->peer[e] < v)
				continue;
			if (a == b)
				st->inside += loose->weight[e];
			else
				st->cost += loose->weight[e] *
					    sites_distance(&st->sites,
							   st->site_of[a],
							   st->site_of[b]);
		}
	}
}

/* Of all edges, by cliques, of which no edge is looked at.  Items are numbered
 * by their sites. */
static int add_all(struct coarse_level *st, const struct cliques *traffic,
		   struct weft_error *err)
{
	struct sites used = {0};
	struct clique_runs runs = {0};
	uint32_t unit = st->unit;
	uint32_t *rank = weft_calloc(traffic->loose.n, sizeof(*rank), err);
	int rc = -1;

	if (!rank)
		return -1;
	for (uint32_t v = 0; v < st->n_items; v++)
		memcpy(rank + v * unit, st->g->rank + st->start[st->site_of[v]],
		       unit * sizeof(*rank));
	if (sites_pick(&st->sites, st->site_of, st->n_items, &used, err) ||
	    clique_runs_build(traffic, rank, unit, &runs, err))
		goto out;
	st->inside = 2 * runs.inside;
	st->cost = clique_runs_cost(traffic, &runs, &used) -
		   st->inside * used.distance[0][0];
	add_loose(st, &traffic->loose);
	rc = 0;
out:
	clique_runs_free(&runs);
	sites_free(&used);
	free(rank);
	return rc;
}

/* Whether a search reads but a few rows, of which cliques tell the sum. */
static bool is_short(const struct coarse_level *st,
		     const struct cliques *traffic, const struct effort *effort)
{
	return effort->work < MAPPER_WORK &&
	       effort->work < 2 * (uint64_t)traffic->n_edges && traffic->n &&
	       traffic->disjoint && st->sites.plain;
}

static int contract(struct coarse_level *st, struct cliques *traffic,
		    const struct effort *effort, struct weft_error *err)
{
	st->group = weft_calloc(st->g->s->job->n_gpus, sizeof(*st->group), err);
	if (!st->group)
		return -1;
	for (uint32_t v = 0; v < st->n_items; v++) {
		uint32_t k = st->start[st->site_of[v]];

		for (uint32_t i = 0; i < st->unit; i++)
			st->group[st->g->rank[k + i]] = v;
	}
	st->is_lazy = is_short(st, traffic, effort);
	if (st->is_lazy)
		return cliques_rows(traffic, &st->rows, err) ||
				       graph_lazy_build(&st->rows, st->group,
							st->n_items, &st->lazy,
							err)
			       ? -1
			       : add_all(st, traffic, err);
	if (cliques_contract(traffic, st->group, st->n_items, &st->items, err))
		return -1;
	st->inside = st->items.inside;
	return 0;
}

/* Takes the ranks of each block to where the block is now. */
static void write_back(struct coarse_level *st, const uint32_t *old_site)
{
	struct ground *g = st->g;

	for (uint32_t k = 0; k < g->n_gpus; k++)
		g->rank[k] = WEFT_NONE;
	for (uint32_t v = 0; v < st->n_items; v++)
		memcpy(&g->rank[st->start[st->site_of[v]]],
		       &st->before[st->start[old_site[v]]],
		       st->unit * sizeof(*g->rank));
}

/* May any site be taken, whoever sits on the others? */
static bool is_unlimited(const struct coarse_level *st)
{
	const struct weft_job *job = st->g->s->job;

	if (job->min_nodes || job->max_nodes || st->g->fence || st->g->settled)
		return false;
	if (job->gpus_per_node && job->gpus_per_node != st->unit)
		return false;
	for (uint32_t i = 0, k = 0; i < st->g->n_nodes; i++) {
		uint32_t n = 0;

		for (; k < st->sites.n && st->host_of[k] == i; k++)
			n += st->unit;
		if (st->hosts[i].required || n > st->hosts[i].most)
			return false;
	}
	return true;
}

/* The mapper moves all blocks at once, from where they are. */
static int stage_map(struct coarse_level *st, struct effort *effort,
		     double target, struct weft_error *err)
{
	const uint32_t *start = st->site_of;
	const struct mapping m = {
		.g = &st->items,
		.s = &st->sites,
		.start = &start,
		.n_starts = 1,
		.target = target,
	};
	uint32_t *site_of = weft_calloc(st->n_items, sizeof(*site_of), err);
	struct effort part = *effort;
	double cost;
	int rc = -1;

	if (!site_of)
		return -1;
	part.work = effort->work / 2;
	effort->work -= part.work;
	if (mapping_solve(&m, &part, site_of, &cost, NULL, err))
		goto out;
	effort->work += part.work;
	effort->random = part.random;
	for (uint32_t i = 0; i < st->sites.n; i++) {
		st->hosts[st->host_of[i]].used = 0;
		st->item_at[i] = WEFT_NONE;
	}
	for (uint32_t v = 0; v < st->n_items; v++) {
		st->site_of[v] = site_of[v];
		st->item_at[site_of[v]] = v;
		st->hosts[st->host_of[site_of[v]]].used += st->unit;
	}
	rc = 0;
out:
	free(site_of);
	return rc;
}

static int stage_search(struct coarse_level *st, double target,
			struct effort *effort, struct weft_error *err)
{
	const struct weft_job *job = st->g->s->job;
	struct search q = {
		.g = st->is_lazy ? &st->lazy.made : &st->items,
		.lazy = st->is_lazy ? &st->lazy : NULL,
		.cost = st->cost,
		.s = &st->sites,
		.site_of = st->site_of,
		.item_at = st->item_at,
		.unit = st->unit,
		.host_of = st->host_of,
		.hosts = st->hosts,
		.min_used = job->min_nodes,
		.max_used = job->max_nodes,
		.fixed = job->gpus_per_node > 0,
		.fence = st->g->fence,
	};
	uint32_t *old_site = weft_calloc(st->n_items, sizeof(*old_site), err);
	int rc = -1;

	if (!old_site)
		return -1;
	memcpy(old_site, st->site_of, st->n_items * sizeof(*old_site));
	for (uint32_t i = 0; i < st->g->n_nodes; i++)
		q.n_used += st->hosts[i].used > 0;
	if (st->g->settled)
		q.min_used = q.max_used = q.n_used;
	/* what stays inside blocks is not among the search's costs */
	target -= st->inside * st->sites.distance[0][0];
	if (effort->work >= MAPPER_WORK && is_unlimited(st) &&
	    stage_map(st, effort, target, err))
		goto out;
	if (search_run(&q, effort, target, err))
		goto out;
	write_back(st, old_site);
	rc = 0;
out:
	free(old_site);
	return rc;
}

/* Cost of the ranks as they are. */
static int ground_cost(const struct ground *g, struct cliques *traffic,
		       double *cost, struct weft_error *err)
{
	struct sites s = {0};
	const struct graph *ranks = cliques_whole(traffic, err);
	uint32_t *at = weft_calloc(g->s->job->n_gpus, sizeof(*at), err);
	struct search q = {.g = ranks, .s = &s, .site_of = at};
	int rc = -1;

	if (!ranks || !at ||
	    sites_build(g->s->f, g->gpu, g->n_gpus, true,
			g->s->job->spec.metric, &s, err))
		goto out;
	for (uint32_t k = 0; k < g->n_gpus; k++)
		if (g->rank[k] != WEFT_NONE)
			at[g->rank[k]] = k;
	*cost = search_cost(&q);
	rc = 0;
out:
	sites_free(&s);
	free(at);
	return rc;
}

int ground_improve(struct ground *g, struct cliques *traffic, uint32_t unit,
		   double target, struct effort *effort, struct weft_error *err)
{
	struct coarse_level st = {.g = g, .unit = unit};
	bool exact = unit == 1 || g->alike;
	enum weft_metric metric = g->s->job->spec.metric;
	double before = 0, after = 0;
	uint32_t n_sites = 0;
	int rc = -1;

	if (stage_allocate(&st, err))
		goto out;
	rc = 0;
	if (!cut(&st, &n_sites) || n_sites < 2)
		goto out;
	rc = -1;
	if ((!exact && ground_cost(g, traffic, &before, err)) ||
	    sites_build(g->s->f, st.first, n_sites, unit == 1, metric,
			&st.sites, err) ||
	    contract(&st, traffic, effort, err) ||
	    stage_search(&st, exact ? target : 0, effort, err) ||
	    (!exact && ground_cost(g, traffic, &after, err)))
		goto out;
	if (after > before)
		memcpy(g->rank, st.before, g->n_gpus * sizeof(*g->rank));
	rc = 0;
out:
	coarse_level_free(&st);
	return rc;
}
