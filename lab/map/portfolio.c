/* SPDX-License-Identifier: GPL-3.0-or-later */
/* portfolio.c - one search several times at once, each with its own luck */
#include "lab/map/portfolio.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct member {
	portfolio_search search;
	const void *problem;
	struct effort effort;
	uint32_t *answer;
	double cost;
	int rc;
	struct weft_error err;
	pthread_t thread;
};

static void *run(void *argument)
{
	struct member *m = argument;

	m->rc = m->search(m->problem, &m->effort, m->answer, &m->cost, &m->err);
	return NULL;
}

/* Starts all but the first, which is this thread's; returns how many there are.
 */
static uint32_t start(struct member *member, uint32_t n)
{
	uint32_t started = 1;

	while (started < n && pthread_create(&member[started].thread, NULL, run,
					     &member[started]) == 0)
		started++;
	return started;
}

/* The best of those that found anything; none: the first's error. */
static int choose(struct member *member, uint32_t n_members, uint32_t n,
		  uint32_t *answer, double *cost, struct weft_error *err)
{
	const struct member *best = NULL;

	for (uint32_t i = 0; i < n_members; i++)
		if (member[i].rc == 0 && (!best || member[i].cost < best->cost))
			best = &member[i];
	if (!best)
		return weft_fail(err, member[0].err.code, "%s",
				 member[0].err.text);
	memcpy(answer, best->answer, n * sizeof(*answer));
	*cost = best->cost;
	return 0;
}

int portfolio_run(uint32_t n_threads, portfolio_search search,
		  const void *problem, uint32_t n, struct effort *effort,
		  uint32_t *answer, double *cost, struct weft_error *err)
{
	uint32_t n_members = n_threads > 1 ? n_threads : 1;
	struct member *member;
	uint32_t *memory;
	int rc = -1;

	if (n_members == 1)
		return search(problem, effort, answer, cost, err);
	if (n_members > PORTFOLIO_MAX)
		n_members = PORTFOLIO_MAX;
	member = weft_calloc(n_members, sizeof(*member), err);
	memory = weft_calloc(n, n_members * sizeof(*memory), err);
	if (!member || !memory)
		goto out;
	for (uint32_t i = 0; i < n_members; i++) {
		member[i].search = search;
		member[i].problem = problem;
		member[i].effort = *effort;
		member[i].answer = memory + (size_t)i * n;
		/* far apart: the generator adds the same odd number each time
		 */
		member[i].effort.random += i * UINT64_C(0xd1342543de82ef95);
	}
	n_members = start(member, n_members);
	run(&member[0]);
	for (uint32_t i = 1; i < n_members; i++)
		pthread_join(member[i].thread, NULL);
	*effort = member[0].effort;
	rc = choose(member, n_members, n, answer, cost, err);
out:
	free(member);
	free(memory);
	return rc;
}
