/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rank_forms.c - writers of orders of ranks, and the table of them */
#include "cli/plan/rank_forms.h"

#include "base/bitset.h"
#include "cli/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For each rank how many of its node come before it; malloc'ed. */
static uint32_t *locals_of(const struct weft_rank_map *r,
			   struct weft_error *err)
{
	uint32_t *local = weft_calloc(r->n_ranks, sizeof(*local), err);
	uint32_t *n = weft_calloc(r->n_nodes, sizeof(*n), err);

	for (uint32_t i = 0; local && n && i < r->n_ranks; i++)
		local[i] = n[r->node[i]]++;
	if (n && local) {
		free(n);
		return local;
	}
	free(n);
	free(local);
	return NULL;
}

static const char *node_of(const struct weft_rank_map *r, uint32_t rank)
{
	return r->nodes[r->node[rank]];
}

/* Ranks from `rank` on that are on its node. */
static uint32_t run_of(const struct weft_rank_map *r, uint32_t rank)
{
	uint32_t n = 1;

	while (rank + n < r->n_ranks && r->node[rank + n] == r->node[rank])
		n++;
	return n;
}

static int print_table(const struct weft_rank_map *r, const char **why,
		       struct weft_error *err)
{
	uint32_t *local = locals_of(r, err);

	(void)why;
	if (!local)
		return -1;
	printf("rank   node             gpu  local\n");
	for (uint32_t i = 0; i < r->n_ranks; i++)
		printf("%-6" PRIu32 " %-16s %3u  %5" PRIu32 "\n", i,
		       node_of(r, i), r->gpu[i], local[i]);
	free(local);
	return 0;
}

static int print_hostfile(const struct weft_rank_map *r, const char **why,
			  struct weft_error *err)
{
	(void)why;
	(void)err;
	for (uint32_t i = 0; i < r->n_ranks; i++)
		printf("%s\n", node_of(r, i));
	return 0;
}

static int print_rankfile(const struct weft_rank_map *r, const char **why,
			  struct weft_error *err)
{
	uint32_t *local = locals_of(r, err);

	(void)why;
	if (!local)
		return -1;
	for (uint32_t i = 0; i < r->n_ranks; i++)
		printf("rank %" PRIu32 "=%s slot=%" PRIu32 "\n", i,
		       node_of(r, i), local[i]);
	free(local);
	return 0;
}

/* torchrun numbers ranks node by node, and gives each node as many. */
static int print_torchrun(const struct weft_rank_map *r, const char **why,
			  struct weft_error *err)
{
	uint32_t each = run_of(r, 0);

	(void)err;
	if (each * r->n_nodes != r->n_ranks) {
		*why = "torchrun wants as many ranks on each node, one node "
		       "after another";
		return 1;
	}
	for (uint32_t i = 0; i < r->n_ranks; i += each)
		if (run_of(r, i) != each) {
			*why = "torchrun wants ranks to go node by node";
			return 1;
		}
	for (uint32_t n = 0; n < r->n_nodes; n++)
		printf("%s torchrun --nnodes=%" PRIu32
		       " --nproc-per-node=%" PRIu32 " --node-rank=%" PRIu32
		       " --master-addr=%s\n",
		       r->nodes[n], r->n_nodes, each, n, r->nodes[0]);
	return 0;
}

/* DeepSpeed's launcher numbers ranks host by host as the file lists them, and
 * takes each host once. */
static int print_deepspeed(const struct weft_rank_map *r, const char **why,
			   struct weft_error *err)
{
	uint32_t n = 0;

	(void)err;
	for (uint32_t i = 0; i < r->n_ranks; i += run_of(r, i))
		n++;
	if (n != r->n_nodes) {
		*why = "DeepSpeed wants ranks to go node by node";
		return 1;
	}
	for (uint32_t i = 0; i < r->n_ranks; i += n) {
		n = run_of(r, i);
		printf("%s slots=%" PRIu32 "\n", node_of(r, i), n);
	}
	return 0;
}

/* As nccl-tests are run: hosts and slots for mpirun, then what each node's
 * processes see. */
static int print_nccl(const struct weft_rank_map *r, const char **why,
		      struct weft_error *err)
{
	(void)why;
	(void)err;
	printf("--host ");
	for (uint32_t i = 0, n; i < r->n_ranks; i += n) {
		n = run_of(r, i);
		printf("%s%s:%" PRIu32, i ? "," : "", node_of(r, i), n);
	}
	printf("\n");
	for (uint32_t node = 0; node < r->n_nodes; node++) {
		const char *before = "";

		printf("%s CUDA_VISIBLE_DEVICES=", r->nodes[node]);
		for (uint32_t i = 0; i < r->n_ranks; i++)
			if (r->node[i] == node) {
				printf("%s%u", before, r->gpu[i]);
				before = ",";
			}
		printf("\n");
	}
	return 0;
}

static int print_text(const struct weft_rank_map *r, const char **why,
		      struct weft_error *err)
{
	char *text = weft_rank_map_encode(r, err);

	(void)why;
	if (!text)
		return -1;
	printf("%s\n", text);
	free(text);
	return 0;
}

const struct rank_form rank_forms[] = {
	{"table", "for people: rank, node, GPU and local rank", print_table},
	{"hostfile", "the node of each rank, a line each: SLURM_HOSTFILE",
	 print_hostfile},
	{"rankfile", "Open MPI's --rankfile", print_rankfile},
	{"torchrun", "a command for each node", print_torchrun},
	{"deepspeed", "a hostfile of DeepSpeed: hosts and slots",
	 print_deepspeed},
	{"nccl", "hosts and slots for mpirun, and each node's GPUs in order",
	 print_nccl},
	{"variable", "as in WEFT_RANKS", print_text},
};
const uint32_t n_rank_forms = sizeof(rank_forms) / sizeof(rank_forms[0]);

const struct rank_form *rank_form_find(const char *name)
{
	for (uint32_t i = 0; i < n_rank_forms; i++)
		if (strcmp(rank_forms[i].name, name) == 0)
			return &rank_forms[i];
	return NULL;
}

int rank_form_json(const struct weft_rank_map *r, struct weft_error *err)
{
	uint32_t *local = locals_of(r, err);
	json_t *nodes = json_array(), *ranks = json_array(), *object;

	for (uint32_t n = 0; local && n < r->n_nodes; n++)
		json_array_append_new(nodes, report_string(r->nodes[n]));
	for (uint32_t i = 0; local && i < r->n_ranks; i++)
		json_array_append_new(
			ranks,
			json_pack("{s:I, s:o, s:I, s:I}", "rank", (json_int_t)i,
				  "node", report_string(node_of(r, i)), "gpu",
				  (json_int_t)r->gpu[i], "local_rank",
				  (json_int_t)local[i]));
	free(local);
	if (!local) {
		json_decref(nodes);
		json_decref(ranks);
		return -1;
	}
	object = json_pack("{s:s, s:I, s:s, s:I, s:o, s:o}", "schema",
			   "weft.ranks/1", "job", (json_int_t)r->job_id, "env",
			   weft_env_names[r->env], "n_ranks",
			   (json_int_t)r->n_ranks, "nodes", nodes, "ranks",
			   ranks);
	if (r->nvlink.n_gpus)
		json_object_set_new(
			object, "nvlink",
			json_pack("{s:I, s:I, s:I}", "gpus",
				  (json_int_t)r->nvlink.n_gpus, "nodes",
				  (json_int_t)r->nvlink.n_nodes, "experts",
				  (json_int_t)r->nvlink.n_experts));
	return report_print(object, err);
}
