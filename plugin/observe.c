/* SPDX-License-Identifier: GPL-3.0-or-later */
/* observe.c - planning for jobs that are stock's alone
 *
 * Stock goes first, with everything as Slurm handed it over, and a plan is made
 * only for a job that it starts: until job_begin the GPUs that stock has chosen
 * are free, so that both chose from the same.
 */
#include "plugin/observe.h"

#include <math.h>
#include <stdio.h>

#include "base/clock.h"
#include "plugin/bridge/gain.h"
#include "plugin/bridge/launch/spec_text.h"
#include "plugin/engine.h"
#include "plugin/job_record.h"
#include "plugin/narrow.h"
#include "plugin/publish.h"

#include "src/common/log.h"

bool weft_observe_only(const job_record_t *job)
{
	const struct weft_owner owner = weft_job_record_owner(job);

	return weft_engine_on() &&
	       !weft_settings_place(weft_engine.settings, &owner);
}

/* ---- planning ---- */

/* A plan that the decision takes over, or the reason why there is none. */
static enum weft_cause plan(const struct weft_plan_request *query,
			    struct weft_decision *decision)
{
	struct weft_placement p = {0};
	struct weft_error err = {0};
	enum weft_cause cause = WEFT_CAUSE_RESTING;

	if (weft_engine_begin()) {
		cause = weft_plan_request_plan(
			query, weft_engine.settings->budget_s, &p, &err);
		weft_engine_end();
	}
	if (cause == WEFT_CAUSE_NARROWED) {
		decision->bound = p.bound;
		decision->n_ranks = p.n_ranks;
		decision->where = p.where;
		p.where = NULL;
	} else if (cause == WEFT_CAUSE_SPEC) {
		weft_bridge_escape(&err, decision->reason);
	} else {
		snprintf(decision->reason, sizeof(decision->reason), "%s",
			 weft_cause_names[cause]);
	}
	weft_placement_free(&p);
	return cause;
}

/* The spec is the site's, not the user's. */
static bool has_default(const struct weft_plan_request *query)
{
	const job_record_t *job = query->test->job;
	const char *own;

	weft_spec_text_find(job->spank_job_env, job->spank_job_env_size,
			    job->comment, &own);
	return query->request.spec && !own;
}

/* Stock starts the job.  read: what weft made of its record before. */
static void decide(const struct weft_plan_request *query, enum weft_cause read,
		   const char *unclear, const struct weft_error *err)
{
	struct weft_decision decision = {
		.job_id = query->test->job->job_id,
		.cause = read > WEFT_CAUSE_SILENT ? WEFT_CAUSE_OBSERVED : read,
		.bound = (double)NAN,
		.shape = {.gpus_per_node = query->request.gpus_per_node,
			  .n_gpus = query->request.gpus_per_job},
	};
	double start_s = weft_clock_s();

	if (read == WEFT_CAUSE_NARROWED)
		read = plan(query, &decision);
	else if (read == WEFT_CAUSE_SPEC)
		weft_bridge_escape(err, decision.reason);
	else
		snprintf(decision.reason, sizeof(decision.reason), "%s",
			 unclear ? unclear : weft_cause_names[read]);
	/* A default that does not suit a job is not given to it. */
	if (read == WEFT_CAUSE_SPEC && has_default(query))
		decision.cause = WEFT_CAUSE_NO_SPEC;
	decision.elapsed_s = weft_clock_s() - start_s;
	weft_counters_add(&weft_counters, decision.cause, decision.elapsed_s);
	weft_publish_decided(&decision);
}

/* The job starts only when others have ended, and is then asked about anew. */
static bool is_preempting(const struct weft_job_test *test)
{
	return test->preempted && *test->preempted &&
	       list_count(*test->preempted) > 0;
}

int weft_observe(const struct weft_job_test *test)
{
	/* Stock makes its choice of the candidates. */
	struct weft_job_test before = *test;
	struct weft_plan_request query = {.test = &before};
	struct weft_error err = {0};
	const char *unclear;
	enum weft_cause read;
	int rc;

	if ((test->mode & SELECT_MODE_BASE) != SELECT_MODE_RUN_NOW)
		return weft_stock_job_test(test);
	/* What a job asks for, stock fills in. */
	read = weft_narrow_read(&query, &unclear, &err);
	before.nodes = bit_copy(test->nodes);
	rc = weft_stock_job_test(test);
	if (rc == SLURM_SUCCESS && !is_preempting(test))
		decide(&query, read, unclear, &err);
	bit_free(before.nodes);
	return rc;
}

/* ---- telling ---- */

static void log_plan(uint32_t job_id, const struct weft_account *account,
		     const uint32_t *given)
{
	const struct weft_fabric *f = weft_engine.settings->fabric;
	char here[WEFT_SHOWN_NODES], there[WEFT_SHOWN_NODES];
	char gain[WEFT_GAIN_TEXT_SIZE], step[32] = "";

	weft_status_nodes(f, given, account->n_gpus, here);
	weft_status_nodes(f, account->where, account->n_gpus, there);

	if (isfinite(account->step_s))
		snprintf(step, sizeof(step), " step=%.3gs", account->step_s);
	weft_gain_text(account, gain);
	info("weft: JobId=%u observed on %s, weft's choice is %s:%s%s", job_id,
	     here[0] ? here : "its nodes", there[0] ? there : "others", step,
	     gain);
}

/* What the plan brings beside the GPUs that stock gave. */
static void compare(const struct weft_decision *decision,
		    struct weft_account *account, uint32_t *given)
{
	const struct weft_baselines stock = {.stock = given};
	char text[WEFT_TEXT_SIZE];

	account->planned = true;
	account->bound = decision->bound;
	account->where = decision->where;
	account->late = !weft_gain_may(&weft_engine.bridge);
	if (!account->late)
		account->baselines = &stock;
	account->compare_s = fmin(WEFT_COMPARE_S, weft_engine.granted_s);
	weft_bridge_tell(&weft_engine.bridge, account, text);
	account->baselines = NULL;
	log_plan(decision->job_id, account, given);
}

void weft_observe_started(const struct weft_decision *decision,
			  struct weft_account *account)
{
	uint32_t *given = account->where;

	account->cost = account->step_s = (double)NAN;
	if (decision->where && decision->n_ranks == account->n_gpus)
		compare(decision, account, given);
	else
		info("weft: JobId=%u observed: %s", decision->job_id,
		     decision->reason[0] ? decision->reason
					 : "another number of GPUs");
	account->where = given;
	/* Cost and step were those of the plan, which the job is not on. */
	account->cost = account->step_s = (double)NAN;
}
