/* SPDX-License-Identifier: GPL-3.0-or-later */
/* past.c - the table of where jobs ran */
#include "plugin/bridge/past.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

static void job_drop(struct weft_past *past, struct weft_past_job *job)
{
	past->n_nodes -= job->n_nodes;
	free(job->nodes);
	memset(job, 0, sizeof(*job));
}

void weft_past_keep(struct weft_past *past, uint32_t job_id,
		    const uint32_t *nodes, uint32_t n)
{
	struct weft_past_job *job = &past->jobs[job_id % WEFT_MAX_PAST];

	job_drop(past, job);
	if (!n || n > WEFT_MAX_PAST_NODES - past->n_nodes)
		return;
	job->nodes = weft_calloc(n, sizeof(*nodes), NULL);
	if (!job->nodes)
		return;
	memcpy(job->nodes, nodes, n * sizeof(*nodes));
	job->n_nodes = n;
	job->job_id = job_id;
	past->n_nodes += n;
}

const struct weft_past_job *weft_past_find(const struct weft_past *past,
					   uint32_t job_id)
{
	const struct weft_past_job *job = &past->jobs[job_id % WEFT_MAX_PAST];

	return job_id && job->job_id == job_id ? job : NULL;
}

void weft_past_clear(struct weft_past *past)
{
	for (uint32_t i = 0; i < WEFT_MAX_PAST; i++)
		job_drop(past, &past->jobs[i]);
}
