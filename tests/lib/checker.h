/* SPDX-License-Identifier: GPL-3.0-or-later */
/* checker.h - whether a placement keeps to all that was asked, by code that the
 * engine has no part in
 */
#ifndef WEFT_TESTS_LIB_CHECKER_H
#define WEFT_TESTS_LIB_CHECKER_H

#include "placement/capacity/occupancy.h"
#include "placement/job.h"
#include "placement/placement.h"

/* NULL when the ranks on where[] keep to every hard limit of the job and of o:
 * distinct GPUs that are free and usable, connected; numbers of nodes and of
 * GPUs on each; required nodes; within=, segment=, split=.  Else a sentence
 * that says what is wrong, in a static buffer. */
const char *checker_where(const struct weft_fabric *f,
			  const struct weft_job *job,
			  const struct weft_occupancy *o,
			  const uint32_t *where);

/* The same for a whole answer: also that its list of nodes is right, its cost
 * is that of the ranks, counted anew, its bound and gap go with it, and that
 * with spread=failure-domain no domain has more replicas than where all of them
 * stay whole (which is possible where nodes are not limited otherwise). */
const char *checker_answer(const struct weft_fabric *f,
			   const struct weft_job *job,
			   const struct weft_occupancy *o,
			   const struct weft_placement *p);

/* Whether any set of GPUs keeps to the hard limits, by trying every number of
 * GPUs on every node: for a few nodes only. */
bool checker_possible(const struct weft_fabric *f, const struct weft_job *job,
		      const struct weft_occupancy *o);

/* Replicas that the loss of one failure domain takes at most. */
uint32_t checker_lost(const struct weft_fabric *f, const struct weft_job *job,
		      const uint32_t *where);

#endif
