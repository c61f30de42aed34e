/* SPDX-License-Identifier: GPL-3.0-or-later */
/* refine_pairs.c - groups of ranks on nodes that hold but a part of one
 *
 * In tree order nodes that give 5, 4, 4 and 3 GPUs break every group of 8
 * ranks, and some of them twice; 5 with 3 and 4 with 4 break each once.  The
 * smaller part of a group has the fewer NICs, so the pairs whose smaller part
 * is largest are made first.
 */
#include "placement/refine/refine_parts.h"

#include "base/bitset.h"
#include "topology/fabric.h"

#include <stdlib.h>
#include <string.h>

/* Nothing is paired where an NVLink domain has more GPUs that are not of a
 * whole group: none is built that large. */
#define MOST_GPUS 1023

/* The search for a partner takes as long as that many steps of work. */
#define SEARCHED 8

/* Cells beyond those that are needed, in which pairs are looked for. */
#define MORE_CELLS 4

/* GPUs of a node, or of an NVLink domain of several, that are not of a whole
 * group: n of them, number `at` and those that follow it. */
struct rest {
	uint32_t owner;
	uint32_t at, n;
	uint32_t gpu; /* one of the owner's */
};

/* What a group takes of a rest, or whole groups that stay where they are: GPUs
 * [at, at + n).  Parts come in the order of their keys. */
struct part {
	uint32_t owner;
	uint32_t key, number;
	uint32_t at, n;
};

/* Rests of as many GPUs. */
struct bucket {
	uint32_t n;
	uint32_t first; /* none of them comes before this one */
	uint32_t vain;	/* the try in which one of them found no partner */
};

struct pairs {
	uint32_t unit;	   /* ranks of a group */
	uint32_t n_groups; /* still to be made */
	uint32_t n_rests, n_parts;
	uint32_t most; /* GPUs of the largest rest */
	uint32_t attempt;
	bool is_hopeless;  /* rests are too small for all groups */
	struct rest *rest; /* [n_nodes] in tree order */
	struct part *part; /* [n_gpus of the job] */
	struct bucket bucket[MOST_GPUS + 1]; /* by GPUs */
	uint64_t *set;	/* a bitset of rests for each bucket below unit */
	size_t n_words; /* of a bitset */
};

/* ---- rests by size ---- */

static uint64_t *set_of(const struct pairs *p, uint32_t n)
{
	return p->set + n * p->n_words;
}

static void add_member(struct pairs *p, uint32_t i)
{
	struct bucket *bucket = &p->bucket[p->rest[i].n];

	if (!bucket->n || i < bucket->first)
		bucket->first = i;
	bucket->n++;
	weft_bitset_add(set_of(p, p->rest[i].n), i);
}

static void remove_member(struct pairs *p, uint32_t i)
{
	p->bucket[p->rest[i].n].n--;
	weft_bitset_remove(set_of(p, p->rest[i].n), i);
}

/* The first of the rests [first, end) that has n GPUs; WEFT_NONE. */
static uint32_t find_member(struct pairs *p, uint32_t n, uint32_t first,
			    uint32_t end)
{
	struct bucket *bucket = &p->bucket[n];
	const uint64_t *set = set_of(p, n);
	uint32_t from = first > bucket->first ? first : bucket->first, i;

	if (!bucket->n)
		return WEFT_NONE;
	for (i = from; i < end; i = (i / 64 + 1) * 64) {
		uint64_t rest = set[i / 64] >> (i % 64);

		if (!rest)
			continue;
		i += (uint32_t)__builtin_ctzll(rest);
		break;
	}
	if (from == bucket->first)
		bucket->first = i < end ? i : end;
	return i < end ? i : WEFT_NONE;
}

static int build_pairs(struct refine *x, uint32_t unit)
{
	uint32_t n = x->f->n_nodes;
	struct pairs *p = x->pairs = weft_calloc(1, sizeof(*p), x->err);

	if (!p)
		return -1;
	p->n_words = weft_bitset_words(n);
	p->rest = weft_calloc(n, sizeof(*p->rest), x->err);
	p->part = weft_calloc(x->job->n_gpus, sizeof(*p->part), x->err);
	p->set = weft_calloc(p->n_words *
				     (unit <= MOST_GPUS ? unit : MOST_GPUS + 1),
			     sizeof(*p->set), x->err);
	return p->rest && p->part && p->set ? 0 : -1;
}

void refine_pairs_free(struct refine *x)
{
	if (!x->pairs)
		return;
	free(x->pairs->rest);
	free(x->pairs->part);
	free(x->pairs->set);
	free(x->pairs);
}

static struct pairs *start(struct refine *x, uint32_t unit)
{
	struct pairs *p;

	if (!x->pairs && build_pairs(x, unit))
		return NULL;
	p = x->pairs;
	for (uint32_t n = 0; n <= p->most; n++) {
		p->bucket[n] = (struct bucket){0};
		memset(set_of(p, n), 0,
		       weft_bitset_words(p->n_rests) * sizeof(*p->set));
	}
	p->unit = unit;
	p->n_groups = p->n_rests = p->n_parts = p->most = p->attempt = 0;
	return p;
}

static void add_part(struct pairs *p, uint32_t owner, uint32_t key, uint32_t at,
		     uint32_t n)
{
	p->part[p->n_parts] = (struct part){owner, key, p->n_parts, at, n};
	p->n_parts++;
}

/* false: it is too large. */
static bool add_rest(struct pairs *p, const struct rest *rest)
{
	if (rest->n > MOST_GPUS)
		return false;
	if (!rest->n)
		return true;
	p->most = rest->n > p->most ? rest->n : p->most;
	p->rest[p->n_rests] = *rest;
	add_member(p, p->n_rests++);
	return true;
}

static void take(struct pairs *p, uint32_t i, uint32_t n, uint32_t key)
{
	struct rest *rest = &p->rest[i];

	add_part(p, rest->owner, key, rest->at, n);
	remove_member(p, i);
	rest->at += n;
	rest->n -= n;
	add_member(p, i);
}

/* ---- groups of two parts ---- */

/* The first of the rests [first, end) that have n GPUs or more. */
static uint32_t find_larger(struct pairs *p, uint32_t n, uint32_t first,
			    uint32_t end)
{
	uint32_t best = WEFT_NONE;

	for (; n <= p->most; n++) {
		uint32_t i = find_member(p, n, first, end);

		/* WEFT_NONE is larger than any */
		best = i < best ? i : best;
	}
	return best;
}

/* The rest that is best for the other part of a group, `need` GPUs: one that
 * has no more; else one of which `least` stay for another part, which wastes 1;
 * else one of which n that are too few are left over, which wastes 2 n + 1. */
static uint32_t find_partner(struct pairs *p, uint32_t first, uint32_t end,
			     uint32_t need, uint32_t least, uint32_t most)
{
	uint32_t i =
		need <= p->most ? find_member(p, need, first, end) : WEFT_NONE;

	if (i == WEFT_NONE && most)
		i = find_larger(p, need + least, first, end);
	for (uint32_t n = 1; n < least && need + n <= p->most; n++) {
		if (i != WEFT_NONE || 2 * n + 1 > most)
			break;
		i = find_member(p, need + n, first, end);
	}
	return i;
}

/* How much a group takes of a rest, that both parts may have `least`: all but
 * what is enough for another part. */
static uint32_t first_part(const struct pairs *p, uint32_t rest, uint32_t least)
{
	uint32_t most = p->unit - least;

	if (rest <= most)
		return rest;
	return rest >= 2 * least && rest - least <= most ? rest - least : most;
}

/* What is too little for a part after it; the pair wastes as much more. */
static uint32_t first_waste(uint32_t rest, uint32_t n, uint32_t least)
{
	return rest > n && rest - n < least ? 2 * (rest - n) : 0;
}

/* What is too little for a part, and how many rests are left over. */
static uint32_t waste_of(uint32_t rest, uint32_t least)
{
	return (rest < least ? 2 * rest : 0) + (rest > 0);
}

/* A group of a part of rest `a` and one of another rest in [first, end), of
 * `least` GPUs or more each; false: there is none. */
static bool make_pair(struct pairs *p, uint32_t a, uint32_t first, uint32_t end,
		      uint32_t least, uint32_t most_waste)
{
	uint32_t n = p->rest[a].n, key = p->rest[a].at, b = WEFT_NONE;
	uint32_t n_a = first_part(p, n, least);
	uint32_t waste = first_waste(n, n_a, least);

	remove_member(p, a);
	if (waste <= most_waste)
		b = find_partner(p, first, end, p->unit - n_a, least,
				 most_waste - waste);
	add_member(p, a);
	if (b == WEFT_NONE) {
		p->bucket[n].vain = p->attempt;
		return false;
	}
	take(p, a, n_a, key);
	take(p, b, p->unit - n_a, key);
	p->n_groups--;
	p->attempt++;
	return true;
}

/* Pairs of the rests [first, end) whose parts have `least` GPUs or more. */
static void pair_up(struct refine *x, uint32_t first, uint32_t end,
		    uint32_t least, uint32_t most_waste)
{
	struct pairs *p = x->pairs;

	p->attempt++;
	effort_spend(&x->a->effort, (end - first) / 4 + 1);
	for (uint32_t a = first; a < end && p->n_groups; a++)
		while (p->n_groups && p->rest[a].n >= least) {
			if (p->bucket[p->rest[a].n].vain == p->attempt)
				break;
			effort_spend(&x->a->effort, SEARCHED);
			if (!make_pair(p, a, first, end, least, most_waste))
				break;
		}
}

/* Pairs in each domain of a level. */
static void pair_level(struct refine *x, uint32_t level, uint32_t least,
		       uint32_t most_waste)
{
	const uint32_t *domain = x->f->gpu_domain[level];
	struct pairs *p = x->pairs;
	uint32_t end;

	for (uint32_t i = 0; i < p->n_rests && p->n_groups; i = end) {
		for (end = i + 1; end < p->n_rests; end++)
			if (domain[p->rest[end].gpu] != domain[p->rest[i].gpu])
				break;
		pair_up(x, i, end, least, most_waste);
	}
}

/* What the pair wastes that wastes least, wherever its rests lie; UINT32_MAX:
 * there is none. */
static uint32_t least_waste(struct pairs *p, uint32_t least)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t n = least; n <= p->most; n++) {
		uint32_t a = find_member(p, n, 0, p->n_rests), b, waste;
		uint32_t n_a = first_part(p, n, least), need = p->unit - n_a;

		if (a == WEFT_NONE)
			continue;
		remove_member(p, a);
		b = find_partner(p, 0, p->n_rests, need, least, UINT32_MAX);
		add_member(p, a);
		if (b == WEFT_NONE)
			continue;
		waste = first_waste(n, n_a, least) +
			waste_of(p->rest[b].n - need, least);
		best = waste < best ? waste : best;
	}
	return best;
}

/* Those that waste least first; near: in the smallest domains first. */
static void pair_all(struct refine *x, uint32_t least, uint32_t most_waste,
		     bool near)
{
	uint32_t top = x->f->n_levels - 1, next = least_waste(x->pairs, least);

	while (next <= most_waste && x->pairs->n_groups) {
		uint32_t waste = next;

		for (uint32_t l = near ? x->level : top; l <= top; l++)
			if (x->pairs->n_groups)
				pair_level(x, l, least, waste);
		next = least_waste(x->pairs, least);
		next = next > waste ? next : waste + 1;
	}
}

/* ---- the GPUs of a set in another order ---- */

/* The level of NVLink domains; of nodes, where these have several. */
static uint32_t nvlink_level(const struct weft_fabric *f)
{
	uint32_t level = weft_fabric_level(f, "nvlink");

	return level == WEFT_NONE || level < f->node_level ? f->node_level
							   : level;
}

bool refine_breaks(const struct weft_fabric *f, const struct weft_job *job,
		   const uint32_t *where)
{
	const uint32_t *domain = f->gpu_domain[nvlink_level(f)];
	uint32_t tp = job->spec.tp;

	if (tp < 2 || job->n_gpus % tp)
		return false;
	for (uint32_t r = 0; r < job->n_gpus; r++)
		if (domain[where[r]] != domain[where[r - r % tp]])
			return true;
	return false;
}

/* Whole groups of each NVLink domain stay where they are; false: there is no
 * rest, or one that is too large. */
static bool list_rests(const struct refine *x, struct pairs *p)
{
	const uint32_t *domain = x->f->gpu_domain[nvlink_level(x->f)];
	uint32_t sum = 0, k;

	for (uint32_t i = 0; i < x->job->n_gpus; i = k) {
		uint32_t n;

		for (k = i + 1; k < x->job->n_gpus; k++)
			if (domain[x->gpus[k]] != domain[x->gpus[i]])
				break;
		n = (k - i) % p->unit;
		if (k - i > n)
			add_part(p, 0, i, i, k - i - n);
		if (!add_rest(p, &(struct rest){0, k - n, n, x->gpus[i]}))
			return false;
		sum += n;
	}
	p->n_groups = sum / p->unit;
	return sum > 0;
}

/* The rest that has `need`, else the largest. */
static uint32_t find_largest(struct pairs *p, uint32_t need)
{
	uint32_t n = need <= p->most && p->bucket[need].n ? need : p->most;

	while (!p->bucket[n].n)
		n--;
	return find_member(p, n, 0, p->n_rests);
}

/* The groups that are left, of any number of parts. */
static void make_groups(struct pairs *p)
{
	for (; p->n_groups; p->n_groups--) {
		uint32_t need = p->unit, key = WEFT_NONE;

		while (need) {
			uint32_t i = find_largest(p, need), n = p->rest[i].n;

			key = key == WEFT_NONE ? p->rest[i].at : key;
			n = n < need ? n : need;
			take(p, i, n, key);
			need -= n;
		}
	}
}

static int compare_parts(const void *a, const void *b)
{
	const struct part *p = a, *q = b;

	if (p->key != q->key)
		return p->key < q->key ? -1 : 1;
	return p->number < q->number ? -1 : p->number > q->number;
}

int refine_align(struct refine *x, bool near, bool *differs)
{
	uint32_t tp = x->job->spec.tp, n = 0;
	struct pairs *p;

	*differs = false;
	if (tp < 2 || x->job->n_gpus % tp)
		return 0;
	p = start(x, tp);
	if (!p)
		return -1;
	if (!list_rests(x, p))
		return 0;
	for (uint32_t least = tp / 2; least && p->n_groups; least--)
		pair_all(x, least, 1, near);
	make_groups(p);
	qsort(p->part, p->n_parts, sizeof(*p->part), compare_parts);
	for (uint32_t i = 0; i < p->n_parts; i++)
		for (uint32_t k = 0; k < p->part[i].n; k++) {
			uint32_t gpu = x->gpus[p->part[i].at + k];

			*differs |= gpu != x->gpus[n];
			x->aligned[n++] = gpu;
		}
	return 0;
}

/* ---- sets ---- */

/* Whole groups that nodes of a cell have stay there; false: a rest is too
 * large. */
static bool take_nodes(struct refine *x, const struct cell *c)
{
	const struct weft_domain *d = &x->f->domains[c->domain];
	struct pairs *p = x->pairs;

	for (uint32_t i = d->first_node; i < d->first_node + d->n_nodes; i++) {
		uint32_t whole = x->s->give[i] / p->unit;
		const struct rest rest = {i, 0, x->s->give[i] % p->unit,
					  x->f->nodes[i].first_gpu};

		whole = whole < p->n_groups ? whole : p->n_groups;
		p->n_groups -= whole;
		x->now[i] = (uint8_t)(whole * p->unit);
		if (!add_rest(p, &rest))
			return false;
	}
	return true;
}

/* The same of a cell that is one NVLink domain. */
static bool take_cell(struct refine *x, struct cell *c)
{
	struct pairs *p = x->pairs;
	uint32_t whole = c->cap / p->unit;
	const struct rest rest = {(uint32_t)(c - x->cell), 0, c->cap % p->unit,
				  x->f->domains[c->domain].first_gpu};

	whole = whole < p->n_groups ? whole : p->n_groups;
	p->n_groups -= whole;
	c->share = whole * p->unit;
	return add_rest(p, &rest);
}

/* No more pairs can be made: each has more than half of the group on one rest,
 * or half of it on each of two, and what is enough for a part on both. */
static uint32_t most_pairs(const struct pairs *p, uint32_t least)
{
	uint32_t n_halves = 0, n_parts = 0; /* two of each make a pair */

	for (uint32_t n = least; n <= p->most; n++) {
		n_parts += n / least * p->bucket[n].n;
		if (2 * n >= p->unit)
			n_halves += (2 * n > p->unit ? 2 : 1) * p->bucket[n].n;
	}
	return (n_halves < n_parts ? n_halves : n_parts) / 2;
}

/* Pairs with `least` GPUs or more in each part, in the cells order[0..m). */
static bool pair_cells(struct refine *x, uint32_t m, uint32_t least, bool near,
		       bool by_cell)
{
	struct pairs *p = start(x, x->job->spec.tp);

	p->n_groups = x->job->n_gpus / p->unit;
	p->is_hopeless = true;
	memset(x->now, 0, x->f->n_nodes);
	for (uint32_t i = 0; i < x->n_cells; i++)
		x->cell[i].share = 0;
	for (uint32_t i = 0; i < m; i++)
		x->cell[x->order[i]].share = 1;
	/* rests lie in tree order */
	for (uint32_t i = 0; i < x->n_cells; i++) {
		struct cell *c = &x->cell[i];

		if (c->share && !(by_cell ? take_cell(x, c) : take_nodes(x, c)))
			return false;
	}
	effort_spend(&x->a->effort, p->n_rests);
	p->is_hopeless = most_pairs(p, 1) < p->n_groups;
	if (most_pairs(p, least) < p->n_groups)
		return false;
	pair_all(x, least, 2 * p->unit, near);
	return p->n_groups == 0;
}

/* Looks at the set of the pairs that pair_cells has made. */
static int try_set(struct refine *x, bool by_cell)
{
	static const struct rule any = {1, false};
	const struct part *part;
	bool better;

	for (uint32_t i = 0; i < x->pairs->n_parts; i++) {
		part = &x->pairs->part[i];
		if (by_cell)
			x->cell[part->owner].share += part->n;
		else
			x->now[part->owner] += (uint8_t)part->n;
	}
	return by_cell ? refine_try_shares(x, &any) : refine_try(x, &better);
}

static bool pairs_cells(const struct refine *x)
{
	return x->level == nvlink_level(x->f);
}

bool refine_may_pair(const struct refine *x)
{
	return !x->pairs->is_hopeless;
}

/* The pairs whose smaller part is largest. */
static int try_pairs(struct refine *x, uint32_t m, bool near, bool *found)
{
	bool by_cell = pairs_cells(x);

	*found = false;
	for (uint32_t least = x->job->spec.tp / 2; least && !*found; least--) {
		*found = !effort_spent(&x->a->effort) &&
			 pair_cells(x, m, least, near, by_cell);
		if (!refine_may_pair(x))
			break;
	}
	return *found ? try_set(x, by_cell) : 0;
}

int refine_pairs_of(struct refine *x, uint32_t n, uint32_t part, bool *found)
{
	*found = false;
	if (!start(x, x->job->spec.tp))
		return -1;
	if (!pair_cells(x, n, part, true, pairs_cells(x)))
		return 0;
	*found = true;
	return try_set(x, pairs_cells(x));
}

int refine_pairs(struct refine *x, uint32_t n, uint32_t least)
{
	uint32_t tp = x->job->spec.tp;
	bool near = false, far = false;

	if (tp < 2 || x->job->n_gpus % tp)
		return 0;
	if (!start(x, tp))
		return -1;
	for (uint32_t m = least; m <= n && m < least + MORE_CELLS; m++) {
		if (near || far)
			break;
		if (try_pairs(x, m, true, &near) ||
		    try_pairs(x, m, false, &far))
			return -1;
	}
	if (try_pairs(x, n, true, &near) || try_pairs(x, n, false, &far))
		return -1;
	return 0;
}
