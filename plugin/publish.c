/* SPDX-License-Identifier: GPL-3.0-or-later */
/* publish.c - telling a starting job what weft did */
#include "plugin/publish.h"

#include <stdio.h>
#include <stdlib.h>

#include "plugin/asking.h"
#include "plugin/engine.h"
#include "plugin/shown.h"

#include "src/common/xmalloc.h"
#include "src/common/xstring.h"

/* The last decision, and whether the job has begun since. */
static struct weft_decision last;
static bool begun;

void weft_publish_decided(struct weft_decision *decision)
{
	weft_decision_free(&last);
	last = *decision;
	decision->where = NULL;
	begun = false;
	if (last.cause > WEFT_CAUSE_NARROWED && weft_engine.keeper)
		weft_shown_waits(&weft_shown, last.job_id, last.cause,
				 last.reason, time(NULL));
}

void weft_publish_forget(void)
{
	weft_decision_free(&last);
	begun = false;
}

/* Between question and start Slurm gives each task of an array, but for the
 * last, a number of its own; what is left of the array keeps the old one. */
void weft_publish_begun(const job_record_t *job)
{
	if (job->array_job_id && last.job_id == job->array_job_id)
		last.job_id = job->job_id;
	begun = last.job_id == job->job_id && last.cause > WEFT_CAUSE_SILENT;
}

/* The GPUs that the job's ranks use.  A job that has nodes to itself is given
 * all their GPUs, and asks for all by the time it starts: hence what it asked
 * for before counts. */
static void read_gpus_used(const job_record_t *job,
			   struct weft_account *account, uint32_t max)
{
	struct weft_nodes *nodes = &weft_engine.nodes;
	uint32_t per_node = last.shape.gpus_per_node;
	uint32_t n_gpus = last.shape.n_gpus;
	uint32_t n_nodes = (uint32_t)bit_set_count(job->node_bitmap);

	account->n_gpus = weft_nodes_allocated(
		nodes, job, per_node, account->where, max, &account->n_partial);
	if (per_node || !n_gpus || account->n_gpus <= n_gpus || !n_nodes ||
	    n_gpus % n_nodes)
		return;
	account->n_gpus =
		weft_nodes_allocated(nodes, job, n_gpus / n_nodes,
				     account->where, max, &account->n_partial);
}

/* For those who look at all jobs. */
static void show_job(const job_record_t *job,
		     const struct weft_account *account, const char *text)
{
	struct weft_shown_job shown = {
		.job_id = job->job_id,
		.cause = last.cause,
		.start_s = time(NULL),
		.n_nodes = (uint32_t)bit_set_count(job->node_bitmap),
		.n_gpus = account->n_gpus,
		.metric = account->metric,
		.cost = account->cost,
		.bound = account->bound,
		.step_s = account->step_s,
		.decision_s = last.elapsed_s,
	};

	if (!weft_engine.keeper)
		return;
	if (last.cause != WEFT_CAUSE_NARROWED)
		snprintf(shown.reason, sizeof(shown.reason), "%s", last.reason);
	snprintf(shown.said, sizeof(shown.said), "%s", text);
	weft_shown_job(&weft_shown, &shown);
}

/* The sentence about a job that is not passed over in silence. */
static void tell_nodes(const job_record_t *job, char text[WEFT_TEXT_SIZE])
{
	const struct weft_fabric *f = weft_engine.settings->fabric;
	struct weft_account account = {
		.planned = last.cause == WEFT_CAUSE_NARROWED,
		.reason = last.reason,
		.bound = last.bound,
	};

	text[0] = '\0';
	weft_asking_spec(job, &account.spec);
	account.where = weft_calloc(f->n_gpus, sizeof(*account.where), NULL);
	if (!account.where)
		return;
	read_gpus_used(job, &account, f->n_gpus);
	weft_bridge_tell(&weft_engine.bridge, &account, text);
	show_job(job, &account, text);
	free(account.where);
}

void weft_publish_started(job_record_t *job)
{
	char text[WEFT_TEXT_SIZE];

	if (!weft_engine_on() || last.job_id != job->job_id || !begun ||
	    !job->node_bitmap)
		return;
	begun = false;
	if (last.cause == WEFT_CAUSE_SPEC)
		snprintf(text, sizeof(text), "weft: ignored: %s", last.reason);
	else
		tell_nodes(job, text);
	if (!text[0])
		return;
	/* Others write here, too.  A job that is requeued again and again keeps
	 * the sentence of its last start alone: the record must not grow. */
	if (job->system_comment)
		weft_bridge_strip(job->system_comment);
	if (job->system_comment && job->system_comment[0])
		xstrcat(job->system_comment, " | ");
	xstrcat(job->system_comment, text);
}
