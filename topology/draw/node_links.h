/* SPDX-License-Identifier: GPL-3.0-or-later */
/* node_links.h - what joins a node to the network: its ports with their cables,
 * or without cabling what the levels of the fabric stand for
 */
#ifndef WEFT_TOPOLOGY_DRAW_NODE_LINKS_H
#define WEFT_TOPOLOGY_DRAW_NODE_LINKS_H

#include "topology/fabric.h"

struct weft_node_link {
	const char *port;    /* NULL: not said */
	const char *to;	     /* a switch, or the domain around the node */
	const char *network; /* NULL: the one that joins the GPUs */
	uint32_t rail;	     /* or WEFT_NONE */
	uint32_t first_gpu, n_gpus; /* by number, whose own link it is; n 0:
				     * of no GPU more than of others */
	uint32_t n;		    /* cables in parallel; 0: not known */
	double rate_bytes_per_s;    /* of each; 0: not said */
	bool up;
};

struct weft_node_links {
	struct weft_node_link *links; /* those of GPUs first, by rail */
	uint32_t n;
};

/* -1 with err when out of memory.  Free links in either case. */
int weft_node_links(const struct weft_fabric *f, const struct weft_node *node,
		    struct weft_node_links *links, struct weft_error *err);

/* "400 Gb/s", "2 x 200 Gb/s"; "" where nothing is said.  Written to text, which
 * is returned. */
#define WEFT_LINK_TEXT_SIZE 48
const char *weft_node_link_text(const struct weft_node_link *link,
				char text[WEFT_LINK_TEXT_SIZE]);

#endif
