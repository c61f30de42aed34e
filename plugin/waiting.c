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
#include "plugin/future.h"
#include "topology/clock.h"

#include "src/common/xmalloc.h"
#include "src/common/xstring.h"

/* Only slurmctld has it, but clients load the plugin, too. */
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

/* The first of them to end, in that order. */
static uint32_t read_endings(const struct weft_future *future, int64_t now_s,
			     struct weft_ending endings[MAX_ENDINGS])
{
	uint32_t n =
		future->n_ends < MAX_ENDINGS ? future->n_ends : MAX_ENDINGS;

	for (uint32_t i = 0; i < n; i++) {
		const struct weft_end *end = &future->ends[i];

		endings[i] = (struct weft_ending){
			.job_id = end->job->job_id,
			.end_s = end->end > now_s + FAR_S ? 0 : end->end,
		};
	}
	return n;
}

/* GPUs alone: an offer for every few of the jobs (weft_future_enter) would take
 * longer than a sentence is worth. */
static void release(const void *context, const struct weft_ending *ending,
		    struct weft_occupancy *o)
{
	const struct weft_request *request = context;
	const struct weft_nodes *nodes = &weft_engine.nodes;
	const struct weft_holder *holder =
		weft_holdings_find(&nodes->held, ending->job_id);

	for (uint32_t k = 0; holder && k < holder->n; k++) {
		const struct weft_holding *of = &holder->of[k];
		uint32_t known = nodes->fabric_node[of->node];

		if (known != WEFT_NONE)
			weft_occupancy_release(
				o, known,
				of->gpus &
					weft_nodes_eligible(nodes, of->node,
							    request->gpu_type));
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
	struct weft_nodes *nodes = &weft_engine.nodes;
	struct weft_ending *endings =
		weft_calloc(MAX_ENDINGS, sizeof(*endings), NULL);
	struct weft_occupancy o = {0};
	struct weft_future future = {0};
	struct weft_pending pending = {
		.bridge = &weft_engine.bridge,
		.request = request,
		.shape = shape,
		.o = &o,
		.endings = endings,
		.release = release,
		.context = request,
		.budget_s = weft_engine.settings->budget_s / 4,
		.now_s = time(NULL),
	};
	bool told = false;

	if (pending.budget_s > MAX_EXPLAIN_S)
		pending.budget_s = MAX_EXPLAIN_S;
	weft_nodes_offer(nodes, test, request, shape, false);
	if (endings &&
	    weft_future_build(nodes, test->nodes, NULL, &future) == 0 &&
	    weft_occupancy_copy(&nodes->occupancy, &o, NULL) == 0) {
		pending.n_endings =
			read_endings(&future, pending.now_s, endings);
		close_others(test, &o);
		told = weft_pending_explain(&pending, text);
	}
	weft_occupancy_free(&o);
	weft_future_free(&future);
	free(endings);
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
		weft_pending_keep(&memory, job_id, text, start_s,
				  weft_clock_s());
		known = text;
	}
	if (!known)
		known = weft_pending_recall(&memory, job_id, start_s, USEFUL_S);
	if (known)
		tell(test->job, known[0] ? known : weft_cause_names[cause]);
}
