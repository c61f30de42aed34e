/* SPDX-License-Identifier: GPL-3.0-or-later */
/* sharing.h - when flows end that share links and are not alike
 *
 * Flows share links max-min fairly: the link that can give least to each of its
 * flows settles what these get, then the next one (progressive filling,
 * D. Bertsekas and R. Gallager, Data Networks, 6.5.2); when flows end, the
 * others share anew.  The fullest link of flows that are not alike may be idle
 * part of the time, since some of them wait elsewhere.
 */
#ifndef WEFT_COSTMODEL_TIME_SHARING_H
#define WEFT_COSTMODEL_TIME_SHARING_H

#include "costmodel/time/flows.h"

/* Bytes per second of a directed link; INFINITY: it limits nothing. */
typedef double (*weft_sharing_capacity)(const void *data, uint32_t link);

/* When a kind's flows between hosts end.  0: by 2 % at most it makes no
 * difference how they share.  1: end_s[n_stages] holds the seconds until the
 * last flow of each stage ends, 0 where a stage has none.  Ends within 1 % of
 * the time are taken together.  Links inside hosts are not looked at.  Also 0
 * for more than 60,000 flows.  It takes at most *visits of links, some 10 ns
 * each, and subtracts those that it took: after them the flows that are left
 * end when the fullest of their links is empty, which is a lower bound; 0 where
 * *visits do not reach the first end of a flow.  -1 with err.
 */
int weft_sharing_ends(const struct weft_flows *flows, uint32_t kind,
		      weft_sharing_capacity capacity, const void *data,
		      double *end_s, uint64_t *visits, struct weft_error *err);

#endif
