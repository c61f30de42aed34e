/* SPDX-License-Identifier: GPL-3.0-or-later */
/* components.h - whose nodes the components of a heterogeneous job get: weft's
 * or stock's, all of them in one cycle of backfill
 */
#ifndef WEFT_PLUGIN_COMPONENTS_H
#define WEFT_PLUGIN_COMPONENTS_H

#include "plugin/slurm/stock.h"

/* true: backfill asks when a component will run, and weft_components_answered
 * is to be told.  Once all can run it starts them. */
bool weft_components_asked(const struct weft_job_test *test);

/* The job has a first component; it is stock's turn. */
bool weft_components_are_stocks(const job_record_t *job);

/* narrowed: by weft's nodes.  candidates: those that were asked about. */
void weft_components_answered(const struct weft_job_test *test, bool narrowed,
			      int rc, bitstr_t *candidates);

#endif
