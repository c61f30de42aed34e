/* SPDX-License-Identifier: GPL-3.0-or-later */
/* ledger.c - which GPUs are free while jobs come and go, and what fits */
#include "lab/replay/ledger.h"

#include <string.h>

int ledger_build(const struct weft_fabric *f, struct ledger *l,
		 struct weft_error *err)
{
	memset(l, 0, sizeof(*l));
	l->n_free = f->n_gpus;
	if (weft_occupancy_build(f, &l->o, err))
		return -1;
	for (uint32_t i = 0; i < f->n_nodes; i++) {
		for (uint32_t k = 0; k <= f->nodes[i].n_gpus; k++)
			l->n_slots[k]++;
	}
	return 0;
}

void ledger_free(struct ledger *l)
{
	weft_occupancy_free(&l->o);
}

void ledger_copy(struct ledger *to, const struct ledger *from)
{
	size_t n = from->o.fabric->n_nodes;

	memcpy(to->o.free, from->o.free, n * sizeof(*to->o.free));
	memcpy(to->o.usable, from->o.usable, n * sizeof(*to->o.usable));
	to->n_free = from->n_free;
	to->n_parted = from->n_parted;
	memcpy(to->n_slots, from->n_slots, sizeof(to->n_slots));
}

/* The node of a GPU and its bit there. */
static uint64_t gpu_bit(const struct ledger *l, uint32_t gpu, uint32_t *node)
{
	const struct weft_fabric *f = l->o.fabric;

	*node = f->gpu_node[gpu];
	return UINT64_C(1) << (gpu - f->nodes[*node].first_gpu);
}

static bool is_parted(const struct ledger *l, uint32_t node)
{
	uint32_t n = weft_mask_count(l->o.free[node]);

	return n > 0 && n < l->o.fabric->nodes[node].n_gpus;
}

int ledger_take(struct ledger *l, const uint32_t *gpus, uint32_t n,
		struct weft_error *err)
{
	uint32_t node;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t bit = gpu_bit(l, gpus[i], &node);

		if (!(l->o.free[node] & bit))
			return weft_fail(err, WEFT_EINVAL,
					 "GPU %u was given to two jobs",
					 gpus[i]);
		l->n_slots[weft_mask_count(l->o.free[node])]--;
		l->n_parted -= is_parted(l, node);
		weft_occupancy_take(&l->o, node, bit);
		l->n_parted += is_parted(l, node);
		l->n_free--;
	}
	return 0;
}

int ledger_give(struct ledger *l, const uint32_t *gpus, uint32_t n,
		struct weft_error *err)
{
	uint32_t node;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t bit = gpu_bit(l, gpus[i], &node);

		if (l->o.free[node] & bit)
			return weft_fail(err, WEFT_EINVAL,
					 "GPU %u was given back twice",
					 gpus[i]);
		l->n_parted -= is_parted(l, node);
		l->o.free[node] |= bit;
		l->n_parted += is_parted(l, node);
		l->o.usable[node]++;
		l->n_free++;
		l->n_slots[weft_mask_count(l->o.free[node])]++;
	}
	return 0;
}
