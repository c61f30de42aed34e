/* SPDX-License-Identifier: GPL-3.0-or-later */
/* node.h - the inside of scene->inside, a node, and the words about it that its
 * pictures share
 */
#ifndef WEFT_TOPOLOGY_DRAW_NODE_H
#define WEFT_TOPOLOGY_DRAW_NODE_H

#include "topology/draw/scene.h"
#include "topology/fabric.h"

#include <jansson.h>
#include <stdio.h>

/* Each is -1 with err when out of memory. */
int node_text(const struct weft_scene *scene, FILE *out,
	      struct weft_error *err);
/* With title, facts and legend, or for the middle of a page. */
int node_svg(const struct weft_scene *scene, bool header, FILE *out,
	     struct weft_error *err);
int node_dot(const struct weft_scene *scene, FILE *out, struct weft_error *err);
/* {"node": ..., "ports": [...], ...}; NULL: none is asked for, or
 * with err. */
json_t *node_json(const struct weft_scene *scene, struct weft_error *err);

#define NODE_TEXT_SIZE 240
/* Each writes to text, which is returned. */
/* "Node n07, h100, rack r3: 8 GPUs: 8 of the job" */
const char *node_name_text(const struct weft_scene *scene,
			   char text[NODE_TEXT_SIZE]);
/* "rank 12, stage 0", "busy, job 17", "free" */
const char *node_gpu_text(const struct weft_scene *scene, uint32_t gpu,
			  char text[NODE_TEXT_SIZE]);
/* "NVLink domain of 72 GPUs on 18 nodes, nvl3: 450 GB/s per GPU" */
const char *node_nvlink_text(const struct weft_fabric *f,
			     const struct weft_domain *d,
			     char text[NODE_TEXT_SIZE]);
/* "leaf su0-leaf[0-7]: 32 nodes, 256 GPUs: ...; 50 GB/s per GPU" of the node's
 * domain. */
const char *node_level_text(const struct weft_scene *scene, uint32_t level,
			    char text[NODE_TEXT_SIZE]);

/* The NVLink domain of a GPU; NULL: it is alone. */
const struct weft_domain *node_nvlink(const struct weft_fabric *f,
				      uint32_t gpu);
/* The innermost level that says more than NVLink domains do. */
uint32_t node_first_level(const struct weft_fabric *f);

/* ---- what joins a node to the network ---- */

/* Its ports with their cables, or without cabling what the levels of the fabric
 * stand for. */
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
