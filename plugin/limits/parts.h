/* SPDX-License-Identifier: GPL-3.0-or-later */
/* parts.h - jobs with limits and numbers of nodes by feature
 *
 * Of -C "[a*2&b*1]" Slurm asks for two nodes with a, then for one with b, at
 * last for the whole job with these.  Backfill asks for the rest instead, with
 * none of these.  The answer to each is a part of nodes that weft has found for
 * the whole job, by which within=, segment= and split= hold.
 */
#ifndef WEFT_PLUGIN_LIMITS_PARTS_H
#define WEFT_PLUGIN_LIMITS_PARTS_H

#include "plugin/plan_request.h"

/* Whether these limits are for weft_parts_ask. */
bool weft_parts_may(const struct weft_plan_request *query);

/* true: stock takes the part that is asked for now, and test->nodes are it. */
bool weft_parts_ask(const struct weft_plan_request *query, double deadline_s);

/* Whether Slurm has the answer to another part of the job, to which the one
 * that is asked for now must suit. */
bool weft_parts_begun(const struct weft_plan_request *query);

/* Whether no nodes of the bitmap would keep to the limits, were all of their
 * GPUs free.  false also where that is not known. */
bool weft_parts_never(const struct weft_plan_request *query, bitstr_t *nodes,
		      double deadline_s);

/* Nodes get other numbers. */
void weft_parts_forget(void);

#endif
