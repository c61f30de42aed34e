/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flows_parts.h - what the sources of flows share
 *
 * Private to costmodel/flows*.c.
 */
#ifndef WEFT_COSTMODEL_FLOWS_PARTS_H
#define WEFT_COSTMODEL_FLOWS_PARTS_H

#include "costmodel/flows.h"

/* One group of ranks on its hosts.  Hosts are numbered in the order in which
 * ranks first appear on them. */
struct flow_group {
	uint32_t n; /* ranks */
	uint32_t n_hosts;
	uint32_t *rank;	  /* [n] as in weft_grid_group */
	uint32_t *gpu;	  /* [n] where they run */
	uint32_t *host;	  /* [n_hosts] domain */
	uint32_t *first;  /* [n_hosts + 1] into member */
	uint32_t *member; /* [n] GPUs, host by host */
	/* scratch */
	uint32_t *number;  /* [n_domains] of a host; WEFT_NONE between */
	uint32_t *count;   /* [n_domains] members; zero between */
	uint32_t *on_rail; /* [n_rails] members */
	uint32_t *here;	   /* [n_rails] members of a host */
	void *memory;
};

/* Scratch for groups of up to n_ranks.  NULL with err. */
struct flow_group *flow_group_alloc(const struct weft_fabric *f,
				    uint32_t n_ranks, struct weft_error *err);
void flow_group_free(struct flow_group *group);

/* Reads group number `index` of a token into flows->group.  -1 with err. */
int flow_group_read(const struct weft_flows *flows,
		    const struct weft_grid *grid, const char *token,
		    uint32_t index, struct weft_error *err);

/* Ranks of one group of a token of the grid; at least 1. */
uint32_t flow_group_size(const struct weft_grid *grid, const char *token);

#endif
