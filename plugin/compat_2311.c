/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compat_2311.c - Slurm 23.11 and later */
#include "plugin/compat.h"

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)

#include <string.h>

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
bool weft_compat_excludes_cores(weft_excluded *excluded, int node)
{
	return excluded && excluded->exc_cores && excluded->exc_cores[node] &&
	       bit_ffs(excluded->exc_cores[node]) >= 0;
}

#endif
