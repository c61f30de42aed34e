/* SPDX-License-Identifier: GPL-3.0-or-later */
/* axes.h - how far each axis of a job reaches over the fabric */
#ifndef WEFT_CLI_PLAN_AXES_H
#define WEFT_CLI_PLAN_AXES_H

#include "placement/job.h"

/* For each axis of the job's grid the outermost level at which ranks that
 * differ in this axis alone meet, as an index of f->levels (f->n_levels: they
 * do not); WEFT_NONE for an axis of size 1. */
void axes_reach(const struct weft_fabric *f, const struct weft_job *job,
		const uint32_t *where, uint32_t level[WEFT_MAX_AXES]);

#endif
