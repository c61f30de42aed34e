/* SPDX-License-Identifier: GPL-3.0-or-later */
/* node_set.c - dealing a job's GPUs to the parts of a domain, level by level */
#include "placement/nodes/node_set.h"

#include "base/bitset.h"
#include "placement/nodes/distribute.h"
#include "placement/nodes/limits.h"

#include <stdlib.h>
#include <string.h>

struct filling {
	struct capacity *s;
	enum distribution distribution;
	uint32_t chunk;
	struct node_set *c;
	struct weft_error *err;
};

static uint32_t hand_must(const struct filling *fill, const struct hand *h,
			  uint32_t i)
{
	const struct weft_occupancy *o = fill->s->o;

	if (h->must)
		return h->must[h->part[i]];
	return o->required && weft_bitset_has(o->required, h->part[i]);
}

static bool part_untouched(const struct capacity *s, const struct hand *h,
			   uint32_t i)
{
	uint32_t part = h->part[i];

	if (h->must)
		return capacity_untouched(s, part);
	return s->o->free[part] == weft_mask_first(s->f->nodes[part].n_gpus);
}

static uint32_t distribute_partly(const struct capacity *s, struct hand *h,
				  uint32_t need)
{
	for (uint32_t i = 0; i < h->n && need; i++) {
		uint32_t cap = hand_cap(h, i);

		if (h->share[i] || part_untouched(s, h, i))
			continue;
		h->share[i] = cap < need ? cap : need;
		need -= h->share[i];
	}
	return distribute_compact(h, need);
}

/* Parts with required nodes come first and give all they can, less what the
 * required nodes elsewhere need at least. */
static uint32_t distribute_required(const struct filling *fill, struct hand *h,
				    uint32_t need)
{
	uint32_t least = capacity_least(fill->s), owed = 0, must, give, cap;

	for (uint32_t i = 0; i < h->n; i++)
		owed += hand_must(fill, h, i) * least;
	if (!owed)
		return need;
	for (uint32_t i = 0; i < h->n && owed <= need; i++) {
		must = hand_must(fill, h, i) * least;
		if (!must)
			continue;
		owed -= must;
		give = need - owed;
		cap = hand_cap(h, i);
		h->share[i] = cap < give ? cap : give;
		need -= h->share[i];
	}
	return need;
}

static int distribute_out(const struct filling *fill, struct hand *h,
			  uint32_t need)
{
	uint32_t unit = fill->s->unit;

	if (fill->s->o->required)
		need = distribute_required(fill, h, need);
	if (!need)
		return 1;
	if (fill->distribution == DEAL_EVEN)
		need = distribute_even(h, need, unit);
	else if (fill->distribution == DEAL_ALIGNED)
		need = distribute_aligned(h, need, fill->chunk);
	else if (fill->distribution == DEAL_PARTLY)
		need = distribute_partly(fill->s, h, need);
	else
		need = distribute_compact(h, need);
	return need == 0;
}

void node_set_add(struct node_set *c, uint32_t node, uint32_t count)
{
	uint64_t z = ((uint64_t)node << 8) + count;

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	c->hash += z ^ z >> 31;
	c->node[c->n_nodes] = node;
	c->count[c->n_nodes++] = count;
	c->n_gpus += count;
}

/* Takes `need` GPUs from a domain; recursion is as deep as the fabric has
 * levels. */
static int fill_domain(struct filling *fill, uint32_t domain, uint32_t need)
{
	struct capacity *s = fill->s;
	const struct weft_domain *d = &s->f->domains[domain];
	bool of_nodes = d->level == s->f->node_level;
	struct hand h = {
		.n = of_nodes ? d->n_nodes : d->n_children,
		.part = of_nodes ? s->node_order + d->first_node
				 : s->domain_order + d->first_child,
		.cap = of_nodes ? s->give : s->cap,
		.must = of_nodes ? NULL : s->must,
	};
	int rc;

	/* nothing to share out, as for most hosts of a large set */
	if (of_nodes && h.n == 1 && fill->distribution != DEAL_PARTLY &&
	    need <= s->give[d->first_node]) {
		node_set_add(fill->c, d->first_node, need);
		return 1;
	}
	if (capacity_sort(s, domain, fill->err))
		return -1;
	h.share = weft_calloc(h.n, sizeof(*h.share), fill->err);
	if (!h.share)
		return -1;
	rc = distribute_out(fill, &h, need);
	for (uint32_t i = 0; rc == 1 && i < h.n; i++) {
		if (!h.share[i])
			continue;
		if (of_nodes)
			node_set_add(fill->c, h.part[i], h.share[i]);
		else
			rc = fill_domain(fill, h.part[i], h.share[i]);
	}
	free(h.share);
	return rc;
}

static int node_set_allocate(const struct capacity *s, uint32_t domain,
			     struct node_set *c, struct weft_error *err)
{
	uint32_t most = s->n_givers[domain] + s->must[domain];

	memset(c, 0, sizeof(*c));
	if (most > s->job->n_gpus)
		most = s->job->n_gpus;
	c->node = weft_calloc(most, sizeof(*c->node), err);
	c->count = weft_calloc(most, sizeof(*c->count), err);
	return c->node && c->count ? 0 : -1;
}

int node_set_fill(struct capacity *s, uint32_t domain,
		  enum distribution distribution, uint32_t chunk,
		  struct node_set *c, struct weft_error *err)
{
	struct filling fill = {s, distribution, chunk ? chunk : 1, c, err};
	int rc;

	if (node_set_allocate(s, domain, c, err))
		return -1;
	if (s->cap[domain] < s->job->n_gpus)
		return 0;
	rc = fill_domain(&fill, domain, s->job->n_gpus);
	return rc == 1 ? node_set_valid(c, s) : rc;
}

bool node_set_valid(const struct node_set *c, const struct capacity *s)
{
	const struct weft_job *job = s->job;
	uint32_t n_required = 0, found = 0;

	if (c->n_gpus != job->n_gpus || c->n_nodes < job->min_nodes ||
	    (job->max_nodes && c->n_nodes > job->max_nodes))
		return false;
	for (uint32_t i = 0; i < c->n_nodes; i++) {
		if (!c->count[i] || c->count[i] > s->give[c->node[i]] ||
		    (job->gpus_per_node && c->count[i] != job->gpus_per_node))
			return false;
		if (s->o->required)
			found += weft_bitset_has(s->o->required, c->node[i]);
	}
	if (s->o->required)
		n_required = weft_bitset_count(s->o->required, s->f->n_nodes);
	return found == n_required && limits_suit(s, c);
}

void node_set_free(struct node_set *c)
{
	free(c->node);
	free(c->count);
	memset(c, 0, sizeof(*c));
}

uint32_t node_set_units(const struct node_set *c, uint32_t tp, uint32_t unit[3])
{
	uint32_t block = 0, n = 0;

	for (uint32_t i = 0; i < c->n_nodes; i++)
		block = node_set_divisor(block, c->count[i]);
	if (block > 1)
		unit[n++] = block;
	if (tp > 1 && tp < block && block % tp == 0)
		unit[n++] = tp;
	unit[n++] = 1;
	return n;
}
