/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slurm_live.h - what the running Slurm says of its nodes and topology */
#ifndef WEFT_CLI_SLURM_SLURM_LIVE_H
#define WEFT_CLI_SLURM_SLURM_LIVE_H

#include "topology/import/import.h"

/* Asks scontrol and adds the answers to s, as if they were files.  A cluster
 * without a topology is one of nodes alone. */
int slurm_live_read(struct weft_inventory *s,
		    const struct weft_import_options *options,
		    struct weft_error *err);

#endif
