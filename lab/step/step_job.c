/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_job.c - a row that has the spec of its job, and all that it says */
#include "costmodel/job/compute.h"
#include "lab/step/step_row.h"
#include "placement/job.h"

int step_job_read(const char *text, struct step_row *row,
		  struct weft_error *err)
{
	struct weft_job job = {0};
	int rc = weft_job_build(text, 0, true, NULL, &job, err);

	if (rc == 0 && job.spec.traffic[0])
		rc = weft_fail(
			err, WEFT_EINVAL,
			"the job's traffic was measured, its computation "
			"is not known");
	if (rc == 0 && !weft_spec_names_model(&job.spec))
		rc = weft_fail(err, WEFT_EINVAL, "the job names no model");
	row->spec = job.spec;
	row->model = job.model;
	row->as_spec = true;
	row->precision = weft_compute_precision(job.spec.dtype);
	weft_job_free(&job);
	return rc;
}
