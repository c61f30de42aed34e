/* SPDX-License-Identifier: GPL-3.0-or-later */
/* multistart.c - many starts, and long work on the best of them
 *
 * Where a start ends depends on its first cuts more than on the work put into
 * it later, so up to half of what is left goes into starts, then all into the
 * best one; in the few milliseconds that other mappers take, letting several go
 * on was worse.  With more time the second best gets a round as well.
 */
#include "base/clock.h"
#include "placement/mapping/local_search.h"

#include <math.h>

/* Of what is left of the effort, the part that goes into starts at most. */
#define START_SHARE 0.5
/* Starts of the first series, as many as slots within these bounds; each later
 * one has twice as many. */
#define MIN_STARTS   8
#define FIRST_STARTS 256
#define MAX_STARTS   1024
/* Work on the best, in terms of that of all starts, and in how many rounds. */
#define LONG_WORK 3
/* The same where slots are many: there the start decides most. */
#define MANY	       128
#define LONG_WORK_MANY 1
#define ROUNDS	       3
/* Without starts: work on the given one, in edges. */
#define WORK_ON_GIVEN 100
/* Series without gain, and where slots are few. */
#define MAX_IDLE 3
#define FEW	 32
/* A given start this many times worse than one from nothing is dropped. */
#define HOPELESS 1.5

struct series {
	struct local_search *c;
	struct effort *effort;
	multistart_offer offer;
	void *context;
	struct weft_error *err;
	uint64_t begin_work;
	double begin_s;
	struct assignment given;
	struct assignment best, second; /* of this series */
	struct assignment other;	/* the second best start */
	double least;			/* of all series */
	bool over;
};

/* Part of the time or work that is over. */
static double progress(const struct series *s)
{
	const struct effort *e = s->effort;
	double part = 1 - (double)e->work / (double)s->begin_work;

	if (e->deadline_s > 0) {
		double time = (weft_budget_clock_s() - s->begin_s) /
			      (e->deadline_s - s->begin_s);

		part = time > part ? time : part;
	}
	return part;
}

static bool over(struct series *s)
{
	return s->over || effort_spent(s->effort);
}

static void keep(struct series *s)
{
	double epsilon = s->c->bisector.epsilon;

	if (s->c->now.cost < s->best.cost - epsilon) {
		if (isfinite(s->best.cost))
			assignment_copy(&s->best, &s->second);
		assignment_copy(&s->c->now, &s->best);
	} else if (s->c->now.cost < s->second.cost - epsilon &&
		   s->c->now.cost > s->best.cost + epsilon) {
		assignment_copy(&s->c->now, &s->second);
	}
	if (s->c->now.cost < s->least - epsilon) {
		s->least = s->c->now.cost;
		s->over |= !s->offer(s->context, &s->c->now);
	}
}

static int settle(struct series *s)
{
	local_search_settle(s->c);
	if (local_search_round(s->c, 0, s->err))
		return -1;
	keep(s);
	return 0;
}

static int start(struct series *s, uint32_t n)
{
	double begin = progress(s);
	double end = begin + (1 - begin) * START_SHARE;

	for (uint32_t i = 0; i < n && !over(s); i++) {
		if (i > 0 && progress(s) > end)
			break;
		if (!local_search_restart(s->c))
			break;
		if (settle(s))
			return -1;
	}
	return 0;
}

/* The arrangement that was given, improved like the others. */
static int use_given(struct series *s)
{
	double floor = s->c->floor;

	if (over(s) ||
	    s->given.cost - floor > HOPELESS * (s->best.cost - floor))
		return 0;
	assignment_copy(&s->given, &s->c->now);
	return settle(s);
}

/* Long work on the best, on the second best, as where the best start ends is
 * not always best, and then on the better of both. */
static int run_rounds(struct series *s, uint64_t work)
{
	bool has_second = isfinite(s->second.cost);

	if (has_second)
		assignment_copy(&s->second, &s->other);
	for (int i = 0; i < ROUNDS && !over(s); i++) {
		assignment_copy(i == 1 && has_second ? &s->other : &s->best,
				&s->c->now);
		if (local_search_round(s->c, work, s->err))
			return -1;
		keep(s);
	}
	return 0;
}

static int run_once(struct series *s, uint32_t n_starts)
{
	uint32_t times = s->c->t->n_slots > MANY ? LONG_WORK_MANY : LONG_WORK;
	uint64_t begin = s->effort->work, work;

	s->best.cost = s->second.cost = (double)INFINITY;
	if (start(s, n_starts) || use_given(s))
		return -1;
	if (!isfinite(s->best.cost))
		return 0;
	work = (begin - s->effort->work) / ROUNDS * times;
	if (n_starts == 0)
		work = (uint64_t)s->c->g->n_edges * WORK_ON_GIVEN;
	return run_rounds(s, work);
}

static uint32_t first_starts(uint32_t n_slots)
{
	if (n_slots < MIN_STARTS)
		return MIN_STARTS;
	return n_slots < FIRST_STARTS ? n_slots : FIRST_STARTS;
}

int multistart_run(struct local_search *c, bool from_given,
		   multistart_offer offer, void *context,
		   struct weft_error *err)
{
	struct series s = {.c = c,
			   .effort = c->bisector.effort,
			   .offer = offer,
			   .context = context,
			   .err = err,
			   .begin_work = c->bisector.effort->work,
			   .begin_s = weft_budget_clock_s(),
			   .least = (double)INFINITY};
	uint32_t first = first_starts(c->t->n_slots);
	uint32_t few = from_given ? 2 * FEW : FEW;
	uint32_t max_idle = c->t->n_slots <= few ? 1 : MAX_IDLE;
	uint32_t idle = 0, n = from_given ? 0 : first;
	int rc = -1;

	if (assignment_build(c->g, c->t, &s.given, err) ||
	    assignment_build(c->g, c->t, &s.best, err) ||
	    assignment_build(c->g, c->t, &s.second, err) ||
	    assignment_build(c->g, c->t, &s.other, err))
		goto out;
	assignment_copy(&c->now, &s.given);
	if (from_given)
		s.least = s.given.cost;
	rc = 0;
	while (rc == 0 && idle < max_idle && !over(&s)) {
		double before = s.least;

		rc = run_once(&s, n);
		idle = s.least < before - c->bisector.epsilon ? 0 : idle + 1;
		n = n == 0 ? first : n < MAX_STARTS ? 2 * n : n;
	}
out:
	assignment_free(&s.given);
	assignment_free(&s.best);
	assignment_free(&s.second);
	assignment_free(&s.other);
	return rc;
}
