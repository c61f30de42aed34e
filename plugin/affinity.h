/* SPDX-License-Identifier: GPL-3.0-or-later */
/* affinity.h - nodes that a job would rather have than others as good: those
 * where it ran before, those close to the jobs it belongs to
 */
#ifndef WEFT_PLUGIN_AFFINITY_H
#define WEFT_PLUGIN_AFFINITY_H

#include "plugin/plan_request.h"

/* The job gives back what it had: where it was, should it come again. */
void weft_affinity_remember(const job_record_t *job);

/* The job could start on p.  Slurm asks so of each component of a heterogeneous
 * job before it starts the first: one that then goes elsewhere may leave no
 * nodes for the next, and Slurm takes all of them back for twenty minutes. */
void weft_affinity_plan(const job_record_t *job,
			const struct weft_placement *p);

/* Adds the nodes that the job was to have. */
void weft_affinity_planned(uint32_t job_id, bitstr_t *bitmap);

/* Replaces p, a place for the query laid out as `shape`, by one closer to where
 * the job would rather be and about as good.  What the nodes offer is as it was
 * for p, or as it is for the new p. */
void weft_affinity_prefer(const struct weft_plan_request *query,
			  const struct weft_shape *shape, double budget_s,
			  struct weft_placement *p);

#endif
