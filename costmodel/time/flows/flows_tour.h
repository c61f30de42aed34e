/* SPDX-License-Identifier: GPL-3.0-or-later */
/* flows_tour.h - visiting the links that a group of ranks loads
 *
 * Private to costmodel/time/flows/.
 */
#ifndef WEFT_COSTMODEL_TIME_FLOWS_FLOWS_TOUR_H
#define WEFT_COSTMODEL_TIME_FLOWS_FLOWS_TOUR_H

#include "costmodel/time/flows/flows_parts.h"

/* One visit of a group: its visitor, and what that gets. */
struct flow_tour {
	const struct weft_fabric *f;
	struct flow_group *g;
	weft_flow_visit visit;
	void *data;
	weft_flow_path_visit path; /* instead: each flow between hosts */
	bool one_nic;		   /* of each host's, as flow_one_nic */
	uint32_t stage;
	double sent; /* bytes of a rank of the stage */
	struct weft_flow_hops *hops;
	struct weft_error *err;
};

enum flow_direction { FLOW_UP, FLOW_DOWN, FLOW_BOTH };

/* A NIC's link, and the number in the group of the rank that it is of. */
struct flow_nic {
	uint32_t link, member;
};

/* Tells the visitor of bytes (of a rank that sends 1) on a link, its port or
 * NIC, or above a domain, upwards, downwards or as many in both directions. */
static inline void flow_tell_nic(const struct flow_tour *t, struct flow_nic nic,
				 enum flow_direction way, double bytes,
				 double n_flows)
{
	const struct weft_flow_visited visited = {
		.stage = t->stage,
		.link = 2 * nic.link + (way == FLOW_DOWN),
		.member = nic.member,
		.both = way == FLOW_BOTH,
		.bytes = t->sent * bytes,
		.n_flows = n_flows,
	};

	if (bytes > 0 && t->visit)
		t->visit(t->data, &visited);
}

static inline void flow_tell(const struct flow_tour *t, uint32_t link,
			     enum flow_direction way, double bytes,
			     double n_flows)
{
	flow_tell_nic(t, (struct flow_nic){link, 0}, way, bytes, n_flows);
}

static inline void flow_tell_port(const struct flow_tour *t, uint32_t gpu,
				  enum flow_direction way, double bytes)
{
	flow_tell(t, t->f->n_domains + t->f->n_gpus + gpu, way, bytes, 1);
}

uint32_t flow_rail_of(const struct flow_tour *t, uint32_t gpu);

static inline struct flow_nic flow_nic_of(const struct flow_tour *t,
					  uint32_t host, uint32_t gpu,
					  uint32_t member)
{
	if (flow_has_rails(t->f, host))
		gpu = flow_rail_nic(t->f, host, flow_rail_of(t, gpu));
	return (struct flow_nic){t->f->n_domains + gpu, member};
}

/* Where the members of host h end whose NICs are visited. */
static inline uint32_t flow_nics_end(const struct flow_tour *t, uint32_t h)
{
	return t->one_nic ? t->g->first[h] + 1 : t->g->first[h + 1];
}

/* Fails: no link joins the two GPUs. */
int flow_unconnected(const struct flow_tour *t, uint32_t a, uint32_t b);
/* Counts n hops of a latency that meet at a level. */
void flow_hops_count(const struct flow_tour *t, uint32_t level,
		     double latency_s, uint32_t n);

/* What goes past a domain of a ring or torus enters and leaves it, too. */
void flow_tell_passed(const struct flow_tour *t, uint32_t a, uint32_t b,
		      uint32_t meet, double bytes, double n_flows);

struct flow_sink flow_sink_of(const struct flow_tour *t);

/* Shares of host h's members on each rail. */
void flow_rails_count(const struct flow_tour *t, uint32_t h, uint32_t *on_rail);
/* The domain that is the host of a GPU. */
static inline uint32_t flow_host_of(const struct weft_fabric *f, uint32_t gpu)
{
	return f->gpu_domain[f->node_level][gpu];
}

/* Each member sends to each other one. */
int flow_tour_all(const struct flow_tour *t);

#endif
