/* SPDX-License-Identifier: GPL-3.0-or-later */
/* bridge.c - placing what Slurm asks for, and telling how it went */
#include "plugin/bridge/bridge.h"

#include "base/append.h"
#include "base/clock.h"
#include "placement/capacity/running.h"
#include "placement/objective/evaluation.h"
#include "plugin/bridge/gain.h"
#include "plugin/bridge/launch/spec_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Edges of all kept jobs together: with their memos about 60 MB. */
#define MAX_EDGES (UINT64_C(1) << 20)

/* Of one job: about what can be built and priced in a tenth of a second. */
#define MAX_JOB_EDGES (UINT64_C(1) << 20)

/* To build, price and free the rings of one rank takes about so long. */
#define RANK_S 0.3e-6

/* And to finish a place, beside its ranks. */
#define FINISH_S 0.2e-3

/* A place by structure takes about so long, and so long for each node of the
 * fabric. */
#define STRUCTURE_S 50e-6
#define NODE_S	    20e-9

/* The share of the budget for whatever looks at pairs of ranks: building a job,
 * placing it, ordering its ranks.  1.2 ms of 20: tests/bench/specs --compare
 * shows what more time would gain. */
#define PAIRS_PART 0.06

/* For so long less is done for a job that had taken too long. */
#define RETRY_S 60.0

/* Of a job with a plan cache, which takes about twice what its edges do. */
#define MAX_MEMO_EDGES (UINT64_C(1) << 19)

/* ---- jobs ---- */

static void built_free(struct weft_bridge *bridge, struct weft_built *built)
{
	bridge->n_edges -= built->job.traffic.n_edges;
	weft_job_free(&built->job);
	weft_plan_cache_free(built->plan_cache);
	free(built->spec);
	memset(built, 0, sizeof(*built));
}

void weft_bridge_clear(struct weft_bridge *bridge)
{
	for (uint32_t i = 0; i < WEFT_MAX_BUILT; i++)
		built_free(bridge, &bridge->built[i]);
	weft_cost_scratch_free(&bridge->scratch);
	memset(&bridge->scratch, 0, sizeof(bridge->scratch));
}

static struct weft_built *built_find(struct weft_bridge *bridge,
				     const char *spec, uint32_t n_gpus)
{
	for (uint32_t i = 0; i < WEFT_MAX_BUILT; i++) {
		struct weft_built *built = &bridge->built[i];

		if (built->spec && built->n_gpus == n_gpus &&
		    strcmp(built->spec, spec) == 0)
			return built;
	}
	return NULL;
}

/* The empty slot, or the one not asked for longest. */
static struct weft_built *built_oldest(struct weft_bridge *bridge)
{
	struct weft_built *oldest = &bridge->built[0];

	for (uint32_t i = 1; i < WEFT_MAX_BUILT; i++)
		if (bridge->built[i].used < oldest->used)
			oldest = &bridge->built[i];
	return oldest;
}

/* Forgets old jobs until what is kept is within bounds; never `keep`. */
static void built_trim(struct weft_bridge *bridge,
		       const struct weft_built *keep)
{
	while (bridge->n_edges > MAX_EDGES) {
		struct weft_built *oldest = NULL;

		for (uint32_t i = 0; i < WEFT_MAX_BUILT; i++) {
			struct weft_built *built = &bridge->built[i];

			if (built != keep && built->job.traffic.n_edges &&
			    (!oldest || built->used < oldest->used))
				oldest = built;
		}
		if (!oldest)
			return;
		built_free(bridge, oldest);
	}
}

/* Only all-to-alls pair each rank with many: known before they are built. */
static bool has_many_pairs(const struct weft_spec *spec, uint32_t n_gpus)
{
	uint64_t peers = spec->ep > 1 ? spec->ep - 1 : 0;

	if (spec->cp > 1 && spec->cp_comm == WEFT_CP_ALL_TO_ALL)
		peers += spec->cp - 1;
	return peers * n_gpus > MAX_JOB_EDGES;
}

int weft_bridge_build(const struct weft_settings *settings, const char *text,
		      uint32_t n_gpus, enum weft_detail detail,
		      struct weft_job *job, struct weft_error *err)
{
	const struct weft_model *model = NULL;
	struct weft_spec spec;

	*job = (struct weft_job){0};
	if (weft_spec_text_parse(text, &spec, err) < 0)
		return -1;
	/* One that the admin registered: its shape is at hand. */
	if (spec.model[0])
		model = weft_settings_model(settings, spec.model);
	return weft_job_build_model(text, n_gpus, model, detail,
				    settings->fabric, job, err);
}

static int job_build(const struct weft_settings *settings,
		     struct weft_built *built, struct weft_error *err)
{
	struct weft_spec spec;

	if (built->detail == WEFT_ALL_PAIRS &&
	    weft_spec_text_parse(built->spec, &spec, NULL) == 0 &&
	    has_many_pairs(&spec, built->n_gpus)) {
		built->detail = built->next = WEFT_RINGS;
		built->retry_s = (double)INFINITY;
	}
	return weft_bridge_build(settings, built->spec, built->n_gpus,
				 built->detail, &built->job, err);
}

static void built_forget(struct weft_bridge *bridge, struct weft_built *built)
{
	bridge->n_edges -= built->job.traffic.n_edges;
	weft_job_free(&built->job);
	weft_plan_cache_free(built->plan_cache);
	built->plan_cache = NULL;
	built->err = (struct weft_error){0};
	built->ready = false;
}

/* Builds what is not ready.  -1 with why: not in time, it stays unready. */
static int built_prepare(struct weft_bridge *bridge, struct weft_built *built)
{
	int rc;

	if (built->ready)
		return 0;
	rc = job_build(bridge->settings, built, &built->err);
	if (rc < 0)
		weft_job_free(&built->job);
	if (rc < 0 && built->err.code == WEFT_ELATE) {
		built->err = (struct weft_error){0};
		return -1;
	}
	/* without one it only takes longer */
	if (built->job.traffic.n_edges <= MAX_MEMO_EDGES)
		built->plan_cache = weft_plan_cache_build(NULL);
	bridge->n_edges += built->job.traffic.n_edges;
	built_trim(bridge, built);
	built->ready = true;
	return 0;
}

/* The kept slot, or one that is kept from now on; NULL with err. */
static struct weft_built *built_slot(struct weft_bridge *bridge,
				     const char *spec, uint32_t n_gpus,
				     struct weft_error *err)
{
	struct weft_built *built;

	if (!spec)
		spec = "";
	/* no such spec is built, and a user's may have megabytes */
	if (strnlen(spec, WEFT_SPEC_MAX_BYTES + 1) > WEFT_SPEC_MAX_BYTES) {
		weft_fail(err, WEFT_EINVAL, "the spec has more than %d bytes",
			  WEFT_SPEC_MAX_BYTES);
		return NULL;
	}
	built = built_find(bridge, spec, n_gpus);
	if (!built) {
		built = built_oldest(bridge);
		built_free(bridge, built);
		built->spec = weft_strdup(spec, err);
		if (!built->spec)
			return NULL;
		built->n_gpus = n_gpus;
	}
	if (built->detail != WEFT_ALL_PAIRS &&
	    weft_clock_s() >= built->retry_s) {
		built_forget(bridge, built);
		built->detail = built->next = WEFT_ALL_PAIRS;
	}
	built->used = ++bridge->clock;
	return built;
}

static double pairs_s(const struct weft_bridge *bridge)
{
	double budget_s = bridge->settings->budget_s;

	return budget_s > 0 ? PAIRS_PART * budget_s : (double)INFINITY;
}

/* There will be no time for all ranks, or even for rings of them: now, or with
 * all of the budget either. */
static void built_foresee(const struct weft_bridge *bridge,
			  struct weft_built *built)
{
	double ranks_s = RANK_S * built->n_gpus, most_s = pairs_s(bridge);
	double left_s = fmin(weft_deadline_left(), most_s);

	if (weft_deadline() == 0 || built->ready ||
	    built->detail != WEFT_ALL_PAIRS)
		return;
	if (2 * ranks_s > left_s)
		built->detail = WEFT_NO_PAIRS;
	else if (4 * ranks_s > left_s)
		built->detail = WEFT_RINGS;
	if (4 * ranks_s <= most_s)
		return;
	built->next = built->detail;
	built->retry_s = weft_clock_s() + RETRY_S;
}

/* There was no time: less is done for the job from now on.  False: there is
 * nothing less. */
static bool built_coarsen(struct weft_bridge *bridge, struct weft_built *built)
{
	if (built->detail == WEFT_NO_PAIRS)
		return false;
	built_forget(bridge, built);
	built->detail++;
	built->retry_s = fmax(built->retry_s, weft_clock_s() + RETRY_S);
	return true;
}

/* By when what looks at pairs must be done, from now on, for a place by
 * structure to have its time after that, half at most; 0: no deadline. */
static double pairs_deadline(const struct weft_bridge *bridge)
{
	double left_s = weft_deadline_left();
	double structure_s =
		STRUCTURE_S + NODE_S * bridge->settings->fabric->n_nodes;

	if (weft_deadline() == 0)
		return 0;
	return weft_worked_s() +
	       fmin(left_s - fmin(structure_s, left_s / 2), pairs_s(bridge));
}

/* By when a plan of this detail must be done for the next one, too, to have its
 * time: all pairs leave what rings take, half at most. */
static double detail_deadline(const struct weft_built *built,
			      double pairs_until_s)
{
	double now_s = weft_worked_s();
	double left_s = fmax(pairs_until_s - now_s, 0);
	double rings_s = 4 * RANK_S * built->n_gpus;

	if (weft_deadline() == 0 || built->detail == WEFT_NO_PAIRS)
		return weft_deadline();
	return built->detail == WEFT_RINGS
		       ? pairs_until_s
		       : pairs_until_s - fmin(rings_s, left_s / 2);
}

const struct weft_job *weft_bridge_job(struct weft_bridge *bridge,
				       const char *spec, uint32_t n_gpus,
				       struct weft_error *err)
{
	struct weft_built *built = built_slot(bridge, spec, n_gpus, err);
	double until_s = pairs_deadline(bridge);
	int rc = -1;

	if (built)
		built_foresee(bridge, built);
	while (built && rc < 0) {
		double former_s =
			weft_deadline_narrow(detail_deadline(built, until_s));

		rc = built_prepare(bridge, built);
		weft_deadline_set(former_s);
		if (rc < 0 && !built_coarsen(bridge, built))
			break;
	}
	if (built && rc < 0)
		weft_fail(err, WEFT_ELATE, "no time was left");
	if (rc < 0)
		return NULL;
	if (built->err.code && err && !err->code)
		*err = built->err;
	return built->err.code ? NULL : &built->job;
}

/* ---- placing ---- */

/* How much of the time for a level of detail a search may take; the rest is for
 * finishing the place. */
static double search_s(uint32_t n_gpus)
{
	double left_s = weft_deadline_left();

	return fmax(left_s - fmin(4 * RANK_S * n_gpus + FINISH_S, 0.4 * left_s),
		    1e-9);
}

static int built_place(struct weft_bridge *bridge, struct weft_built *built,
		       const struct weft_shape *shape,
		       const struct weft_occupancy *o, struct weft_placement *p,
		       struct weft_error *err)
{
	const struct weft_fabric *f = bridge->settings->fabric;
	struct weft_place_options options = {
		.method = bridge->method,
		.plan_cache = built->plan_cache,
	};
	struct weft_objective objective;
	/* A copy of the struct, not of what it points to: the shape is this
	 * request's own. */
	struct weft_job job = built->job;

	if (weft_deadline() > 0)
		options.budget_s = search_s(built->n_gpus);
	job.gpus_per_node = shape->gpus_per_node;
	job.min_nodes = shape->min_nodes;
	job.max_nodes = shape->max_nodes;
	if (built->detail == WEFT_NO_PAIRS)
		return weft_place_first(f, &job, o, p, err);
	objective = weft_objective_of_spec(&job.spec);
	objective.load = bridge->load;
	/* to predict a step takes as long as many costs */
	if (built->detail == WEFT_RINGS)
		objective.goal = WEFT_GOAL_COST;
	options.objective = &objective;
	return weft_place(f, &job, o, &options, p, err);
}

/* Under the deadline of its detail; -1 with WEFT_ELATE where it was missed. */
static int place_in_time(struct weft_bridge *bridge, struct weft_built *built,
			 const struct weft_shape *shape,
			 const struct weft_occupancy *o, double pairs_until_s,
			 struct weft_placement *p, struct weft_error *err)
{
	double former_s =
		weft_deadline_narrow(detail_deadline(built, pairs_until_s));
	int rc = -1;

	if (built_prepare(bridge, built) < 0)
		weft_fail(err, WEFT_ELATE, "no time was left");
	else if (built->err.code)
		*err = built->err;
	else
		rc = built_place(bridge, built, shape, o, p, err);
	weft_deadline_set(former_s);
	return rc;
}

int weft_bridge_place(struct weft_bridge *bridge,
		      const struct weft_request *request,
		      const struct weft_shape *shape,
		      const struct weft_occupancy *o, double budget_s,
		      struct weft_placement *p, struct weft_error *err)
{
	struct weft_built *built =
		built_slot(bridge, request->spec, shape->n_gpus, err);
	double start_s = weft_worked_s();
	double former_s =
		weft_deadline_narrow(budget_s > 0 ? start_s + budget_s : 0);
	struct weft_error why = {0};
	double until_s = pairs_deadline(bridge);
	bool whole =
		weft_deadline() == 0 || weft_deadline_left() >= pairs_s(bridge);
	enum weft_detail first;
	int rc = -1;

	memset(p, 0, sizeof(*p));
	if (!built)
		goto out;
	if (built->detail != built->next)
		built_forget(bridge, built);
	built->detail = built->next;
	built_foresee(bridge, built);
	first = built->detail;
	while ((rc = place_in_time(bridge, built, shape, o, until_s, p, &why)) <
		       0 &&
	       why.code == WEFT_ELATE && built_coarsen(bridge, built)) {
		weft_placement_free(p);
		memset(p, 0, sizeof(*p));
		why = (struct weft_error){0};
	}
	/* With all of the time the one before may do; what was late because
	 * others had taken the time says nothing. */
	built->next = whole && built->detail > first ? first + 1 : first;
out:
	if (rc < 0 && err && !err->code)
		*err = why;
	weft_deadline_set(former_s);
	bridge->place_cpu_s += weft_worked_s() - start_s;
	return rc;
}

int weft_bridge_running(struct weft_bridge *bridge, const char *spec,
			const uint32_t *where, uint32_t n_gpus,
			struct weft_load_parts *parts, struct weft_error *err)
{
	const struct weft_job *job;

	for (uint32_t r = 0; r < n_gpus; r++)
		if (where[r] == WEFT_NONE)
			return -1;
	job = n_gpus ? weft_bridge_job(bridge, spec, n_gpus, err) : NULL;
	if (!job || job->n_gpus != n_gpus)
		return -1;
	return weft_running_parts(bridge->settings->fabric, job, where, NULL, 0,
				  parts, err);
}

/* ---- telling ---- */

/* Domains of a level that the GPUs are in; 0: out of memory. */
static uint32_t count_domains(const struct weft_fabric *f, uint32_t level,
			      const struct weft_account *account)
{
	const struct weft_level *l = &f->levels[level];
	const struct weft_domain *d = NULL; /* of the one before */
	uint64_t *seen = weft_calloc(weft_bitset_words(l->n_domains),
				     sizeof(*seen), NULL);
	uint32_t n = 0;

	for (uint32_t i = 0; seen && i < account->n_gpus; i++) {
		uint32_t gpu = account->where[i], k;

		if (d && gpu - d->first_gpu < d->n_gpus)
			continue;
		k = f->gpu_domain[level][gpu];
		d = &f->domains[k];
		k -= l->first_domain;
		n += !weft_bitset_has(seen, k);
		weft_bitset_add(seen, k);
	}
	free(seen);
	return n;
}

/* " spans 1 pod, 2 leaf": the levels above the node, outermost first, but for
 * those that the whole fabric is one domain of. */
static void tell_levels(const struct weft_fabric *f,
			const struct weft_account *account, char *text,
			size_t size)
{
	const char *before = " spans ";

	for (uint32_t level = f->n_levels; level-- > f->node_level + 1;) {
		if (f->levels[level].n_domains < 2)
			continue;
		weft_append(text, size, "%s%u %s", before,
			    count_domains(f, level, account),
			    f->levels[level].name);
		before = ", ";
	}
}

/* Where the ranks are laid out: the step of a model that the user named, else
 * the cost alone, since the step would be that of the default model, and takes
 * longer.  took_s: for how long it was measured. */
static int evaluate(struct weft_bridge *bridge, const struct weft_job *job,
		    const struct weft_account *account,
		    struct weft_evaluation *e, double *took_s)
{
	const struct weft_fabric *f = bridge->settings->fabric;
	double start_s = weft_clock_s();
	int rc;

	if (weft_deadline() > 0 &&
	    2 * RANK_S * job->n_gpus > weft_deadline_left())
		return -1;
	e->load = bridge->load;
	if (weft_spec_given(&job->spec, "model"))
		rc = weft_evaluate(f, job, account->where, &bridge->scratch, e,
				   NULL);
	else
		rc = weft_cost(f, &job->traffic, account->where,
			       &bridge->scratch, &e->cost, NULL);
	*took_s = weft_clock_s() - start_s;
	return rc;
}

/* " cost=0.0123 bound=0.0119 gap=3%" of the ranks as they were laid out: a sum
 * over all ranks, no time of a step. */
static void tell_sum(const struct weft_account *account, char *text,
		     size_t size)
{
	double total = account->cost, gap = 0;

	weft_append(text, size, " cost=%.4g", total);
	if (account->metric != WEFT_TIME)
		weft_append(text, size, "(%s)",
			    weft_metric_names[account->metric]);
	if (isnan(account->bound))
		return;
	if (total > account->bound)
		gap = (total - account->bound) / total;
	weft_append(text, size, " bound=%.4g gap=%.0f%%", account->bound,
		    100 * gap);
}

/* Cost, step and gain; nothing where the spec does not suit an allocation like
 * this one. */
static void tell_cost(struct weft_bridge *bridge, struct weft_account *account,
		      char *text, size_t size)
{
	const struct weft_job *job =
		weft_bridge_job(bridge, account->spec, account->n_gpus, NULL);
	struct weft_evaluation e = {0};
	char gain[WEFT_GAIN_TEXT_SIZE];
	double took_s;

	if (!job || job->n_gpus != account->n_gpus ||
	    evaluate(bridge, job, account, &e, &took_s) < 0)
		return;
	/* Coarse traffic orders places; its cost is another. */
	if (built_find(bridge, account->spec ? account->spec : "",
		       account->n_gpus)
		    ->detail == WEFT_ALL_PAIRS) {
		account->metric = job->spec.metric;
		account->cost = e.cost.total[job->spec.metric];
		tell_sum(account, text, size);
	}
	weft_gain_compare(bridge, job, &e, took_s, account);
	if (e.timed) {
		account->step_s = e.step.step_s;
		weft_append(text, size, " step=%.3gs", e.step.step_s);
	}
	if (e.timed && isfinite(account->gain.low_s))
		weft_append(text, size, "(%.3g-%.3g)", account->gain.low_s,
			    account->gain.high_s);
	weft_gain_text(account, gain);
	weft_append(text, size, "%s", gain);
}

static bool knows_gpus(const struct weft_account *account)
{
	for (uint32_t i = 0; i < account->n_gpus; i++)
		if (account->where[i] == WEFT_NONE)
			return false;
	return account->n_gpus > 0;
}

/* Whole or not at all: other programs read it.  A spec that parses is
 * printable; what separates parts of the comment is not in one. */
static void tell_spec(const char *spec, char *text, size_t size)
{
	static const char before[] = "; spec=";
	size_t length = strlen(spec);

	if (length > WEFT_SHOWN_SPEC || strpbrk(spec, ";|") ||
	    strlen(text) + strlen(before) + length >= size)
		return;
	for (const char *c = spec; *c; c++)
		if (*c < 0x20 || *c > 0x7e)
			return;
	weft_append(text, size, "%s%s", before, spec);
}

void weft_bridge_tell(struct weft_bridge *bridge, struct weft_account *account,
		      char text[WEFT_TEXT_SIZE])
{
	const size_t size = WEFT_TEXT_SIZE;

	account->cost = account->step_s = (double)NAN;
	account->compared = false;
	snprintf(text, size, "weft:");
	if (knows_gpus(account)) {
		tell_cost(bridge, account, text, size);
		tell_levels(bridge->settings->fabric, account, text, size);
	} else {
		weft_append(text, size, " some GPUs are not in the fabric");
	}
	weft_append(text, size, "; nodes=%s",
		    account->planned ? "plan" : "stock");
	if (!account->planned && account->reason)
		weft_append(text, size, " (%s)", account->reason);
	if (account->n_partial)
		weft_append(text, size, "; part of %u node%s",
			    account->n_partial,
			    account->n_partial == 1 ? "" : "s");
	if (account->note && account->note[0])
		weft_append(text, size, "; %s", account->note);
	if (!account->spec)
		weft_append(text, size, "; no spec, taken as dp=%u",
			    account->n_gpus);
	if (account->decision_s > 0)
		weft_append(text, size, "; decided=%.3gms",
			    1e3 * account->decision_s);
	if (account->show_spec)
		tell_spec(account->spec, text, size);
}

void weft_bridge_strip(char *comment)
{
	static const char own[] = "weft: ", between[] = " | ";
	const char *part = comment;
	char *to = comment;

	while (part) {
		const char *next = strstr(part, between);
		size_t length = next ? (size_t)(next - part) : strlen(part);

		if (strncmp(part, own, strlen(own)) != 0 && length) {
			if (to != comment) {
				memmove(to, between, strlen(between));
				to += strlen(between);
			}
			memmove(to, part, length);
			to += length;
		}
		part = next ? next + strlen(between) : NULL;
	}
	*to = '\0';
}

void weft_bridge_escape(const struct weft_error *err,
			char text[WEFT_REASON_SIZE])
{
	weft_error_text(err, text, WEFT_REASON_SIZE);
	for (char *c = text; *c; c++)
		if (*c < 0x20 || *c > 0x7e || *c == '|')
			*c = '?';
}
