/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm_state.h - what the running Slurm says is taken */
#ifndef WEFT_CLI_SLURM_SLURM_STATE_H
#define WEFT_CLI_SLURM_SLURM_STATE_H

#include "placement/capacity/occupancy.h"

#include <stdio.h>

/* Runs "scontrol --oneliner --details show node" and marks GPUs in use, and
 * every GPU of a node that takes no jobs (or that Slurm does not know), as
 * busy.  *n_powered_down (or NULL): nodes that take jobs and must be powered up
 * for them. */
int slurm_state_read(struct weft_occupancy *o, uint32_t *n_powered_down,
		     struct weft_error *err);

/* The same from a stream in that command's format; for tests. */
int slurm_state_parse(struct weft_occupancy *o, FILE *in, const char *source,
		      uint32_t *n_powered_down, struct weft_error *err);

#endif
