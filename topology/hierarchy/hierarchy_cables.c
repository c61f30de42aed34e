/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hierarchy_cables.c - levels from cables, step by step */
#include "topology/hierarchy/cable_index.h"

static int steps(struct index *w)
{
	static int (*const step[])(struct index *) = {
		index_build,   index_networks, index_services, index_tiers,
		index_domains, index_rails,    index_rates,
	};

	for (size_t i = 0; i < WEFT_N_OF(step); i++)
		if (step[i](w))
			return -1;
	return 0;
}

int weft_hierarchy_from_cables(struct weft_inventory *s,
			       struct weft_hierarchy *hierarchy,
			       struct weft_error *err)
{
	struct index w = {.s = s, .hierarchy = hierarchy, .err = err};
	int rc = steps(&w);

	weft_arena_free(&w.memory);
	return rc;
}
