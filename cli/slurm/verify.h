/* SPDX-License-Identifier: GPL-3.0-or-later */
/* verify.h - what the plugin believes is taken against what Slurm says */
#ifndef WEFT_CLI_SLURM_VERIFY_H
#define WEFT_CLI_SLURM_VERIFY_H

#include "cli/slurm/status.h"

/* Recounts from scontrol's job records which GPUs of each node are taken, and
 * compares the plugin's status file, again and again while jobs come and go.
 * Lists on stdout what differs (json: {"schema": "weft.status/1", "verify":
 * [...]}).  Returns the number of nodes that differ for good; -1 with err, also
 * when it never holds still. */
int verify_run(const struct weft_fabric *f, const char *status_path, bool json,
	       struct weft_error *err);

#endif
