/* SPDX-License-Identifier: GPL-3.0-or-later */
/* contention.c - running jobs on links that they share, and their steps */
#include "lab/replay/contention.h"

#include "base/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Times that a job is timed in one settlement at most, and from which on it
 * goes half of the way only: two that answer each other must not swing. */
#define MOST_VISITS 40
#define FREE_VISITS 4

struct contender {
	struct weft_step_kept *kept; /* NULL: it does not run */
	double step_s;
	double duty; /* sum over parts: tells whether they changed */
	struct weft_load_parts parts;
	uint32_t *links; /* [n_links] each once */
	uint32_t n_links;
	uint32_t settled, n_visits; /* times timed in settlement `settled` */
	bool queued;
};

/* Jobs on one directed link. */
struct sharers {
	uint32_t n, room;
	uint32_t *job; /* [n] */
};

int contention_build(const struct weft_fabric *f, uint32_t n_jobs,
		     struct contention *c, struct weft_error *err)
{
	memset(c, 0, sizeof(*c));
	c->jobs = weft_calloc(n_jobs, sizeof(*c->jobs), err);
	c->queue = weft_calloc(n_jobs, sizeof(*c->queue), err);
	c->timed = weft_calloc(n_jobs, sizeof(*c->timed), err);
	c->sharers =
		weft_calloc(2 * (size_t)f->n_domains, sizeof(*c->sharers), err);
	if (!c->jobs || !c->queue || !c->timed || !c->sharers)
		return -1;
	c->n_jobs = n_jobs;
	return weft_load_build(f, &c->load, err);
}

static void contender_free(struct contender *j)
{
	weft_step_kept_free(j->kept);
	weft_load_parts_free(&j->parts);
	free(j->links);
	memset(j, 0, sizeof(*j));
}

void contention_free(struct contention *c)
{
	const struct weft_fabric *f = c->load.fabric;

	for (uint32_t i = 0; i < c->n_jobs; i++)
		contender_free(&c->jobs[i]);
	for (uint32_t l = 0; f && l < 2 * f->n_domains; l++)
		free(c->sharers[l].job);
	free(c->jobs);
	free(c->queue);
	free(c->timed);
	free(c->sharers);
	weft_load_free(&c->load);
	memset(c, 0, sizeof(*c));
}

double contention_step_s(const struct contention *c, uint32_t job)
{
	return c->jobs[job].step_s;
}

static void queue_add(struct contention *c, uint32_t job)
{
	if (c->jobs[job].queued)
		return;
	c->jobs[job].queued = true;
	c->queue[(c->first + (uint64_t)c->n_queued++) % c->n_jobs] = job;
}

static uint32_t queue_take(struct contention *c)
{
	uint32_t job = c->queue[c->first];

	c->first = (c->first + 1) % c->n_jobs;
	c->n_queued--;
	c->jobs[job].queued = false;
	return job;
}

/* All that share a link with the job are to be timed. */
static void others_queue(struct contention *c, uint32_t job)
{
	const struct contender *j = &c->jobs[job];

	for (uint32_t i = 0; i < j->n_links; i++) {
		const struct sharers *s = &c->sharers[j->links[i]];

		for (uint32_t k = 0; k < s->n; k++) {
			if (s->job[k] != job)
				queue_add(c, s->job[k]);
		}
	}
}

/* ---- who is on which link ---- */

static int links_find(struct contender *j, struct weft_error *err)
{
	uint32_t n = 0;

	j->links = weft_calloc(j->parts.n, sizeof(*j->links), err);
	if (!j->links)
		return -1;
	for (uint32_t i = 0; i < j->parts.n; i++)
		j->links[i] = j->parts.part[i].link;
	if (j->parts.n)
		qsort(j->links, j->parts.n, sizeof(*j->links),
		      weft_compare_numbers);
	for (uint32_t i = 0; i < j->parts.n; i++) {
		if (i == 0 || j->links[i] != j->links[i - 1])
			j->links[n++] = j->links[i];
	}
	j->n_links = n;
	return 0;
}

static int sharers_add(struct sharers *s, uint32_t job, struct weft_error *err)
{
	if (WEFT_GROW(s->job, s->n, s->room, err))
		return -1;
	s->job[s->n++] = job;
	return 0;
}

static void sharers_remove(struct sharers *s, uint32_t job)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (s->job[i] == job) {
			s->job[i] = s->job[--s->n];
			return;
		}
	}
}

/* ---- steps ---- */

/* Seconds of a step that all kinds of calls send on all links, over the step.
 */
static double parts_duty(const struct weft_load_parts *parts)
{
	double sum = 0;

	for (uint32_t i = 0; i < parts->n; i++)
		sum += parts->part[i].add.duty;
	return sum;
}

static int parts_renew(struct contender *j, struct weft_error *err)
{
	j->parts.n = 0;
	if (weft_step_load(j->kept, j->step_s, &j->parts, err))
		return -1;
	j->duty = parts_duty(&j->parts);
	return 0;
}

int contention_add(struct contention *c, uint32_t job,
		   struct weft_step_kept *kept, struct weft_error *err)
{
	struct contender *j = &c->jobs[job];

	*j = (struct contender){.kept = kept};
	j->step_s = weft_step_again(kept, NULL);
	if (parts_renew(j, err) || links_find(j, err))
		return -1;
	weft_load_add(&c->load, &j->parts);
	for (uint32_t i = 0; i < j->n_links; i++) {
		if (sharers_add(&c->sharers[j->links[i]], job, err))
			return -1;
	}
	queue_add(c, job);
	others_queue(c, job);
	return 0;
}

void contention_remove(struct contention *c, uint32_t job)
{
	struct contender *j = &c->jobs[job];

	if (!j->kept)
		return;
	weft_load_subtract(&c->load, &j->parts);
	for (uint32_t i = 0; i < j->n_links; i++)
		sharers_remove(&c->sharers[j->links[i]], job);
	others_queue(c, job);
	contender_free(j);
}

static bool differs(double a, double b)
{
	return fabs(a - b) > CONTENTION_SAME * b;
}

static int job_time(struct contention *c, uint32_t job, struct weft_error *err)
{
	struct contender *j = &c->jobs[job];
	double before_s = j->step_s, before = j->duty;

	if (!j->kept)
		return 0;
	if (j->settled != c->n_settled) {
		j->settled = c->n_settled;
		j->n_visits = 0;
		c->timed[c->n_timed++] = job;
	}
	if (j->n_visits++ >= MOST_VISITS)
		return 0;
	c->n_visits++;
	weft_load_subtract(&c->load, &j->parts);
	j->step_s = weft_step_again(j->kept, &c->load);
	if (j->n_visits > FREE_VISITS)
		j->step_s = (j->step_s + before_s) / 2;
	if (parts_renew(j, err))
		return -1;
	weft_load_add(&c->load, &j->parts);
	if (differs(j->step_s, before_s) || differs(j->duty, before))
		others_queue(c, job);
	return 0;
}

int contention_settle(struct contention *c, struct weft_error *err)
{
	c->n_settled++;
	c->n_timed = 0;
	while (c->n_queued) {
		if (job_time(c, queue_take(c), err))
			return -1;
	}
	return 0;
}
