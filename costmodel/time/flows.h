/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flows.h - which links the calls of a step load on a placement, and how much
 *
 * The one place that knows who sends to whom over what: step times, the busiest
 * link and the load on others all add up what is said here.
 *
 * Links, each with two directions:
 *	above every domain, of the capacity of weft_cost_uplink_rate;
 *	the NIC of a GPU into the first network level, at that level's rate; on
 *	a rail-optimised fabric the GPUs of a host on one rail share theirs;
 *	the port of a GPU into its NVLink domain.
 * A host here is a domain of fabric.node_level: a node, or the NVLink domain
 * where these span nodes.
 *
 * Rings visit hosts in the order in which the group's ranks first appear on
 * them, and order ranks inside a host themselves (NCCL, src/init.cc, where
 * nodes are numbered, and src/graph/rings.cc).  Each hop carries the ring's
 * bytes once, spread over the NICs of all members of the host: one channel for
 * each.  Trees take the same order of hosts (src/graph/trees.cc).  On rails a
 * message for another rail leaves by that rail's NIC (PXN) if the fabric does
 * so, otherwise by its own, and then also crosses the level above.
 */
#ifndef WEFT_COSTMODEL_TIME_FLOWS_H
#define WEFT_COSTMODEL_TIME_FLOWS_H

#include "costmodel/traffic/schedule.h"
#include "topology/fabric.h"

/* Who sends to whom in a group. */
enum weft_way {
	WEFT_WAY_RING,
	WEFT_WAY_TREES, /* double binary trees over hosts, for all-reduces */
	WEFT_WAY_HIERARCHY, /* rings inside hosts, and between them of a share
			     */
	WEFT_WAY_ALL,	    /* each to each */
	WEFT_WAY_NEXT,	    /* to the next rank, the last to the first */
	WEFT_WAY_PREVIOUS,  /* to the one before, around */
	WEFT_WAY_ENDS	    /* the first and the last to each other */
};

/* Calls that load links alike: of the same groups in the same way, in every
 * stage as many bytes of one as of another, but for a factor. */
struct weft_flow_kind {
	uint32_t call; /* the first of them in the schedule */
	enum weft_way way;
	uint32_t n_groups;
	const struct weft_grid *grid; /* of which they are groups */
	struct weft_grid_groups groups;
	double *sent;	/* [n_stages] bytes a step that a rank sends; of trees,
			 * bytes that they reduce */
	double message; /* of these a call, on average */
};

/* The calls of a schedule on a placement: rank r runs on GPU where[r]. */
struct weft_flows {
	const struct weft_fabric *fabric;
	const struct weft_schedule *schedule;
	const uint32_t *where;
	enum weft_choice_of_algorithm algorithm;
	uint32_t n_stages, pp_axis; /* WEFT_MAX_AXES: no pipeline */
	uint32_t n_kinds;
	struct weft_flow_kind *kinds;
	uint32_t *kind_of; /* [n_calls] */
	bool one_nic;	   /* set by who visits groups: see weft_flows_nics */
	/* private */
	double *sent;		  /* rows of the kinds */
	struct flow_group *group; /* scratch */
};

/* Keeps f, schedule and where.  algorithm: of all-reduces, as in the spec; by
 * size it is the trees where their fewer steps win on links that are idle, as
 * NCCL, which knows nothing of congestion, decides it.  Free with
 * weft_flows_free in either case. */
int weft_flows_build(const struct weft_fabric *f,
		     const struct weft_schedule *schedule,
		     const uint32_t *where,
		     enum weft_choice_of_algorithm algorithm,
		     struct weft_flows *flows, struct weft_error *err);
void weft_flows_free(struct weft_flows *flows);

/* Directed links of a fabric: 2 * link + 1 is the other direction of 2 * link,
 * which leads up or out. */
static inline uint32_t weft_flows_n_links(const struct weft_fabric *f)
{
	return 2 * (f->n_domains + 2 * f->n_gpus);
}

/* What a directed link is. */
enum weft_flow_link { WEFT_LINK_DOMAIN, WEFT_LINK_NIC, WEFT_LINK_PORT };
struct weft_flow_end {
	enum weft_flow_link what;
	uint32_t domain; /* of WEFT_LINK_DOMAIN */
	uint32_t gpu;	 /* of the others; of a shared NIC the first one */
	bool up;
};
struct weft_flow_end weft_flows_end(const struct weft_fabric *f, uint32_t link);

/* Bytes per second of a directed link; INFINITY above the top level. */
double weft_flows_capacity(const struct weft_fabric *f, uint32_t link);

/* The ranks of a pipeline stage send `bytes` a step over a directed link, as
 * n_flows flows; both: as much over link + 1, too, which is this one's other
 * direction.  A link may come several times: add up. */
struct weft_flow_visited {
	uint32_t stage, link;
	uint32_t member; /* of a NIC that is no other rank's: its number in the
			  * group, as in weft_flow_twins */
	bool both;
	double bytes, n_flows;
};
typedef void (*weft_flow_visit)(void *data,
				const struct weft_flow_visited *visited);

/* The hops of a group: once around its ring, or all that its trees or pairs
 * have. */
struct weft_flow_hops {
	uint32_t n_inside;	    /* inside hosts */
	uint32_t n_between;	    /* from host to host */
	double inside_s, between_s; /* sums of their wires' latencies */
	double longest_s;	    /* latency of a single one */
	uint32_t level;		    /* the outermost at which ranks meet */
};

/* Visits the links of group number `index` of a kind, as in weft_grid_group.
 * hops: filled; NULL: not wanted.  Returns -1 with err where no link joins
 * two ranks of the group.  O(ranks of the group * depth). */
int weft_flows_group(const struct weft_flows *flows, uint32_t kind,
		     uint32_t index, weft_flow_visit visit, void *data,
		     struct weft_flow_hops *hops, struct weft_error *err);

/* Whether group `index` of a kind loads links as the group of the kind does
 * that was visited last: its ranks are of the same stages and, member by
 * member, on the same hosts, or all of them on one as all of those.  Then its
 * hops and the links above hosts are the same, and its members' NICs carry what
 * theirs do: the NIC of rank[i] + by what that of member[i] does, or of i where
 * member is NULL.  One host: n is 0, as no NIC carries anything.  False, too,
 * where NICs are shared or NVLink domains smaller than nodes. */
struct weft_flow_twins {
	const uint32_t *member, *rank; /* [n] until the next visit */
	uint32_t by, n;
};
bool weft_flows_twin(const struct weft_flows *flows, uint32_t kind,
		     uint32_t index, struct weft_flow_twins *twins);

/* The same of the group itself that was visited last; n is 0, too, where NICs
 * are shared.  Where the members of a host send as much as one another, so do
 * their NICs and ports: with one_nic only that of the first of them is visited,
 * and one port of each NVLink domain. */
struct weft_flow_twins weft_flows_nics(const struct weft_flows *flows,
				       uint32_t kind);

/* One flow between GPUs of different hosts.  Its links are their NICs, and
 * those above hosts and the domains that they are in. */
/* Domains of a ring or torus that a flow passes and whose links it loads; of
 * more, the first. */
#define WEFT_FLOW_PASSED 64
struct weft_flow_path {
	/* [n_links] directed */
	uint32_t link[2 * (WEFT_MAX_LEVELS + 2 + WEFT_FLOW_PASSED)];
	uint32_t n_links, stage;
	double bytes; /* a step */
};
/* Returns -1 to go no further. */
typedef int (*weft_flow_path_visit)(void *data,
				    const struct weft_flow_path *path);

/* Visits these flows of a group one by one, after weft_flows_group has found
 * all of its ranks connected.  Where one host has more members than the other a
 * member sends to several, or several to one: up to two flows for each rank of
 * a ring, eight with trees.  Returns -1 as weft_flows_group does, or where
 * `visit` did. */
int weft_flows_paths(const struct weft_flows *flows, uint32_t kind,
		     uint32_t index, weft_flow_path_visit visit, void *data,
		     struct weft_error *err);

/* Of the group that was visited last: its hosts, and the stage whose ranks
 * send; WEFT_NONE where they are of several, as in a pipeline. */
struct weft_flow_seen {
	uint32_t n_hosts, stage;
};
struct weft_flow_seen weft_flows_seen(const struct weft_flows *flows,
				      uint32_t kind);

/* The pipeline stage of a rank. */
uint32_t weft_flows_stage(const struct weft_flows *flows, uint32_t rank);

#endif
