/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compat_2205.c - Slurm 22.05 and 23.02 */
#include "plugin/slurm/compat.h"

#if SLURM_VERSION_NUMBER < SLURM_VERSION_NUM(23, 11, 0)

#include "src/common/node_conf.h"

int weft_compat_peek(const char *path, char *type, size_t size)
{
	uint32_t version;

	return (int)plugin_peek(path, type, size, &version);
}

bool weft_compat_whole_nodes(const job_details_t *details)
{
	return details->whole_node == WHOLE_NODE_REQUIRED;
}

bool weft_compat_rank_nodes(job_record_t *job, const uint32_t *first,
			    uint32_t n)
{
	(void)job;
	(void)first;
	(void)n;
	return false;
}

/* A bitmap of all cores of the cluster, node after node. */
uint32_t weft_compat_excluded_cores(weft_excluded *excluded, int node)
{
	return (uint32_t)bit_set_count_range(
		excluded, (int32_t)cr_get_coremap_offset((uint32_t)node),
		(int32_t)cr_get_coremap_offset((uint32_t)node + 1));
}

bool weft_compat_excludes_core(weft_excluded *excluded, int node, int core)
{
	return bit_test(excluded,
			(int64_t)cr_get_coremap_offset((uint32_t)node) + core);
}

uint64_t weft_compat_excluded_gpus(weft_excluded *excluded, uint32_t node)
{
	(void)excluded;
	(void)node;
	return 0;
}

#endif
