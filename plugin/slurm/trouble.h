/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trouble.h - telling slurmctld's log what should never happen, with measure */
#ifndef WEFT_PLUGIN_SLURM_TROUBLE_H
#define WEFT_PLUGIN_SLURM_TROUBLE_H

#include "plugin/bridge/files/invariants.h"

/* It happened so many times; the log hears of each kind once an hour.  For
 * callers under Slurm's locks. */
void weft_trouble(enum weft_trouble trouble, uint32_t times);

#endif
