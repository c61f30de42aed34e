/* SPDX-License-Identifier: GPL-3.0-or-later */
/* map.c - what the kinds of mapping problems have in common */
#include "lab/map/map.h"
#include "base/clock.h"
#include "lab/map/qaplib.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of the budget, for the bound that the search may stop at. */
#define FAST_SHARE 0.1

/* Seconds that a search has at least: less than the process takes to start, and
 * enough for a first answer on some hundred places. */
#define LEAST_BUDGET 5e-4

void map_answer_free(struct map_answer *a)
{
	free(a->assignment);
	memset(a, 0, sizeof(*a));
}

struct effort map_search_effort(const struct map_options *o)
{
	struct effort e = {.work = o->work, .random = o->seed, .stop = o->stop};

	if (o->budget_s > 0)
		e.deadline_s = o->start_s + fmax(o->budget_s, LEAST_BUDGET);
	return e;
}

struct effort map_bound_effort(const struct map_options *o)
{
	struct effort e = map_search_effort(o);

	if (o->budget_s > 0)
		e.deadline_s = weft_clock_s() +
			       (o->bound == MAP_BOUND_FAST ? FAST_SHARE : 1) *
				       o->budget_s;
	return e;
}

int map_assignment_load(const char *path, uint32_t n, uint32_t n_places,
			uint32_t *place, struct weft_error *err)
{
	struct scan s;
	int rc = scan_load(&s, path, err);

	if (rc == 0)
		rc = qaplib_read_assignment(&s, n, n_places, place);
	scan_free(&s);
	return rc;
}

struct map_cost map_cost_whole(int64_t integer)
{
	return (struct map_cost){true, true, integer, (double)integer};
}

struct map_cost map_cost_real(double real)
{
	struct map_cost cost = {true, false, 0, real};

	cost.whole = fabs(real) <= ldexp(1, 53) && real == floor(real);
	if (cost.whole)
		cost.integer = (int64_t)real;
	return cost;
}
