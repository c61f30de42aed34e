/* SPDX-License-Identifier: GPL-3.0-or-later */
/* slots.c - the room that free GPUs are for jobs of each size */
#include "placement/capacity/slots.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void size_add(struct weft_slots *s, uint32_t size, uint32_t level)
{
	s->sizes[s->n_sizes++] =
		(struct weft_slot_size){.size = size, .level = level};
}

/* Sizes that fit into domains of a level, but not of the level below. */
static void list_sizes(struct weft_slots *s)
{
	const struct weft_fabric *f = s->fabric;
	uint32_t below = 1;

	for (uint32_t l = f->node_level; l < f->n_levels; l++) {
		uint32_t most = 0, size = 2;

		for (uint32_t i = 0; i < f->levels[l].n_domains; i++) {
			uint32_t d = f->levels[l].first_domain + i;

			if (f->domains[d].n_gpus > most)
				most = f->domains[d].n_gpus;
		}
		while (size <= below)
			size *= 2;
		for (; size <= most; size *= 2)
			size_add(s, size, l);
		if (most > below && most != size / 2)
			size_add(s, most, l);
		below = most > below ? most : below;
	}
}

static void count_free(struct weft_slots *s, const struct weft_occupancy *o)
{
	const struct weft_fabric *f = s->fabric;

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		uint32_t gpu = f->nodes[i].first_gpu;
		uint32_t n = weft_mask_count(o->free[i]);

		for (uint32_t l = f->node_level; n && l < f->n_levels; l++)
			s->n_free[f->gpu_domain[l][gpu]] += n;
	}
}

/* How many slots k GPUs can destroy at most: the first of a domain with r GPUs
 * in no slot needs r + 1 of them, n_firsts[r] such domains, r < n; each other
 * one needs size, which is no less. */
static uint32_t most_lost(const uint32_t *n_firsts, uint32_t n, uint32_t size,
			  uint32_t n_slots, uint32_t k)
{
	uint32_t lost = 0, n_others = n_slots;

	/* with fewer left than one needs, none of a whole slot is lost either
	 */
	for (uint32_t r = 0; r < n && k > r; r++) {
		uint32_t here = n_firsts[r];

		if (here > 0 && here > k / (r + 1))
			here = k / (r + 1);
		lost += here;
		k -= here * (r + 1);
		n_others -= n_firsts[r];
	}
	return lost + (k / size < n_others ? k / size : n_others);
}

/* n / size, and what is left; most sizes are powers of two, and to divide takes
 * long. */
static uint32_t slots_of(uint32_t n, uint32_t size, uint32_t *left)
{
	if (size & (size - 1)) {
		*left = n % size;
		return n / size;
	}
	*left = n & (size - 1);
	return n >> __builtin_ctz(size);
}

static int measure_size(const struct weft_slots *s, struct weft_slot_size *z,
			struct weft_error *err)
{
	const struct weft_level *level = &s->fabric->levels[z->level];
	uint32_t loose = 0, k = s->n_gpus;
	/* k GPUs destroy no slot that needs more */
	uint32_t n_first = z->size < k ? z->size : k;
	uint32_t *n_firsts = weft_calloc(n_first, sizeof(*n_firsts), err);

	if (!n_firsts)
		return -1;
	for (uint32_t i = 0; i < level->n_domains; i++) {
		uint32_t left, n = s->n_free[level->first_domain + i];

		z->n += slots_of(n, z->size, &left);
		loose += left;
		if (left < n_first)
			n_firsts[left] += n >= z->size;
	}
	z->least = k > loose ? (k - loose + z->size - 1) / z->size : 0;
	z->most = most_lost(n_firsts, n_first, z->size, z->n, k);
	free(n_firsts);
	return 0;
}

int weft_slots_build(const struct weft_occupancy *o, uint32_t n_gpus,
		     struct weft_slots *slots, struct weft_error *err)
{
	const struct weft_fabric *f = o->fabric;

	memset(slots, 0, sizeof(*slots));
	slots->fabric = f;
	slots->n_gpus = n_gpus;
	slots->n_free = weft_calloc(f->n_domains, sizeof(*slots->n_free), err);
	/* and a list of domains */
	slots->taken = weft_calloc(2 * (size_t)f->n_domains,
				   sizeof(*slots->taken), err);
	if (!slots->n_free || !slots->taken)
		return -1;
	list_sizes(slots);
	count_free(slots, o);
	for (uint32_t i = 0; i < slots->n_sizes; i++)
		if (measure_size(slots, &slots->sizes[i], err))
			return -1;
	return 0;
}

void weft_slots_free(struct weft_slots *slots)
{
	int saved = errno;

	if (slots) {
		free(slots->n_free);
		free(slots->taken);
		memset(slots, 0, sizeof(*slots));
	}
	errno = saved;
}

/* Slots of a size that a domain with `before` free GPUs loses with n. */
static uint32_t slots_without(uint32_t before, uint32_t n, uint32_t size)
{
	uint32_t left;

	n = n < before ? n : before;
	return slots_of(before, size, &left) -
	       slots_of(before - n, size, &left);
}

/* Slots of sizes first .. last - 1 that n GPUs taken from a domain with
 * `before` free ones destroy. */
static void domain_lost(const struct weft_slots *s, uint32_t before, uint32_t n,
			uint32_t first, uint32_t last, uint32_t *lost)
{
	for (uint32_t i = first; n && i < last; i++)
		lost[i] += slots_without(before, n, s->sizes[i].size);
}

/* Lists the domains of a level that GPUs are taken of, and counts these. */
static uint32_t take_gpus(struct weft_slots *s, const uint32_t *where,
			  uint32_t level)
{
	const uint32_t *domain = s->fabric->gpu_domain[level];
	uint32_t *list = s->taken + s->fabric->n_domains, n = 0;

	for (uint32_t r = 0; r < s->n_gpus; r++)
		if (s->taken[domain[where[r]]]++ == 0)
			list[n++] = domain[where[r]];
	return n;
}

/* Goes on to the domains around those listed, with what is taken of them;
 * around the outermost there is none. */
static uint32_t take_outwards(struct weft_slots *s, uint32_t n)
{
	uint32_t *list = s->taken + s->fabric->n_domains, n_outer = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t d = list[i], outer = s->fabric->domains[d].parent;
		uint32_t taken = s->taken[d];

		s->taken[d] = 0;
		if (outer == WEFT_NONE)
			continue;
		if (s->taken[outer] == 0)
			list[n_outer++] = outer;
		s->taken[outer] += taken;
	}
	return n_outer;
}

/* Slots of each size that are lost. */
static void count_lost(struct weft_slots *s, const uint32_t *where,
		       uint32_t *lost)
{
	const uint32_t *list = s->taken + s->fabric->n_domains;
	uint32_t first = 0, last, level = s->sizes[0].level;

	for (uint32_t n = take_gpus(s, where, level); n; level++) {
		for (last = first; last < s->n_sizes; last++)
			if (s->sizes[last].level != level)
				break;
		for (uint32_t i = 0; first < last && i < n; i++)
			domain_lost(s, s->n_free[list[i]], s->taken[list[i]],
				    first, last, lost);
		first = last;
		n = take_outwards(s, n);
	}
}

double weft_slots_lost(struct weft_slots *slots, const uint32_t *where)
{
	uint32_t lost[WEFT_MAX_SLOT_SIZES] = {0}, n = 0;
	double sum = 0;

	if (slots->n_sizes)
		count_lost(slots, where, lost);
	for (uint32_t i = 0; i < slots->n_sizes; i++) {
		const struct weft_slot_size *z = &slots->sizes[i];

		if (z->most <= z->least)
			continue;
		n++;
		/* fewer than the least only where GPUs were not free */
		if (lost[i] > z->least)
			sum += (double)(lost[i] - z->least) /
			       (z->most - z->least);
	}
	return n ? sum / n : 0;
}

double weft_slots_gain(const struct weft_slots *slots, const uint32_t *used,
		       uint32_t from, uint32_t to)
{
	const struct weft_domain *domains = slots->fabric->domains;
	uint32_t k = used[from], a = from, b = to, n = 0;
	double sum = 0;

	for (uint32_t i = 0; i < slots->n_sizes; i++) {
		const struct weft_slot_size *z = &slots->sizes[i];
		uint32_t free_a, free_b;

		if (z->most <= z->least)
			continue;
		n++;
		while (a != b && domains[a].level < z->level) {
			a = domains[a].parent;
			b = domains[b].parent;
		}
		if (a == b || domains[a].level > z->level)
			continue;
		free_a = slots->n_free[a];
		free_b = slots->n_free[b];
		/* what they lose now, and what they would */
		sum += ((double)slots_without(free_a, used[a], z->size) +
			slots_without(free_b, used[b], z->size) -
			slots_without(free_a, used[a] - k, z->size) -
			slots_without(free_b, used[b] + k, z->size)) /
		       (z->most - z->least);
	}
	return n ? sum / n : 0;
}
