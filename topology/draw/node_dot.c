/* SPDX-License-Identifier: GPL-3.0-or-later */
/* node_dot.c - what is inside a node as a graph for graphviz */
#include "topology/draw/dot.h"
#include "topology/draw/node.h"
#include "topology/draw/palette.h"

#include <stdlib.h>

static void gpus_print(const struct weft_scene *scene, FILE *out)
{
	const struct weft_node *node = scene->inside;
	char text[NODE_TEXT_SIZE], colour[WEFT_COLOUR_SIZE];

	for (uint32_t k = 0; k < node->n_gpus; k++) {
		uint32_t gpu = node->first_gpu + k;
		uint32_t number = weft_fabric_number(scene->fabric, gpu);
		uint32_t group = weft_scene_group(scene, gpu);
		const char *line = weft_shades[WEFT_LIGHT].use[scene->use[gpu]];

		if (group != WEFT_NONE)
			line = weft_group_colour(
				&scene->colourings[scene->chosen], group,
				WEFT_LIGHT, colour);
		fprintf(out, "g%u [shape=box penwidth=3 color=\"%s\" tooltip=",
			number, line);
		dot_quote(out, node_gpu_text(scene, gpu, text));
		fprintf(out, " label=\"GPU %u\"];\n", number);
	}
}

/* NVLink as one thing that its GPUs are attached to. */
static void nvlink_print(const struct weft_scene *scene, FILE *out)
{
	const struct weft_fabric *f = scene->fabric;
	const struct weft_node *node = scene->inside;
	const struct weft_domain *last = NULL;
	char text[NODE_TEXT_SIZE];

	for (uint32_t k = 0; k < node->n_gpus; k++) {
		const struct weft_domain *d =
			node_nvlink(f, node->first_gpu + k);
		unsigned int id = d ? (unsigned int)(d - f->domains) : 0;

		if (!d)
			continue;
		if (d != last) {
			fprintf(out,
				"v%u [shape=box style=rounded color=\"%s\""
				" label=",
				id, weft_shades[WEFT_LIGHT].frame);
			dot_quote(out, node_nvlink_text(f, d, text));
			fputs("];\n", out);
		}
		last = d;
		fprintf(out, "v%u -- g%u [color=\"%s\"];\n", id,
			weft_fabric_number(f, node->first_gpu + k),
			weft_shades[WEFT_LIGHT].frame);
	}
}

static void link_print(const struct weft_node_link *link, uint32_t i, FILE *out)
{
	char rate[WEFT_LINK_TEXT_SIZE], id[WEFT_NAME_SIZE + 8];

	for (uint32_t k = 0; k < link->n_gpus; k++)
		fprintf(out, "g%u -- p%u;\n", link->first_gpu + k, i);
	/* no identifier of another thing has a blank */
	snprintf(id, sizeof(id), "switch %s", link->to);
	dot_quote(out, id);
	fputs(" [shape=box style=rounded label=", out);
	dot_quote(out, link->to);
	fprintf(out, "];\np%u -- ", i);
	dot_quote(out, id);
	fputs(" [label=", out);
	dot_quote(out, weft_node_link_text(link, rate));
	fputs(link->up ? "];\n" : " style=dashed color=\"#a8261a\"];\n", out);
}

int node_dot(const struct weft_scene *scene, FILE *out, struct weft_error *err)
{
	struct weft_node_links links;
	char text[NODE_TEXT_SIZE];

	if (weft_node_links(scene->fabric, scene->inside, &links, err))
		return -1;
	fputs("subgraph cluster_node {\nlabel=", out);
	dot_quote(out, node_name_text(scene, text));
	fputs(";\n", out);
	gpus_print(scene, out);
	for (uint32_t i = 0; i < links.n; i++) {
		const struct weft_node_link *link = &links.links[i];

		fprintf(out, "p%u [shape=box label=", i);
		dot_quote(out, link->port ? link->port : "port");
		fputs("];\n", out);
	}
	fputs("}\n", out);
	nvlink_print(scene, out);
	for (uint32_t i = 0; i < links.n; i++)
		link_print(&links.links[i], i, out);
	free(links.links);
	return 0;
}
