/* SPDX-License-Identifier: GPL-3.0-or-later */
/* traffic.h - M(i,j): the bytes that rank i sends to rank j in one step */
#ifndef WEFT_COSTMODEL_TRAFFIC_TRAFFIC_H
#define WEFT_COSTMODEL_TRAFFIC_TRAFFIC_H

#include "base/error.h"
#include "costmodel/job/model.h"
#include "costmodel/job/parallelism.h"
#include "costmodel/job/spec.h"

#include <stdint.h>

/* What the bytes are sent for. */
enum weft_axis {
	WEFT_AXIS_TP,
	WEFT_AXIS_CP,
	WEFT_AXIS_EP,
	WEFT_AXIS_PP,
	WEFT_AXIS_DP,
	WEFT_N_AXES
};
extern const char *const weft_axis_names[WEFT_N_AXES];

/* A group of ranks whose bytes are reduced in the network: each member sends
 * `bytes` up to a switch and gets as many back, the sum of all.  The switch is
 * a vertex that is no rank; it lies where the members' domains meet, so each
 * member's bytes travel as far as to the remotest member, but a link above
 * several of them carries their sum, which is as large as one's. */
struct weft_switch {
	uint32_t first_member, n_members; /* of weft_traffic.member */
	enum weft_axis axis;
	double bytes; /* per member and step, each way */
};

/* A group of ranks in which each sends as much to each other one. */
struct weft_clique {
	uint32_t first_member, n_members; /* of weft_traffic.member */
	enum weft_axis axis;
	double bytes; /* of a pair and step */
};

/* Sparse rows: edges row[i] .. row[i+1]-1 leave rank i, by ascending peer; a
 * pair may occur once per axis.  No rank sends to itself; bytes > 0.  Where
 * cliques and loose edges are all there is, the rows of a job of experts would
 * be most of its memory: row, peer, axis and bytes are NULL, though n_edges
 * counts all edges, until weft_traffic_expand. */
struct weft_traffic {
	uint32_t n_ranks, n_edges;
	uint32_t *row;	/* [n_ranks + 1] */
	uint32_t *peer; /* [n_edges] */
	uint8_t *axis;	/* [n_edges] enum weft_axis */
	double *bytes;	/* [n_edges] per step */
	uint32_t n_switches;
	struct weft_switch *switches; /* [n_switches] */
	uint32_t *member;	      /* ranks, a switch's in ring order */
	/* The same edges, where it takes far fewer words: those of cliques,
	 * and loose ones.  NULL where there are no large cliques. */
	uint32_t n_cliques;
	struct weft_clique *cliques; /* [n_cliques] */
	struct weft_traffic *loose;  /* rows alone */
};

/* How much of it: with rings, every collective is one, which keeps the same
 * ranks together with far fewer pairs; without pairs, it has no ranks. */
enum weft_detail { WEFT_ALL_PAIRS, WEFT_RINGS, WEFT_NO_PAIRS };

/* Traffic of a resolved spec's schedule (schedule.h): every call, turned into
 * pairs by its algorithm.  Free with weft_traffic_free in either case. */
struct weft_schedule;
int weft_traffic_of_schedule(const struct weft_spec *spec,
			     const struct weft_schedule *schedule,
			     enum weft_detail detail,
			     struct weft_traffic *traffic,
			     struct weft_error *err);
void weft_traffic_free(struct weft_traffic *traffic);

/* The traffic itself where it has rows, else its rows alone, in *rows; NULL
 * with err.  Free rows with weft_traffic_free in either case. */
const struct weft_traffic *
weft_traffic_whole(const struct weft_traffic *traffic,
		   struct weft_traffic *rows, struct weft_error *err);
/* Gives it its rows where it has none. */
int weft_traffic_expand(struct weft_traffic *traffic, struct weft_error *err);

/* Builds from loose triples (any order; equal (from,to,axis) are summed). */
struct weft_flow {
	uint32_t from, to;
	enum weft_axis axis;
	double bytes;
};
int weft_traffic_from_flows(uint32_t n_ranks, struct weft_flow *flows,
			    uint32_t n_flows, struct weft_traffic *traffic,
			    struct weft_error *err);

/* Sum of all bytes that ranks send. */
double weft_traffic_bytes(const struct weft_traffic *traffic);

#endif
