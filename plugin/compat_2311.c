/* SPDX-License-Identifier: GPL-3.0-or-later */
/* compat_2311.c - Slurm 23.11 and later */
#include "plugin/compat.h"

#if SLURM_VERSION_NUMBER >= SLURM_VERSION_NUM(23, 11, 0)

uint32_t weft_compat_gpu_id(void)
{
	static char name[] = "gpu";
	static uint32_t id;

	if (!id)
		id = gres_build_id(name);
	return id;
}

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

/* A bitmap of cores for each node that has any taken. */
bool weft_compat_excludes_cores(weft_excluded *excluded, int node)
{
	return excluded && excluded->exc_cores && excluded->exc_cores[node] &&
	       bit_ffs(excluded->exc_cores[node]) >= 0;
}

#endif
