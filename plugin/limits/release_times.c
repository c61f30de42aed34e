/* SPDX-License-Identifier: GPL-3.0-or-later */
/* release_times.c - the ends of running jobs */
#include "plugin/limits/release_times.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

/* Only slurmctld has it, but clients load the plugin, too. */
extern list_t *job_list __attribute__((weak));

uint64_t weft_release_times_signature(const struct weft_nodes *nodes,
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
	struct weft_release_times *ends;
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
	    c->ends->n_ends == c->room)
		return 0;
	c->ends->ends[c->ends->n_ends++] =
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

int weft_release_times_build(const struct weft_nodes *nodes,
			     bitstr_t *candidates, list_t *jobs,
			     struct weft_release_times *ends)
{
	struct collecting c = {.ends = ends, .candidates = candidates};

	memset(ends, 0, sizeof(*ends));
	jobs = jobs ? jobs : job_list;
	c.room = jobs ? (uint32_t)list_count(jobs) : 0;
	ends->ends = weft_calloc(c.room, sizeof(*ends->ends), NULL);
	ends->returned = weft_calloc(nodes->n, sizeof(*ends->returned), NULL);
	if (!ends->ends || !ends->returned)
		return -1;
	if (c.room)
		list_for_each(jobs, collect, &c);
	qsort(ends->ends, ends->n_ends, sizeof(*ends->ends), soonest_first);
	if (ends->n_ends > WEFT_MAX_ENDS)
		ends->n_ends = WEFT_MAX_ENDS;
	return 0;
}

void weft_release_times_free(struct weft_release_times *ends)
{
	free(ends->ends);
	free(ends->returned);
	memset(ends, 0, sizeof(*ends));
}

/* Adds, or takes away again, what one job has. */
static void give_back(struct weft_release_times *ends,
		      const struct weft_nodes *nodes, const job_record_t *job,
		      bool back)
{
	const struct weft_holder *holder =
		weft_holdings_find(&nodes->held, job->job_id);

	for (uint32_t k = 0; holder && k < holder->n; k++) {
		const struct weft_holding *of = &holder->of[k];
		struct weft_returned *r = &ends->returned[of->node];

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

void weft_release_times_enter(struct weft_release_times *ends,
			      struct weft_nodes *nodes, uint32_t k)
{
	for (; ends->n_back < k && ends->n_back < ends->n_ends; ends->n_back++)
		give_back(ends, nodes, ends->ends[ends->n_back].job, true);
	while (ends->n_back > k)
		give_back(ends, nodes, ends->ends[--ends->n_back].job, false);
	nodes->returned = ends->returned;
}

void weft_release_times_leave(struct weft_nodes *nodes)
{
	nodes->returned = NULL;
}

uint32_t weft_release_times_ended(const struct weft_release_times *ends,
				  time_t by)
{
	uint32_t k = 0;

	while (k < ends->n_ends && ends->ends[k].end <= by)
		k++;
	return k;
}
