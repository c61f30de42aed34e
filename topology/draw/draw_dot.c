/* SPDX-License-Identifier: GPL-3.0-or-later */
/* draw_dot.c - a scene as a graph for graphviz: domains as clusters, their
 * switches as boxes, nodes hanging on them
 */
#include "base/hostlist.h"
#include "topology/cabling.h"
#include "topology/draw/dot.h"
#include "topology/draw/draw_parts.h"
#include "topology/draw/layout.h"
#include "topology/draw/node.h"
#include "topology/draw/palette.h"
#include "topology/draw/svg_sheet.h"

/* Beyond this graphviz takes minutes and people see hair: the nodes of a
 * domain become one. */
#define MAX_NODES 256
/* Rails drawn as switches of their own. */
#define MAX_RAILS 16

void dot_quote(FILE *out, const char *text)
{
	fputc('"', out);
	for (const char *c = text; *c; c++) {
		if (*c == '"' || *c == '\\')
			fputc('\\', out);
		fputc((unsigned char)*c < 0x20 ? ' ' : *c, out);
	}
	fputc('"', out);
}

/* Identifiers are numbers, so that no name can break the syntax or be that of
 * two things. */
static void id_domain(const struct dot *g, uint32_t index)
{
	fprintf(g->out, "d%u", index);
}

/* ---- nodes ---- */

static void gpu_cell(const struct dot *g, uint32_t gpu)
{
	const struct weft_scene *scene = g->scene;
	uint32_t group = weft_scene_group(scene, gpu);
	char colour[WEFT_COLOUR_SIZE];
	const char *fill = weft_shades[WEFT_LIGHT].use[scene->use[gpu]];

	if (group != WEFT_NONE)
		fill = weft_group_colour(&scene->colourings[scene->chosen],
					 group, WEFT_LIGHT, colour);
	fprintf(g->out, "<TD BGCOLOR=\"%s\" WIDTH=\"9\" HEIGHT=\"12\"></TD>",
		fill);
}

static void node_print(const struct dot *g, uint32_t index)
{
	const struct weft_fabric *f = g->scene->fabric;
	const struct weft_node *node = &f->nodes[index];

	fprintf(g->out,
		"n%u [shape=plain label=<<TABLE BORDER=\"1\" "
		"CELLBORDER=\"0\" CELLSPACING=\"1\" CELLPADDING=\"0\">"
		"<TR><TD COLSPAN=\"%u\">",
		index, node->n_gpus);
	sheet_escape(g->out, node->name, WEFT_NAME_SIZE);
	fputs("</TD></TR><TR>", g->out);
	for (uint32_t k = 0; k < node->n_gpus; k++)
		gpu_cell(g, node->first_gpu + k);
	fputs("</TR></TABLE>>", g->out);
	if (node->rack != WEFT_NONE) {
		fputs(" tooltip=", g->out);
		dot_quote(g->out, f->racks[node->rack]);
	}
	fputs("];\n", g->out);
}

static void bundle_print(const struct dot *g, uint32_t domain)
{
	const struct weft_domain *d = &g->scene->fabric->domains[domain];
	struct weft_census census =
		weft_scene_count(g->scene, d->first_gpu, d->n_gpus);
	enum weft_use use = WEFT_USE_FREE;

	if (census.n[WEFT_USE_JOB])
		use = WEFT_USE_JOB;
	else if (census.n[WEFT_USE_BUSY])
		use = WEFT_USE_BUSY;
	fprintf(g->out,
		"b%u [shape=box3d style=filled fillcolor=\"%s\" "
		"fontcolor=\"%s\" label=\"%u nodes, %u GPUs\\n",
		domain, weft_shades[WEFT_LIGHT].use[use],
		use == WEFT_USE_FREE ? "#1b1f24" : "#ffffff", d->n_nodes,
		d->n_gpus);
	draw_census(g->out, &census);
	fputs("\"];\n", g->out);
}

/* ---- switches ---- */

/* The fabric says which cables there are, and not only which switches. */
static bool is_cabled(const struct weft_fabric *f)
{
	return f->cabling && f->cabling->n_cables;
}

/* The level whose domains are bundles of rails: the first above the nodes. */
static uint32_t rail_level(const struct weft_fabric *f)
{
	uint32_t level = f->levels[f->node_level].n_domains == f->n_nodes
				 ? f->node_level + 1
				 : f->node_level;

	if (level <= f->node_level)
		level = f->node_level + 1;
	return f->n_rails > 1 && f->n_rails <= MAX_RAILS ? level : WEFT_NONE;
}

/* Switches that stand for a domain: one, a bundle's rails, or none where the
 * links are NVLink or the fabric says which switches it has. */
static uint32_t switches_of(const struct weft_fabric *f,
			    const struct weft_domain *d)
{
	if (is_cabled(f) || d->level <= f->node_level)
		return 0;
	return d->level == rail_level(f) ? f->n_rails : 1;
}

static void switch_print(const struct dot *g, uint32_t domain)
{
	const struct weft_domain *d = &g->scene->fabric->domains[domain];
	uint32_t n = switches_of(g->scene->fabric, d);
	struct weft_hostlist names = {0};

	if (n > 1 && (weft_hostlist_decode(d->name, MAX_RAILS, &names, NULL) ||
		      names.n != n))
		weft_hostlist_free(&names);
	for (uint32_t i = 0; i < n; i++) {
		fprintf(g->out,
			"s%u_%u [shape=box style=rounded label=", domain, i);
		dot_quote(g->out, i < names.n ? names.names[i] : d->name);
		fputs("];\n", g->out);
	}
	weft_hostlist_free(&names);
}

/* Edges of one thing below a domain to all of that domain's switches. */
static void edges(const struct dot *g, uint32_t domain, const char *kind,
		  uint32_t index)
{
	const struct weft_fabric *f = g->scene->fabric;
	uint32_t n = switches_of(f, &f->domains[domain]);

	for (uint32_t i = 0; i < n; i++)
		fprintf(g->out, "s%u_%u -- %s%u;\n", domain, i, kind, index);
}

/* The domain that has switches and holds this one. */
static uint32_t switched_parent(const struct weft_fabric *f, uint32_t domain)
{
	uint32_t parent = f->domains[domain].parent;

	while (parent != WEFT_NONE && !switches_of(f, &f->domains[parent]))
		parent = f->domains[parent].parent;
	return parent;
}

static void uplinks(const struct dot *g, uint32_t domain)
{
	const struct weft_fabric *f = g->scene->fabric;
	uint32_t parent = switched_parent(f, domain);
	uint32_t n = switches_of(f, &f->domains[domain]);

	for (uint32_t i = 0; parent != WEFT_NONE && i < n; i++) {
		char below[32];

		snprintf(below, sizeof(below), "s%u_", domain);
		edges(g, parent, below, i);
	}
}

/* ---- the tree ---- */

static void nodes_print(const struct dot *g, uint32_t domain,
			struct weft_inside inside)
{
	const struct weft_fabric *f = g->scene->fabric;
	uint32_t above = domain;

	if (!switches_of(f, &f->domains[domain]))
		above = switched_parent(f, domain);
	if (g->bundled) {
		bundle_print(g, domain);
		if (above != WEFT_NONE)
			edges(g, above, "b", domain);
		return;
	}
	for (uint32_t i = 0; i < inside.n; i++) {
		node_print(g, inside.first + i);
		if (above != WEFT_NONE)
			edges(g, above, "n", inside.first + i);
	}
}

/* Depth is that of the fabric. */
static void domain_print(const struct dot *g, uint32_t index)
{
	const struct weft_fabric *f = g->scene->fabric;
	const struct weft_domain *d = &f->domains[index];
	struct weft_inside inside = weft_inside_of(f, WEFT_BOX_DOMAIN, index);

	fputs("subgraph cluster_", g->out);
	id_domain(g, index);
	fputs(" {\nlabel=", g->out);
	dot_quote(g->out, d->name);
	fputs("; tooltip=", g->out);
	dot_quote(g->out, f->levels[d->level].name);
	fprintf(g->out, "; color=\"%s\";\n",
		d->level <= f->node_level ? weft_shades[WEFT_LIGHT].frame
					  : weft_shades[WEFT_LIGHT].faint);
	switch_print(g, index);
	if (is_cabled(f))
		dot_switches(g, index);
	if (inside.kind == WEFT_BOX_NODE)
		nodes_print(g, index, inside);
	for (uint32_t i = 0; i < inside.n && inside.kind == WEFT_BOX_DOMAIN;
	     i++)
		domain_print(g, inside.first + i);
	fputs("}\n", g->out);
	uplinks(g, index);
}

int draw_dot(const struct weft_scene *scene,
	     const struct weft_draw_options *options, FILE *out,
	     struct weft_error *err)
{
	const struct weft_fabric *f = scene->fabric;
	struct dot g = {
		.scene = scene, .out = out, .bundled = f->n_nodes > MAX_NODES};
	struct weft_inside inside = weft_inside_of(f, WEFT_BOX_FABRIC, 0);

	int result = 0;

	(void)options;
	fputs("graph ", out);
	dot_quote(out, f->name);
	fputs(" {\nlabelloc=t; label=", out);
	dot_quote(out, scene->title);
	fputs(";\ngraph [fontname=\"Helvetica\" style=rounded ranksep=1.2];\n"
	      "node [fontname=\"Helvetica\" fontsize=10];\n"
	      "edge [fontname=\"Helvetica\" fontsize=9 color=\"#8b939d\"];\n",
	      out);
	if (scene->inside)
		result = node_dot(scene, out, err);
	for (uint32_t i = 0; i < inside.n && !scene->inside; i++) {
		if (inside.kind == WEFT_BOX_NODE)
			node_print(&g, inside.first + i);
		else
			domain_print(&g, inside.first + i);
	}
	if (is_cabled(f) && !scene->inside) {
		dot_switches(&g, WEFT_NONE);
		result = dot_cables(&g, err);
	}
	fputs("}\n", out);
	return result;
}
