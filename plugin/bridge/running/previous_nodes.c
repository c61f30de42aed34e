/* SPDX-License-Identifier: GPL-3.0-or-later */
/* previous_nodes.c - the table of where jobs ran */
#include "plugin/bridge/running/previous_nodes.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static void job_drop(struct weft_previous_nodes *previous,
		     struct weft_previous_nodes_job *job)
{
	previous->n_nodes -= job->n_nodes;
	free(job->nodes);
	memset(job, 0, sizeof(*job));
}

/* Jobs with numbers about as high as one's own: components of it, too. */
#define NEAR (WEFT_MAX_PAST / 8)

/* Drops others until there is room for n: oldest first by number, but those
 * that are near at the end. */
static void make_room(struct weft_previous_nodes *previous, uint32_t job_id,
		      uint32_t n)
{
	for (uint32_t i = NEAR; i < WEFT_MAX_PAST + NEAR &&
				n > WEFT_MAX_PAST_NODES - previous->n_nodes;
	     i++)
		job_drop(previous,
			 &previous->jobs[(job_id + i) % WEFT_MAX_PAST]);
}

void weft_previous_nodes_keep(struct weft_previous_nodes *previous,
			      uint32_t job_id, const uint32_t *nodes,
			      uint32_t n)
{
	struct weft_previous_nodes_job *job =
		&previous->jobs[job_id % WEFT_MAX_PAST];

	job_drop(previous, job);
	if (n <= WEFT_MAX_PAST_NODES)
		make_room(previous, job_id, n);
	if (!n || n > WEFT_MAX_PAST_NODES - previous->n_nodes)
		return;
	job->nodes = weft_calloc(n, sizeof(*nodes), NULL);
	if (!job->nodes)
		return;
	memcpy(job->nodes, nodes, n * sizeof(*nodes));
	job->n_nodes = n;
	job->job_id = job_id;
	previous->n_nodes += n;
}

const struct weft_previous_nodes_job *
weft_previous_nodes_find(const struct weft_previous_nodes *previous,
			 uint32_t job_id)
{
	const struct weft_previous_nodes_job *job =
		&previous->jobs[job_id % WEFT_MAX_PAST];

	return job_id && job->job_id == job_id ? job : NULL;
}

void weft_previous_nodes_clear(struct weft_previous_nodes *previous)
{
	for (uint32_t i = 0; i < WEFT_MAX_PAST; i++)
		job_drop(previous, &previous->jobs[i]);
}
