/* SPDX-License-Identifier: GPL-3.0-or-later */
/* dot_cables.c - the switches and cables of a fabric that has them, as DOT */
#include "base/compare.h"
#include "topology/cabling.h"
#include "topology/draw/dot.h"

#include <stdlib.h>

/* Cables between the same two things, in the same state. */
struct edge {
	uint64_t a, b; /* things, see thing_of */
	double rate_bytes_per_s;
	uint32_t n;
	bool up;
};

/* Domains before nodes before switches, so that a bundle of nodes is a thing
 * like others. */
static uint64_t thing_of(const struct dot *g, uint32_t end)
{
	const struct weft_fabric *f = g->scene->fabric;
	uint32_t level = f->node_level;

	if (end >= f->n_nodes || !g->bundled)
		return (uint64_t)f->n_domains + end;
	if (f->levels[level].n_domains == f->n_nodes)
		level++;
	if (level >= f->n_levels)
		return (uint64_t)f->n_domains + end;
	return f->gpu_domain[level][f->nodes[end].first_gpu];
}

static void thing_print(const struct dot *g, uint64_t thing)
{
	const struct weft_fabric *f = g->scene->fabric;

	if (thing < f->n_domains)
		fprintf(g->out, "b%u", (unsigned int)thing);
	else if (thing < (uint64_t)f->n_domains + f->n_nodes)
		fprintf(g->out, "n%u", (unsigned int)(thing - f->n_domains));
	else
		fprintf(g->out, "k%u",
			(unsigned int)(thing - f->n_domains - f->n_nodes));
}

WEFT_COMPARATOR(edge_order, struct edge, WEFT_UP(a) WEFT_UP(b) WEFT_DOWN(up));

static bool is_same(const struct edge *p, const struct edge *q)
{
	return edge_order(p, q) == 0;
}

/* The switch further up first, as graphviz ranks by the order of an edge. */
static void edge_print(const struct dot *g, const struct edge *edge)
{
	double gbits = edge->rate_bytes_per_s * 8 / 1e9;

	thing_print(g, edge->b);
	fputs(" -- ", g->out);
	thing_print(g, edge->a);
	fprintf(g->out, " [label=\"%s", edge->n > 1 ? "x" : "");
	if (edge->n > 1)
		fprintf(g->out, "%u", edge->n);
	fprintf(g->out, "%s\"", edge->up ? "" : " down");
	if (edge->rate_bytes_per_s > 0)
		fprintf(g->out, " tooltip=\"%u of %.6g Gb/s\"", edge->n, gbits);
	if (!edge->up)
		fputs(" style=dashed color=\"#a8261a\"", g->out);
	fputs("];\n", g->out);
}

/* A cable between switches has the lower tier as its lower end. */
static struct edge edge_of(const struct dot *g, const struct weft_cable *cable)
{
	const struct weft_fabric *f = g->scene->fabric;
	const struct weft_cabling *c = f->cabling;
	uint32_t a = cable->a, b = cable->b;

	if (a >= f->n_nodes && c->switches[a - f->n_nodes].tier >
				       c->switches[b - f->n_nodes].tier) {
		a = cable->b;
		b = cable->a;
	}
	return (struct edge){.a = thing_of(g, a),
			     .b = thing_of(g, b),
			     .rate_bytes_per_s = cable->rate_bytes_per_s,
			     .n = cable->n,
			     .up = cable->up};
}

int dot_cables(const struct dot *g, struct weft_error *err)
{
	const struct weft_cabling *c = g->scene->fabric->cabling;
	struct edge *edges = weft_calloc(c->n_cables, sizeof(*edges), err);

	if (!edges)
		return -1;
	for (uint32_t i = 0; i < c->n_cables; i++)
		edges[i] = edge_of(g, &c->cables[i]);
	WEFT_SORT(edges, c->n_cables, edge_order);
	for (uint32_t i = 0; i < c->n_cables;) {
		struct edge sum = edges[i++];

		for (; i < c->n_cables && is_same(&sum, &edges[i]); i++)
			sum.n += edges[i].n;
		edge_print(g, &sum);
	}
	free(edges);
	return 0;
}

static void switch_print(const struct dot *g, uint32_t index)
{
	const struct weft_cabling *c = g->scene->fabric->cabling;
	const struct weft_cabling_switch *s = &c->switches[index];

	fprintf(g->out, "k%u [shape=box style=\"rounded%s\" label=", index,
		s->network == WEFT_COMPUTE ? "" : ",dashed");
	dot_quote(g->out, s->name);
	fputs(" tooltip=", g->out);
	dot_quote(g->out, c->networks[s->network]);
	fputs("];\n", g->out);
}

void dot_switches(const struct dot *g, uint32_t domain)
{
	const struct weft_cabling *c = g->scene->fabric->cabling;
	const uint32_t *list;
	uint32_t n;

	if (domain == WEFT_NONE) {
		for (uint32_t i = 0; i < c->n_switches; i++)
			if (c->switches[i].domain == WEFT_NONE)
				switch_print(g, i);
		return;
	}
	list = weft_cabling_of_domain(c, domain, &n);
	for (uint32_t i = 0; i < n; i++)
		switch_print(g, list[i]);
}
