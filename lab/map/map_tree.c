/* SPDX-License-Identifier: GPL-3.0-or-later */
/* map_tree.c - a graph onto the places of a tree */
#include "lab/map/arch.h"
#include "lab/map/map.h"
#include "lab/map/metis.h"
#include "lab/map/portfolio.h"
#include "lab/stop.h"
#include "placement/mapping/mapping.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct problem {
	struct graph graph;
	struct arch arch;
	uint32_t *natural, *given; /* [n] site of each vertex; given: or NULL */
	uint32_t *site_of;	   /* [n] the answer */
};

static void problem_free(struct problem *p)
{
	graph_free(&p->graph);
	arch_free(&p->arch);
	free(p->natural);
	free(p->given);
	free(p->site_of);
}

static int files_read(const struct map_options *o, struct problem *p,
		      struct weft_error *err)
{
	struct scan s;
	int rc;

	rc = scan_load(&s, o->graph, err);
	if (rc == 0)
		rc = metis_read(&s, &p->graph);
	scan_free(&s);
	if (rc)
		return -1;
	rc = scan_load(&s, o->arch, err);
	if (rc == 0)
		rc = arch_read(&s, &p->arch);
	scan_free(&s);
	if (rc == 0 && p->arch.sites.n < p->graph.n)
		return weft_fail_at(err, WEFT_EINVAL, o->arch, 0, 0,
				    "%u slots are too few for the %u vertices "
				    "of %s",
				    p->arch.sites.n, p->graph.n, o->graph);
	return rc;
}

static int starts_make(const struct map_options *o, struct problem *p,
		       struct weft_error *err)
{
	const uint32_t *site = p->arch.site;
	uint32_t n = p->graph.n;

	p->natural = weft_calloc(n, sizeof(*p->natural), err);
	p->site_of = weft_calloc(n, sizeof(*p->site_of), err);
	if (!p->natural || !p->site_of)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		p->natural[i] = site[i];
	if (!o->assignment)
		return 0;
	p->given = weft_calloc(n, sizeof(*p->given), err);
	if (!p->given || map_assignment_load(o->assignment, n, p->arch.sites.n,
					     p->given, err))
		return -1;
	for (uint32_t i = 0; i < n; i++)
		p->given[i] = site[p->given[i]];
	return 0;
}

static bool all_whole(const struct problem *p)
{
	const struct sites *s = &p->arch.sites;
	const struct graph *g = &p->graph;
	bool whole = true;

	for (uint32_t k = 0; whole && k < g->n_edges; k++)
		whole = g->weight[k] == floor(g->weight[k]);
	for (uint32_t l = 0; whole && isfinite(s->distance[l][0]); l++)
		whole = s->distance[l][0] == floor(s->distance[l][0]) &&
			s->distance[l][1] == floor(s->distance[l][1]);
	return whole;
}

/* No whole cost lies below the next whole number above a bound; the bound's own
 * rounding must not lift it there. */
static int bound_find(const struct map_options *o, const struct problem *p,
		      struct map_answer *a, struct weft_error *err)
{
	struct effort effort = map_bound_effort(o);
	double bound;

	if (mapping_bound(&p->graph, &p->arch.sites, &effort, &bound, err))
		return -1;
	if (all_whole(p))
		bound = ceil(bound - 1e-9 * bound);
	a->bound = map_cost_real(fmin(bound, a->natural.real));
	return 0;
}

static int search_once(const void *problem, struct effort *effort,
		       uint32_t *site_of, double *cost, struct weft_error *err)
{
	return mapping_solve(problem, effort, site_of, cost, NULL, err);
}

static int search(const struct map_options *o, struct problem *p,
		  struct map_answer *a, struct weft_error *err)
{
	const uint32_t *start[] = {p->natural, p->given};
	const struct mapping mapping = {
		.g = &p->graph,
		.s = &p->arch.sites,
		.start = start,
		.n_starts = p->given ? 2 : 1,
		.target = a->bound.known ? a->bound.real : 0,
		.spread = true,
	};
	struct effort effort = map_search_effort(o);
	double cost;
	int rc;

	stop_count(o->budget_s);
	a->method = "portfolio";
	if (o->n_threads > 1)
		rc = portfolio_run(o->n_threads, search_once, &mapping,
				   p->graph.n, &effort, p->site_of, &cost, err);
	else
		rc = mapping_solve(&mapping, &effort, p->site_of, &cost,
				   &a->method, err);
	stop_quiet();
	return rc;
}

/* The price of a start alone. */
static void take_start(struct problem *p, struct map_answer *a)
{
	memcpy(p->site_of, p->given ? p->given : p->natural,
	       p->graph.n * sizeof(*p->site_of));
	a->method = p->given ? "as given" : "natural order";
}

static struct map_cost price(const struct problem *p, const uint32_t *site_of)
{
	return map_cost_real(mapping_cost(&p->graph, &p->arch.sites, site_of));
}

static int solve(const struct map_options *o, struct problem *p,
		 struct map_answer *a, struct weft_error *err)
{
	double weight = 0;

	for (uint32_t k = 0; k < p->graph.n_edges; k++)
		weight += p->graph.weight[k] / 2;
	a->floor = map_cost_real(weight * p->arch.sites.distance[0][0]);
	a->natural = price(p, p->natural);
	if (p->given)
		a->given = price(p, p->given);
	if (o->bound == MAP_BOUND_FAST && bound_find(o, p, a, err))
		return -1;
	if (o->work == 0)
		take_start(p, a);
	else if (search(o, p, a, err))
		return -1;
	a->interrupted = *o->stop;
	a->cost = price(p, p->site_of);
	if (o->bound == MAP_BOUND_FULL && bound_find(o, p, a, err))
		return -1;
	return 0;
}

int map_tree(const struct map_options *o, struct map_answer *a,
	     struct weft_error *err)
{
	struct problem p = {0};
	int rc = -1;

	if (files_read(o, &p, err) || starts_make(o, &p, err))
		goto out;
	a->n = p.graph.n;
	a->n_slots = p.arch.sites.n;
	a->assignment = weft_calloc(a->n, sizeof(*a->assignment), err);
	if (!a->assignment || solve(o, &p, a, err))
		goto out;
	for (uint32_t i = 0; i < a->n; i++)
		a->assignment[i] = p.arch.slot[p.site_of[i]];
	rc = 0;
out:
	problem_free(&p);
	return rc;
}
