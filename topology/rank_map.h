/* SPDX-License-Identifier: GPL-3.0-or-later */
/* rank_map.h - which rank sits on which GPU of which node, by name, and as a
 * text that fits into an environment variable
 *
 * slurmctld writes the text into a job's environment (WEFT_RANKS), srun and the
 * nodes read it: weft-ranks(1) is its specification.
 */
#ifndef WEFT_TOPOLOGY_RANK_MAP_H
#define WEFT_TOPOLOGY_RANK_MAP_H

#include "base/hostlist.h"
#include "topology/fabric.h"

#define WEFT_RANK_MAP_VARIABLE	"WEFT_RANKS"
#define WEFT_RANK_MAP_MAX_BYTES (64u << 10)
#define WEFT_RANK_MAP_MAX_RANKS (1u << 16)

/* Whose variables tasks find in their environment.  Lightning's are torch's and
 * one of Slurm's. */
enum weft_env {
	WEFT_ENV_NONE,
	WEFT_ENV_TORCH,
	WEFT_ENV_LIGHTNING,
	WEFT_N_ENVS
};
extern const char *const weft_env_names[WEFT_N_ENVS];

/* What frameworks want to know of NVLink; all zero: not known. */
struct weft_rank_nvlink {
	uint32_t n_gpus;  /* of the smallest domain that the job has part of */
	uint32_t n_nodes; /* of the same domain */
	uint32_t n_experts; /* neighbours in a group of expert parallelism that
			     * always share a domain; divides the group; 0:
			     * not known, or no such groups */
};

/* No ranks (n_ranks 0): nothing is said about their order. */
struct weft_rank_map {
	uint32_t job_id;   /* whose; 0: of no job */
	enum weft_env env; /* the variables that the job asked for */
	struct weft_rank_nvlink nvlink; /* where env is not none */
	uint32_t n_nodes;		/* in the order of their first ranks */
	const char **nodes;		/* [n_nodes] names */
	uint32_t n_ranks;
	uint32_t *node;		    /* [n_ranks] index into nodes */
	uint8_t *gpu;		    /* [n_ranks] GPU of that node, from 0 */
	struct weft_hostlist names; /* the names' memory; empty: another's */
};

/* From where[]: GPU of each rank, in the fabric's numbers, each once.  Names
 * stay the fabric's.  Free with weft_rank_map_free in either case. */
int weft_rank_map_build(const struct weft_fabric *f, const uint32_t *where,
			uint32_t n_ranks, struct weft_rank_map *r,
			struct weft_error *err);

/* The text; malloc'ed.  NULL with err WEFT_ENOSYS when it would be longer than
 * WEFT_RANK_MAP_MAX_BYTES: 16,384 ranks in any order fit as long as the names
 * of their nodes fold into 14 kB. */
char *weft_rank_map_encode(const struct weft_rank_map *r,
			   struct weft_error *err);

/* Reads a text from anywhere; every member is checked, and no GPU is named
 * twice.  Free with weft_rank_map_free in either case. */
int weft_rank_map_decode(const char *text, struct weft_rank_map *r,
			 struct weft_error *err);
void weft_rank_map_free(struct weft_rank_map *r);

/* Index of the node of that name, or WEFT_NONE. */
uint32_t weft_rank_map_node(const struct weft_rank_map *r, const char *name);

#endif
