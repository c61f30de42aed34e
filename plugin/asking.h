/* SPDX-License-Identifier: GPL-3.0-or-later */
/* asking.h - what a job record asks for, as weft sees it */
#ifndef WEFT_PLUGIN_ASKING_H
#define WEFT_PLUGIN_ASKING_H

#include "plugin/bridge/request.h"
#include "plugin/stock.h"

/* The user's spec: from --weft= (SPANK), else from --comment=weft:...  *spec is
 * NULL where there is none, and points into the job record.  false: the user
 * wants weft to leave the job alone ("off"). */
bool weft_asking_spec(const job_record_t *job, const char **spec);

/* An srun outside of any job asked for it: its one step is laid out before weft
 * could tell it an order. */
bool weft_asking_alone(const job_record_t *job);

/* Reads the test's job into *request, spec aside.  Returns false for jobs that
 * ask for no GPUs.  *unclear: why weft cannot tell what would suit the job
 * (static text), else NULL. */
bool weft_asking_read(const struct weft_job_test *test,
		      struct weft_request *request, const char **unclear);

#endif
