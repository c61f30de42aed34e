/* SPDX-License-Identifier: GPL-3.0-or-later */
/* future.c - the ends of running jobs */
#include "plugin/future.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* Only slurmctld has it, but clients load the plugin, too. */
extern list_t *job_list __attribute__((weak));

uint64_t weft_future_signature(const struct weft_nodes *nodes,
			       uint64_t generation, bitstr_t *candidates)
{
	uint64_t hash = weft_hash_bytes(WEFT_HASH_START, &generation,
					sizeof(generation));

	for (uint32_t i = 0; i < nodes->n; i++)
		if (bit_test(candidates, i))
			hash = weft_hash_bytes(hash, &i, sizeof(i));
	return hash;
}

struct collecting {
	struct weft_future *future;
	bitstr_t *candidates;
	uint32_t room;
};

static int collect(void *item, void *arg)
{
	job_record_t *job = item;
	struct collecting *c = arg;

	if (!(IS_JOB_RUNNING(job) || IS_JOB_SUSPENDED(job)) ||
	    !job->job_resrcs || !job->job_resrcs->node_bitmap ||
	    !bit_overlap_any(job->job_resrcs->node_bitmap, c->candidates) ||
	    c->future->n_ends == c->room)
		return 0;
	c->future->ends[c->future->n_ends++] =
		(struct weft_end){job, job->end_time};
	return 0;
}

static int soonest_first(const void *pa, const void *pb)
{
	const struct weft_end *a = pa, *b = pb;

	if (a->end != b->end)
		return a->end < b->end ? -1 : 1;
	return (a->job->job_id > b->job->job_id) -
	       (a->job->job_id < b->job->job_id);
}

int weft_future_build(const struct weft_nodes *nodes, bitstr_t *candidates,
		      list_t *jobs, struct weft_future *future)
{
	struct collecting c = {.future = future, .candidates = candidates};

	memset(future, 0, sizeof(*future));
	jobs = jobs ? jobs : job_list;
	c.room = jobs ? (uint32_t)list_count(jobs) : 0;
	future->ends = weft_calloc(c.room, sizeof(*future->ends), NULL);
	future->returned =
		weft_calloc(nodes->n, sizeof(*future->returned), NULL);
	if (!future->ends || !future->returned)
		return -1;
	if (c.room)
		list_for_each(jobs, collect, &c);
	qsort(future->ends, future->n_ends, sizeof(*future->ends),
	      soonest_first);
	if (future->n_ends > WEFT_MAX_ENDS)
		future->n_ends = WEFT_MAX_ENDS;
	return 0;
}

void weft_future_free(struct weft_future *future)
{
	free(future->ends);
	free(future->returned);
	memset(future, 0, sizeof(*future));
}

/* Adds, or takes away again, what one job has. */
static void give_back(struct weft_future *future,
		      const struct weft_nodes *nodes, const job_record_t *job,
		      bool back)
{
	const struct weft_holder *holder =
		weft_holdings_find(&nodes->held, job->job_id);

	for (uint32_t k = 0; holder && k < holder->n; k++) {
		const struct weft_holding *of = &holder->of[k];
		struct weft_returned *r = &future->returned[of->node];

		if (back) {
			r->gpus |= of->gpus;
			r->cpus += of->cpus;
			r->memory_mb += of->memory_mb;
		} else {
			r->gpus &= ~of->gpus;
			r->cpus -= of->cpus;
			r->memory_mb -= of->memory_mb;
		}
	}
}

void weft_future_enter(struct weft_future *future, struct weft_nodes *nodes,
		       uint32_t k)
{
	for (; future->n_back < k && future->n_back < future->n_ends;
	     future->n_back++)
		give_back(future, nodes, future->ends[future->n_back].job,
			  true);
	while (future->n_back > k)
		give_back(future, nodes, future->ends[--future->n_back].job,
			  false);
	nodes->returned = future->returned;
}

void weft_future_leave(struct weft_nodes *nodes)
{
	nodes->returned = NULL;
}

uint32_t weft_future_ended(const struct weft_future *future, time_t by)
{
	uint32_t k = 0;

	while (k < future->n_ends && future->ends[k].end <= by)
		k++;
	return k;
}
