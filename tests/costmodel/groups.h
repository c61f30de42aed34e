/* SPDX-License-Identifier: GPL-3.0-or-later */
/* groups.h - groups of ranks for the tests of collectives */
#ifndef WEFT_TESTS_COSTMODEL_GROUPS_H
#define WEFT_TESTS_COSTMODEL_GROUPS_H

#include "costmodel/traffic/collective.h"
#include "tests/lib/check.h"

#define MAX_RANKS 512

/* Nodes of eight GPUs, each with a NIC. */
static inline struct weft_group hopper_nodes(uint32_t n_nodes)
{
	return (struct weft_group){
		.n_levels = 2,
		.level = {{8, 0.8e-6, 366e9}, {n_nodes, 2.8e-6, 46.5e9}},
	};
}

static inline struct weft_collective_price price(enum weft_collective c,
						 enum weft_algorithm a,
						 const struct weft_group *group,
						 double size)
{
	struct weft_collective_price p;
	struct weft_error err = {0};

	weft_collective_price(c, a, group, size, &p, &err);
	assert_no_error(&err);
	return p;
}

/* At most MAX_RANKS; rates fall outwards. */
static inline struct weft_group random_group(uint64_t *seed)
{
	struct weft_group group = {
		.n_levels = 1 + test_random_below(seed, 4),
		.sharp_tiers = test_random_below(seed, 3),
		.in_flight = test_random_below(seed, 4),
		.multicast_efficiency = 0.5 * test_random_below(seed, 2),
	};
	uint32_t n = 1;

	for (uint32_t l = 0; l < group.n_levels; l++) {
		group.level[l].n = 1 + test_random_below(seed, 9);
		if (test_random_below(seed, 2))
			group.level[l].n = 1u << test_random_below(seed, 4);
		if (n * group.level[l].n > MAX_RANKS)
			group.level[l].n = 1;
		n *= group.level[l].n;
		group.level[l].latency_s = 1e-6 * (l + 1);
		group.level[l].rate_bytes_per_s = 400e9 / (1u << 2 * l);
	}
	group.n_channels = test_random_below(seed, 4);
	return group;
}

#endif
