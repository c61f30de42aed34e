/* SPDX-License-Identifier: GPL-3.0-or-later */
/* qap.c - the quadratic assignment problem with any two matrices
 *
 * A memetic search: children of a small pool of good solutions keep what two
 * of them agree on and are improved by tabu search.  On structured problems
 * what good solutions share is most of the optimum, and short improvements do;
 * where there is no structure only long ones help.  Which it is is not known
 * before, so each epoch starts with a new pool and twice the patience.
 */
#include "placement/qap.h"
#include "placement/qap_pool.h"
#include "placement/qap_tabu.h"

#include <stdlib.h>
#include <string.h>

#define POOL_SIZE      15
#define FIRST_PATIENCE 10 /* times n, iterations without a new best */
/* A pool is spent when so many children in a row did not get in. */
#define STALE_CHILDREN 30
/* Epochs in a row that found the same best, and nothing better: enough. */
#define AGREEING_EPOCHS 8

struct search {
	const struct qap *q;
	struct qap_form form;
	const struct tabu_kind *kind;
	struct tabu *tabu;
	struct pool pool;
	struct tabu_run run;
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

static void epoch(struct search *s, struct effort *effort)
{
	struct pool *pool = &s->pool;
	uint32_t stale = 0;

	s->epoch_sum = INT64_MAX;
	pool->n_members = 0;
	for (uint32_t m = 0; m < 2 * POOL_SIZE && pool->n_members < pool->size;
	     m++) {
		if (done(s, effort))
			return;
		pool_random(&s->form, effort, s->run.at);
		improve(s, effort);
		add(s);
	}
	while (stale < STALE_CHILDREN && pool->n_members > 1 &&
	       !done(s, effort)) {
		pool_cross(pool, effort, s->run.at);
		improve(s, effort);
		stale = add(s) ? 0 : stale + 1;
	}
}

/* How long a return is forbidden.  With many alike, a few swaps make most
 * solutions: what counts is how many pieces stand out. */
static void set_tenure(struct search *s)
{
	const uint32_t *class = s->form.piece_class;
	uint32_t n = s->q->n, common = 0;

	/* the largest class comes first */
	while (common < n && class[common] == 0)
		common++;
	s->run.either = s->form.n_piece_classes < n / 2;
	if (s->run.either) {
		s->run.shortest = 1 + (n - common) / 20;
		s->run.longest = 2 + (n - common) / 7;
	} else {
		s->run.shortest = n * 9 / 10;
		s->run.longest = n * 11 / 10;
	}
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
		.target = INT64_MIN,
		.patience = (uint64_t)n * FIRST_PATIENCE,
		.limit = UINT64_MAX,
	};
	if (!s->tabu || !s->run.at ||
	    pool_make(&s->pool, &s->form, POOL_SIZE, err) != 0)
		return -1;
	set_tenure(s);
	return 0;
}

int qap_solve(const struct qap *q, int64_t target, uint32_t n_threads,
	      struct effort *effort, uint32_t *location, int64_t *cost,
	      struct weft_error *err)
{
	struct search s = {.q = q, .best = location, .target = target};
	uint32_t agreeing = 0;
	int rc = -1;

	(void)n_threads; /* runs of their own would gain little here */
	if (search_make(&s, err) != 0)
		goto out;
	for (uint32_t i = 0; i < q->n; i++)
		location[i] = s.run.at[i] = i;
	s.cost = qap_cost(q, location);
	s.best_sum = INT64_MAX;
	while (!done(&s, effort) && agreeing < AGREEING_EPOCHS) {
		int64_t before = s.best_sum;

		epoch(&s, effort);
		if (s.epoch_sum == before)
			agreeing++;
		else if (s.epoch_sum < before)
			agreeing = 1;
		s.run.patience *= 2;
	}
	*cost = s.cost;
	rc = 0;
out:
	search_free(&s);
	return rc;
}
