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

/* Pages of the NICs that a GPU's flows may load: its own or, on rails, those of
 * its host. */
static void adapters_need(const struct weft_fabric *f, uint32_t gpu,
			  struct carried_pages *pages)
{
	const struct weft_node *node = &f->nodes[f->gpu_node[gpu]];
	uint32_t n = f->n_rails > 1 ? node->n_gpus : 1;
	uint32_t first = f->n_rails > 1 ? node->first_gpu : gpu;

	for (uint32_t i = 0; i < n; i++)
		page_need(pages, 2 * (f->n_domains + first + i));
}

int carried_pages_build(const struct weft_fabric *f, const uint32_t *where,
			uint32_t n_ranks, struct carried_pages *pages,
			struct weft_error *err)
{
	uint32_t n = 2 * (f->n_domains + f->n_gpus) / CARRIED_PAGE + 2;

	pages->shift = (0 - 2 * f->n_domains) % CARRIED_PAGE;
	pages->page = weft_calloc(n, sizeof(*pages->page), err);
	pages->first = weft_realloc(NULL, n, sizeof(*pages->first), err);
	if (!pages->page || !pages->first)
		return -1;
	for (uint32_t r = 0; r < n_ranks; r++) {
		adapters_need(f, where[r], pages);
		/* most ranks are on the host of the one before */
		if (r && f->gpu_domain[0][where[r]] ==
				 f->gpu_domain[0][where[r - 1]])
			continue;
		for (uint32_t l = 0; l < f->n_levels; l++)
			page_need(pages, 2 * f->gpu_domain[l][where[r]]);
	}
	/* on rings and tori what is sent passes other domains, too */
	for (uint32_t d = 0; f->has_steps && d < f->n_domains; d++)
		page_need(pages, 2 * d);
	pages->pair = weft_calloc((size_t)pages->n * CARRIED_PAGE / 2,
				  sizeof(*pages->pair), err);
	/* room for all, of which most is never touched */
	pages->carried = weft_realloc(NULL, (size_t)pages->n * CARRIED_PAGE,
				      sizeof(*pages->carried), err);
	pages->capacity =
		weft_realloc(NULL, (size_t)pages->n * CARRIED_PAGE / 2,
			     sizeof(*pages->capacity), err);
	return pages->pair && pages->carried && pages->capacity ? 0 : -1;
}

int carried_pages_total(struct carried_pages *pages, struct weft_error *err)
{
	pages->total = weft_calloc((size_t)pages->n * CARRIED_PAGE,
				   sizeof(*pages->total), err);
	return pages->total ? 0 : -1;
}

void carried_pages_free(struct carried_pages *pages)
{
	int saved = errno;

	free(pages->carried);
	free(pages->capacity);
	free(pages->pair);
	free(pages->total);
	free(pages->page);
	free(pages->first);
	memset(pages, 0, sizeof(*pages));
	errno = saved;
}
