/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ledger.h - which GPUs are free while jobs come and go, and what fits
 *
 * Private to lab/replay/.
 */
#ifndef WEFT_LAB_REPLAY_LEDGER_H
#define WEFT_LAB_REPLAY_LEDGER_H

#include "placement/capacity/occupancy.h"

/* n_slots[k]: nodes with at least k free GPUs, kept up to date so that whether
 * a job fits is known without a look at any node. */
struct ledger {
	struct weft_occupancy o;
	uint32_t n_slots[WEFT_MAX_GPUS_PER_NODE + 1];
	uint32_t n_free;   /* GPUs */
	uint32_t n_parted; /* nodes with free GPUs and others */
};

/* Everything free.  Free with ledger_free in either case. */
int ledger_build(const struct weft_fabric *f, struct ledger *l,
		 struct weft_error *err);
void ledger_free(struct ledger *l);

/* Both of the same fabric. */
void ledger_copy(struct ledger *to, const struct ledger *from);

/* n distinct GPUs that are free (take) or busy (give).  -1 with err where one
 * is not. */
int ledger_take(struct ledger *l, const uint32_t *gpus, uint32_t n,
		struct weft_error *err);
int ledger_give(struct ledger *l, const uint32_t *gpus, uint32_t n,
		struct weft_error *err);

#endif
