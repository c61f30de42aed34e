/* SPDX-License-Identifier: GPL-3.0-or-later */
/* node_text.c - what is inside a node, for the terminal */
#include "topology/draw/node.h"

#include <stdlib.h>

static void gpu_print(const struct weft_scene *scene,
		      const struct weft_node *node, uint32_t k,
		      const struct weft_node_links *links, FILE *out)
{
	uint32_t number =
		weft_fabric_number(scene->fabric, node->first_gpu + k);
	char text[NODE_TEXT_SIZE], rate[WEFT_LINK_TEXT_SIZE];
	const char *separator = "  ";

	fprintf(out, "  GPU %-2u  %-28s", number,
		node_gpu_text(scene, node->first_gpu + k, text));
	for (uint32_t i = 0; i < links->n; i++) {
		const struct weft_node_link *link = &links->links[i];

		if (number < link->first_gpu ||
		    number - link->first_gpu >= link->n_gpus)
			continue;
		fputs(separator, out);
		if (link->rail != WEFT_NONE)
			fprintf(out, "rail %-2u ", link->rail);
		if (link->port)
			fprintf(out, "%s ", link->port);
		weft_node_link_text(link, rate);
		fprintf(out, "%s%s-> %s%s", rate, *rate ? " " : "", link->to,
			link->up ? "" : " (down)");
		separator = ", ";
	}
	fputc('\n', out);
}

/* Ports of no GPU: in the file without rails, and those of other networks. */
static void ports_print(const struct weft_node_links *links, FILE *out)
{
	char rate[WEFT_LINK_TEXT_SIZE];

	for (uint32_t i = 0; i < links->n; i++) {
		const struct weft_node_link *link = &links->links[i];

		if (link->n_gpus)
			continue;
		fprintf(out, "  port    %s",
			link->port ? link->port : "not named");
		if (link->rail != WEFT_NONE)
			fprintf(out, ", rail %u", link->rail);
		weft_node_link_text(link, rate);
		fprintf(out, "  %s%s-> %s%s%s%s\n", rate, *rate ? " " : "",
			link->to, link->network ? ", network " : "",
			link->network ? link->network : "",
			link->up ? "" : " (down)");
	}
}

int node_text(const struct weft_scene *scene, FILE *out, struct weft_error *err)
{
	const struct weft_fabric *f = scene->fabric;
	const struct weft_node *node = scene->inside;
	struct weft_node_links links;
	char text[NODE_TEXT_SIZE];

	if (weft_node_links(f, node, &links, err))
		return -1;
	fprintf(out, "%s\n", node_name_text(scene, text));
	for (uint32_t k = 0; k < node->n_gpus; k++) {
		const struct weft_domain *d =
			node_nvlink(f, node->first_gpu + k);

		if (d && (k == 0 || node->first_gpu + k == d->first_gpu))
			fprintf(out, " %s\n", node_nvlink_text(f, d, text));
		gpu_print(scene, node, k, &links, out);
	}
	ports_print(&links, out);
	for (uint32_t l = node_first_level(f); l < f->n_levels; l++)
		fprintf(out, " %s\n", node_level_text(scene, l, text));
	free(links.links);
	return 0;
}
