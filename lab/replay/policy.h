/* SPDX-License-Identifier: GPL-3.0-or-later */
/* policy.h - the rules by which schedulers choose a job's GPUs, side by side */
#ifndef WEFT_LAB_REPLAY_POLICY_H
#define WEFT_LAB_REPLAY_POLICY_H

#include "placement/job.h"
#include "placement/objective/slurm_rule.h"
#include "placement/place.h"

/* Job on n_nodes nodes of per_node GPUs each. */
struct weft_policy_request {
	struct rule_request rule;
	const struct weft_job *job;
	uint64_t random; /* the job's own, for policies that throw dice */
	const struct weft_place_options *options; /* of weft's policies */
	const struct weft_gpu *gpu;   /* whose step; NULL: it is not known */
	const struct weft_load *load; /* of jobs that run; NULL: of none */
};

/* Both return 0 with *yes, or -1 with err.
 * place: where[r] for each of the job's ranks, when *yes.
 * fits: whether place would find a place, in less time.  NULL: whenever enough
 * nodes have enough free GPUs. */
struct weft_policy {
	const char *name, *help;
	int (*place)(const struct weft_policy_request *q, uint32_t *where,
		     bool *yes, struct weft_error *err);
	int (*fits)(const struct weft_policy_request *q, bool *yes,
		    struct weft_error *err);
};

extern const struct weft_policy weft_policies[];
extern const uint32_t weft_n_policies;

/* By name; NULL with err naming the nearest. */
const struct weft_policy *weft_policy_find(const char *name,
					   struct weft_error *err);

#endif
