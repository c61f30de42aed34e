/* SPDX-License-Identifier: GPL-3.0-or-later */
/* defrag.c - which running jobs to move, and where, to make room for a job
 *
 * 1. In every domain that is large enough, the cheapest set of jobs whose GPUs
 *    there, with the free ones, would hold the new job (evict).
 * 2. The cheapest domains are tried: the new job is placed inside, then the
 *    jobs that gave way, largest first, wherever there is room.
 * 3. Plans that move more and bring no more are dropped.
 */
#include "placement/defrag.h"

#include "base/bitset.h"
#include "base/clock.h"
#include "placement/mapping/effort.h"

#include <stdlib.h>
#include <string.h>

/* Domains tried; the cheapest by what has to give way. */
#define MAX_TRIALS 24

/* What a cost must at least fall by to be worth moving more for. */
#define WORTH 0.001

#define MOST_COST_RATIO 1.05

/* A running job in a domain. */
struct tenant {
	uint32_t job, inside, all; /* GPUs */
};

/* A domain, and the jobs that would have to leave it. */
struct trial {
	uint32_t domain, n_gpus, n;
	uint32_t *job; /* [n] */
};

struct work {
	const struct weft_defrag_request *request;
	const struct weft_fabric *f;
	struct tenant *tenant;		/* [running->n] scratch */
	uint32_t *inside;		/* [running->n] zeros; scratch */
	uint32_t *owner;		/* [n_gpus] running job, or WEFT_NONE */
	struct trial trial[MAX_TRIALS]; /* by n_gpus */
	uint32_t n_trials;
	struct weft_defrag *out;
	struct effort effort; /* only its deadline */
	struct weft_error *err;
};

/* Frees many GPUs for each of its own first; then the smaller. */
static int best_leaver_first(const void *pa, const void *pb)
{
	const struct tenant *a = pa, *b = pb;
	uint64_t x = (uint64_t)a->inside * b->all;
	uint64_t y = (uint64_t)b->inside * a->all;

	if (x != y)
		return x > y ? -1 : 1;
	if (a->all != b->all)
		return a->all < b->all ? -1 : 1;
	return (a->job > b->job) - (a->job < b->job);
}

/* Running jobs in the domain, into tenant[]; *n_free: its usable GPUs. */
static uint32_t list_tenants(struct work *w, const struct weft_domain *d,
			     uint32_t *n_free)
{
	const struct weft_running_list *list = w->request->running;
	uint32_t n = 0;

	*n_free = 0;
	for (uint32_t i = d->first_node; i < d->first_node + d->n_nodes; i++)
		*n_free += weft_occupancy_give(w->request->o, i);
	for (uint32_t g = d->first_gpu; g < d->first_gpu + d->n_gpus; g++) {
		uint32_t job = w->owner[g];

		if (job == WEFT_NONE)
			continue;
		if (w->inside[job]++ == 0)
			w->tenant[n++].job = job;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct tenant *t = &w->tenant[i];

		t->inside = w->inside[t->job];
		t->all = list->jobs[t->job].n_gpus;
		w->inside[t->job] = 0;
	}
	qsort(w->tenant, n, sizeof(*w->tenant), best_leaver_first);
	return n;
}

/* Keeps the first `need` GPUs' worth of tenant[0..n), then drops, from the
 * largest, whom that does not need.  Returns how many leave; 0: not enough. */
static uint32_t evict(struct work *w, uint32_t n, uint32_t need)
{
	uint32_t k = 0, freed = 0, kept = 0;

	while (k < n && freed < need)
		freed += w->tenant[k++].inside;
	if (freed < need)
		return 0;
	for (uint32_t i = 0; i < k; i++) {
		if (freed - w->tenant[i].inside >= need)
			freed -= w->tenant[i].inside;
		else
			w->tenant[kept++] = w->tenant[i];
	}
	return kept;
}

/* Puts a trial in its place; the dearest falls off the end. */
static int add_trial(struct work *w, uint32_t domain, uint32_t n_leavers)
{
	struct trial trial = {.domain = domain, .n = n_leavers};
	uint32_t at;

	for (uint32_t i = 0; i < n_leavers; i++)
		trial.n_gpus += w->tenant[i].all;
	if (w->n_trials == MAX_TRIALS &&
	    w->trial[MAX_TRIALS - 1].n_gpus <= trial.n_gpus)
		return 0;
	trial.job = weft_calloc(n_leavers, sizeof(*trial.job), w->err);
	if (!trial.job)
		return -1;
	for (uint32_t i = 0; i < n_leavers; i++)
		trial.job[i] = w->tenant[i].job;
	if (w->n_trials == MAX_TRIALS)
		free(w->trial[--w->n_trials].job);
	for (at = w->n_trials++;
	     at > 0 && w->trial[at - 1].n_gpus > trial.n_gpus; at--)
		w->trial[at] = w->trial[at - 1];
	w->trial[at] = trial;
	return 0;
}

static int find_trials(struct work *w)
{
	uint32_t need = w->request->job->n_gpus, n_free;

	for (uint32_t l = w->f->node_level; l < w->f->n_levels; l++) {
		const struct weft_level *level = &w->f->levels[l];

		for (uint32_t i = 0; i < level->n_domains; i++) {
			uint32_t d = level->first_domain + i, n;

			if (w->f->domains[d].n_gpus < need)
				continue;
			w->out->n_domains++;
			n = list_tenants(w, &w->f->domains[d], &n_free);
			/* there is room for the whole job as it is */
			if (n_free >= need)
				continue;
			n = evict(w, n, need - n_free);
			if (n && add_trial(w, d, n))
				return -1;
		}
	}
	return 0;
}

static void take(struct weft_occupancy *o, const uint32_t *gpu, uint32_t n)
{
	const struct weft_fabric *f = o->fabric;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t node = f->gpu_node[gpu[i]];

		weft_occupancy_take(
			o, node,
			UINT64_C(1) << (gpu[i] - f->nodes[node].first_gpu));
	}
}

/* The new job inside the domain, when `o` has room for it there. */
static int place_inside(struct work *w, const struct weft_occupancy *o,
			uint32_t domain, struct weft_placement *p)
{
	const struct weft_domain *d = &w->f->domains[domain];
	struct weft_occupancy inside = {0};
	int rc = -1;

	if (weft_occupancy_copy(o, &inside, w->err))
		goto out;
	for (uint32_t i = 0; i < w->f->n_nodes; i++)
		if (i < d->first_node || i >= d->first_node + d->n_nodes)
			weft_occupancy_take(&inside, i, UINT64_MAX);
	rc = weft_place(w->f, w->request->job, &inside, w->request->options, p,
			w->err);
out:
	weft_occupancy_free(&inside);
	return rc;
}

/* Places one that gave way, by what is known of it.  1: done; 0: no room, or
 * it would fare much worse; -1: w->err. */
static int place_leaver(struct work *w, struct weft_occupancy *o,
			struct weft_move *move)
{
	const struct weft_running *r = &w->request->running->jobs[move->job];
	enum weft_metric metric = w->request->job->spec.metric;
	double most = w->request->most_cost_ratio;
	struct weft_job unknown = {0};
	const struct weft_job *job = &r->job;
	struct weft_placement p = {0};
	struct weft_cost before;
	int rc = -1;

	if (!r->known) {
		job = &unknown;
		if (weft_job_build("", r->n_gpus, false, w->f, &unknown,
				   w->err))
			goto out;
	}
	if (weft_cost(w->f, &job->traffic, r->gpu, NULL, &before, w->err) ||
	    weft_place(w->f, job, o, w->request->options, &p, w->err))
		goto out;
	rc = 0;
	if (!p.placed)
		goto out;
	move->cost_before = before.total[metric];
	move->cost_after = p.cost.total[metric];
	if (r->known &&
	    move->cost_after >
		    move->cost_before * (most > 0 ? most : MOST_COST_RATIO))
		goto out;
	take(o, p.where, r->n_gpus);
	move->where = p.where;
	p.where = NULL;
	rc = 1;
out:
	weft_job_free(&unknown);
	weft_placement_free(&p);
	return rc;
}

static void plan_free(struct weft_defrag_plan *plan)
{
	for (uint32_t i = 0; i < plan->n_moves; i++)
		free(plan->moves[i].where);
	free(plan->moves);
	weft_placement_free(&plan->placement);
	memset(plan, 0, sizeof(*plan));
}

static int compare_leavers(const struct work *w, uint32_t a, uint32_t b)
{
	uint32_t x = w->request->running->jobs[a].n_gpus;
	uint32_t y = w->request->running->jobs[b].n_gpus;

	if (x != y)
		return x > y ? -1 : 1;
	return (a > b) - (a < b);
}

/* Largest first: they find room the hardest. */
static void sort_leavers(const struct work *w, struct trial *t)
{
	for (uint32_t i = 1; i < t->n; i++) {
		uint32_t job = t->job[i], at = i;

		for (; at > 0 && compare_leavers(w, job, t->job[at - 1]) < 0;
		     at--)
			t->job[at] = t->job[at - 1];
		t->job[at] = job;
	}
}

/* 1: *plan is one; 0: it cannot be; -1: w->err.  o: a copy, to be changed. */
static int try_moves(struct work *w, const struct trial *t,
		     struct weft_occupancy *o, struct weft_defrag_plan *plan)
{
	int rc;

	for (uint32_t i = 0; i < t->n; i++)
		weft_running_release(&w->request->running->jobs[t->job[i]], o);
	if (place_inside(w, o, t->domain, &plan->placement))
		return -1;
	if (!plan->placement.placed)
		return 0;
	take(o, plan->placement.where, w->request->job->n_gpus);
	plan->moves = weft_calloc(t->n, sizeof(*plan->moves), w->err);
	if (!plan->moves)
		return -1;
	for (uint32_t i = 0; i < t->n; i++) {
		plan->moves[i].job = t->job[i];
		rc = place_leaver(w, o, &plan->moves[i]);
		if (rc <= 0)
			return rc;
		plan->n_moves++;
	}
	return 1;
}

static double plan_cost(const struct weft_placement *p)
{
	return p->cost.total[p->metric];
}

/* True when a plan that moves no more brings as much, or no moves do. */
static bool is_dominated(const struct work *w,
			 const struct weft_defrag_plan *plan)
{
	double enough = plan_cost(&plan->placement) / (1 - WORTH);

	if (w->request->now->placed && plan_cost(w->request->now) < enough)
		return true;
	for (uint32_t i = 0; i < w->out->n_plans; i++)
		if (plan_cost(&w->out->plans[i].placement) < enough)
			return true;
	return false;
}

static int run_trial(struct work *w, struct trial *t)
{
	struct weft_defrag_plan plan = {.domain = t->domain,
					.n_gpus_moved = t->n_gpus};
	struct weft_occupancy o = {0};
	int rc = -1;

	sort_leavers(w, t);
	if (weft_occupancy_copy(w->request->o, &o, w->err) == 0)
		rc = try_moves(w, t, &o, &plan);
	weft_occupancy_free(&o);
	if (rc == 1 && !is_dominated(w, &plan))
		w->out->plans[w->out->n_plans++] = plan;
	else
		plan_free(&plan);
	return rc < 0 ? -1 : 0;
}

static int build(struct work *w)
{
	const struct weft_running_list *list = w->request->running;

	w->tenant = weft_calloc(list->n, sizeof(*w->tenant), w->err);
	w->inside = weft_calloc(list->n, sizeof(*w->inside), w->err);
	w->owner = weft_running_owners(list, w->f->n_gpus, w->err);
	w->out->plans = weft_calloc(MAX_TRIALS, sizeof(*w->out->plans), w->err);
	if (!w->tenant || !w->inside || !w->owner || !w->out->plans)
		return -1;
	return 0;
}

int weft_defrag(const struct weft_defrag_request *request,
		struct weft_defrag *defrag, struct weft_error *err)
{
	struct work w = {
		.request = request,
		.f = request->f,
		.out = defrag,
		.effort = {.work = 1},
		.err = err,
	};
	int rc = -1;

	memset(defrag, 0, sizeof(*defrag));
	if (request->budget_s > 0)
		w.effort.deadline_s = weft_budget_clock_s() + request->budget_s;
	if (build(&w) || find_trials(&w))
		goto out;
	rc = 0;
	for (uint32_t i = 0; i < w.n_trials && rc == 0; i++) {
		if (effort_spent(&w.effort))
			break;
		rc = run_trial(&w, &w.trial[i]);
	}
out:
	for (uint32_t i = 0; i < w.n_trials; i++)
		free(w.trial[i].job);
	free(w.tenant);
	free(w.inside);
	free(w.owner);
	return rc;
}

void weft_defrag_free(struct weft_defrag *defrag)
{
	for (uint32_t i = 0; i < defrag->n_plans; i++)
		plan_free(&defrag->plans[i]);
	free(defrag->plans);
	memset(defrag, 0, sizeof(*defrag));
}
