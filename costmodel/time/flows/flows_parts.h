/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flows_parts.h - what the sources of flows share
 *
 * Private to costmodel/time/flows/.
 */
#ifndef WEFT_COSTMODEL_TIME_FLOWS_FLOWS_PARTS_H
#define WEFT_COSTMODEL_TIME_FLOWS_FLOWS_PARTS_H

#include "costmodel/time/flows.h"

/* One group of ranks on its hosts.  Hosts are numbered in the order in which
 * ranks first appear on them. */
struct flow_group {
	uint32_t n; /* ranks */
	uint32_t n_hosts;
	uint32_t *rank;	  /* [n] as in weft_grid_group */
	uint32_t *gpu;	  /* [n] where they run */
	uint32_t *lead;	  /* [n] where those on the host of each begin in
			   * member */
	uint32_t *host;	  /* [n_hosts] domain */
	uint32_t *first;  /* [n_hosts + 1] into member */
	uint32_t *member; /* [n] GPUs, host by host */
	/* scratch */
	uint32_t *number;   /* [n_domains] of a host; WEFT_NONE between */
	uint32_t *count;    /* [n_domains] members; zero between */
	uint32_t *on_rail;  /* [n_rails] members */
	uint32_t *here;	    /* [n_rails] members of a host */
	uint32_t *out, *in; /* [n] what members have not sent or received */
	void *memory;
};

/* Scratch for groups of up to n_ranks.  NULL with err. */
struct flow_group *flow_group_alloc(const struct weft_fabric *f,
				    uint32_t n_ranks, struct weft_error *err);
void flow_group_free(struct flow_group *group);

/* Reads one of the groups into flows->group. */
void flow_group_read(const struct weft_flows *flows,
		     const struct weft_grid *grid,
		     const struct weft_grid_groups *groups, uint32_t index);

/* Whether only the NIC of a host's first member is visited. */
bool flow_one_nic(const struct weft_flows *flows,
		  const struct weft_flow_kind *kind);

/* Ranks of one group of a token of the grid; at least 1. */
uint32_t flow_group_size(const struct weft_grid *grid, const char *token);

/* Whether the GPUs of a host pass messages to one another's rails.  Where
 * NVLink joins several nodes, those of nodes without ranks of the job do not.
 */
static inline bool flow_has_rails(const struct weft_fabric *f, uint32_t host)
{
	return f->n_rails > 1 && f->domains[host].n_nodes == 1;
}

/* Whether a message for another rail leaves host a by that rail's NIC. */
static inline bool flow_passes(const struct weft_fabric *f, uint32_t a,
			       uint32_t b)
{
	return f->pxn && flow_has_rails(f, a) && flow_has_rails(f, b);
}

/* The GPU by whose number the NIC of a rail of a host goes: the first one on
 * that rail, or on the next lower one that has any, in the host's first node.
 */
uint32_t flow_rail_nic(const struct weft_fabric *f, uint32_t host,
		       uint32_t rail);

/* ---- flow by flow ---- */

/* The visitor of the flows of a stage. */
struct flow_sink {
	const struct weft_fabric *f;
	weft_flow_path_visit visit;
	void *data;
	uint32_t stage;
};

/* Domains that what goes from GPU a to b passes on the ring or torus of
 * `level`, where they meet: the children between theirs, the shorter way, side
 * by side of a torus; none where switches join the children.  Writes at most
 * `most`, which is what it returns where there are more. */
uint32_t flow_passed(const struct weft_fabric *f, uint32_t level, uint32_t a,
		     uint32_t b, uint32_t *passed, uint32_t most);

/* One flow between GPUs of different hosts, which are connected. */
int flow_path_pair(const struct flow_sink *sink, uint32_t a, uint32_t b,
		   double bytes);

/* Sorts the members of each host by rail and number. */
void flow_group_sort(const struct weft_fabric *f, struct flow_group *g);

/* All that host a of a sorted group sends to host b: each member of a sends,
 * and each of b receives, as much as the others of it; first from GPU to GPU of
 * one rail. */
int flow_path_hop(const struct flow_sink *sink, const struct flow_group *g,
		  uint32_t a, uint32_t b, double bytes);

#endif
