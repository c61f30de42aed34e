/* SPDX-License-Identifier: GPL-3.0-or-later */
/* blockers.c - what stands between a job and a better place */
#include "placement/blockers.h"

#include "base/clock.h"
#include "base/compare.h"
#include "placement/mapping/effort.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Trials of one job's end alone, at most. */
#define MAX_LOOKED 64

/* Improvements below this part are not worth a sentence. */
#define WORTH 0.001

struct looking {
	const struct weft_blockers_request *request;
	struct weft_blockers *out;
	struct effort effort; /* only its deadline */
	struct weft_error *err;
};

/* A running job and why it is looked at. */
struct suspect {
	uint32_t job, n_in_way; /* its GPUs on the ideal's nodes */
	double remaining_s;
};

WEFT_COMPARATOR(most_in_way_first, struct suspect,
		WEFT_DOWN(n_in_way) WEFT_UP(remaining_s) WEFT_UP(job));

WEFT_COMPARATOR(soonest_first, struct suspect,
		WEFT_UP(remaining_s) WEFT_UP(job));

/* The job's cost when the n jobs of list[] are gone.  nodes (may be NULL): set
 * to the nodes of that place, malloc'ed. */
static int cost_without(const struct looking *l, const struct suspect *list,
			uint32_t n, double *cost, struct weft_placement *place)
{
	const struct weft_blockers_request *r = l->request;
	struct weft_occupancy o = {0};
	struct weft_placement p = {0};
	int rc = -1;

	*cost = INFINITY;
	if (weft_occupancy_copy(r->o, &o, l->err))
		goto out;
	for (uint32_t i = 0; i < n; i++)
		weft_running_release(&r->running->jobs[list[i].job], &o);
	if (weft_place(r->f, r->job, &o, r->options, &p, l->err))
		goto out;
	if (p.placed)
		*cost = p.cost.total[p.metric];
	rc = 0;
out:
	weft_occupancy_free(&o);
	if (place)
		*place = p;
	else
		weft_placement_free(&p);
	return rc;
}

static bool helps(double cost, double before)
{
	return cost < before * (1 - WORTH) || (isinf(before) && isfinite(cost));
}

/* GPUs of a running job on marked nodes. */
static uint32_t count_on(const struct weft_fabric *f,
			 const struct weft_running *job, const uint8_t *marked)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < job->n_gpus; i++)
		n += marked[f->gpu_node[job->gpu[i]]];
	return n;
}

/* All jobs gone: the ideal, and who is in its way. */
static int find_ideal(struct looking *l, struct suspect *list)
{
	const struct weft_blockers_request *r = l->request;
	uint32_t n = r->running->n;
	struct weft_placement ideal = {0};
	uint8_t *marked = weft_calloc(r->f->n_nodes, 1, l->err);
	int rc = -1;

	for (uint32_t i = 0; i < n; i++)
		list[i] =
			(struct suspect){i, 0, r->running->jobs[i].remaining_s};
	if (!marked || cost_without(l, list, n, &l->out->ideal, &ideal))
		goto out;
	/* what is found with fewer GPUs free is possible with more */
	l->out->ideal = fmin(l->out->ideal, l->out->cost);
	for (uint32_t i = 0; i < ideal.n_nodes; i++)
		marked[ideal.nodes[i]] = 1;
	for (uint32_t i = 0; i < n; i++)
		list[i].n_in_way = count_on(r->f, &r->running->jobs[i], marked);
	qsort(list, n, sizeof(*list), most_in_way_first);
	l->out->blocker = weft_calloc(n, sizeof(*l->out->blocker), l->err);
	if (!l->out->blocker)
		goto out;
	while (l->out->n_blockers < n && list[l->out->n_blockers].n_in_way) {
		l->out->blocker[l->out->n_blockers] =
			list[l->out->n_blockers].job;
		l->out->n_blockers++;
	}
	rc = 0;
out:
	free(marked);
	weft_placement_free(&ideal);
	return rc;
}

/* Each job alone, those in the way first. */
static int try_alone(struct looking *l, const struct suspect *list)
{
	struct weft_blockers *out = l->out;
	uint32_t n = l->request->running->n;
	double cost;

	for (uint32_t i = 0; i < n && i < MAX_LOOKED; i++) {
		if (effort_spent(&l->effort))
			return 0;
		if (cost_without(l, &list[i], 1, &cost, NULL))
			return -1;
		out->n_looked++;
		if (!helps(cost, out->cost))
			continue;
		if (out->alone.job == WEFT_NONE ||
		    helps(cost, out->alone.cost) ||
		    (!helps(out->alone.cost, cost) &&
		     list[i].remaining_s < out->alone.remaining_s))
			out->alone = (struct weft_relief){
				list[i].job, list[i].remaining_s, cost};
	}
	return 0;
}

/* The fewest of the n soonest ends with which the job costs at most `enough`:
 * more GPUs free, lower cost, so by halving. */
static int first_end(struct looking *l, const struct suspect *list, uint32_t n,
		     double enough, struct weft_relief *relief)
{
	uint32_t low = 0, high = n; /* too few, maybe enough */
	double cost, at_high;

	if (!n || cost_without(l, list, n, &at_high, NULL))
		return n ? -1 : 0;
	if (!(at_high <= enough))
		return 0;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (effort_spent(&l->effort))
			return 0;
		if (cost_without(l, list, middle, &cost, NULL))
			return -1;
		if (cost <= enough) {
			high = middle;
			at_high = cost;
		} else {
			low = middle;
		}
	}
	*relief = (struct weft_relief){list[high - 1].job,
				       list[high - 1].remaining_s, at_high};
	return 0;
}

static int try_in_time(struct looking *l, struct suspect *list)
{
	struct weft_blockers *out = l->out;
	uint32_t n = l->request->running->n;
	double good = out->ideal * (1 + WEFT_BLOCKERS_SAME);

	qsort(list, n, sizeof(*list), soonest_first);
	while (n && !isfinite(list[n - 1].remaining_s))
		n--;
	if (!isfinite(out->cost) && first_end(l, list, n, DBL_MAX, &out->fits))
		return -1;
	if (out->cost <= good)
		return 0;
	return first_end(l, list, n, good, &out->good);
}

int weft_blockers(const struct weft_blockers_request *request,
		  struct weft_blockers *blockers, struct weft_error *err)
{
	const struct weft_relief none = {WEFT_NONE, INFINITY, INFINITY};
	struct looking l = {
		.request = request,
		.out = blockers,
		.effort = {.work = 1},
		.err = err,
	};
	uint32_t n = request->running->n;
	struct suspect *list;
	int rc = -1;

	memset(blockers, 0, sizeof(*blockers));
	blockers->alone = blockers->fits = blockers->good = none;
	blockers->cost =
		request->now->placed
			? request->now->cost.total[request->now->metric]
			: HUGE_VAL;
	if (request->budget_s > 0)
		l.effort.deadline_s = weft_budget_clock_s() + request->budget_s;
	list = weft_calloc(n, sizeof(*list), err);
	if (!list)
		return -1;
	if (find_ideal(&l, list))
		goto out;
	rc = 0;
	if (helps(blockers->ideal, blockers->cost) &&
	    (try_alone(&l, list) || try_in_time(&l, list)))
		rc = -1;
out:
	free(list);
	return rc;
}

void weft_blockers_free(struct weft_blockers *blockers)
{
	free(blockers->blocker);
	memset(blockers, 0, sizeof(*blockers));
}

/* "2 h 5 min", to the two largest units. */
static const char *duration(double s, char *text, size_t size)
{
	unsigned long minutes = (unsigned long)(s / 60 + 0.5);

	if (s < 120)
		snprintf(text, size, "%.0f s", s);
	else if (minutes < 120)
		snprintf(text, size, "%lu min", minutes);
	else if (minutes < 48 * 60)
		snprintf(text, size, "%lu h %lu min", minutes / 60,
			 minutes % 60);
	else
		snprintf(text, size, "%lu d %lu h", minutes / 1440,
			 minutes % 1440 / 60);
	return text;
}

/* "when job 812 ends, in 2 h". */
static const char *when(const struct weft_blockers_request *r,
			const struct weft_relief *relief, char *text,
			size_t size)
{
	const char *id = r->running->jobs[relief->job].id;
	char in[32];

	if (isfinite(relief->remaining_s))
		snprintf(text, size, "when job %.40s ends, in %s", id,
			 duration(relief->remaining_s, in, sizeof(in)));
	else
		snprintf(text, size, "when job %.40s ends", id);
	return text;
}

static void explain_blockers(const struct weft_blockers_request *r,
			     const struct weft_blockers *out,
			     struct weft_placement *p)
{
	char names[96] = "";
	size_t used = 0;
	uint32_t n = out->n_blockers < 4 ? out->n_blockers : 4;

	for (uint32_t i = 0; i < n; i++)
		used += (size_t)snprintf(names + used, sizeof(names) - used,
					 "%s%.16s", i ? ", " : "",
					 r->running->jobs[out->blocker[i]].id);
	if (out->n_blockers > n)
		snprintf(names + used, sizeof(names) - used, " and %u more",
			 out->n_blockers - n);
	if (isfinite(out->cost))
		weft_placement_explain(p,
				       "the best place would cost %.3gx, but "
				       "job%s %s %s there",
				       out->ideal / out->cost,
				       out->n_blockers == 1 ? "" : "s", names,
				       out->n_blockers == 1 ? "runs" : "run");
	else
		weft_placement_explain(p,
				       "in the way of the best place: job%s %s",
				       out->n_blockers == 1 ? "" : "s", names);
}

void weft_blockers_explain(const struct weft_blockers_request *r,
			   const struct weft_blockers *out,
			   struct weft_placement *p)
{
	char text[96];

	if (!helps(out->ideal, out->cost)) {
		if (isfinite(out->cost))
			weft_placement_explain(p,
					       "no running job is in the way "
					       "of a better place");
		else
			weft_placement_explain(p, "would not fit either if no "
						  "job of the state ran");
		return;
	}
	if (out->n_blockers)
		explain_blockers(r, out, p);
	if (out->alone.job != WEFT_NONE && isfinite(out->cost))
		weft_placement_explain(p, "%s, it would cost %.3gx",
				       when(r, &out->alone, text, sizeof(text)),
				       out->alone.cost / out->cost);
	else if (out->alone.job != WEFT_NONE)
		weft_placement_explain(
			p, "fits %s", when(r, &out->alone, text, sizeof(text)));
	if (out->fits.job != WEFT_NONE && out->fits.job != out->alone.job)
		weft_placement_explain(p, "fits at the soonest %s",
				       when(r, &out->fits, text, sizeof(text)));
	if (out->good.job != WEFT_NONE && out->good.job != out->alone.job)
		weft_placement_explain(p, "as good as on an empty fabric %s",
				       when(r, &out->good, text, sizeof(text)));
	if (isfinite(out->cost) && out->alone.job == WEFT_NONE)
		weft_placement_explain(p, "no single job's end helps");
}
