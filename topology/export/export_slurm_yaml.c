/* SPDX-License-Identifier: GPL-3.0-or-later */
/* export_slurm_yaml.c - topology.yaml: tree, block, ring or torus3d
 *
 * Numbers as names ("1101") are quoted, which is never wrong.
 */
#include "topology/export/outline.h"

#include <string.h>

/* Slurm: at most so many nodes in a ring. */
#define RING_MAX 16

struct writer {
	const struct weft_fabric *f;
	const struct weft_export_options *options;
	FILE *out;
	struct weft_outline *o;
	struct weft_findings *findings;
	struct weft_error *err;
};

static int tree_write(const struct writer *w)
{
	if (weft_outline_tree(w->f, w->options, w->o, w->findings, w->err))
		return -1;
	fputs("    switches:\n", w->out);
	for (uint32_t i = 0; i < w->o->n; i++) {
		const struct weft_outline_unit *u = &w->o->units[i];

		fprintf(w->out, "      - switch: \"%s\"\n        %s: \"%s\"\n",
			u->name, u->nodes ? "nodes" : "children",
			u->nodes ? u->nodes : u->switches);
	}
	return weft_outline_lost(w->f, true, true, w->findings, w->err);
}

static int block_write(const struct writer *w)
{
	if (weft_outline_blocks(w->f, w->options, w->o, w->findings, w->err))
		return -1;
	fputs("    block_sizes:\n", w->out);
	for (uint32_t i = 0; i < w->o->n_sizes; i++)
		fprintf(w->out, "      - %u\n", w->o->sizes[i]);
	fputs("    blocks:\n", w->out);
	for (uint32_t i = 0; i < w->o->n; i++)
		fprintf(w->out,
			"      - block: \"%s\"\n        nodes: \"%s\"\n",
			w->o->units[i].name, w->o->units[i].nodes);
	return weft_outline_lost(w->f, false, true, w->findings, w->err);
}

/* The level of that shape; it must join nodes, which is all that Slurm's rings
 * and tori do. */
static int shaped_level(const struct writer *w, enum weft_level_shape shape,
			uint32_t *level)
{
	const struct weft_fabric *f = w->f;

	for (*level = f->node_level + 1; *level < f->n_levels; (*level)++)
		if (f->levels[*level].shape == shape)
			break;
	if (*level == f->n_levels)
		return weft_fail(w->err, WEFT_EINVAL,
				 "no level of the fabric has that shape");
	for (uint32_t k = 0; k < f->levels[*level].n_domains; k++) {
		uint32_t d = f->levels[*level].first_domain + k;

		if (f->domains[d].n_nodes != f->domains[d].n_children)
			return weft_fail(w->err, WEFT_EINVAL,
					 "level %s joins more than nodes; "
					 "Slurm knows rings and tori of nodes "
					 "only",
					 f->levels[*level].name);
	}
	return weft_outline_level(f, *level, true, w->o, w->err);
}

static int ring_write(const struct writer *w)
{
	uint32_t level;

	if (shaped_level(w, WEFT_SHAPE_RING, &level))
		return -1;
	fputs("    rings:\n", w->out);
	for (uint32_t i = 0; i < w->o->n; i++) {
		uint32_t d = w->f->levels[level].first_domain + i;

		if (w->f->domains[d].n_nodes > RING_MAX)
			return weft_fail(w->err, WEFT_EINVAL,
					 "ring %s has %u nodes; Slurm takes at "
					 "most %d",
					 w->o->units[i].name,
					 w->f->domains[d].n_nodes, RING_MAX);
		fprintf(w->out, "      - ring: \"%s\"\n        nodes: \"%s\"\n",
			w->o->units[i].name, w->o->units[i].nodes);
	}
	return weft_outline_lost(w->f, true, false, w->findings, w->err);
}

/* Jobs get only shapes that are listed: the torus halved along its longest
 * axis, again and again, down to a node. */
static void placements_write(FILE *out, const uint32_t whole[3])
{
	uint32_t dims[3] = {whole[0], whole[1], whole[2]};

	fputs("        placements:\n", out);
	for (;;) {
		int longest = -1;

		fprintf(out, "          - dims: {x: %u, y: %u, z: %u}\n",
			dims[0], dims[1], dims[2]);
		for (int a = 0; a < 3; a++)
			if (dims[a] % 2 == 0 &&
			    (longest < 0 || dims[a] > dims[longest]))
				longest = a;
		if (longest < 0)
			break;
		dims[longest] /= 2;
	}
	if (dims[0] * dims[1] * dims[2] > 1)
		fputs("          - dims: {x: 1, y: 1, z: 1}\n", out);
}

static int torus_write(const struct writer *w)
{
	uint32_t level, dims[3];

	if (shaped_level(w, WEFT_SHAPE_TORUS, &level))
		return -1;
	for (int a = 0; a < 3; a++)
		dims[a] = w->f->levels[level].dims[a]
				  ? w->f->levels[level].dims[a]
				  : 1;
	fputs("    toruses:\n", w->out);
	for (uint32_t i = 0; i < w->o->n; i++) {
		fprintf(w->out,
			"      - name: \"%s\"\n"
			"        dims: {x: %u, y: %u, z: %u}\n"
			"        nodes: \"%s\"\n",
			w->o->units[i].name, dims[0], dims[1], dims[2],
			w->o->units[i].nodes);
		placements_write(w->out, dims);
	}
	return weft_outline_lost(w->f, true, false, w->findings, w->err);
}

static const struct {
	const char *name;
	int (*write)(const struct writer *w);
} shapes[] = {
	{"tree", tree_write},
	{"block", block_write},
	{"ring", ring_write},
	{"torus3d", torus_write},
};

/* What the fabric is: of nodes in a ring or a torus, NVLink domains that span
 * nodes, else a tree. */
static const char *shape_of(const struct weft_fabric *f)
{
	uint32_t first = f->node_level + 1;

	if (first < f->n_levels && f->levels[first].shape == WEFT_SHAPE_RING)
		return "ring";
	if (first < f->n_levels && f->levels[first].shape == WEFT_SHAPE_TORUS)
		return "torus3d";
	return weft_outline_spans_nodes(f) ? "block" : "tree";
}

int weft_export_slurm_yaml(const struct weft_fabric *f,
			   const struct weft_export_options *options, FILE *out,
			   struct weft_findings *findings,
			   struct weft_error *err)
{
	struct weft_outline o = {0};
	const struct writer w = {f, options, out, &o, findings, err};
	const char *shape = options->shape ? options->shape : shape_of(f);
	int rc;

	for (size_t i = 0; i < WEFT_N_OF(shapes); i++) {
		if (strcmp(shapes[i].name, shape) != 0)
			continue;
		fprintf(out,
			"---\n- topology: \"default\"\n"
			"  cluster_default: true\n  %s:\n",
			shape);
		rc = shapes[i].write(&w);
		weft_outline_free(&o);
		return rc;
	}
	return weft_fail(err, WEFT_EINVAL,
			 "no shape \"%s\"; expected tree, block, ring or "
			 "torus3d",
			 shape);
}
