/* SPDX-License-Identifier: GPL-3.0-or-later */
/* policy.c - the rules by which schedulers choose a job's GPUs */
#include "lab/replay/policy.h"

#include "base/suggest.h"
#include "placement/mapping/effort.h"

#include <stdlib.h>
#include <string.h>

static int policy_tree(const struct weft_policy_request *q, uint32_t *where,
		       bool *yes, struct weft_error *err)
{
	return rule_tree(&q->rule, where, yes, err);
}

static int policy_block(const struct weft_policy_request *q, uint32_t *where,
			bool *yes, struct weft_error *err)
{
	return rule_block(&q->rule, where, yes, err);
}

static int policy_block_fits(const struct weft_policy_request *q, bool *yes,
			     struct weft_error *err)
{
	return rule_block_fits(&q->rule, yes, err);
}

/* The first nodes in the order in which people count them. */
static int policy_firstfit(const struct weft_policy_request *q, uint32_t *where,
			   bool *yes, struct weft_error *err)
{
	const struct weft_fabric *f = q->rule.fabric;
	uint32_t *nodes = weft_calloc(q->rule.n_nodes, sizeof(*nodes), err);
	uint32_t n = 0;

	if (!nodes)
		return -1;
	for (uint32_t i = 0; i < f->n_nodes && n < q->rule.n_nodes; i++) {
		if (rule_gives(&q->rule, f->counted[i]))
			nodes[n++] = f->counted[i];
	}
	*yes = n == q->rule.n_nodes;
	if (*yes)
		rule_fill(&q->rule, nodes, where);
	free(nodes);
	return 0;
}

/* Any nodes, in any order. */
static int policy_random(const struct weft_policy_request *q, uint32_t *where,
			 bool *yes, struct weft_error *err)
{
	const struct weft_fabric *f = q->rule.fabric;
	uint32_t *nodes = weft_calloc(f->n_nodes, sizeof(*nodes), err);
	struct effort dice = {.random = q->random};
	uint32_t n = 0;

	if (!nodes)
		return -1;
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		if (rule_gives(&q->rule, i))
			nodes[n++] = i;
	}
	*yes = n >= q->rule.n_nodes;
	for (uint32_t i = 0; *yes && i < q->rule.n_nodes; i++) {
		uint32_t k = i + effort_below(&dice, n - i), node = nodes[k];

		nodes[k] = nodes[i];
		nodes[i] = node;
	}
	if (*yes)
		rule_fill(&q->rule, nodes, where);
	free(nodes);
	return 0;
}

/* What weft plan would answer, for an objective beside the jobs that run. */
static int weft_as(const struct weft_policy_request *q,
		   struct weft_objective objective, uint32_t *where, bool *yes,
		   struct weft_error *err)
{
	struct weft_place_options options = *q->options;
	struct weft_placement p = {0};
	int rc;

	objective.load = q->load;
	objective.gpu = q->gpu;
	options.objective = &objective;
	rc = weft_place(q->rule.fabric, q->job, q->rule.occupancy, &options, &p,
			err);
	*yes = rc == 0 && p.placed;
	if (*yes)
		memcpy(where, p.where, p.n_ranks * sizeof(*where));
	weft_placement_free(&p);
	return rc;
}

static int weft_for(const struct weft_policy_request *q, enum weft_goal goal,
		    double fragmentation, uint32_t *where, bool *yes,
		    struct weft_error *err)
{
	const struct weft_objective objective = {
		.goal = goal,
		.metric = q->job->spec.metric,
		.fragmentation = fragmentation,
	};

	return weft_as(q, objective, where, yes, err);
}

static int policy_weft(const struct weft_policy_request *q, uint32_t *where,
		       bool *yes, struct weft_error *err)
{
	return weft_as(q, weft_objective_of_spec(&q->job->spec), where, yes,
		       err);
}

static int policy_busiest(const struct weft_policy_request *q, uint32_t *where,
			  bool *yes, struct weft_error *err)
{
	return weft_for(q, WEFT_GOAL_BUSIEST, 0, where, yes, err);
}

static int policy_cost(const struct weft_policy_request *q, uint32_t *where,
		       bool *yes, struct weft_error *err)
{
	return weft_for(q, WEFT_GOAL_COST, 0, where, yes, err);
}

static double rate_at(const struct weft_fabric *f, uint32_t level)
{
	const struct weft_link *link = &f->levels[level].link;

	return link->rate_bytes_per_s / link->oversubscription;
}

/* The most nodes of one domain of a level that could give to the job: now, or
 * were all free. */
static uint32_t nodes_at_most(const struct weft_policy_request *q,
			      uint32_t level, bool now)
{
	const struct weft_fabric *f = q->rule.fabric;
	const struct weft_level *l = &f->levels[level];
	uint32_t most = 0;

	for (uint32_t i = 0; i < l->n_domains; i++) {
		const struct weft_domain *d = &f->domains[l->first_domain + i];
		uint32_t n = 0;

		for (uint32_t k = 0; k < d->n_nodes; k++) {
			uint32_t node = d->first_node + k;

			n += now ? rule_gives(&q->rule, node)
				 : f->nodes[node].n_gpus >= q->rule.per_node;
		}
		most = n > most ? n : most;
	}
	return most;
}

/* The innermost level that could hold the job, and from there outwards as long
 * as links are as fast. */
static uint32_t level_within(const struct weft_policy_request *q)
{
	const struct weft_fabric *f = q->rule.fabric;
	uint32_t level = f->node_level;

	while (level + 1 < f->n_levels &&
	       (nodes_at_most(q, level, false) < q->rule.n_nodes ||
		(level > f->node_level &&
		 rate_at(f, level + 1) >= rate_at(f, level))))
		level++;
	return level;
}

static int policy_within_fits(const struct weft_policy_request *q, bool *yes,
			      struct weft_error *err)
{
	(void)err;
	*yes = nodes_at_most(q, level_within(q), true) >= q->rule.n_nodes;
	return 0;
}

static int policy_within(const struct weft_policy_request *q, uint32_t *where,
			 bool *yes, struct weft_error *err)
{
	struct weft_policy_request limited = *q;
	struct weft_job job = *q->job;

	limited.job = &job;
	job.within_level = level_within(q);
	return policy_weft(&limited, where, yes, err);
}

/* How much worse a place may be that leaves all free slots whole instead of
 * none. */
#define FRAGMENTATION 0.1

static int policy_frag(const struct weft_policy_request *q, uint32_t *where,
		       bool *yes, struct weft_error *err)
{
	return weft_for(q, WEFT_GOAL_COST, FRAGMENTATION, where, yes, err);
}

const struct weft_policy weft_policies[] = {
	{"weft", "what weft plan answers: least time", policy_weft, NULL},
	{"weft-within", "weft in one domain that could hold the job, or later",
	 policy_within, policy_within_fits},
	{"weft-busiest", "weft for the least busy link", policy_busiest, NULL},
	{"weft-cost", "weft for the least traffic times distance", policy_cost,
	 NULL},
	{"weft-frag", "weft sparing whole domains, up to 10 % of cost",
	 policy_frag, NULL},
	{"slurm-tree", "Slurm's topology/tree: best-fit of switches",
	 policy_tree, NULL},
	{"slurm-block", "Slurm's topology/block: best-fit of blocks",
	 policy_block, policy_block_fits},
	{"first-fit", "the first nodes by name", policy_firstfit, NULL},
	{"random", "any nodes in any order", policy_random, NULL},
};
const uint32_t weft_n_policies =
	sizeof(weft_policies) / sizeof(weft_policies[0]);

const struct weft_policy *weft_policy_find(const char *name,
					   struct weft_error *err)
{
	const struct weft_policy *policy =
		WEFT_ROW(name, weft_policies, weft_n_policies);
	char hint[WEFT_SUGGEST_TEXT];

	if (!policy)
		weft_fail(err, WEFT_EINVAL, "unknown policy \"%.40s\"; %s",
			  name,
			  WEFT_ROW_HINT(name, weft_policies, weft_n_policies,
					hint));
	return policy;
}
