/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hierarchy_fit.c - what cables say of hosts, put in terms of GPUs */
#include "topology/hierarchy/hierarchy.h"
#include "topology/profile.h"

/* GPUs of a host that no source knows: as inventory_write assumes them. */
static uint32_t gpus_assumed(const struct weft_inventory *s,
			     const struct weft_hierarchy_options *options)
{
	const char *name = options->profile ? options->profile
					    : weft_hierarchy_nvlink_profile(s);
	const struct weft_profile *profile =
		weft_profile_find(name ? name : "dgx-h100-superpod");

	if (options->gpus_per_node)
		return options->gpus_per_node;
	return profile ? profile->gpus_per_node : 8;
}

/* The fabric file deals GPUs to rails evenly, or rails to GPUs. */
static bool divides(uint32_t gpus, uint32_t rails)
{
	return gpus % rails == 0 || rails % gpus == 0;
}

/* Rails that do not divide the GPUs of some host are given up: then each bundle
 * is one domain of several switches. */
static int rails_fit(struct weft_inventory *s, struct weft_hierarchy *hierarchy,
		     uint32_t assumed, struct weft_error *err)
{
	for (uint32_t h = 0; hierarchy->n_rails > 1 && h < s->n_hosts; h++) {
		const struct weft_inventory_host *host = &s->hosts[h];
		uint32_t gpus = host->gpus.value > 0
					? (uint32_t)host->gpus.value
					: assumed;
		uint32_t rails = hierarchy->n_rails;

		if (host->no_gpus || hierarchy->host_domain[h] == WEFT_NONE ||
		    divides(gpus, rails))
			continue;
		hierarchy->n_rails = 1;
		return weft_inventory_note(
			s, WEFT_FINDING_RAILS_UNUSED, host->name, host->where,
			err,
			"%u GPUs cannot be dealt to %u rails; "
			"the leafs of a bundle are taken as one",
			gpus, rails);
	}
	return 0;
}

/* GPUs of most hosts that have some. */
static uint32_t gpus_usual(const struct weft_inventory *s, uint32_t assumed)
{
	uint32_t hosts[WEFT_MAX_GPUS_PER_NODE + 1] = {0}, best = 0;

	for (uint32_t h = 0; h < s->n_hosts; h++)
		if (s->hosts[h].gpus.value > 0 &&
		    s->hosts[h].gpus.value <= WEFT_MAX_GPUS_PER_NODE)
			hosts[(uint32_t)s->hosts[h].gpus.value]++;
	for (uint32_t n = 1; n <= WEFT_MAX_GPUS_PER_NODE; n++)
		if (hosts[n] > hosts[best])
			best = n;
	return best ? best : assumed;
}

/* A GPU's share of its host's cables; above a level with fewer uplinks, what is
 * left of it. */
static void rates_share(struct weft_hierarchy *hierarchy, uint32_t gpus)
{
	double rate = hierarchy->host_rate_bytes_per_s / gpus;

	for (uint32_t l = 0; rate > 0 && l < hierarchy->n_levels; l++) {
		struct weft_hierarchy_level *level = &hierarchy->levels[l];

		if (level->rate_bytes_per_s > 0)
			continue;
		level->rate_bytes_per_s = rate;
		if (level->oversubscription > 1)
			rate /= level->oversubscription;
	}
}

int weft_hierarchy_fit(struct weft_inventory *s,
		       struct weft_hierarchy *hierarchy,
		       const struct weft_hierarchy_options *options,
		       struct weft_error *err)
{
	uint32_t assumed = gpus_assumed(s, options);

	if (rails_fit(s, hierarchy, assumed, err))
		return -1;
	rates_share(hierarchy, gpus_usual(s, assumed));
	return 0;
}
