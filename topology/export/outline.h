/* SPDX-License-Identifier: GPL-3.0-or-later */
/* outline.h - a fabric as Slurm sees one: switches with nodes or with switches,
 * blocks of nodes
 *
 * Private to the exporters of Slurm's files.
 */
#ifndef WEFT_TOPOLOGY_EXPORT_OUTLINE_H
#define WEFT_TOPOLOGY_EXPORT_OUTLINE_H

#include "base/arena.h"
#include "topology/export/export.h"

#define WEFT_SLURM_MAX_SIZES 16

/* A switch or a block; hostlists, one of them NULL. */
struct weft_outline_unit {
	const char *name;
	char *nodes, *switches;
};

struct weft_outline {
	struct weft_outline_unit *units;
	uint32_t n, room;
	uint32_t sizes[WEFT_SLURM_MAX_SIZES]; /* BlockSizes */
	uint32_t n_sizes;
	const char **names; /* [n_domains] what a domain is called there */
	struct weft_arena arena;
};

/* The tree of switches, leafs first.  What changes on the way is a finding. */
int weft_outline_tree(const struct weft_fabric *f,
		      const struct weft_export_options *options,
		      struct weft_outline *o, struct weft_findings *findings,
		      struct weft_error *err);

/* Blocks in order, and the sizes that Slurm takes. */
int weft_outline_blocks(const struct weft_fabric *f,
			const struct weft_export_options *options,
			struct weft_outline *o, struct weft_findings *findings,
			struct weft_error *err);

/* NVLink domains of several nodes. */
bool weft_outline_spans_nodes(const struct weft_fabric *f);

/* The domains of one level with their nodes; kept: in tree order, which is what
 * a ring or a torus is about, else as people count. */
int weft_outline_level(const struct weft_fabric *f, uint32_t level, bool kept,
		       struct weft_outline *o, struct weft_error *err);
void weft_outline_free(struct weft_outline *o);

/* Findings for what f has and no file of Slurm's holds; nvlink, shapes: nor
 * does this kind of it. */
int weft_outline_lost(const struct weft_fabric *f, bool nvlink, bool shapes,
		      struct weft_findings *findings, struct weft_error *err);

#endif
