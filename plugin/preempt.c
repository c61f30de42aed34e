/* SPDX-License-Identifier: GPL-3.0-or-later */
/* preempt.c - choosing victims by where they are */
#include "plugin/preempt.h"

#include "plugin/engine.h"
#include "plugin/future.h"
#include "plugin/proposal.h"
#include "topology/bitset.h"

bool weft_preempt_may(const struct weft_job_test *test)
{
	return test->preemptable && list_count(test->preemptable) > 0;
}

/* What an answer takes. */
struct toll {
	uint32_t n_jobs, n_gpus;
};

static int add_victim(void *item, void *arg)
{
	const job_record_t *job = item;
	const struct weft_holder *holder =
		weft_holdings_find(&weft_engine.nodes.held, job->job_id);
	struct toll *toll = arg;

	toll->n_jobs++;
	for (uint32_t k = 0; holder && k < holder->n; k++)
		toll->n_gpus += weft_mask_count(holder->of[k].gpus);
	return 0;
}

/* Stock's answer on these candidates (*nodes becomes those it chose), with
 * lists of its own: it orders the one of those that it may preempt anew.
 * *toll: what it takes. */
static int ask(const struct weft_job_test *test, bitstr_t *nodes,
	       struct toll *toll)
{
	struct weft_job_test asked = *test;
	list_t *victims = NULL;
	int rc;

	*toll = (struct toll){0};
	asked.nodes = nodes;
	asked.preemptable = list_shallow_copy(test->preemptable);
	asked.preempted = &victims;
	rc = weft_stock_job_test(&asked);
	if (victims) {
		list_for_each(victims, add_victim, toll);
		list_destroy(victims);
	}
	list_destroy(asked.preemptable);
	return rc;
}

/* The nodes of a plan on what is free and what victims would leave; NULL:
 * none. */
static bitstr_t *plan_nodes(const struct weft_query *query)
{
	struct weft_nodes *nodes = &weft_engine.nodes;
	struct weft_future future;
	struct weft_placement p = {0};
	struct weft_error err = {0};
	bitstr_t *bitmap = NULL;

	if (weft_future_build(nodes, query->test->nodes,
			      query->test->preemptable, &future) == 0) {
		weft_future_enter(&future, nodes, future.n_ends);
		if (weft_query_plan(query, weft_engine.settings->budget_s, &p,
				    &err) == WEFT_CAUSE_NARROWED)
			bitmap = weft_nodes_set(nodes, p.nodes, p.n_nodes);
		weft_future_leave(nodes);
	}
	weft_placement_free(&p);
	weft_future_free(&future);
	return bitmap;
}

/* Whether stock takes no fewer victims elsewhere. */
static bool is_cheap(const struct weft_job_test *test, bitstr_t *planned)
{
	struct toll mine, theirs;
	bitstr_t *nodes = bit_copy(planned), *all = bit_copy(test->nodes);
	const struct weft_job_test narrowed = weft_proposal_on(
		test, planned, (uint32_t)bit_set_count(planned));
	bool cheap = ask(&narrowed, nodes, &mine) == SLURM_SUCCESS &&
		     (ask(test, all, &theirs) != SLURM_SUCCESS ||
		      (mine.n_jobs <= theirs.n_jobs &&
		       mine.n_gpus <= theirs.n_gpus));

	bit_free(nodes);
	bit_free(all);
	return cheap;
}

int weft_preempt(const struct weft_query *query)
{
	const struct weft_job_test *test = query->test;
	struct weft_proposal_saved saved;
	bitstr_t *planned = plan_nodes(query);
	int rc = ESLURM_NODES_BUSY;

	weft_proposal_save(test->job, &saved);
	if (planned && (query->frame.hard || is_cheap(test, planned))) {
		struct weft_job_test narrowed = weft_proposal_on(
			test, planned, (uint32_t)bit_set_count(planned));

		weft_proposal_restore(test->job, &saved);
		narrowed.preemptable = test->preemptable;
		narrowed.preempted = test->preempted;
		rc = weft_stock_job_test(&narrowed);
		if (rc == SLURM_SUCCESS)
			bit_copybits(test->nodes, planned);
	}
	if (rc != SLURM_SUCCESS) {
		weft_proposal_restore(test->job, &saved);
		if (!query->frame.hard)
			rc = weft_stock_job_test(test);
	}
	if (planned)
		bit_free(planned);
	return rc;
}
