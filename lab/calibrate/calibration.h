/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibration.h - a calibration said to people, programs and fabric files */
#ifndef WEFT_LAB_CALIBRATE_CALIBRATION_H
#define WEFT_LAB_CALIBRATE_CALIBRATION_H

#include "lab/calibrate/calibrate.h"

#define CALIBRATION_MAX_LIST 64

struct calibration_view {
	bool json, yaml;
	const char *level; /* name of the network level */
	const struct weft_nccl_log *logs;
	size_t n_logs;
	/* Predictions: for these sizes, on these numbers of nodes (none: as
	 * measured). */
	double sizes[CALIBRATION_MAX_LIST];
	uint32_t nodes[CALIBRATION_MAX_LIST];
	uint32_t n_sizes, n_nodes;
};

int calibration_print(const struct calibration_view *view,
		      const struct weft_calibration *calibration,
		      struct weft_error *err);

/* weft calibrate --steps; exits as a command does. */
int calibrate_steps(int argc, char **argv);

#endif
