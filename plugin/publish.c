/* SPDX-License-Identifier: GPL-3.0-or-later */
/* publish.c - telling a starting job what weft did */
#include "plugin/publish.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "plugin/bridge/files/status.h"
#include "plugin/bridge/gain.h"
#include "plugin/bridge/launch/ranks.h"
#include "plugin/bridge/launch/spec_text.h"
#include "plugin/bridge/watchdog.h"
#include "plugin/engine.h"
#include "plugin/job_record.h"
#include "plugin/jobs_load.h"
#include "plugin/observe.h"

#include "src/common/xmalloc.h"
#include "src/common/xstring.h"

/* The last decision, and the job that has begun since; 0: none. */
static struct weft_decision last;
static uint32_t begun;

/* For what is done when a job starts. */
static double most_s(void)
{
	return weft_start_grant_s(weft_engine.settings->budget_s,
				  weft_engine.granted_s, weft_clock_s());
}

void weft_publish_decided(struct weft_decision *decision)
{
	weft_decision_free(&last);
	last = *decision;
	decision->where = NULL;
	decision->baselines = (struct weft_baselines){0};
	begun = 0;
	if (last.cause > WEFT_CAUSE_OBSERVED && weft_engine.writer)
		weft_status_waits(&weft_status, last.job_id, last.cause,
				  last.reason, last.spec, time(NULL));
	last.spec = NULL;
}

void weft_publish_forget(void)
{
	weft_decision_free(&last);
	begun = 0;
}

/* Between question and start Slurm gives each task of an array, but for the
 * last, a number of its own; what is left of the array keeps the old one. */
void weft_publish_begun(const job_record_t *job)
{
	if (job->array_job_id && last.job_id == job->array_job_id)
		last.job_id = job->job_id;
	begun = job->job_id;
}

/* The GPUs that the job's ranks use.  A job that has nodes to itself is given
 * all their GPUs, and asks for all by the time it starts: hence what it asked
 * for before counts. */
static void read_gpus_used(const job_record_t *job,
			   struct weft_account *account, uint32_t max)
{
	struct weft_nodes *nodes = &weft_engine.nodes;
	bool asked = last.job_id == job->job_id;
	uint32_t per_node = asked ? last.shape.gpus_per_node : 0;
	uint32_t n_gpus = asked ? last.shape.n_gpus : 0;
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

/* ---- ranks ---- */

/* Sets or (NULL) removes a variable of the job's environment: of its batch
 * script, or of what salloc or srun start. */
static void variable_set(job_record_t *job, const char *name, const char *value)
{
	job_details_t *details = job->details;
	size_t length = strlen(name);
	uint16_t n = 0;

	for (uint16_t i = 0; i < details->env_cnt; i++) {
		char *entry = details->env_sup[i];

		if (entry && strncmp(entry, name, length) == 0 &&
		    entry[length] == '=')
			xfree(entry);
		else
			details->env_sup[n++] = entry;
	}
	details->env_cnt = n;
	if (!value || n == UINT16_MAX)
		return;
	xrealloc(details->env_sup, (n + 1u) * sizeof(*details->env_sup));
	details->env_sup[n] = NULL;
	xstrfmtcat(details->env_sup[n], "%s=%s", name, value);
	details->env_cnt = ++n;
}

/* The order of the ranks that an earlier start of this job was given.  What the
 * user or another job wrote stays: readers compare the job. */
static void own_order_remove(job_record_t *job)
{
	char own[32];
	const job_details_t *details = job->details;

	snprintf(own, sizeof(own), ";job=%u;", job->job_id);
	for (uint16_t i = 0; i < details->env_cnt; i++) {
		const char *entry = details->env_sup[i];

		if (entry &&
		    strncmp(entry, WEFT_RANK_MAP_VARIABLE "=",
			    sizeof(WEFT_RANK_MAP_VARIABLE)) == 0 &&
		    strstr(entry, own)) {
			variable_set(job, WEFT_RANK_MAP_VARIABLE, NULL);
			return;
		}
	}
}

/* Slurm's own way, for orders that go through the nodes one after another. */
static bool rank_nodes(job_record_t *job, const struct weft_ranks *ranks)
{
	const struct weft_nodes *nodes = &weft_engine.nodes;
	uint32_t n = (uint32_t)bit_set_count(job->node_bitmap), k = 0;
	uint32_t *first = weft_calloc(n, sizeof(*first), NULL);
	uint32_t *of_node = weft_ranks_of_nodes(nodes->fabric, ranks);
	bool done = first && of_node;

	for (uint32_t i = 0; done && i < nodes->n; i++)
		if (bit_test(job->node_bitmap, i))
			first[k++] = nodes->fabric_node[i] == WEFT_NONE
					     ? WEFT_NONE
					     : of_node[nodes->fabric_node[i]];
	done = done && weft_compat_rank_nodes(job, first, n);
	free(first);
	free(of_node);
	return done;
}

/* Settles the order of the ranks, hands it over to the job and, where it will
 * be followed, puts it into the account. */
static void order_ranks(job_record_t *job, struct weft_account *account,
			struct weft_ranks *ranks)
{
	const struct weft_settings *settings = weft_engine.settings;
	const struct weft_ranks_question question = {
		.spec = account->spec,
		.leave = !settings->order_ranks,
		.n_gpus = account->n_gpus,
		.given = account->where,
		.n_planned = last.n_ranks,
		.planned = last.where,
		.budget_s =
			fmin(most_s(), WEFT_FIRST_PART * settings->budget_s),
	};
	bool native;
	char *text;

	weft_ranks_settle(&weft_engine.bridge, &question, ranks);
	text = weft_ranks_text(settings->fabric, job->job_id, ranks);
	variable_set(job, WEFT_RANK_MAP_VARIABLE, text);
	free(text);
	if (!ranks->where)
		return;
	native = rank_nodes(job, ranks);
	if (!native && weft_job_record_alone(job))
		weft_ranks_drop(ranks, "srun without an allocation");
	else
		memcpy(account->where, ranks->where,
		       ranks->n * sizeof(*ranks->where));
}

/* For those who look at all jobs, now or in a month. */
static void show_job(const job_record_t *job,
		     const struct weft_account *account, const char *text)
{
	const struct weft_fabric *f = weft_engine.settings->fabric;
	struct weft_status_job shown = {
		.job_id = job->job_id,
		.cause = last.cause,
		.start_s = job->start_time,
		.n_nodes = (uint32_t)bit_set_count(job->node_bitmap),
		.n_gpus = account->n_gpus,
		.metric = account->metric,
		.cost = account->cost,
		.bound = account->bound,
		.step_s = account->step_s,
		.decision_s = last.elapsed_s,
		.compared = account->compared,
		.gain = account->gain,
	};

	if (last.cause != WEFT_CAUSE_NARROWED)
		snprintf(shown.reason, sizeof(shown.reason), "%s", last.reason);
	snprintf(shown.said, sizeof(shown.said), "%s", text);
	weft_status_spec(account->spec, shown.spec);
	weft_status_nodes(f, account->where, account->n_gpus, shown.on);
	if (last.cause == WEFT_CAUSE_OBSERVED)
		weft_status_nodes(f, last.where, last.n_ranks, shown.plan);
	if (weft_engine.writer)
		weft_status_job(&weft_status, &shown);
	if (weft_engine.recorder)
		weft_status_save(&weft_status, &shown);
}

void weft_publish_ended(const job_record_t *job)
{
	const struct weft_status_job ended = {
		.job_id = job->job_id,
		.start_s = job->start_time,
		.end_s = time(NULL),
	};

	if (weft_engine.recorder && weft_engine_on() && job->gres_list_alloc &&
	    job->start_time > 0)
		weft_status_save(&weft_status, &ended);
}

/* Where else the job could have gone.  On nodes of stock's choice: in Slurm's
 * order of ranks. */
static void find_baselines(struct weft_account *account,
			   struct weft_baselines *given)
{
	account->compare_s = fmin(WEFT_COMPARE_S, most_s());
	account->late = account->planned ? last.late
					 : !weft_gain_may(&weft_engine.bridge);
	if (account->late)
		return;
	if (account->planned) {
		if (last.n_ranks == account->n_gpus)
			account->baselines = &last.baselines;
		return;
	}
	given->stock =
		weft_calloc(account->n_gpus, sizeof(*given->stock), NULL);
	if (!given->stock)
		return;
	memcpy(given->stock, account->where,
	       account->n_gpus * sizeof(*given->stock));
	account->baselines = given;
}

/* The sentence about a job that weft may act on. */
static void tell_nodes(job_record_t *job, struct weft_account *account,
		       char text[WEFT_TEXT_SIZE])
{
	struct weft_baselines given = {0};
	struct weft_ranks ranks = {0};
	const char *in_comment;

	account->planned = last.cause == WEFT_CAUSE_NARROWED;
	account->reason = last.reason;
	account->note = last.note;
	account->bound = last.bound;
	account->decision_s = last.elapsed_s;
	weft_spec_text_find(NULL, 0, job->comment, &in_comment);
	account->show_spec = account->spec && account->spec != in_comment;
	find_baselines(account, &given);
	/* The components of a heterogeneous job share one environment. */
	if (job->het_job_id)
		ranks.why = "heterogeneous job";
	else
		order_ranks(job, account, &ranks);
	weft_bridge_tell(&weft_engine.bridge, account, text);
	weft_ranks_tell(&ranks, text);
	show_job(job, account, text);
	weft_baselines_free(&given);
	free(ranks.where);
}

/* Others write here, too.  A job that is requeued again and again keeps the
 * sentence of its last start alone: the record must not grow. */
static void comment_add(job_record_t *job, const char *text)
{
	if (job->system_comment)
		weft_bridge_strip(job->system_comment);
	if (job->system_comment && job->system_comment[0])
		xstrcat(job->system_comment, " | ");
	xstrcat(job->system_comment, text);
}

/* What was decided; of an observed job nothing changes. */
static void tell(job_record_t *job, struct weft_account *account)
{
	char text[WEFT_TEXT_SIZE] = "";

	if (last.cause == WEFT_CAUSE_OBSERVED) {
		weft_observe_started(&last, account);
		show_job(job, account, text);
		return;
	}
	if (last.cause == WEFT_CAUSE_SPEC)
		snprintf(text, sizeof(text), "weft: ignored: %s", last.reason);
	else
		tell_nodes(job, account, text);
	if (text[0])
		comment_add(job, text);
}

void weft_publish_started(job_record_t *job)
{
	struct weft_account account = {0};
	double start_s = weft_worked_s();
	uint32_t max;

	/* Slurm has read its configuration: the job may still be waiting for
	 * its nodes, with what it is to start with. */
	if (begun != job->job_id)
		return;
	/* A job that was requeued has that of its last start. */
	if (job->details && job->details->env_cnt)
		own_order_remove(job);
	if (!weft_engine_on() || !job->node_bitmap || !job->details ||
	    !job->gres_list_alloc)
		return;
	begun = 0;
	max = weft_engine.settings->fabric->n_gpus;
	account.where = weft_calloc(max, sizeof(*account.where), NULL);
	if (!account.where)
		return;
	if (!weft_job_record_spec(job, &account.spec))
		account.spec = NULL;
	read_gpus_used(job, &account, max);
	weft_deadline_set(start_s + most_s());
	if (last.job_id == job->job_id && last.cause > WEFT_CAUSE_SILENT)
		tell(job, &account);
	/* Also what weft leaves alone sends. */
	if (account.n_gpus)
		weft_jobs_load_started(job, account.spec, account.where,
				       account.n_gpus);
	weft_deadline_set(0);
	free(account.where);
	weft_engine_started(job->user_id, weft_worked_s() - start_s);
}
