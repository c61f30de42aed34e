/* SPDX-License-Identifier: GPL-3.0-or-later */
/* policy_slurm.h - the rules of Slurm's topology plugins, as documented
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_REPLAY_POLICY_SLURM_H
#define WEFT_PLACEMENT_REPLAY_POLICY_SLURM_H

#include "placement/replay/policy.h"

/* True when the node can hold its share of the job. */
bool policy_gives(const struct weft_policy_request *q, uint32_t node);

/* Ranks in the order of nodes[], the lowest free GPUs of each. */
void policy_fill(const struct weft_policy_request *q, const uint32_t *nodes,
		 uint32_t *where);

/* Rows "slurm-tree" and "slurm-block" of weft_policies. */
int policy_tree(const struct weft_policy_request *q, uint32_t *where, bool *yes,
		struct weft_error *err);
int policy_block(const struct weft_policy_request *q, uint32_t *where,
		 bool *yes, struct weft_error *err);
int policy_block_fits(const struct weft_policy_request *q, bool *yes,
		      struct weft_error *err);

#endif
