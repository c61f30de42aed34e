/* SPDX-License-Identifier: GPL-3.0-or-later */
/* hard.h - what within=, segment= and split= leave of a fabric: no Slurm types
 */
#ifndef WEFT_PLUGIN_BRIDGE_HARD_H
#define WEFT_PLUGIN_BRIDGE_HARD_H

#include "placement/occupancy.h"
#include "plugin/bridge/request.h"

/* Usable nodes of that domain which has most of them, where the frame says
 * within=; else, or where the fabric has no such level, all usable nodes. */
uint32_t weft_hard_able(const struct weft_occupancy *o,
			const struct weft_frame *frame);

#endif
