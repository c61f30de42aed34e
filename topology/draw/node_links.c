/* SPDX-License-Identifier: GPL-3.0-or-later */
/* node_links.c - what joins a node to the network */
#include "topology/draw/node.h"

#include "base/compare.h"

#include "topology/cabling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The GPUs of a node that are on a rail: neighbours, or one. */
static void gpus_of_rail(const struct weft_fabric *f,
			 const struct weft_node *node,
			 struct weft_node_link *link)
{
	uint32_t each = node->n_gpus / f->n_rails;

	if (f->n_rails < 2 || link->rail >= f->n_rails)
		return;
	link->n_gpus = each ? each : 1;
	link->first_gpu = each ? link->rail * each
			       : link->rail / (f->n_rails / node->n_gpus);
}

static struct weft_node_link link_of(const struct weft_fabric *f,
				     const struct weft_node *node,
				     const struct weft_cable *cable)
{
	const struct weft_cabling *c = f->cabling;
	uint8_t network = c->switches[cable->b - f->n_nodes].network;
	struct weft_node_link link = {
		.port = weft_cabling_port(c, cable),
		.to = weft_cabling_end_name(f, cable->b),
		.network =
			network == WEFT_COMPUTE ? NULL : c->networks[network],
		.rail = cable->rail == WEFT_NO_RAIL ? WEFT_NONE : cable->rail,
		.n = cable->n,
		.rate_bytes_per_s = cable->rate_bytes_per_s,
		.up = cable->up,
	};

	if (network == WEFT_COMPUTE)
		gpus_of_rail(f, node, &link);
	return link;
}

static int link_order(const void *x, const void *y)
{
	const struct weft_node_link *a = x, *b = y;

	if (!a->network != !b->network)
		return a->network ? 1 : -1;
	if (a->rail != b->rail)
		return a->rail < b->rail ? -1 : 1;
	if (a->port && b->port && strcmp(a->port, b->port) != 0)
		return strcmp(a->port, b->port);
	return strcmp(a->to, b->to);
}

/* One link for each rail, or one for all GPUs, to the domain around. */
static void links_imply(const struct weft_fabric *f,
			const struct weft_node *node,
			struct weft_node_links *links)
{
	uint32_t domain = f->gpu_domain[f->node_level][node->first_gpu];
	uint32_t above = f->domains[domain].parent;

	if (above == WEFT_NONE)
		return;
	for (uint32_t rail = 0; rail < f->n_rails; rail++) {
		struct weft_node_link *link = &links->links[links->n++];

		*link = (struct weft_node_link){
			.to = f->domains[above].name,
			.rail = f->n_rails > 1 ? rail : WEFT_NONE,
			.n_gpus = node->n_gpus,
			.up = true,
		};
		gpus_of_rail(f, node, link);
	}
}

int weft_node_links(const struct weft_fabric *f, const struct weft_node *node,
		    struct weft_node_links *links, struct weft_error *err)
{
	uint32_t index = (uint32_t)(node - f->nodes), n = 0;
	const uint32_t *cables = NULL;

	if (f->cabling)
		cables = weft_cabling_of_node(f->cabling, index, &n);
	*links = (struct weft_node_links){0};
	links->links =
		weft_calloc((size_t)n + f->n_rails, sizeof(*links->links), err);
	if (!links->links)
		return -1;
	for (uint32_t i = 0; i < n; i++)
		links->links[links->n++] =
			link_of(f, node, &f->cabling->cables[cables[i]]);
	WEFT_SORT(links->links, n, link_order);
	if (!n)
		links_imply(f, node, links);
	return 0;
}

const char *weft_node_link_text(const struct weft_node_link *link,
				char text[WEFT_LINK_TEXT_SIZE])
{
	double gbits = link->rate_bytes_per_s * 8 / 1e9;

	text[0] = '\0';
	if (link->n > 1 && gbits > 0)
		snprintf(text, WEFT_LINK_TEXT_SIZE, "%u x %.6g Gb/s", link->n,
			 gbits);
	else if (gbits > 0)
		snprintf(text, WEFT_LINK_TEXT_SIZE, "%.6g Gb/s", gbits);
	else if (link->n > 1)
		snprintf(text, WEFT_LINK_TEXT_SIZE, "%u cables", link->n);
	return text;
}
