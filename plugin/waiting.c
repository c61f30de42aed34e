/* SPDX-License-Identifier: GPL-3.0-or-later */
/* waiting.c - saying in a job's record what keeps it waiting
 *
 * job->state_desc is what squeue and scontrol show in place of the reason.  The
 * main scheduler drops it with each of its passes; backfill, which looks at
 * every waiting job, leaves it.  Hence it is written on backfill's questions
 * alone.  Backfill rests until last_job_update tells that some job has changed
 * since it last looked.
 */
#include "plugin/waiting.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "plugin/bridge/pending.h"
#include "plugin/engine.h"
#include "plugin/job_record.h"
#include "plugin/limits/ever.h"
#include "plugin/limits/release_times.h"

#include "src/common/read_config.h"
#include "src/common/xmalloc.h"
#include "src/common/xstring.h"

/* Only slurmctld has it, but clients load the plugin, too. */
extern time_t last_job_update __attribute__((weak));
extern diag_stats_t slurmctld_diag_stats __attribute__((weak));

#define PREFIX "weft: "

/* A sentence is made anew after the first, and shown again until the second. */
#define FRESH_S	 10.0
#define USEFUL_S 120.0

/* One explanation takes at most this, and no more than a fourth of the budget
 * of a decision. */
#define MAX_EXPLAIN_S 0.005

/* Backfill is woken for the sake of a sentence only so that it takes one part
 * in so many of the time that passes. */
#define DUTY 50

/* Running jobs that are looked at. */
#define MAX_ENDINGS 1024

/* Minutes; INFINITE is more. */
#define NO_LIMIT_MIN (365 * 24 * 60)

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

/* Clients that ask for what is new are to see it.  Backfill is woken by what is
 * no older than the end of its last pass, in seconds: by a change of a second
 * ago just once, and not at all by what it writes itself. */
static void note_change(time_t at)
{
	if (last_job_update < at)
		last_job_update = at;
}

static void tell(job_record_t *job, const char *text)
{
	char said[WEFT_PENDING_SIZE + sizeof(PREFIX)];

	snprintf(said, sizeof(said), PREFIX "%s", text);
	if (job->state_desc && strcmp(job->state_desc, said) == 0)
		return;
	xfree(job->state_desc);
	job->state_desc = xstrdup(said);
	note_change(time(NULL) - 1);
}

static void untell(job_record_t *job)
{
	if (!is_ours(job->state_desc))
		return;
	xfree(job->state_desc);
	note_change(time(NULL) - 1);
}

/* The main scheduler drops the sentence of a job that it cannot start, or has
 * dropped it before: only backfill writes it again. */
static void about_to_be_dropped(const job_record_t *job, double now_s)
{
	static double woken_s;
	const char *known =
		weft_pending_recall(&memory, job->job_id, now_s, USEFUL_S);
	double cycle_s = slurmctld_diag_stats.bf_cycle_last * 1e-6;
	time_t at = time(NULL) - 1;

	if (!is_ours(job->state_desc) && !(known && known[0]))
		return;
	if (now_s - woken_s < DUTY * cycle_s)
		return;
	woken_s = now_s;
	note_change(slurmctld_diag_stats.bf_when_last_cycle < at ? at : at + 1);
}

/* ---- running jobs ---- */

/* 0: not known.  A job without a limit gets a year from Slurm; one that is over
 * its limit should have ended. */
static int64_t end_of(const struct weft_end *end, int64_t now_s)
{
	if (end->job->time_limit >= NO_LIMIT_MIN || end->end <= now_s)
		return 0;
	return end->end;
}

/* The first of them to end, in that order. */
static uint32_t read_endings(const struct weft_release_times *ends,
			     int64_t now_s,
			     struct weft_ending endings[MAX_ENDINGS])
{
	uint32_t n = ends->n_ends < MAX_ENDINGS ? ends->n_ends : MAX_ENDINGS;

	for (uint32_t i = 0; i < n; i++) {
		const struct weft_end *end = &ends->ends[i];

		endings[i] = (struct weft_ending){
			.job_id = end->job->job_id,
			.end_s = end_of(end, now_s),
		};
	}
	return n;
}

/* GPUs alone: an offer for every few of the jobs (weft_release_times_enter)
 * would take longer than a sentence is worth. */
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
				weft_fabric_places(
					nodes->fabric, known,
					of->gpus & weft_nodes_eligible(
							   nodes, of->node,
							   request->gpu_type)));
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
	struct weft_release_times ends = {0};
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
		.hide_jobs = slurm_conf.private_data & PRIVATE_DATA_JOBS,
		.hide_nodes = slurm_conf.private_data & PRIVATE_DATA_NODES,
	};
	bool told = false;

	if (pending.budget_s > MAX_EXPLAIN_S)
		pending.budget_s = MAX_EXPLAIN_S;
	weft_nodes_offer(nodes, test, request, shape, false);
	if (endings &&
	    weft_release_times_build(nodes, test->nodes, NULL, &ends) == 0 &&
	    weft_occupancy_copy(&nodes->occupancy, &o, NULL) == 0) {
		pending.n_endings = read_endings(&ends, pending.now_s, endings);
		pending.more = ends.n_ends > pending.n_endings;
		close_others(test, &o);
		told = weft_pending_explain(&pending, text);
	}
	weft_occupancy_free(&o);
	weft_release_times_free(&ends);
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
	uint32_t unknown, n = weft_request_shapes(request, frame, UINT32_MAX,
						  shapes, NULL);
	size_t used;

	if (!n || !explain(test, request, &shapes[n - 1], text))
		text[0] = '\0';
	unknown = frame->hard && text[0] ? weft_ever_unknown(test) : 0;
	used = strlen(text);
	if (unknown)
		snprintf(text + used, WEFT_PENDING_SIZE - used,
			 "; %u node%s not in the fabric", unknown,
			 unknown == 1 ? " is" : "s are");
}

/* A job with limits that waits because weft cannot see to them; without limits
 * the job is stock's. */
static const char *obstacle_of(const job_record_t *job,
			       const struct weft_frame *frame,
			       enum weft_cause cause)
{
	if (!frame->hard)
		return NULL;
	if (cause == WEFT_CAUSE_REFUSED)
		return "Slurm declines the nodes that suit the limits";
	if (cause == WEFT_CAUSE_UNCLEAR &&
	    weft_job_record_in_parts(job->details))
		return "too few nodes with its features are free that suit the "
		       "limits";
	return cause == WEFT_CAUSE_FOREIGN || cause == WEFT_CAUSE_UNCLEAR
		       ? weft_cause_names[cause]
		       : NULL;
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
		about_to_be_dropped(test->job, start_s);
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
		known = obstacle_of(test->job, frame, cause);
		if (known)
			tell(test->job, known);
		else
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

void weft_waiting_heed(job_record_t *job)
{
	if (!job->priority)
		untell(job);
}
