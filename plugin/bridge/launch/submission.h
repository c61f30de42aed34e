/* SPDX-License-Identifier: GPL-3.0-or-later */
/* submission.h - whether a job can be what its spec says, before it is queued:
 * no Slurm types
 */
#ifndef WEFT_PLUGIN_BRIDGE_LAUNCH_SUBMISSION_H
#define WEFT_PLUGIN_BRIDGE_LAUNCH_SUBMISSION_H

#include "plugin/bridge/bridge.h"
#include "plugin/bridge/request.h"

/* GPUs of a list of resources as Slurm's commands write it, "gres:gpu:8",
 * "cpu=2,gres/gpu:h100=4"; 0: none.  Of several types the sum. */
uint32_t weft_submission_gpus(const char *tres);

/* Fills in what Slurm would make of the numbers of GPUs, tasks and nodes that
 * were given (0: not given). */
void weft_submission_complete(struct weft_request *request);

/* Keeps an empty fabric's occupancy between questions.  Zero-initialise;
 * settings are the caller's (NULL: only the grammar is checked). */
struct weft_desk {
	struct weft_bridge bridge;
	/* Slurm has nodes with GPUs that the fabric lacks, so that no job can
	 * be said never to fit; NULL: it has not.  The caller's. */
	bool (*lacks_nodes)(const struct weft_fabric *f);
	struct weft_occupancy empty;
};

int weft_desk_open(struct weft_desk *desk, const struct weft_settings *settings,
		   struct weft_error *err);
void weft_desk_close(struct weft_desk *desk);

/* Refuses, with err in the grammar's words, a spec that is no spec, is longer
 * than the site allows, names a level or a model that is not there, does not
 * come out at the size that the job asks for, or could not be kept even if
 * nothing else ran. */
int weft_desk_check(struct weft_desk *desk, const struct weft_request *request,
		    struct weft_error *err);

#endif
