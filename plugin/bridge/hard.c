/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hard.c - domains that a job must stay in */
#include "plugin/bridge/hard.h"

static uint32_t usable_in(const struct weft_occupancy *o, uint32_t first,
			  uint32_t n)
{
	uint32_t able = 0;

	for (uint32_t i = first; i < first + n; i++)
		able += weft_occupancy_give(o, i) > 0;
	return able;
}

uint32_t weft_hard_able(const struct weft_occupancy *o,
			const struct weft_frame *frame)
{
	const struct weft_fabric *f = o->fabric;
	uint32_t level = frame->within[0] ? weft_fabric_level(f, frame->within)
					  : WEFT_NONE;
	uint32_t most = 0;

	if (level == WEFT_NONE || level < f->node_level)
		return usable_in(o, 0, f->n_nodes);
	for (uint32_t d = 0; d < f->levels[level].n_domains; d++) {
		const struct weft_domain *domain =
			&f->domains[f->levels[level].first_domain + d];
		uint32_t able =
			usable_in(o, domain->first_node, domain->n_nodes);

		most = able > most ? able : most;
	}
	return most;
}
