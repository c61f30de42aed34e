/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compat_2311.c - Slurm 23.11 and later */
#include "plugin/slurm/compat.h"

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)

#include <string.h>

#include "plugin/slurm/gpus.h"

#include "src/common/xmalloc.h"

int weft_compat_peek(const char *path, char *type, size_t size)
{
	return plugin_peek(path, type, size);
}

/* One of a few values at first, of which "by label" is 3; flags later on. */
bool weft_compat_whole_nodes(const job_details_t *details)
{
	return WHOLE_NODE_MCS & WHOLE_NODE_REQUIRED
		       ? details->whole_node == WHOLE_NODE_REQUIRED
		       : details->whole_node & WHOLE_NODE_REQUIRED;
}

/* node_ranks came with 26.05. */
bool weft_compat_rank_nodes(job_record_t *job, const uint32_t *first,
			    uint32_t n)
{
	uint32_t **ranks = WEFT_NODE_RANKS(job->job_resrcs);

	if (!ranks || job->job_resrcs->nhosts != n)
		return false;
	xfree(*ranks);
	*ranks = xcalloc(n, sizeof(**ranks));
	memcpy(*ranks, first, n * sizeof(**ranks));
	return true;
}

/* A bitmap of cores for each node that has any taken. */
static bitstr_t *cores_of(weft_excluded *excluded, int node)
{
	return excluded->exc_cores ? excluded->exc_cores[node] : NULL;
}

uint32_t weft_compat_excluded_cores(weft_excluded *excluded, int node)
{
	bitstr_t *cores = cores_of(excluded, node);

	return cores ? (uint32_t)bit_set_count(cores) : 0;
}

bool weft_compat_excludes_core(weft_excluded *excluded, int node, int core)
{
	bitstr_t *cores = cores_of(excluded, node);

	return cores && core < bit_size(cores) && bit_test(cores, core);
}

/* Of others' reservations, or all but those of the job's own. */
uint64_t weft_compat_excluded_gpus(weft_excluded *excluded, uint32_t node)
{
	if (excluded->gres_list_exc)
		return weft_gpus_of_list(excluded->gres_list_exc, node);
	if (excluded->gres_list_inc && list_count(excluded->gres_list_inc))
		return ~weft_gpus_of_list(excluded->gres_list_inc, node);
	return 0;
}

#endif
