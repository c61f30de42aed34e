/* SPDX-License-Identifier: GPL-3.0-or-later */
/* qap_pool.c - a few good and different solutions */
#include "lab/qap/qap_pool.h"

#include <stdlib.h>
#include <string.h>

int pool_make(struct pool *p, const struct qap_form *f, uint32_t size,
	      struct weft_error *err)
{
	*p = (struct pool){
		.f = f,
		.size = size,
		.at = weft_calloc((size_t)size * f->n, sizeof(*p->at), err),
		.cost = weft_calloc(size, sizeof(*p->cost), err),
		.scratch = weft_calloc(f->n, 4 * sizeof(*p->scratch), err),
	};
	if (p->at && p->cost && p->scratch)
		return 0;
	pool_free(p);
	return -1;
}

void pool_free(struct pool *p)
{
	free(p->at);
	free(p->cost);
	free(p->scratch);
	*p = (struct pool){0};
}

static void invert(const uint32_t *at, uint32_t n, uint32_t *holder)
{
	for (uint32_t i = 0; i < n; i++)
		holder[at[i]] = i;
}

/* The same solution as `at`, with pieces that are alike exchanged so that as
 * many as possible are where the reference has them. */
static void align(const struct qap_form *f, const uint32_t *holder,
		  const uint32_t *at, uint32_t *to, uint32_t *rest)
{
	const uint32_t *class = f->piece_class;
	uint32_t n_rest = 0;

	for (uint32_t i = 0; i < f->n; i++)
		to[i] = UINT32_MAX;
	/* pieces come class by class, and so do the spots left over */
	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t there = holder[at[i]];

		if (class[there] == class[i])
			to[there] = at[i];
		else
			rest[n_rest++] = at[i];
	}
	for (uint32_t i = 0, next = 0; i < f->n; i++)
		if (to[i] == UINT32_MAX)
			to[i] = rest[next++];
}

/* Spots that hold another kind of piece. */
static uint32_t distance(const struct qap_form *f, const uint32_t *holder,
			 const uint32_t *at)
{
	uint32_t d = 0;

	for (uint32_t i = 0; i < f->n; i++)
		d += f->piece_class[holder[at[i]]] != f->piece_class[i];
	return d;
}

bool pool_add(struct pool *p, const uint32_t *at, int64_t cost, uint32_t apart)
{
	uint32_t n = p->f->n, worst = 0, twin = UINT32_MAX;

	invert(at, n, p->scratch);
	for (uint32_t m = 0; m < p->n_members; m++) {
		if (p->cost[m] > p->cost[worst])
			worst = m;
		if (distance(p->f, p->scratch, p->at + (size_t)m * n) >= apart)
			continue;
		if (p->cost[m] <= cost)
			return false;
		twin = m;
	}
	if (twin != UINT32_MAX)
		worst = twin;
	else if (p->n_members < p->size)
		worst = p->n_members++;
	else if (p->cost[worst] <= cost)
		return false;
	p->cost[worst] = cost;
	memcpy(p->at + (size_t)worst * n, at, n * sizeof(*at));
	return true;
}

static void shuffle(uint32_t *v, uint32_t n, struct effort *effort)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t j = effort_below(effort, i), x = v[j];

		v[j] = v[i - 1];
		v[i - 1] = x;
	}
}

void pool_random(const struct qap_form *f, struct effort *effort, uint32_t *at)
{
	for (uint32_t i = 0; i < f->n; i++)
		at[i] = i;
	shuffle(at, f->n, effort);
}

void pool_cross(struct pool *p, struct effort *effort, uint32_t *child)
{
	uint32_t n = p->f->n, a, b, n_open = 0, n_left = 0;
	uint32_t *holder = p->scratch, *other = holder + n;
	uint32_t *open = other + n, *taken = open + n;
	const uint32_t *mother;

	a = effort_below(effort, p->n_members);
	b = effort_below(effort, p->n_members - 1);
	b += b >= a;
	mother = p->at + (size_t)a * n;
	invert(mother, n, holder);
	align(p->f, holder, p->at + (size_t)b * n, other, open);
	memset(taken, 0, n * sizeof(*taken));
	for (uint32_t i = 0; i < n; i++) {
		child[i] = UINT32_MAX;
		if (mother[i] == other[i]) {
			child[i] = mother[i];
			taken[child[i]] = 1;
		} else {
			open[n_open++] = i;
		}
	}
	shuffle(open, n_open, effort);
	for (uint32_t e = 0; e < n_open; e++) {
		uint32_t i = open[e], first = mother[i], second = other[i];

		if (effort_random(effort) >> 63) {
			first = other[i];
			second = mother[i];
		}
		if (taken[first])
			first = second;
		if (taken[first]) {
			open[n_left++] = i;
			continue;
		}
		child[i] = first;
		taken[first] = 1;
	}
	/* those left take the free spots, in random order both */
	for (uint32_t k = 0, e = 0; k < n && e < n_left; k++)
		if (!taken[k])
			child[open[e++]] = k;
}
