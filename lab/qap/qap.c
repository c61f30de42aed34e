/* SPDX-License-Identifier: GPL-3.0-or-later */
/* qap.c - the quadratic assignment problem with any two matrices
 *
 * A memetic search: children of a small pool of good solutions keep what two
 * of them agree on and are improved by tabu search.  On structured problems
 * what good solutions share is most of the optimum, and many short improvements
 * do; where there is no structure only long ones help.  Which it is is not
 * known before, so each epoch starts with a new and smaller pool and twice the
 * patience.
 */
#include "lab/qap/qap.h"
#include "lab/qap/qap_form.h"
#include "lab/qap/qap_tabu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct pool {
	const struct qap_form *f;
	uint32_t size, n_members;
	uint32_t *at; /* [size][n] */
	int64_t *cost;
	uint32_t *scratch; /* [4 * n] */
};

/* ---- a few good and different solutions ---- */

static void pool_free(struct pool *p)
{
	free(p->at);
	free(p->cost);
	free(p->scratch);
	*p = (struct pool){0};
}

static int pool_make(struct pool *p, const struct qap_form *f, uint32_t size,
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

/* True when the solution came in: it is better than the worst, or there is
 * room, and no member is as good and closer than `apart` pieces.  A member
 * that is closer and worse gives way. */
static bool pool_add(struct pool *p, const uint32_t *at, int64_t cost,
		     uint32_t apart)
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

/* Any solution. */
static void pool_random(const struct qap_form *f, struct effort *effort,
			uint32_t *at)
{
	for (uint32_t i = 0; i < f->n; i++)
		at[i] = i;
	shuffle(at, f->n, effort);
}

/* A child of two members drawn at random: what they agree on, and for the rest
 * either's or anything. */
static void pool_cross(struct pool *p, struct effort *effort, uint32_t *child)
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

/* ---- the search ---- */

#define FIRST_POOL 30
#define LAST_POOL  15
/* Patience where the landscape is rugged, or few swaps lead anywhere, times n
 * iterations. */
#define RUGGED_PATIENCE 20
/* A pool is spent when so many children in a row did not get in. */
#define STALE_CHILDREN 30
/* Epochs in a row that found the same best, and nothing better: enough. */
#define AGREEING_EPOCHS 8

/* How long a return is forbidden, as a part of the number of pieces: long on
 * smooth landscapes, as distances on a grid make them, short on rugged ones.
 * The first solutions of an epoch tell which suits. */
struct tenure {
	double shortest, longest;
};
static const struct tenure tenures[] = {
	{0.05, 0.15},
	{0.2, 0.6},
	{0.9, 1.1},
};
#define N_TENURES 3

struct search {
	const struct qap *q;
	struct qap_form form;
	const struct tabu_kind *kind;
	struct tabu *tabu;
	struct pool pool;
	struct tabu_run run;
	uint32_t outstanding;	     /* pieces that tenures are a part of */
	uint32_t *best;		     /* location of each facility */
	int64_t best_sum, epoch_sum; /* lowest so far, by qap_form_cost */
	int64_t cost, target;	     /* by qap_cost */
};

void qap_free(struct qap *q)
{
	free(q->a);
	free(q->b);
	*q = (struct qap){0};
}

int64_t qap_cost(const struct qap *q, const uint32_t *location)
{
	size_t n = q->n;
	int64_t cost = 0;

	for (size_t i = 0; i < n; i++) {
		const int64_t *a = q->a + i * n, *b = q->b + location[i] * n;

		for (size_t j = 0; j < n; j++)
			cost += a[j] * b[location[j]];
	}
	return cost;
}

static bool done(const struct search *s, struct effort *effort)
{
	return s->cost <= s->target || effort_spent(effort);
}

/* One tabu search from run.at; a record is kept. */
static void improve(struct search *s, struct effort *effort)
{
	/* setting up the tables */
	effort_spend(effort, (uint64_t)s->q->n * s->q->n);
	s->kind->run(s->tabu, &s->run, effort);
	if (s->run.cost < s->epoch_sum)
		s->epoch_sum = s->run.cost;
	if (s->run.cost >= s->best_sum)
		return;
	s->best_sum = s->run.cost;
	qap_form_location(&s->form, s->run.at, s->best);
	s->cost = qap_cost(s->q, s->best);
}

static bool add(struct search *s)
{
	/* members closer than this make children that are copies */
	uint32_t apart = 1 + s->q->n / 50;

	return pool_add(&s->pool, s->run.at, s->run.cost, apart);
}

static void set_tenure(struct search *s, uint32_t which)
{
	const struct tenure *t = &tenures[which];
	double pieces = s->outstanding;

	s->run.shortest = 1 + (uint32_t)(pieces * t->shortest);
	s->run.longest = 2 + (uint32_t)(pieces * t->longest);
}

/* What one tenure reached from random solutions. */
struct trial {
	double n, sum, squares;
};

/* Whether a is better than b by more than chance: by two standard errors. */
static bool clearly_better(const struct trial *a, const struct trial *b)
{
	double mean_a = a->sum / a->n, mean_b = b->sum / b->n;
	double spread_a = a->squares / a->n - mean_a * mean_a;
	double spread_b = b->squares / b->n - mean_b * mean_b;

	return mean_b - mean_a >
	       2 * sqrt(fmax(0, spread_a / a->n + spread_b / b->n));
}

/* Fills the pool from random solutions, under each tenure in turn; returns the
 * tenure that did best on average, and whether that is the shortest beyond
 * doubt. */
static uint32_t populate(struct search *s, struct effort *effort, bool *rugged)
{
	struct trial trials[N_TENURES] = {{0}};
	int64_t zero = 0; /* costs are taken from here: squares of small numbers
			   * lose less */
	uint32_t best = 0;

	s->pool.n_members = 0;
	for (uint32_t m = 0; m < 2 * s->pool.size; m++) {
		uint32_t which = s->run.either ? 0 : m % N_TENURES;
		struct trial *t = &trials[which];
		double cost;

		if (s->pool.n_members == s->pool.size || done(s, effort))
			break;
		set_tenure(s, which);
		pool_random(&s->form, effort, s->run.at);
		improve(s, effort);
		add(s);
		zero = m == 0 ? s->run.cost : zero;
		cost = (double)(s->run.cost - zero);
		t->n++;
		t->sum += cost;
		t->squares += cost * cost;
	}
	for (uint32_t t = 1; t < N_TENURES; t++)
		if (trials[t].sum * trials[best].n <
		    trials[best].sum * trials[t].n)
			best = t;
	*rugged = s->run.either ||
		  (best == 0 && trials[N_TENURES - 1].n > 2 &&
		   clearly_better(&trials[0], &trials[N_TENURES - 1]));
	return best;
}

static void epoch(struct search *s, struct effort *effort)
{
	uint64_t longer = (uint64_t)s->q->n * RUGGED_PATIENCE;
	uint32_t stale = 0, best;
	bool rugged;

	s->epoch_sum = INT64_MAX;
	best = populate(s, effort, &rugged);
	if (rugged && s->run.patience < longer) {
		s->run.patience = longer;
		s->pool.size = LAST_POOL;
		best = populate(s, effort, &rugged);
	}
	while (stale < STALE_CHILDREN && s->pool.n_members > 1 &&
	       !done(s, effort)) {
		bool other = !s->run.either && effort_below(effort, 4) == 0;

		set_tenure(s, other ? effort_below(effort, N_TENURES) : best);
		pool_cross(&s->pool, effort, s->run.at);
		improve(s, effort);
		stale = add(s) ? 0 : stale + 1;
	}
	s->run.patience *= 2;
	if (s->pool.size > LAST_POOL)
		s->pool.size -= 5;
}

/* With many alike, a few swaps make most solutions: what counts is how many
 * pieces stand out. */
static void find_outstanding(struct search *s)
{
	const uint32_t *class = s->form.piece_class;
	uint32_t n = s->q->n, common = 0;

	s->run.either = s->form.n_piece_classes < n / 2;
	/* the largest class comes first */
	while (s->run.either && common < n && class[common] == 0)
		common++;
	s->outstanding = n - common;
}

static void search_free(struct search *s)
{
	if (s->kind)
		s->kind->free(s->tabu);
	pool_free(&s->pool);
	qap_form_free(&s->form);
	free(s->run.at);
}

static int search_make(struct search *s, struct weft_error *err)
{
	uint32_t n = s->q->n;

	if (qap_form_make(&s->form, s->q, err) != 0)
		return -1;
	s->kind = s->form.reach < qap_tabu_narrow.reach ? &qap_tabu_narrow
							: &qap_tabu_wide;
	s->tabu = s->kind->make(&s->form, err);
	s->run = (struct tabu_run){
		.at = weft_calloc(n, sizeof(*s->run.at), err),
		.patience = n,
	};
	if (!s->tabu || !s->run.at ||
	    pool_make(&s->pool, &s->form, FIRST_POOL, err) != 0)
		return -1;
	find_outstanding(s);
	return 0;
}

int qap_solve(const struct qap *q, int64_t target, struct effort *effort,
	      uint32_t *location, int64_t *cost, struct weft_error *err)
{
	struct search s = {.q = q, .best = location, .target = target};
	uint32_t agreeing = 0;
	int rc = -1;

	if (search_make(&s, err) != 0)
		goto out;
	/* the order as given, which the first search starts from */
	memcpy(s.run.at, s.form.label, q->n * sizeof(*s.run.at));
	for (uint32_t i = 0; i < q->n; i++)
		location[i] = i;
	s.cost = qap_cost(q, location);
	s.best_sum = qap_form_cost(&s.form, s.run.at);
	set_tenure(&s, N_TENURES - 1);
	if (!done(&s, effort))
		improve(&s, effort);
	while (!done(&s, effort) && agreeing < AGREEING_EPOCHS) {
		int64_t before = s.best_sum;

		epoch(&s, effort);
		if (s.epoch_sum == before)
			agreeing++;
		else if (s.epoch_sum < before)
			agreeing = 1;
	}
	*cost = s.cost;
	rc = 0;
out:
	search_free(&s);
	return rc;
}
