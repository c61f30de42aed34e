/* SPDX-License-Identifier: GPL-3.0-or-later */
/* pricing.c - what placements cost, each kind of placement priced once */
#include "lab/replay/pricing.h"

#include <stdlib.h>
#include <string.h>

/* Shapes kept; when as many are known, further ones are priced each time. */
#define MAX_PRICED (1u << 20)

/* Of 128 bits, two shapes of a billion share a signature once in 10^20 runs. */
struct signature {
	uint64_t a, b;
};

struct priced {
	struct signature shape; /* zeros: an empty place */
	struct price price;
};

int pricing_build(const struct weft_fabric *f, const struct weft_gpu *gpu,
		  struct pricing *p, struct weft_error *err)
{
	size_t n = (size_t)f->n_domains + f->n_nodes;

	memset(p, 0, sizeof(*p));
	p->f = f;
	p->gpu = gpu;
	p->n_places = 1024;
	p->table = weft_calloc(p->n_places, sizeof(*p->table), err);
	p->ordinal = weft_calloc(n, sizeof(*p->ordinal), err);
	p->stamp = weft_calloc(n, sizeof(*p->stamp), err);
	return p->table && p->ordinal && p->stamp ? 0 : -1;
}

void pricing_free(struct pricing *p)
{
	free(p->table);
	free(p->ordinal);
	free(p->stamp);
	weft_cost_scratch_free(&p->scratch);
	memset(p, 0, sizeof(*p));
}

/* Two multiplicative hashes (of splitmix64's finaliser) side by side. */
static void sign(struct signature *s, uint64_t value)
{
	s->a = (s->a ^ value) * UINT64_C(0xbf58476d1ce4e5b9);
	s->a ^= s->a >> 31;
	s->b = (s->b + value) * UINT64_C(0x94d049bb133111eb);
	s->b ^= s->b >> 29;
}

/* Signs the use of a domain or node; true when this shape used it before. */
static bool sign_use(struct pricing *p, struct signature *s, uint32_t unit,
		     uint32_t *n_used, uint32_t n_gpus)
{
	if (p->stamp[unit] == p->n_shapes) {
		sign(s, UINT64_C(1) << 63 | p->ordinal[unit]);
		return true;
	}
	p->stamp[unit] = p->n_shapes;
	p->ordinal[unit] = (*n_used)++;
	sign(s, n_gpus);
	return false;
}

/* Domains are numbered in the order of their first ranks, so that equal
 * signatures are equal trees with equal ranks on them.  A domain seen before
 * has its outer ones told already.  Fills the number of domains used, too. */
static struct signature shape_sign(struct pricing *p, uint32_t id,
				   const uint32_t *where, uint32_t n,
				   uint32_t used[WEFT_MAX_LEVELS])
{
	const struct weft_fabric *f = p->f;
	struct signature s = {id + UINT64_C(0x9e3779b97f4a7c15), id};
	uint32_t n_nodes = 0;

	/* no job has the stamp 0 */
	if (++p->n_shapes == 0) {
		memset(p->stamp, 0,
		       ((size_t)f->n_domains + f->n_nodes) * sizeof(*p->stamp));
		p->n_shapes = 1;
	}
	memset(used, 0, WEFT_MAX_LEVELS * sizeof(*used));
	for (uint32_t r = 0; r < n; r++) {
		uint32_t gpu = where[r], node = f->gpu_node[gpu];

		/* domains that are not alike: the place itself */
		if (f->uplink_rate_bytes_per_s || f->has_steps)
			sign(&s, gpu);
		if (f->n_rails > 1)
			sign(&s, weft_fabric_rail(f, gpu));
		sign_use(p, &s, f->n_domains + node, &n_nodes,
			 f->nodes[node].n_gpus);
		for (uint32_t l = 0; l < f->n_levels; l++) {
			uint32_t d = f->gpu_domain[l][gpu];

			if (sign_use(p, &s, d, &used[l], f->domains[d].n_gpus))
				break;
		}
	}
	return s;
}

/* Where the shape is, or where it would go. */
static struct priced *place_find(const struct pricing *p,
				 const struct signature *s)
{
	uint32_t i = (uint32_t)s->a & (p->n_places - 1);

	while ((p->table[i].shape.a || p->table[i].shape.b) &&
	       (p->table[i].shape.a != s->a || p->table[i].shape.b != s->b))
		i = (i + 1) & (p->n_places - 1);
	return &p->table[i];
}

static int table_grow(struct pricing *p, struct weft_error *err)
{
	struct priced *old = p->table;
	uint32_t n_old = p->n_places;
	struct priced *table =
		weft_calloc(2 * (size_t)n_old, sizeof(*table), err);

	if (!table)
		return -1;
	p->table = table;
	p->n_places *= 2;
	for (uint32_t i = 0; i < n_old; i++) {
		if (old[i].shape.a || old[i].shape.b)
			*place_find(p, &old[i].shape) = old[i];
	}
	free(old);
	return 0;
}

static int price_measure(struct pricing *p, const struct pricing_job *job,
			 const uint32_t *where, struct price *price,
			 struct weft_error *err)
{
	const struct weft_step_job placed = {
		.fabric = p->f,
		.spec = &job->job->spec,
		.model = &job->job->model,
		.where = where,
		.schedule = job->schedule,
	};
	const struct weft_step_options options = {.gpu = p->gpu};
	struct weft_cost cost;
	struct weft_step step;

	if (weft_cost(p->f, &job->job->traffic, where, &p->scratch, &cost, err))
		return -1;
	price->cost = cost.total[job->job->spec.metric];
	price->step_s = 0;
	if (!job->schedule || !p->gpu)
		return 0;
	if (weft_step(&placed, &options, &step, err))
		return -1;
	price->step_s = step.step_s;
	return 0;
}

int pricing_find(struct pricing *p, const struct pricing_job *job,
		 const uint32_t *where, struct price *price,
		 struct weft_error *err)
{
	struct signature s =
		shape_sign(p, job->id, where, job->job->n_gpus, price->domains);
	struct priced *found = place_find(p, &s);

	if (found->shape.a || found->shape.b) {
		*price = found->price;
		return 0;
	}
	if (price_measure(p, job, where, price, err))
		return -1;
	if (p->n_priced == MAX_PRICED)
		return 0;
	found->shape = s;
	found->price = *price;
	if (2 * ++p->n_priced > p->n_places)
		return table_grow(p, err);
	return 0;
}
