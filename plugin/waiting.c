/* SPDX-License-Identifier: GPL-3.0-or-later */
/* waiting.c - saying in a job's record what keeps it waiting
 *
 * job->state_desc is what squeue and scontrol show in place of the reason.  The
 * main scheduler drops it with each of its passes; backfill, which looks at
 * every waiting job, leaves it.  Hence it is written on backfill's questions
 * alone.
 */
#include "plugin/waiting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "plugin/bridge/pending.h"
#include "plugin/engine.h"
#include "topology/clock.h"

#include "src/common/xmalloc.h"
#include "src/common/xstring.h"

/* Only slurmctld has these, but clients load the plugin, too. */
extern list_t *job_list __attribute__((weak));
extern time_t last_job_update __attribute__((weak));

#define PREFIX "weft: "

/* A sentence is made anew after the first, and shown again until the second. */
#define FRESH_S	 10.0
#define USEFUL_S 120.0

/* One explanation takes at most this, and no more than a fourth of the budget
 * of a decision. */
#define MAX_EXPLAIN_S 0.005

/* Running jobs that are looked at. */
#define MAX_ENDINGS 1024

/* An end further away than this is no end. */
#define FAR_S (365 * 86400)

static struct weft_pending_memory memory;

/* ---- the job's record ---- */

static bool is_ours(const char *text)
{
	return text && strncmp(text, PREFIX, strlen(PREFIX)) == 0;
}

/* Reasons that are Slurm's own (dependency, priority, limits, licenses, held)
 * stay, and so does what others have written. */
static bool may_tell(const job_record_t *job)
{
	if (!IS_JOB_PENDING(job) || !job->priority)
		return false;
	if (job->state_reason != WAIT_NO_REASON &&
	    job->state_reason != WAIT_RESOURCES)
		return false;
	return !job->state_desc || is_ours(job->state_desc);
}

static void tell(job_record_t *job, const char *text)
{
	char said[WEFT_PENDING_SIZE + sizeof(PREFIX)];

	snprintf(said, sizeof(said), PREFIX "%s", text);
	if (job->state_desc && strcmp(job->state_desc, said) == 0)
		return;
	xfree(job->state_desc);
	job->state_desc = xstrdup(said);
	last_job_update = time(NULL);
}

static void untell(job_record_t *job)
{
	if (!is_ours(job->state_desc))
		return;
	xfree(job->state_desc);
	last_job_update = time(NULL);
}

/* The main scheduler drops the sentence of a job that it cannot start.  Only
 * backfill writes it again, and rests until some job has changed: this one has.
 */
static void about_to_be_dropped(const job_record_t *job)
{
	if (is_ours(job->state_desc))
		last_job_update = time(NULL);
}

/* ---- running jobs ---- */

struct gathering {
	struct weft_ending endings[MAX_ENDINGS];
	uint32_t n;
	int64_t now_s;
	uint32_t *where; /* GPUs of one job */
};

static int gather_job(void *item, void *arg)
{
	const job_record_t *job = item;
	struct gathering *g = arg;
	struct weft_ending *ending;

	if (!IS_JOB_RUNNING(job) || !job->gres_list_alloc ||
	    !job->node_bitmap || g->n == MAX_ENDINGS)
		return 0;
	ending = &g->endings[g->n++];
	ending->job_id = job->job_id;
	ending->job = job;
	ending->end_s = job->end_time > g->now_s + FAR_S ? 0 : job->end_time;
	return 0;
}

static void release(void *context, const struct weft_ending *ending,
		    struct weft_occupancy *o)
{
	struct gathering *g = context;
	const struct weft_nodes *nodes = &weft_engine.nodes;
	const struct weft_fabric *f = nodes->fabric;
	uint32_t partial, n;

	n = weft_nodes_allocated(nodes, ending->job, 0, g->where, f->n_gpus,
				 &partial);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t gpu = g->where[i], node;

		if (gpu == WEFT_NONE)
			continue;
		node = f->gpu_node[gpu];
		weft_occupancy_release(
			o, node,
			UINT64_C(1) << (gpu - f->nodes[node].first_gpu));
	}
}

/* Nodes that are no candidates stay out, whoever leaves them. */
static void close_others(const struct weft_job_test *test,
			 struct weft_occupancy *o)
{
	const struct weft_nodes *nodes = &weft_engine.nodes;

	for (uint32_t i = 0; i < nodes->fabric->n_nodes; i++) {
		uint32_t node = nodes->slurm_node[i];

		if (node == WEFT_NONE || !bit_test(test->nodes, node))
			weft_occupancy_close(o, i);
	}
}

/* ---- explaining ---- */

static bool explain(const struct weft_job_test *test,
		    const struct weft_request *request,
		    const struct weft_shape *shape,
		    char text[WEFT_PENDING_SIZE])
{
	const struct weft_fabric *f = weft_engine.settings->fabric;
	struct gathering *g = weft_calloc(1, sizeof(*g), NULL);
	struct weft_occupancy o = {0};
	struct weft_pending pending = {
		.bridge = &weft_engine.bridge,
		.request = request,
		.shape = shape,
		.o = &o,
		.release = release,
		.context = g,
		.budget_s = weft_engine.settings->budget_s / 4,
		.now_s = time(NULL),
	};
	bool told = false;

	if (pending.budget_s > MAX_EXPLAIN_S)
		pending.budget_s = MAX_EXPLAIN_S;
	if (!g)
		return false;
	g->where = weft_calloc(f->n_gpus, sizeof(*g->where), NULL);
	weft_nodes_offer(&weft_engine.nodes, test, request, shape, false);
	if (g->where &&
	    weft_occupancy_copy(&weft_engine.nodes.occupancy, &o, NULL) == 0) {
		g->now_s = pending.now_s;
		list_for_each(job_list, gather_job, g);
		qsort(g->endings, g->n, sizeof(g->endings[0]),
		      weft_ending_compare);
		pending.n_endings = g->n;
		pending.endings = g->endings;
		close_others(test, &o);
		told = weft_pending_explain(&pending, text);
	}
	weft_occupancy_free(&o);
	free(g->where);
	free(g);
	return told;
}

/* The last of the shapes is the smallest. */
static void find_words(const struct weft_job_test *test,
		       const struct weft_request *request,
		       const struct weft_frame *frame,
		       char text[WEFT_PENDING_SIZE])
{
	struct weft_shape shapes[WEFT_MAX_SHAPES];
	uint32_t n =
		weft_request_shapes(request, frame, UINT32_MAX, shapes, NULL);

	if (!n || !explain(test, request, &shapes[n - 1], text))
		text[0] = '\0';
}

void weft_waiting_tell(const struct weft_job_test *test,
		       const struct weft_request *request,
		       const struct weft_frame *frame, enum weft_cause cause,
		       const struct weft_error *err)
{
	uint32_t job_id = test->job->job_id;
	double start_s = weft_clock_s();
	char text[WEFT_PENDING_SIZE] = "";
	const char *known;

	if ((test->mode & SELECT_MODE_BASE) != SELECT_MODE_WILL_RUN) {
		about_to_be_dropped(test->job);
		return;
	}
	if (!may_tell(test->job))
		return;
	if (cause == WEFT_CAUSE_SPEC || cause == WEFT_CAUSE_WAITS) {
		char reason[WEFT_REASON_SIZE];

		weft_bridge_escape(err, reason);
		snprintf(text, sizeof(text), "%s%.*s",
			 cause == WEFT_CAUSE_SPEC ? "spec ignored: " : "",
			 (int)(sizeof(text) - 16), reason);
		tell(test->job, text);
		return;
	}
	if (cause != WEFT_CAUSE_NO_ROOM && cause != WEFT_CAUSE_NO_PLAN) {
		untell(test->job);
		return;
	}
	known = weft_pending_recall(&memory, job_id, start_s, FRESH_S);
	if (!known && weft_pending_may(&memory, start_s)) {
		find_words(test, request, frame, text);
		weft_pending_keep(&memory, job_id, text, start_s, weft_clock_s());
		known = text;
	}
	if (!known)
		known = weft_pending_recall(&memory, job_id, start_s, USEFUL_S);
	if (known)
		tell(test->job, known[0] ? known : weft_cause_names[cause]);
}
