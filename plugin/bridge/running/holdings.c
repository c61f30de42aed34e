/* SPDX-License-Identifier: GPL-3.0-or-later */
/* holdings.c - sums of what jobs hold, that can be taken apart again */
#include "plugin/bridge/running/holdings.h"

#include "base/bitset.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 64

int weft_holdings_build(uint32_t n_nodes, struct weft_holdings *h,
			struct weft_error *err)
{
	memset(h, 0, sizeof(*h));
	h->n_nodes = n_nodes;
	h->n_slots = FIRST_SLOTS;
	h->cpus = weft_calloc(n_nodes, sizeof(*h->cpus), err);
	h->memory_mb = weft_calloc(n_nodes, sizeof(*h->memory_mb), err);
	h->slots = weft_calloc(h->n_slots, sizeof(struct weft_holder *), err);
	return h->cpus && h->memory_mb && h->slots ? 0 : -1;
}

void weft_holdings_free(struct weft_holdings *h)
{
	for (uint32_t s = 0; h->slots && s < h->n_slots; s++)
		free(h->slots[s]);
	free(h->slots);
	free(h->cpus);
	free(h->memory_mb);
	memset(h, 0, sizeof(*h));
}

/* ---- the hash ---- */

/* Numbers of jobs follow each other: spread by Knuth's multiplier. */
static uint32_t home_of(const struct weft_holdings *h, uint32_t job_id)
{
	return (job_id * UINT32_C(2654435761)) >> 7 & (h->n_slots - 1);
}

/* The job's slot, or the empty one where it belongs. */
static uint32_t slot_of(const struct weft_holdings *h, uint32_t job_id)
{
	uint32_t s = home_of(h, job_id);

	while (h->slots[s] && h->slots[s]->job_id != job_id)
		s = (s + 1) & (h->n_slots - 1);
	return s;
}

/* Keeps a quarter of the slots empty at least. */
static int slots_grow(struct weft_holdings *h, struct weft_error *err)
{
	struct weft_holder **old = h->slots, **slots;
	uint32_t n_old = h->n_slots;

	if ((h->n_holders + 1) * 4 <= h->n_slots * 3)
		return 0;
	slots = weft_calloc((size_t)n_old * 2, sizeof(struct weft_holder *),
			    err);
	if (!slots)
		return -1;
	h->slots = slots;
	h->n_slots = n_old * 2;
	for (uint32_t s = 0; s < n_old; s++)
		if (old[s])
			slots[slot_of(h, old[s]->job_id)] = old[s];
	free(old);
	return 0;
}

/* Empties a slot; those that were put behind it because it was taken move up,
 * so that each is found from its home without a gap. */
static void slot_clear(struct weft_holdings *h, uint32_t s)
{
	const uint32_t last = h->n_slots - 1;
	uint32_t next = s;

	h->slots[s] = NULL;
	while (h->slots[next = (next + 1) & last]) {
		uint32_t home = home_of(h, h->slots[next]->job_id);

		if (((next - home) & last) < ((next - s) & last))
			continue;
		h->slots[s] = h->slots[next];
		h->slots[next] = NULL;
		s = next;
	}
}

/* ---- sums ---- */

static void sums_add(struct weft_holdings *h, const struct weft_holder *holder)
{
	for (uint32_t k = 0; k < holder->n; k++) {
		h->cpus[holder->of[k].node] += holder->of[k].cpus;
		h->memory_mb[holder->of[k].node] += holder->of[k].memory_mb;
	}
}

static void sums_subtract(struct weft_holdings *h,
			  const struct weft_holder *holder)
{
	for (uint32_t k = 0; k < holder->n; k++) {
		h->cpus[holder->of[k].node] -= holder->of[k].cpus;
		h->memory_mb[holder->of[k].node] -= holder->of[k].memory_mb;
	}
}

static struct weft_holder *holder_make(uint32_t job_id,
				       const struct weft_holding *of,
				       uint32_t n, struct weft_error *err)
{
	struct weft_holder *holder =
		weft_calloc(1, sizeof(*holder) + n * sizeof(*of), err);

	if (!holder)
		return NULL;
	holder->job_id = job_id;
	holder->n = n;
	memcpy(holder->of, of, n * sizeof(*of));
	return holder;
}

int weft_holdings_put(struct weft_holdings *h, uint32_t job_id,
		      const struct weft_holding *of, uint32_t n,
		      struct weft_error *err)
{
	struct weft_holder *holder = NULL;
	uint32_t s;

	if (n) {
		holder = holder_make(job_id, of, n, err);
		if (!holder || slots_grow(h, err) < 0) {
			free(holder);
			return -1;
		}
	}
	s = slot_of(h, job_id);
	if (h->slots[s]) {
		sums_subtract(h, h->slots[s]);
		free(h->slots[s]);
		h->slots[s] = NULL;
		h->n_holders--;
		if (!holder)
			slot_clear(h, s);
	}
	if (holder) {
		sums_add(h, holder);
		h->slots[s] = holder;
		h->n_holders++;
	}
	return 0;
}

const struct weft_holder *weft_holdings_find(const struct weft_holdings *h,
					     uint32_t job_id)
{
	return h->slots ? h->slots[slot_of(h, job_id)] : NULL;
}

/* ---- recount ---- */

void weft_holdings_compare(const struct weft_holdings *kept,
			   const struct weft_holdings *counted, uint64_t *held,
			   struct weft_holdings_audit *audit)
{
	memset(audit, 0, sizeof(*audit));
	memset(held, 0, counted->n_nodes * sizeof(*held));
	audit->n_jobs = counted->n_holders;
	for (uint32_t i = 0; kept && i < counted->n_nodes; i++) {
		audit->n_cpus += kept->cpus[i] != counted->cpus[i];
		audit->n_memory += kept->memory_mb[i] != counted->memory_mb[i];
	}
	for (uint32_t s = 0; s < counted->n_slots; s++) {
		const struct weft_holder *holder = counted->slots[s];

		for (uint32_t k = 0; holder && k < holder->n; k++) {
			const struct weft_holding *of = &holder->of[k];

			audit->n_twice +=
				weft_mask_count(held[of->node] & of->gpus);
			held[of->node] |= of->gpus;
		}
	}
}
