/* SPDX-License-Identifier: GPL-3.0-or-later */
/* infer.h - the spec that a job's own script amounts to: no Slurm types */
#ifndef WEFT_PLUGIN_BRIDGE_LAUNCH_INFER_H
#define WEFT_PLUGIN_BRIDGE_LAUNCH_INFER_H

#include "plugin/bridge/launch/submission.h"

/* The longest script that is looked at, what may be made of it, and the
 * processor time that it may take. */
#define WEFT_INFER_SCRIPT_BYTES 262144
#define WEFT_INFER_TEXT_BYTES	1048576
#define WEFT_INFER_TIME_S	0.010

/* Writes the spec to spec[WEFT_SPEC_MAX_BYTES + 1], marked "from=script", and
 * returns 0; -1 where the script is too long, is none, or leaves anything
 * open.  Opens no file, starts nothing, and honours the bounds above and the
 * deadline of the thread. */
int weft_infer(const char *script, const struct weft_request *request,
	       char *spec);

#endif
