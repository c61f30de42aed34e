/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inside.c - what is inside what, as a picture has it */
#include "topology/draw/layout.h"

/* Every NVLink domain (or level "node") is exactly one node. */
static bool domains_are_nodes(const struct weft_fabric *f)
{
	return f->levels[f->node_level].n_domains == f->n_nodes;
}

/* The NVLink domains inside nodes have more than one GPU. */
static bool groups_matter(const struct weft_fabric *f)
{
	return f->node_level > 0 && f->levels[0].n_domains < f->n_gpus;
}

static struct weft_inside domain_inside(const struct weft_fabric *f,
					const struct weft_domain *d)
{
	if (d->level < f->node_level)
		return (struct weft_inside){WEFT_BOX_GPU, d->first_gpu,
					    d->n_gpus};
	if (d->level == f->node_level ||
	    (d->level == f->node_level + 1 && domains_are_nodes(f)))
		return (struct weft_inside){WEFT_BOX_NODE, d->first_node,
					    d->n_nodes};
	return (struct weft_inside){WEFT_BOX_DOMAIN, d->first_child,
				    d->n_children};
}

static struct weft_inside node_inside(const struct weft_fabric *f,
				      const struct weft_node *node)
{
	uint32_t first, last;

	if (!groups_matter(f))
		return (struct weft_inside){WEFT_BOX_GPU, node->first_gpu,
					    node->n_gpus};
	first = f->gpu_domain[0][node->first_gpu];
	last = f->gpu_domain[0][node->first_gpu + node->n_gpus - 1];
	return (struct weft_inside){WEFT_BOX_DOMAIN, first, last - first + 1};
}

struct weft_inside weft_inside_of(const struct weft_fabric *f,
				  enum weft_box_kind kind, uint32_t index)
{
	const struct weft_level *top = &f->levels[f->n_levels - 1];

	switch (kind) {
	case WEFT_BOX_DOMAIN:
		return domain_inside(f, &f->domains[index]);
	case WEFT_BOX_NODE:
		return node_inside(f, &f->nodes[index]);
	case WEFT_BOX_GPU:
		return (struct weft_inside){WEFT_BOX_GPU, index, 0};
	default:
		break;
	}
	if (f->n_levels - 1 <= f->node_level && domains_are_nodes(f))
		return (struct weft_inside){WEFT_BOX_NODE, 0, f->n_nodes};
	return (struct weft_inside){WEFT_BOX_DOMAIN, top->first_domain,
				    top->n_domains};
}
