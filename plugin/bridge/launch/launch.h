/* SPDX-License-Identifier: GPL-3.0-or-later */
/* launch.h - the order of a job's ranks in the words of those who start tasks:
 * the nodes of srun's tasks, lists of visible GPUs, variables of frameworks; no
 * Slurm types
 */
#ifndef WEFT_PLUGIN_BRIDGE_LAUNCH_LAUNCH_H
#define WEFT_PLUGIN_BRIDGE_LAUNCH_LAUNCH_H

#include "topology/rank_map.h"

/* True when the hostlist names exactly the rank map's nodes. */
bool weft_launch_same_nodes(const struct weft_rank_map *r,
			    const char *hostlist);

/* The node of each task of a step over all of the job's nodes, separated by
 * commas: a task for each rank, or one for each node, in the order of the
 * nodes' first ranks.  malloc'ed; NULL where n_tasks is neither, or out of
 * memory. */
char *weft_launch_nodes(const struct weft_rank_map *r, uint32_t n_tasks);

/* The ranks of the node that has most. */
uint32_t weft_launch_most(const struct weft_rank_map *r);

/* Slurm's "8(x3),4" for the nodes of `hostlist`: true when each has as many
 * tasks as the rank map has ranks there. */
bool weft_launch_task_per_rank(const struct weft_rank_map *r,
			       const char *hostlist, const char *tasks);

/* The rank that is the nth of its node, or WEFT_NONE. */
uint32_t weft_launch_nth_rank(const struct weft_rank_map *r, uint32_t node,
			      uint32_t nth);

/* A list of a node's GPUs such as CUDA_VISIBLE_DEVICES holds, in the order of
 * the node's ranks: entry k is the GPU of the kth.  Into text[size]; false
 * where it is in that order already, or is not a list of one entry for each
 * rank. */
bool weft_launch_gpus(const struct weft_rank_map *r, uint32_t node,
		      const char *list, char *text, size_t size);

/* True when the ranks of each node follow each other, as torchrun numbers
 * them. */
bool weft_launch_by_node(const struct weft_rank_map *r);

/* A task as torch sees it. */
struct weft_task {
	uint32_t rank, world;
	uint32_t local_rank, local_world;
	uint32_t node, n_nodes;
	const char *master; /* where rank 0 is; NULL: not known */
	uint32_t job_id, step_id;
	enum weft_env env;
	struct weft_rank_nvlink nvlink;
};

#define WEFT_LAUNCH_MAX_VARIABLES 13
#define WEFT_LAUNCH_NAME_SIZE	  48
#define WEFT_LAUNCH_VALUE_SIZE	  80

struct weft_variable {
	const char *name;
	char value[WEFT_LAUNCH_VALUE_SIZE];
	bool slurms; /* Slurm has set it, and not the user */
};

/* RANK, WORLD_SIZE and the others that torch.distributed reads, what is known
 * of NVLink as Megatron-Core and DeepEP read it, and Lightning's where the task
 * is one of its.  Returns how many. */
uint32_t weft_launch_variables(
	const struct weft_task *task,
	struct weft_variable variables[WEFT_LAUNCH_MAX_VARIABLES]);

#endif
