/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prometheus.h - the status as a text file for Prometheus' node_exporter */
#ifndef WEFT_CLI_STATUS_PROMETHEUS_H
#define WEFT_CLI_STATUS_PROMETHEUS_H

#include "cli/slurm/saved.h"
#include "cli/status/status.h"

/* The status and the last week's records (NULL: not known) into path in one
 * step, "-": standard output. */
int prometheus_write(const struct status *status, const struct saved *saved,
		     const char *path, struct weft_error *err);

#endif
