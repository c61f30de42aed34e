/* SPDX-License-Identifier: GPL-3.0-or-later */
/* traffic_rows.h - rows of traffic that has cliques instead, one at a time
 *
 * Private to costmodel/.
 */
#ifndef WEFT_COSTMODEL_TRAFFIC_TRAFFIC_ROWS_H
#define WEFT_COSTMODEL_TRAFFIC_TRAFFIC_ROWS_H

#include "costmodel/traffic/traffic.h"

struct traffic_rows {
	const struct weft_traffic *t;
	uint32_t *clique;	 /* [n_ranks] its number, or n_cliques */
	struct weft_traffic one; /* edges 0 .. n_edges - 1: the row last read */
};

/* Traffic without rows.  Free with traffic_rows_close in either case. */
int traffic_rows_open(const struct weft_traffic *t, struct traffic_rows *rows,
		      struct weft_error *err);
void traffic_rows_read(struct traffic_rows *rows, uint32_t rank);
void traffic_rows_close(struct traffic_rows *rows);

#endif
