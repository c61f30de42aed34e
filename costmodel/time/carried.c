/* SPDX-License-Identifier: GPL-3.0-or-later */
/* carried.c - pages of the links that a job may use */
#include "costmodel/time/span_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void page_need(struct carried_pages *pages, uint32_t link)
{
	uint32_t at = link + pages->shift;
	uint32_t *page = &pages->page[at / CARRIED_PAGE];

	if (*page)
		return;
	pages->first[pages->n] = at - at % CARRIED_PAGE;
	*page = ++pages->n;
}

/* Pages of the NICs of a GPU's node. */
static void nics_need(const struct weft_fabric *f, uint32_t gpu,
		      struct carried_pages *pages)
{
	const struct weft_node *node = &f->nodes[f->gpu_node[gpu]];

	for (uint32_t i = 0; i < node->n_gpus; i++)
		page_need(pages, 2 * (f->n_domains + node->first_gpu + i));
}

int carried_pages_build(const struct weft_fabric *f, const uint32_t *where,
			uint32_t n_ranks, struct carried_pages *pages,
			struct weft_error *err)
{
	bool rails = f->n_rails > 1;
	size_t n;

	pages->n_links = 2 * (f->n_domains + (rails ? f->n_gpus : 0));
	pages->shift = (0 - 2 * f->n_domains) % CARRIED_PAGE;
	n = pages->n_links / CARRIED_PAGE + 2;
	pages->page = weft_calloc(n, sizeof(*pages->page), err);
	pages->first = weft_realloc(NULL, n, sizeof(*pages->first), err);
	if (!pages->page || !pages->first)
		return -1;
	for (uint32_t r = 0; r < n_ranks; r++) {
		/* most ranks are on the node of the one before */
		if (r &&
		    f->gpu_domain[0][where[r]] ==
			    f->gpu_domain[0][where[r - 1]] &&
		    f->gpu_node[where[r]] == f->gpu_node[where[r - 1]])
			continue;
		if (rails)
			nics_need(f, where[r], pages);
		for (uint32_t l = 0; l < f->n_levels; l++)
			page_need(pages, 2 * f->gpu_domain[l][where[r]]);
	}
	/* on rings and tori what is sent passes other domains, too */
	for (uint32_t d = 0; f->has_steps && d < f->n_domains; d++)
		page_need(pages, 2 * d);
	n = (size_t)pages->n * CARRIED_PAGE;
	pages->carried = weft_calloc(n, sizeof(*pages->carried), err);
	pages->capacity = weft_calloc(n / 2, sizeof(*pages->capacity), err);
	pages->total = weft_calloc(n, sizeof(*pages->total), err);
	return pages->carried && pages->capacity && pages->total ? 0 : -1;
}

void carried_pages_free(struct carried_pages *pages)
{
	int saved = errno;

	free(pages->carried);
	free(pages->capacity);
	free(pages->total);
	free(pages->page);
	free(pages->first);
	memset(pages, 0, sizeof(*pages));
	errno = saved;
}
