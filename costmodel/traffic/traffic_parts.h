/* SPDX-License-Identifier: GPL-3.0-or-later */
/* traffic_parts.h - what the sources of the traffic share
 *
 * Private to costmodel/traffic/traffic*.c.
 */
#ifndef WEFT_COSTMODEL_TRAFFIC_TRAFFIC_PARTS_H
#define WEFT_COSTMODEL_TRAFFIC_TRAFFIC_PARTS_H

#include "costmodel/traffic/traffic.h"

/* Refuses more edges than are supported. */
int traffic_check_size(uint64_t n_edges, struct weft_error *err);

/* Room for so many edges, if supported; n_edges stays 0. */
int traffic_alloc(struct weft_traffic *t, uint32_t n_ranks, uint64_t n_edges,
		  struct weft_error *err);

/* Adds to the row that starts at edge `first`, by ascending peer and axis;
 * equal ones are summed. */
void traffic_row_add(struct weft_traffic *t, uint32_t first, uint32_t peer,
		     enum weft_axis axis, double bytes);

/* Flows that are sorted in some 3 ms: more are not where there is a deadline.
 */
#define TRAFFIC_TIMED_FLOWS (1u << 15)

#endif
