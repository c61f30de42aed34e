/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm_rule.h - the rules of Slurm's topology plugins, as documented
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_OBJECTIVE_SLURM_RULE_H
#define WEFT_PLACEMENT_OBJECTIVE_SLURM_RULE_H

#include "placement/capacity/occupancy.h"

/* A job on n_nodes >= 1 nodes, per_node >= 1 GPUs of each; of the last one only
 * what is missing to n_gpus (0: as much as of the others). */
struct rule_request {
	const struct weft_fabric *fabric;
	const struct weft_occupancy *occupancy;
	uint32_t n_nodes, per_node, n_gpus;
};

/* True when the node can hold its share of the job. */
bool rule_gives(const struct rule_request *q, uint32_t node);

/* Ranks in the order of nodes[], the lowest free GPUs of each. */
void rule_fill(const struct rule_request *q, const uint32_t *nodes,
	       uint32_t *where);

/* Whose domains are leaf switches, or base blocks: the innermost domains of
 * several nodes. */
uint32_t rule_leaf_level(const struct weft_fabric *f);

/* topology/tree (slurm_tree.c) and topology/block: where[] of all GPUs when
 * *yes; false: the rule finds no place now.  Required nodes and weights of the
 * occupancy count for the tree alone.  -1 with err when out of memory. */
int rule_tree(const struct rule_request *q, uint32_t *where, bool *yes,
	      struct weft_error *err);
int rule_block(const struct rule_request *q, uint32_t *where, bool *yes,
	       struct weft_error *err);

/* Whether rule_block finds a place. */
int rule_block_fits(const struct rule_request *q, bool *yes,
		    struct weft_error *err);

#endif
