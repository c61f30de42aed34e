/* SPDX-License-Identifier: GPL-3.0-or-later */
/* node_set_around.c - a choice together with free nodes near it */
#include "placement/nodes/node_set.h"

#include "base/compare.h"

#include <stdlib.h>
#include <string.h>

struct around {
	struct capacity *s;
	uint32_t *used_of_node, *used_in; /* by node, by domain */
	struct node_set *out;
	struct weft_error *err;
};

/* A part that the choice uses, by its place in the capacity's order. */
struct touched {
	uint32_t used, place;
};

WEFT_COMPARATOR(compare_touched, struct touched,
		WEFT_DOWN(used) WEFT_UP(place));

/* Parts of a domain: those that the choice uses come first, most used first. */
struct parts {
	bool of_nodes;
	uint32_t n, n_touched;
	const uint32_t *part;
	const uint32_t *used;	 /* by index */
	const uint32_t *give;	 /* by index */
	struct touched *touched; /* [n_touched] */
};

static int find_parts(struct around *a, uint32_t domain, struct parts *p)
{
	struct capacity *s = a->s;
	const struct weft_domain *d = &s->f->domains[domain];

	p->of_nodes = d->level == s->f->node_level;
	p->n = p->of_nodes ? d->n_nodes : d->n_children;
	p->n_touched = 0;
	p->used = p->of_nodes ? a->used_of_node : a->used_in;
	p->give = p->of_nodes ? s->give : s->cap;
	p->part = p->of_nodes ? s->node_order + d->first_node
			      : s->domain_order + d->first_child;
	p->touched = weft_calloc(p->n, sizeof(*p->touched), a->err);
	if (!p->touched || capacity_sort(s, domain, a->err))
		return -1;
	for (uint32_t i = 0; i < p->n; i++)
		if (p->used[p->part[i]])
			p->touched[p->n_touched++] =
				(struct touched){p->used[p->part[i]], i};
	qsort(p->touched, p->n_touched, sizeof(*p->touched), compare_touched);
	return 0;
}

static int around_domain(struct around *a, uint32_t domain, uint32_t quota);

/* Takes one part with up to `quota` spare GPUs. */
static int take_part(struct around *a, const struct parts *p, uint32_t part,
		     uint32_t quota)
{
	if (!p->of_nodes)
		return around_domain(a, part, quota);
	node_set_add(a->out, part, p->used[part]);
	return 0;
}

/* Spare GPUs of a domain are few near each used part, and some elsewhere. */
static int around_domain(struct around *a, uint32_t domain, uint32_t quota)
{
	struct parts p = {0};
	uint32_t spare = a->s->cap[domain] - a->used_in[domain], share, i;
	int rc = find_parts(a, domain, &p);

	share = quota >= spare ? spare : quota / (p.n_touched + 1);
	for (i = 0; i < p.n_touched && rc == 0; i++) {
		uint32_t part = p.part[p.touched[i].place];
		uint32_t own = p.give[part] - p.used[part];

		rc = take_part(a, &p, part, share < own ? share : own);
		own = own < share ? own : share;
		quota -= own < quota ? own : quota;
	}
	for (i = 0; i < p.n && quota && rc == 0; i++) {
		uint32_t part = p.part[i], give = p.give[part];

		if (p.used[part] || !give)
			continue;
		rc = take_part(a, &p, part, quota);
		quota -= give < quota ? give : quota;
	}
	free(p.touched);
	return rc;
}

/* The innermost domain around the choice; further out as long as all that is
 * free there is within the limit. */
static uint32_t find_scope(const struct capacity *s, const struct node_set *c,
			   uint32_t limit)
{
	const struct weft_fabric *f = s->f;
	uint32_t low = c->node[0], high = c->node[0], d, level;

	for (uint32_t i = 1; i < c->n_nodes; i++) {
		low = c->node[i] < low ? c->node[i] : low;
		high = c->node[i] > high ? c->node[i] : high;
	}
	level = weft_fabric_meet(f, f->nodes[low].first_gpu,
				 f->nodes[high].first_gpu);
	if (level < f->node_level)
		level = f->node_level;
	d = f->gpu_domain[level][f->nodes[low].first_gpu];
	for (level++; level < f->n_levels; level++) {
		uint32_t parent = f->domains[d].parent;

		if (s->cap[parent] - c->n_gpus > limit ||
		    (s->job->within_level != WEFT_NONE &&
		     level > s->job->within_level))
			break;
		d = parent;
	}
	return d;
}

int node_set_surround(struct capacity *s, const struct node_set *c,
		      uint32_t limit, struct node_set *out,
		      struct weft_error *err)
{
	const struct weft_fabric *f = s->f;
	struct around a = {.s = s, .out = out, .err = err};
	uint32_t scope = find_scope(s, c, limit), most;
	int rc = -1;

	memset(out, 0, sizeof(*out));
	most = c->n_nodes + s->n_givers[scope];
	if (most > c->n_nodes + limit)
		most = c->n_nodes + limit;
	out->node = weft_calloc(most, sizeof(*out->node), err);
	out->count = weft_calloc(most, sizeof(*out->count), err);
	a.used_of_node = weft_calloc(f->n_nodes, sizeof(uint32_t), err);
	a.used_in = weft_calloc(f->n_domains, sizeof(uint32_t), err);
	if (!out->node || !out->count || !a.used_of_node || !a.used_in)
		goto out;
	for (uint32_t i = 0; i < c->n_nodes; i++) {
		uint32_t gpu = f->nodes[c->node[i]].first_gpu;

		a.used_of_node[c->node[i]] = c->count[i];
		for (uint32_t l = f->node_level; l < f->n_levels; l++)
			a.used_in[f->gpu_domain[l][gpu]] += c->count[i];
	}
	rc = around_domain(&a, scope, limit);
out:
	free(a.used_of_node);
	free(a.used_in);
	return rc;
}
