/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gpus.h - the GPUs that Slurm's records name: of a node, of a job
 *
 * A GPU is a bit by its index in gres.conf, as Slurm numbers them; MIG slices
 * are GPUs of their own there.  Where gres.conf names no files Slurm only
 * counts, and the lowest indices stand for however many it counts.
 */
#ifndef WEFT_PLUGIN_SLURM_GPUS_H
#define WEFT_PLUGIN_SLURM_GPUS_H

#include "plugin/slurm/stock.h"

struct weft_gpus {
	uint64_t all;	  /* that the node has */
	uint64_t free;	  /* no job has it, nor a share (shard, MPS) of it */
	uint64_t shared;  /* a job has a share of it */
	bool has_indices; /* false: only counted */
};

/* The number that gres "gpu" goes by. */
uint32_t weft_gpus_id(void);

/* Those of a type alone; NULL: of any. */
struct weft_gpus weft_gpus_of_node(const node_record_t *node, const char *type);

/* That a list of allocated gres has of its nth node. */
uint64_t weft_gpus_of_list(list_t *given, uint32_t nth);

/* Of the nth node of the job's. */
uint64_t weft_gpus_of_job(const job_record_t *job, uint32_t nth);

#endif
