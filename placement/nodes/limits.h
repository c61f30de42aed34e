/* SPDX-License-Identifier: GPL-3.0-or-later */
/* limits.h - which nodes of a job must stay together, and what fails together
 *
 * Private to placement/, but for limits_level.
 */
#ifndef WEFT_PLACEMENT_NODES_LIMITS_H
#define WEFT_PLACEMENT_NODES_LIMITS_H

#include "placement/nodes/node_set.h"

/* The level whose domains hold segments and the parts of a split. */
uint32_t limits_level(const struct weft_fabric *f);

/* Groups of how many nodes stay together; 0: any, or within= says as much. */
uint32_t limits_segment(const struct weft_fabric *f,
			const struct weft_job *job);

/* Into how many parts the nodes are split; 0: any number. */
uint32_t limits_parts(const struct weft_fabric *f, const struct weft_job *job);

/* True when the nodes of c lie as segment= and split= say.  c: nodes of one
 * domain are consecutive. */
bool limits_suit(const struct capacity *s, const struct node_set *c);

/* The same of ranks that are placed, and that the ranks of each segment follow
 * those of the one before, unless one domain holds them all: 1 or 0; -1 with
 * err. */
int limits_keep(const struct capacity *s, const uint32_t *where,
		struct weft_error *err);

/* What fails together: racks, where the file tells them (a node in none fails
 * alone), else the domains of limits_level.  Numbers are below n_failures. */
uint32_t limits_failure(const struct weft_fabric *f, uint32_t node);
uint32_t limits_n_failures(const struct weft_fabric *f);

/* The replica of the model that a rank belongs to: its dp coordinate. */
uint32_t limits_replica(const struct weft_job *job, uint32_t rank);

/* Replicas that the loss of one failure domain takes at most. */
int limits_lost(const struct capacity *s, const uint32_t *where, uint32_t *lost,
		struct weft_error *err);

#endif
