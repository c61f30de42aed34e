/* SPDX-License-Identifier: GPL-3.0-or-later */
/* preempt.c - choosing victims by where they are */
#include "plugin/limits/preempt.h"

#include "base/bitset.h"
#include "base/clock.h"
#include "plugin/engine.h"
#include "plugin/job_record.h"
#include "plugin/limits/again.h"
#include "plugin/limits/release_times.h"
#include "plugin/proposal.h"

#include <stdlib.h>
#include <time.h>

bool weft_preempt_may(const struct weft_job_test *test)
{
	return test->preemptable && list_count(test->preemptable) > 0;
}

static uint32_t gpus_held(const job_record_t *job)
{
	const struct weft_holder *holder =
		weft_holdings_find(&weft_engine.nodes.held, job->job_id);
	uint32_t n = 0;

	for (uint32_t k = 0; holder && k < holder->n; k++)
		n += weft_mask_count(holder->of[k].gpus);
	return n;
}

/* ---- whose end makes room ---- */

/* A plan on what is free and what some of those that may be preempted leave. */
struct eviction {
	const struct weft_plan_request *query;
	struct weft_release_times ends; /* of all that may be preempted */
	struct weft_placement p;
	double budget_s;
};

static int smallest_first(const void *pa, const void *pb)
{
	const struct weft_end *a = pa, *b = pb;
	uint32_t n = gpus_held(a->job), m = gpus_held(b->job);

	return (n > m) - (n < m);
}

/* Is it on any node of the plan? */
static bool in_the_way(const struct eviction *e, const struct weft_end *end)
{
	const struct weft_nodes *nodes = &weft_engine.nodes;

	for (uint32_t k = 0; k < e->p.n_nodes; k++)
		if (bit_test(end->job->job_resrcs->node_bitmap,
			     nodes->slurm_node[e->p.nodes[k]]))
			return true;
	return false;
}

static void swap(struct weft_end *a, struct weft_end *b)
{
	struct weft_end end = *a;

	*a = *b;
	*b = end;
}

/* Plans with the first n gone, and keeps the plan if there is one. */
static bool evict(struct eviction *e, uint32_t n)
{
	struct weft_placement p = {0};
	struct weft_error err = {0};
	bool placed;

	if (e->p.placed && weft_deadline_passed())
		return false;
	weft_release_times_enter(&e->ends, &weft_engine.nodes, n);
	placed = weft_plan_request_plan(e->query, e->budget_s, &p, &err) ==
		 WEFT_CAUSE_NARROWED;
	weft_release_times_leave(&weft_engine.nodes);
	if (placed) {
		weft_placement_free(&e->p);
		e->p = p;
	} else {
		weft_placement_free(&p);
	}
	/* Only then may their order change. */
	weft_release_times_enter(&e->ends, &weft_engine.nodes, 0);
	weft_release_times_leave(&weft_engine.nodes);
	return placed;
}

/* One victim that is enough; the smallest one. */
static bool evict_one(struct eviction *e)
{
	struct weft_end *ends = e->ends.ends;

	qsort(ends, e->ends.n_ends, sizeof(*ends), smallest_first);
	for (uint32_t i = 0; i < e->ends.n_ends; i++) {
		swap(&ends[0], &ends[i]);
		if (evict(e, 1))
			return true;
	}
	return false;
}

/* Of those on the plan's nodes, none that the job can do without. */
static void evict_few(struct eviction *e)
{
	struct weft_end *ends = e->ends.ends;
	uint32_t n = 0;

	for (uint32_t i = 0; i < e->ends.n_ends; i++)
		if (in_the_way(e, &ends[i]))
			swap(&ends[n++], &ends[i]);
	for (uint32_t left = n, k = n; left > 1 && k-- > 0;) {
		swap(&ends[k], &ends[left - 1]);
		if (evict(e, left - 1))
			left--;
		else
			swap(&ends[k], &ends[left - 1]);
	}
}

/* The nodes of a plan; NULL: none.  With limits the plan is what counts, and
 * takes few victims; else stock is asked what others it would take. */
static bitstr_t *plan_nodes(const struct weft_plan_request *query)
{
	struct weft_nodes *nodes = &weft_engine.nodes;
	double budget_s = weft_engine.granted_s;
	struct eviction e = {.query = query, .budget_s = budget_s};
	bitstr_t *bitmap = NULL;

	if (weft_release_times_build(nodes, query->test->nodes,
				     query->test->preemptable, &e.ends) == 0 &&
	    evict(&e, e.ends.n_ends)) {
		e.budget_s = budget_s / 4;
		if (query->frame.hard && !evict_one(&e))
			evict_few(&e);
		bitmap = weft_nodes_set(nodes, e.p.nodes, e.p.n_nodes);
	}
	weft_placement_free(&e.p);
	weft_release_times_free(&e.ends);
	return bitmap;
}

/* ---- asking stock ---- */

/* What an answer takes. */
struct toll {
	uint32_t n_jobs, n_gpus;
};

static int add_victim(void *item, void *arg)
{
	const job_record_t *job = item;
	struct toll *toll = arg;

	toll->n_jobs++;
	toll->n_gpus += gpus_held(job);
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

/* Once the victims are gone.  Asked when the job will run, stock also succeeds
 * with the end of jobs that stay. */
static bool would_start(const struct weft_job_test *test)
{
	return !weft_proposal_is_will_run(test) ||
	       test->job->start_time <= time(NULL);
}

/* Of stock's choices in the domains, the one that takes the fewest victims and
 * then the fewest GPUs. */
struct cheapest {
	bitstr_t *nodes; /* NULL: none so far */
	struct toll toll;
};

static void take_cheaper(const struct weft_plan_request *query,
			 bitstr_t *region, void *arg)
{
	const struct weft_job_test *test = query->test;
	struct cheapest *best = arg;
	struct weft_proposal_saved saved;
	struct toll toll;
	bitstr_t *nodes = bit_copy(region);
	bool taken;

	weft_proposal_save(test->job, &saved);
	taken = ask(test, nodes, &toll) == SLURM_SUCCESS && would_start(test);
	weft_proposal_withdraw(test->job, &saved);
	if (taken && weft_again_keeps(query, nodes) &&
	    (!best->nodes || toll.n_jobs < best->toll.n_jobs ||
	     (toll.n_jobs == best->toll.n_jobs &&
	      toll.n_gpus < best->toll.n_gpus))) {
		FREE_NULL_BITMAP(best->nodes);
		best->nodes = nodes;
		best->toll = toll;
	} else {
		bit_free(nodes);
	}
}

/* Weft's plan; where stock does not take it, or more victims than one, its own
 * choice in a domain if that takes fewer. */
static bitstr_t *cheapest_nodes(const struct weft_plan_request *query,
				bitstr_t *planned)
{
	double deadline_s = weft_clock_s() + weft_engine.settings->budget_s / 4;
	struct weft_plan_request asked = *query;
	struct weft_job_test exactly;
	struct cheapest best = {0};

	if (planned) {
		exactly = weft_proposal_on(query->test, planned,
					   (uint32_t)bit_set_count(planned));
		asked.test = &exactly;
		take_cheaper(&asked, planned, &best);
	}
	if ((!best.nodes || best.toll.n_jobs > 1) &&
	    !weft_job_record_in_parts(query->test->job->details))
		weft_again_each(query, deadline_s, take_cheaper, &best);
	return best.nodes;
}

/* Has stock preempt on just these nodes. */
static int preempt_on(const struct weft_job_test *test, bitstr_t *planned)
{
	struct weft_job_test narrowed = weft_proposal_on(
		test, planned, (uint32_t)bit_set_count(planned));
	int rc;

	narrowed.preemptable = test->preemptable;
	narrowed.preempted = test->preempted;
	rc = weft_stock_job_test(&narrowed);
	if (rc == SLURM_SUCCESS && !would_start(test)) {
		rc = ESLURM_NODES_BUSY;
		/* Slurm shows the list to users, and stock's next answer
		 * would add to it. */
		if (test->preempted)
			FREE_NULL_LIST(*test->preempted);
	}
	if (rc == SLURM_SUCCESS)
		bit_copybits(test->nodes, planned);
	return rc;
}

int weft_preempt(const struct weft_plan_request *query)
{
	const struct weft_job_test *test = query->test;
	struct weft_proposal_saved saved;
	bitstr_t *planned = plan_nodes(query);
	int rc = ESLURM_NODES_BUSY;

	weft_proposal_save(test->job, &saved);
	if (query->frame.hard) {
		bitstr_t *cheapest = cheapest_nodes(query, planned);

		FREE_NULL_BITMAP(planned);
		planned = cheapest;
	} else if (planned && !is_cheap(test, planned)) {
		FREE_NULL_BITMAP(planned);
	}
	weft_proposal_restore(test->job, &saved);
	if (planned)
		rc = preempt_on(test, planned);
	FREE_NULL_BITMAP(planned);
	if (rc != SLURM_SUCCESS) {
		weft_proposal_restore(test->job, &saved);
		/* What stock says of these nodes alone is no word on the job.
		 */
		rc = query->frame.hard ? ESLURM_NODES_BUSY
				       : weft_stock_job_test(test);
	}
	return rc;
}
