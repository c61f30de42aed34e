/* SPDX-License-Identifier: GPL-3.0-or-later */
/* carried.h - what the calls of a job put on links
 *
 * Private to costmodel/time/span.c.  A job uses few of a fabric's links, those
 * of neighbours: only the pages that they are on are there.
 */
#ifndef WEFT_COSTMODEL_TIME_CARRIED_H
#define WEFT_COSTMODEL_TIME_CARRIED_H

#include "topology/fabric.h"

/* Links of a page. */
#define CARRIED_PAGE 64

/* What calls put on a directed link. */
struct carried {
	double total; /* bytes of all kinds */
	double bytes; /* of the kind at hand, as the next two */
	double n_flows;
	double unit;	 /* bytes of a flow for one that its rank sends */
	uint64_t stages; /* bit p % 64: of stage p */
};

/* Links of weft_flows_end, without ports.  Zero-initialise. */
struct carried_pages {
	struct carried *carried; /* [n][CARRIED_PAGE] */
	uint32_t *page;		 /* of a link, number + 1; 0: none */
	uint32_t *first;	 /* [n] first link */
	uint32_t n;
};

/* Zeroed pages of all links that flows between GPUs where[n_ranks] may use.
 * Free with carried_pages_free in either case. */
int carried_pages_build(const struct weft_fabric *f, const uint32_t *where,
			uint32_t n_ranks, struct carried_pages *pages,
			struct weft_error *err);
void carried_pages_free(struct carried_pages *pages);

static inline struct carried *carried_of(const struct carried_pages *pages,
					 uint32_t link)
{
	uint32_t page = pages->page[link / CARRIED_PAGE] - 1;

	return &pages->carried[(size_t)page * CARRIED_PAGE +
			       link % CARRIED_PAGE];
}

/* The link of carried[i]. */
static inline uint32_t carried_link(const struct carried_pages *pages,
				    uint32_t i)
{
	return pages->first[i / CARRIED_PAGE] + i % CARRIED_PAGE;
}

#endif
