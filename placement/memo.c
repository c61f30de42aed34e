/* SPDX-License-Identifier: GPL-3.0-or-later */
/* memo.c - what decisions on one job have in common */
#include "placement/memo.h"

#include "placement/place.h"

#include <stdlib.h>
#include <string.h>

struct weft_memo *weft_memo_build(struct weft_error *err)
{
	return weft_calloc(1, sizeof(struct weft_memo), err);
}

void weft_memo_free(struct weft_memo *memo)
{
	if (!memo)
		return;
	bounding_free(memo->bounding);
	orders_free(&memo->orders);
	capacity_free(&memo->capacity);
	free(memo);
}

int memo_take_orders(struct weft_memo *memo, const struct weft_job *job,
		     uint32_t tile, struct orders *o, struct weft_error *err)
{
	if (memo && memo->orders.n && memo->tile == tile) {
		*o = memo->orders;
		memset(&memo->orders, 0, sizeof(memo->orders));
		return 0;
	}
	if (orders_build(job, o, err) == 0 &&
	    orders_tile(o, job, tile, err) == 0)
		return 0;
	orders_free(o);
	return -1;
}

void memo_return_orders(struct weft_memo *memo, uint32_t tile, struct orders *o)
{
	if (!memo) {
		orders_free(o);
		return;
	}
	orders_free(&memo->orders);
	memo->orders = *o;
	memo->tile = tile;
	memset(o, 0, sizeof(*o));
}
