/* SPDX-License-Identifier: GPL-3.0-or-later */
/* prometheus.h - the status as a text file for Prometheus' node_exporter */
#ifndef WEFT_CLI_PROMETHEUS_H
#define WEFT_CLI_PROMETHEUS_H

#include "cli/status.h"

/* Into path in one step, "-": standard output. */
int prometheus_write(const struct status *status, const char *path,
		     struct weft_error *err);

#endif
