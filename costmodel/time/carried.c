/* SPDX-License-Identifier: GPL-3.0-or-later */
/* carried.c - pages of the links that a job may use */
#include "costmodel/time/span_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void page_need(struct carried_pages *pages, uint32_t link)
{
	uint32_t *page = &pages->page[link / CARRIED_PAGE];

	if (*page)
		return;
	pages->first[pages->n] = link - link % CARRIED_PAGE;
	*page = ++pages->n;
}

/* Pages of what a GPU's flows may load: its NIC or, on rails, those of its
 * host, and the links above its domains. */
static void gpu_need(const struct weft_fabric *f, uint32_t gpu,
		     struct carried_pages *pages)
{
	const struct weft_node *node = &f->nodes[f->gpu_node[gpu]];
	uint32_t n = f->n_rails > 1 ? node->n_gpus : 1;
	uint32_t first = f->n_rails > 1 ? node->first_gpu : gpu;

	for (uint32_t i = 0; i < n; i++)
		page_need(pages, 2 * (f->n_domains + first + i));
	for (uint32_t l = 0; l < f->n_levels; l++)
		page_need(pages, 2 * f->gpu_domain[l][gpu]);
}

int carried_pages_build(const struct weft_fabric *f, const uint32_t *where,
			uint32_t n_ranks, struct carried_pages *pages,
			struct weft_error *err)
{
	uint32_t n = 2 * (f->n_domains + f->n_gpus) / CARRIED_PAGE + 1;

	pages->page = weft_calloc(n, sizeof(*pages->page), err);
	pages->first = weft_realloc(NULL, n, sizeof(*pages->first), err);
	if (!pages->page || !pages->first)
		return -1;
	for (uint32_t r = 0; r < n_ranks; r++)
		gpu_need(f, where[r], pages);
	/* on rings and tori what is sent passes other domains, too */
	for (uint32_t d = 0; f->has_steps && d < f->n_domains; d++)
		page_need(pages, 2 * d);
	pages->carried = weft_calloc((size_t)pages->n * CARRIED_PAGE,
				     sizeof(*pages->carried), err);
	return pages->carried ? 0 : -1;
}

void carried_pages_free(struct carried_pages *pages)
{
	int saved = errno;

	free(pages->carried);
	free(pages->page);
	free(pages->first);
	memset(pages, 0, sizeof(*pages));
	errno = saved;
}
