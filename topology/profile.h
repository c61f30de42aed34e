/* SPDX-License-Identifier: GPL-3.0-or-later */
/* profile.h - link classes of well-known machines, by name */
#ifndef WEFT_TOPOLOGY_PROFILE_H
#define WEFT_TOPOLOGY_PROFILE_H

#include "topology/fabric.h"

/* link[0] is the NVLink (or PCIe) domain, link[1] the first network level, and
 * so on outwards; a fabric with more levels than the profile repeats the last.
 * Sources: weft-fabric(5), PROFILES. */
struct weft_profile {
	const char *name, *help;
	uint32_t gpus_per_node;
	uint32_t nvlink_nodes; /* nodes an NVLink domain spans; 1 = the node */
	uint32_t n_links;
	enum weft_routing routing;
	uint32_t n_flows; /* of two GPUs, as in a fabric */
	struct weft_link link[5];
};

extern const struct weft_profile weft_profiles[];
extern const uint32_t weft_n_profiles;

/* The profile of that name, or NULL. */
const struct weft_profile *weft_profile_find(const char *name);

#endif
