/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fleet.h - a cluster and its jobs as a page */
#ifndef WEFT_CLI_SLURM_FLEET_H
#define WEFT_CLI_SLURM_FLEET_H

#include "cli/slurm/history.h"
#include "cli/slurm/saved.h"
#include "cli/slurm/status.h"

struct fleet {
	const struct weft_fabric *fabric;
	const char *fabric_path;
	const struct status *now;    /* NULL: Slurm was not asked */
	const struct saved *records; /* NULL: they cannot be read */
};

/* To standard output; -1 with err. */
int fleet_html(const struct fleet *fleet, struct weft_error *err);
/* What domains held over time, as two pictures in SVG. */
void fleet_history(const struct history *h);

#endif
