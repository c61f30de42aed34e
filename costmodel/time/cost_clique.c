/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost_clique.c - what groups cost in which each rank sends to each other */
#include "costmodel/time/cost_parts.h"

/* Ordered pairs of members, each with itself, inside domains of level l: the
 * sum of k * k.  rail: only members on it; WEFT_NONE: all. */
static uint64_t pairs_inside(const struct evaluation *e,
			     const struct weft_clique *c, uint32_t l,
			     uint32_t rail)
{
	const uint32_t *member = e->t->member + c->first_member;
	const struct weft_fabric *f = e->f;
	const uint32_t *domain = f->gpu_domain[l];
	uint32_t *k = e->scratch->seen;
	uint64_t sum = 0;

	for (uint32_t i = 0; i < c->n_members; i++) {
		uint32_t gpu = e->where[member[i]];

		if (rail == WEFT_NONE || weft_fabric_rail(f, gpu) == rail)
			sum += 2 * (uint64_t)k[domain[gpu]]++ + 1;
	}
	for (uint32_t i = 0; i < c->n_members; i++)
		k[domain[e->where[member[i]]]] = 0;
	return sum;
}

/* Of k members inside a domain each sends to the n - k outside. */
static void links_add(struct evaluation *e, const struct weft_clique *c,
		      uint32_t l)
{
	const uint32_t *member = e->t->member + c->first_member;
	const struct weft_fabric *f = e->f;
	struct weft_cost_scratch *s = e->scratch;
	uint32_t n = c->n_members;

	for (uint32_t i = 0; i < n; i++)
		s->seen[f->gpu_domain[l][e->where[member[i]]]]++;
	for (uint32_t i = 0; l == f->node_level && i < n; i++) {
		uint32_t k = s->seen[f->gpu_domain[l][e->where[member[i]]]];

		s->nic_up[member[i]] += (n - k) * c->bytes;
		s->nic_down[member[i]] += (n - k) * c->bytes;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t d = f->gpu_domain[l][e->where[member[i]]];
		double k = s->seen[d];

		s->seen[d] = 0;
		if (k == 0 || k == n)
			continue;
		cost_load_add(s, s->up, d, k * (n - k) * c->bytes);
		cost_load_add(s, s->down, d, k * (n - k) * c->bytes);
	}
}

/* Ordered pairs of one rail inside domains of level l. */
static uint64_t rail_pairs_inside(const struct evaluation *e,
				  const struct weft_clique *c, uint32_t l)
{
	uint64_t sum = 0;

	for (uint32_t r = 0; r < e->f->n_rails; r++)
		sum += pairs_inside(e, c, l, r);
	return sum;
}

/* Two members that no link joins. */
static int clique_unconnected(const struct evaluation *e,
			      const struct weft_clique *c,
			      struct weft_error *err)
{
	const uint32_t *member = e->t->member + c->first_member;
	uint32_t i = 1;

	while (i + 1 < c->n_members &&
	       weft_fabric_meet(e->f, e->where[member[0]],
				e->where[member[i]]) < e->f->n_levels)
		i++;
	return cost_unconnected(e, member[0], member[i], err);
}

/* k members in a domain are k * k pairs inside it. */
int cost_clique_add(struct evaluation *e, const struct weft_clique *c,
		    struct weft_error *err)
{
	const struct weft_fabric *f = e->f;
	uint64_t before = c->n_members, alike = 0;
	uint64_t all = before * before;

	for (uint32_t l = 0; l < f->n_levels && before < all; l++) {
		uint64_t inside = pairs_inside(e, c, l, WEFT_NONE);
		uint64_t same = inside - before, cross = 0;

		/* on one node every rail is near */
		if (f->n_rails > 1 && l >= f->node_level) {
			uint64_t rail = rail_pairs_inside(e, c, l);

			if (l > f->node_level) {
				cross = same - (rail - alike);
				same = rail - alike;
			}
			alike = rail;
		}
		e->sums.bytes[c->axis][l][0] += (double)same * c->bytes;
		e->sums.bytes[c->axis][l][1] += (double)cross * c->bytes;
		if (e->links)
			links_add(e, c, l);
		before = inside;
	}
	return before < all ? clique_unconnected(e, c, err) : 0;
}

bool cost_counts_tell(const struct weft_fabric *f)
{
	return !f->has_steps &&
	       (f->node_level == 0 ||
		f->levels[f->node_level].n_domains == f->n_nodes);
}
