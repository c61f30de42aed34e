/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hierarchy_cables.c - levels from cables, step by step */
#include "topology/hierarchy/wiring.h"

#include <stdlib.h>

static int steps(struct wiring *w)
{
	static int (*const step[])(struct wiring *) = {
		wiring_build,	wiring_networks, wiring_services, wiring_tiers,
		wiring_domains, wiring_rails,	 wiring_rates,
	};

	for (size_t i = 0; i < sizeof(step) / sizeof(step[0]); i++)
		if (step[i](w))
			return -1;
	return 0;
}

int weft_hierarchy_from_cables(struct weft_inventory *s,
			       struct weft_hierarchy *hierarchy,
			       struct weft_error *err)
{
	struct wiring w = {.s = s, .hierarchy = hierarchy, .err = err};
	int rc = steps(&w);

	wiring_free(&w);
	return rc;
}
