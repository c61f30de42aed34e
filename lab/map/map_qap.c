/* SPDX-License-Identifier: GPL-3.0-or-later */
/* map_qap.c - two matrices: which facility goes to which location */
#include "lab/map/map.h"
#include "lab/map/portfolio.h"
#include "lab/map/qaplib.h"
#include "lab/stop.h"

#include <stdlib.h>
#include <string.h>

static int file_read(const char *path, struct qap *q, uint32_t *n_left,
		     struct weft_error *err)
{
	struct scan s;
	int rc = scan_load(&s, path, err);

	if (rc == 0)
		rc = qaplib_read(&s, q, n_left);
	scan_free(&s);
	return rc;
}

static int bound_find(const struct map_options *o, const struct qap *q,
		      struct map_answer *a, struct weft_error *err)
{
	struct effort effort = map_bound_effort(o);
	int64_t bound;

	if (qap_bound(q, &effort, &bound, err))
		return -1;
	a->bound = map_cost_whole(bound);
	return 0;
}

struct question {
	const struct qap *q;
	int64_t target;
};

static int search_once(const void *question, struct effort *effort,
		       uint32_t *location, double *cost, struct weft_error *err)
{
	const struct question *ask = question;
	int64_t whole;

	if (qap_solve(ask->q, ask->target, effort, location, &whole, err))
		return -1;
	*cost = (double)whole;
	return 0;
}

/* Keeps what the search finds only where no start is better. */
static int search(const struct map_options *o, const struct qap *q,
		  struct map_answer *a, struct weft_error *err)
{
	const struct question question = {
		.q = q,
		.target = a->bound.known ? a->bound.integer : INT64_MIN,
	};
	struct effort effort = map_search_effort(o);
	uint32_t *location = weft_calloc(q->n, sizeof(*location), err);
	double nearly;
	int64_t cost = 0;
	int rc;

	if (!location)
		return -1;
	stop_count(o->budget_s);
	rc = portfolio_run(o->n_threads, search_once, &question, q->n, &effort,
			   location, &nearly, err);
	stop_quiet();
	if (rc == 0)
		cost = qap_cost(q, location);
	if (rc == 0 && cost < a->cost.integer) {
		memcpy(a->assignment, location, q->n * sizeof(*location));
		a->cost = map_cost_whole(cost);
		a->method = "search";
	}
	free(location);
	return rc;
}

static int solve(const struct map_options *o, const struct qap *q,
		 struct map_answer *a, struct weft_error *err)
{
	for (uint32_t i = 0; i < q->n; i++)
		a->assignment[i] = i;
	a->cost = a->natural = map_cost_whole(qap_cost(q, a->assignment));
	a->method = "natural order";
	if (o->assignment) {
		uint32_t *given = weft_calloc(q->n, sizeof(*given), err);

		if (!given || map_assignment_load(o->assignment, q->n, q->n,
						  given, err)) {
			free(given);
			return -1;
		}
		a->given = map_cost_whole(qap_cost(q, given));
		/* one that is to be priced alone counts whatever its cost */
		if (o->work == 0 || a->given.integer <= a->cost.integer) {
			memcpy(a->assignment, given, q->n * sizeof(*given));
			a->cost = a->given;
			a->method = "as given";
		}
		free(given);
	}
	if (o->bound == MAP_BOUND_FAST && bound_find(o, q, a, err))
		return -1;
	if (o->work > 0 && search(o, q, a, err))
		return -1;
	a->interrupted = *o->stop;
	if (o->bound == MAP_BOUND_FULL && bound_find(o, q, a, err))
		return -1;
	return 0;
}

int map_qap(const struct map_options *o, struct map_answer *a,
	    struct weft_error *err)
{
	struct qap q = {0};
	int rc = -1;

	if (file_read(o->qap, &q, &a->n_left, err) == 0) {
		a->n = a->n_slots = q.n;
		a->assignment = weft_calloc(q.n, sizeof(*a->assignment), err);
		if (a->assignment)
			rc = solve(o, &q, a, err);
	}
	qap_free(&q);
	return rc;
}
