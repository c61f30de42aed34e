/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay_start.c - whether a job of a stream can start, and its start */
#include "base/compare.h"
#include "lab/replay/replay_run.h"

#include "base/clock.h"
#include "placement/mapping/effort.h"

#include <stdlib.h>
#include <string.h>

/* The job as a policy is asked for it, on what is free in l. */
static struct weft_policy_request request(const struct run *run, uint32_t job,
					  const struct ledger *l)
{
	const struct weft_replay_kind *kind = run_kind(run, job);
	struct effort dice = {.random = ~(run->r->options->seed + job)};

	return (struct weft_policy_request){
		.rule = {.fabric = run->r->fabric,
			 .occupancy = &l->o,
			 .n_nodes = kind->n_nodes,
			 .per_node = kind->per_node},
		.job = &kind->job,
		.random = effort_random(&dice),
		.options = &run->place,
		.gpu = kind->timed ? run->r->gpu : NULL,
		.load = run->contention.load.n ? &run->contention.load : NULL,
	};
}

/* Enough nodes have enough free GPUs. */
static bool fits_roughly(const struct run *run, uint32_t job,
			 const struct ledger *l)
{
	const struct weft_replay_kind *kind = run_kind(run, job);

	return l->n_slots[kind->per_node] >= kind->n_nodes;
}

/* Whether the job could start with what is free in l. */
static int run_fits(const struct run *run, uint32_t job, const struct ledger *l,
		    bool *yes, struct weft_error *err)
{
	const struct weft_policy_request q = request(run, job, l);

	*yes = fits_roughly(run, job, l);
	return *yes && run->policy->fits ? run->policy->fits(&q, yes, err) : 0;
}

static int decide(struct run *run, uint32_t job, uint32_t *where, bool *yes,
		  struct weft_error *err)
{
	const struct weft_policy_request q = request(run, job, &run->now);
	double start_s = weft_clock_s(), took_s;

	if (run->policy->place(&q, where, yes, err))
		return -1;
	took_s = weft_clock_s() - start_s;
	run->outcome->n_decisions++;
	run->decisions_s += took_s;
	if (took_s > run->outcome->worst_decision_s)
		run->outcome->worst_decision_s = took_s;
	return 0;
}

/* Its step there, kept for as long as it runs. */
static int step_keep(const struct run *run, uint32_t job, struct offer *offer,
		     struct weft_error *err)
{
	const struct weft_replay_kind *kind = run_kind(run, job);
	const struct weft_step_job placed = {
		.fabric = run->r->fabric,
		.spec = &kind->job.spec,
		.model = &kind->job.model,
		.where = offer->where,
		.schedule = &kind->schedule,
	};
	const struct weft_step_options options = {.gpu = run->r->gpu};

	offer->kept = weft_step_keep(&placed, &options, err);
	if (!offer->kept)
		return -1;
	offer->fate.alone_step_s = weft_step_again(offer->kept, NULL);
	offer->pace = kind->ideal_step_s /
		      weft_step_again(offer->kept, &run->contention.load);
	return 0;
}

/* What the job costs at offer->where, and when it ends beside those that run
 * now. */
static int offer_fill(struct run *run, uint32_t job, struct offer *offer,
		      struct weft_error *err)
{
	const struct weft_replay_kind *kind = run_kind(run, job);
	const struct pricing_job priced = {&kind->job,
					   kind->timed ? &kind->schedule : NULL,
					   run->r->kind_of[job]};
	bool paced = kind->timed && !run->r->options->as_recorded;
	struct weft_replay_job *fate = &offer->fate;
	struct price price;

	if (pricing_find(&run->pricing, &priced, offer->where, &price, err))
		return -1;
	fate->start_s = run->now_s;
	fate->cost = price.cost;
	fate->step_s = fate->alone_step_s = price.step_s;
	memcpy(fate->domains, price.domains, sizeof(fate->domains));
	offer->pace = paced ? kind->ideal_step_s / price.step_s : 1;
	if (paced && kind->n_nodes > 1 && step_keep(run, job, offer, err))
		return -1;
	fate->end_s =
		run->now_s + run->r->stream->jobs[job].duration_s / offer->pace;
	return 0;
}

/* Nodes of l with at least n free GPUs. */
static uint32_t slots(const struct ledger *l, uint32_t n)
{
	return n <= WEFT_MAX_GPUS_PER_NODE ? l->n_slots[n] : 0;
}

/* Known before a place is looked for: wherever the job is put, the reservation
 * has to move.  A node of the job's is harmless when it has no room for the
 * reserved one then, or room for both; of the others there are as many as the
 * reserved one can spare. */
static bool surely_delays(const struct run *run, uint32_t job)
{
	const struct reservation *reserved = &run->reserved;
	const struct ledger *then = &reserved->then;
	const struct weft_replay_kind *kind = run_kind(run, job), *first;
	double duration_s = run->r->stream->jobs[job].duration_s;
	uint32_t room, harmless;

	if (reserved->job == WEFT_NONE || reserved->job == job ||
	    run->now_s + duration_s <= reserved->start_s)
		return false;
	first = run_kind(run, reserved->job);
	if (then->n_free < kind->job.n_gpus + first->job.n_gpus)
		return true;
	room = slots(then, first->per_node);
	harmless = slots(then, kind->per_node + first->per_node);
	if (kind->per_node < first->per_node)
		harmless += slots(then, kind->per_node) - room;
	return kind->n_nodes > harmless + room - first->n_nodes;
}

/* Takes the job's GPUs out of what is reserved, unless the reservation would
 * have to move. */
static int reservation_yield(struct run *run, uint32_t job,
			     const uint32_t *where, double end_s, bool *may,
			     struct weft_error *err)
{
	struct reservation *reserved = &run->reserved;
	uint32_t n = run_kind(run, job)->job.n_gpus;

	*may = true;
	if (reserved->job == WEFT_NONE || reserved->job == job ||
	    end_s <= reserved->start_s)
		return 0;
	if (ledger_take(&reserved->then, where, n, err) ||
	    run_fits(run, reserved->job, &reserved->then, may, err))
		return -1;
	return *may ? 0 : ledger_give(&reserved->then, where, n, err);
}

/* Takes over what the offer owns only when it returns 0. */
static int start(struct run *run, uint32_t job, struct offer *offer,
		 struct weft_error *err)
{
	const struct weft_replay_options *o = run->r->options;
	uint32_t n = run_kind(run, job)->job.n_gpus;
	struct weft_step_kept *kept = offer->kept;

	if (ledger_take(&run->now, offer->where, n, err))
		return -1;
	if (o->started && o->started(o->context, job, offer->where, n))
		return weft_fail(err, WEFT_EINVAL, "interrupted");
	offer->kept = NULL;
	if (kept && contention_add(&run->contention, job, kept, err))
		return -1;
	run->outcome->jobs[job] = offer->fate;
	running_add(run, (struct stint){
				 .left_s = run->r->stream->jobs[job].duration_s,
				 .pace = offer->pace,
				 .job = job,
				 .order = run->n_started++,
				 .where = offer->where,
			 });
	offer->where = NULL;
	return kept ? running_settle(run, err) : 0;
}

int run_try(struct run *run, uint32_t job, bool *started,
	    struct weft_error *err)
{
	struct offer offer = {0};
	bool yes = false;
	int rc = -1;

	*started = false;
	if (!fits_roughly(run, job, &run->now) || surely_delays(run, job))
		return 0;
	offer.where = weft_calloc(run_kind(run, job)->job.n_gpus,
				  sizeof(*offer.where), err);
	if (!offer.where || decide(run, job, offer.where, &yes, err))
		goto out;
	if (yes && (offer_fill(run, job, &offer, err) ||
		    reservation_yield(run, job, offer.where, offer.fate.end_s,
				      &yes, err)))
		goto out;
	rc = yes ? start(run, job, &offer, err) : 0;
	*started = yes && rc == 0;
out:
	free(offer.where);
	weft_step_kept_free(offer.kept);
	return rc;
}

WEFT_COMPARATOR(by_end, struct stint, WEFT_UP(end_s));

/* What is free when ends[0..n-1] have ended. */
static int free_then(struct run *run, const struct stint *ends, uint32_t n,
		     struct weft_error *err)
{
	struct ledger *then = &run->reserved.then;

	ledger_copy(then, &run->now);
	for (uint32_t i = 0; i < n; i++) {
		if (ledger_give(then, ends[i].where,
				run_kind(run, ends[i].job)->job.n_gpus, err))
			return -1;
	}
	return 0;
}

/* The least number of ends after which the job fits: by halving, since it never
 * fits worse with more free.  WEFT_NONE: it never does. */
static int ends_needed(struct run *run, const struct stint *ends, uint32_t job,
		       uint32_t *n, struct weft_error *err)
{
	uint32_t low = 0, high = run->n_running + 1;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		bool yes;

		if (middle > run->n_running)
			break;
		if (free_then(run, ends, middle, err) ||
		    run_fits(run, job, &run->reserved.then, &yes, err))
			return -1;
		if (yes)
			high = middle;
		else
			low = middle + 1;
	}
	*n = low <= run->n_running ? low : WEFT_NONE;
	return 0;
}

int reservation_make(struct run *run, uint32_t job, struct weft_error *err)
{
	struct stint *ends = weft_calloc(run->n_running, sizeof(*ends), err);
	uint32_t n;
	int rc = -1;

	if (!ends)
		return -1;
	memcpy(ends, run->running, run->n_running * sizeof(*ends));
	if (run->n_running)
		qsort(ends, run->n_running, sizeof(*ends), by_end);
	if (ends_needed(run, ends, job, &n, err))
		goto out;
	if (n == WEFT_NONE || n == 0) {
		weft_fail(err, WEFT_EINVAL,
			  "job %u (\"%.80s\") waits although it would fit: "
			  "policy %s does not place it",
			  job, run_kind(run, job)->spec, run->policy->name);
		goto out;
	}
	/* those that end at the same moment end before it starts */
	while (n < run->n_running && ends[n].end_s == ends[n - 1].end_s)
		n++;
	if (free_then(run, ends, n, err))
		goto out;
	run->reserved.job = job;
	run->reserved.start_s = ends[n - 1].end_s;
	rc = 0;
out:
	free(ends);
	return rc;
}
