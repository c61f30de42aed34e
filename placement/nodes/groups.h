/* SPDX-License-Identifier: GPL-3.0-or-later */
/* groups.h - the nodes of each domain that segments and parts lie in, and how
 * many of them a job takes
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_NODES_GROUPS_H
#define WEFT_PLACEMENT_NODES_GROUPS_H

#include "placement/nodes/node_set.h"

struct member {
	uint32_t node, give;
	bool required, untouched;
	uint32_t weight;
	uint64_t shape;
};

struct group {
	uint32_t domain;
	uint32_t first, n_nodes; /* its members */
	uint32_t n_must;	 /* required ones, which come first */
};

/* In tree order.  Members of a group: required ones, then those that give
 * most. */
struct groups {
	const struct capacity *s;
	uint32_t scope; /* the domain that holds them all */
	uint32_t share; /* GPUs of each node; 0: what each has */
	uint32_t n, n_members;
	struct group *group;   /* [n] */
	struct member *member; /* [n_members] */
	uint64_t *sum;	/* [n_members + n] GPUs of a group's first k members:
			 * groups_sum */
	uint32_t *take; /* [n] nodes to take of each; filled by the caller */
};

/* A node as a member; share > 0: one that gives less gives nothing (a required
 * one what it has), the others give no more. */
struct member groups_member(const struct capacity *s, uint32_t node,
			    uint32_t share);
/* Required members first, then those that give most. */
void groups_sort(struct member *member, uint32_t n);

/* The groups of a domain, of limits_level or further out, of members
 * that give something.  Free with groups_free in either case. */
int groups_build(const struct capacity *s, uint32_t scope, uint32_t share,
		 struct groups *g, struct weft_error *err);
void groups_free(struct groups *g);

static inline uint64_t groups_sum(const struct groups *g, uint32_t i,
				  uint32_t k)
{
	return g->sum[g->group[i].first + i + k];
}

/* Makes a choice of the first take[i] members of each group, in tree order with
 * the nodes of group `last` at the end; nodes are filled one after another
 * where there is a share, else evenly.  1; 0 when these nodes do not suit the
 * job; -1 with err.  Free with node_set_free in any case. */
int groups_choose(const struct groups *g, uint32_t last, struct node_set *c,
		  struct weft_error *err);

/* n_nodes nodes in segments of `size` nodes, at most `most` whole ones in a
 * group. */
struct segments {
	uint32_t size, n_nodes, most;
};

/* Fill take[], *last with the group of the smaller last segment: 1 or 0; -1
 * with err.
 * deal: DEAL_COMPACT or DEAL_EVEN, quick, may miss what there is. */
int groups_distribute_segments(struct groups *g,
			       const struct segments *segments,
			       enum distribution distribution, uint32_t *last,
			       struct weft_error *err);
/* The nodes that give most of all that there are, any number in a group. */
int groups_most_segments(struct groups *g, const struct segments *segments,
			 uint32_t *last, struct weft_error *err);

/* The same for parts of part[n_parts] nodes, each in a group of its own: with a
 * share in the groups that they fill best, else in those that give most. */
int groups_split(struct groups *g, const uint32_t *part, uint32_t n_parts,
		 struct weft_error *err);

#endif
