/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spank_ranks.h - srun's and the nodes' part in laying ranks where weft put
 * them
 *
 * Nothing here ever fails a step: where anything is not as it should be, the
 * step runs as it would have without weft.
 */
#ifndef WEFT_PLUGIN_SPANK_SPANK_RANKS_H
#define WEFT_PLUGIN_SPANK_SPANK_RANKS_H

#include <stdint.h>

#include "slurm/spank.h"

/* In srun inside of a job, its options read: has the step follow the order that
 * slurmctld left in the job's environment, unless the user says how tasks are
 * to lie or the step is not over the whole job. */
void weft_spank_order_step(void);

/* On a node, for a task about to start: the variables that the job asked for,
 * and its GPUs in the order of the node's ranks. */
void weft_spank_prepare_task(spank_t spank);

#endif
