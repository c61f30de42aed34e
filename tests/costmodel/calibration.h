/* SPDX-License-Identifier: GPL-3.0-or-later */
/* calibration.h - what a log or a table of runs is calibrated to */
#ifndef WEFT_TESTS_COSTMODEL_CALIBRATION_H
#define WEFT_TESTS_COSTMODEL_CALIBRATION_H

#include "lab/calibrate/calibrate.h"
#include "tests/lib/check.h"

/* Free with weft_calibration_free. */
static inline struct weft_calibration
calibration_of(const char *text, size_t size,
	       const struct weft_calibrate_options *options)
{
	struct weft_calibration calibration;
	struct weft_error err = {0};
	struct weft_nccl_log log;

	weft_nccl_log_parse(text, size, "log", &log, &err);
	assert_no_error(&err);
	weft_calibrate(&log, 1, options, &calibration, &err);
	assert_no_error(&err);
	weft_nccl_log_free(&log);
	return calibration;
}

#endif
