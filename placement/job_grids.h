/* SPDX-License-Identifier: GPL-3.0-or-later */
/* job_grids.h - the grids in a job's traffic, and what parts of it send
 *
 * Private to placement/.
 */
#ifndef WEFT_PLACEMENT_JOB_GRIDS_H
#define WEFT_PLACEMENT_JOB_GRIDS_H

#include "placement/bounds/contour.h"
#include "placement/bounds/cut.h"
#include "placement/job.h"

/* One for each grid that the job's ranks are numbered by; none where no grid
 * does. */
#define JOB_GRIDS_MAX 3

struct job_grids {
	uint32_t n;
	struct lattice lattice[JOB_GRIDS_MAX];
	struct contour_lines lines[JOB_GRIDS_MAX];
};

/* g: the job's traffic.  Free with job_grids_free in either case. */
int job_grids_build(const struct weft_job *job, const struct graph *g,
		    struct job_grids *grids, struct weft_error *err);
void job_grids_free(struct job_grids *grids);

/* Raises *bytes to what is sent between these parts at the least. */
int job_grids_cut(const struct job_grids *grids, const struct parts *parts,
		  double *bytes, struct weft_error *err);

#endif
