/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nvlink.h - what frameworks hard-code of NVLink, from where a job runs: no
 * Slurm types
 */
#ifndef WEFT_PLUGIN_BRIDGE_LAUNCH_NVLINK_H
#define WEFT_PLUGIN_BRIDGE_LAUNCH_NVLINK_H

#include "placement/job.h"
#include "topology/rank_map.h"

/* Of a job on the GPUs given[n].  where[n]: GPU of each rank; NULL: their order
 * is not known, and so no number of experts. */
struct weft_rank_nvlink weft_launch_nvlink(const struct weft_fabric *f,
					   const struct weft_job *job,
					   const uint32_t *given, uint32_t n,
					   const uint32_t *where);

#endif
