/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gain.c - what a placement brings */
#include "placement/objective/gain.h"

#include "costmodel/time/range.h"

#include "base/clock.h"
#include "placement/objective/evaluation.h"
#include "placement/objective/objective.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const weft_gain_bases[WEFT_N_GAIN_BASES] = {
	[WEFT_GAIN_STEP] = "step",
	[WEFT_GAIN_COMMUNICATION] = "communication",
	[WEFT_GAIN_LINK] = "link",
};

/* ---- seconds ---- */

struct comparison {
	const struct weft_gain_question *q;
	const struct weft_gpu *gpu; /* NULL unless steps are compared */
	struct weft_gain *gain;
	struct weft_cost_scratch scratch;
	double start_s, longest_s; /* of measuring one */
};

static double communication_s(const struct weft_step *step)
{
	double sum = 0;

	for (int a = 0; a < WEFT_N_AXES; a++)
		sum += step->communication_s[a] + step->latency_s[a];
	return sum;
}

static int link_measure(struct comparison *c, const uint32_t *where,
			double *value_s, struct weft_error *err)
{
	const struct weft_gain_question *q = c->q;
	const struct weft_traffic *t = &q->job->traffic;
	struct weft_cost cost;
	int rc;

	if (q->load)
		rc = weft_cost_shared(q->load, t, where, &c->scratch, &cost,
				      err);
	else
		rc = weft_cost(q->fabric, t, where, &c->scratch, &cost, err);
	if (rc == 0)
		*value_s = cost.busiest.time_s;
	return rc;
}

/* schedule: the job's own, or one without calls. */
static int step_predict(const struct comparison *c,
			const struct weft_schedule *schedule,
			const uint32_t *where, struct weft_step *step,
			struct weft_error *err)
{
	const struct weft_gain_question *q = c->q;
	const struct weft_step_job placed = {
		.fabric = q->fabric,
		.spec = &q->job->spec,
		.model = &q->job->model,
		.where = where,
		.schedule = schedule,
		.load = q->load,
		.exact_sharing = q->exact_sharing,
	};
	const struct weft_step_options options = {.gpu = c->gpu};

	return c->gpu ? weft_step(&placed, &options, step, err)
		      : weft_step_communication(&placed, step, err);
}

/* Of NVLink domains of several nodes: how ranks are dealt to them matters more
 * than what is above. */
static bool hosts_are_nodes(const struct weft_fabric *f)
{
	return f->node_level > 0 || f->levels[0].n_domains == f->n_nodes;
}

static double step_note(struct comparison *c, const struct weft_step *step)
{
	struct weft_gain *gain = c->gain;
	double value_s = c->gpu ? step->step_s : communication_s(step);

	if (hosts_are_nodes(c->q->fabric))
		gain->nominal_s =
			fmin(gain->nominal_s, value_s - step->congestion_s);
	return value_s;
}

static int step_measure(struct comparison *c, const uint32_t *where,
			double *value_s, struct weft_error *err)
{
	struct weft_step step;

	if (step_predict(c, &c->q->job->schedule, where, &step, err))
		return -1;
	*value_s = step_note(c, &step);
	return 0;
}

/* Nothing is begun that the budget has no time for, going by what has been
 * measured so far. */
static bool is_late(struct comparison *c)
{
	double budget_s = c->q->budget_s;

	if (budget_s > 0 &&
	    weft_budget_clock_s() - c->start_s + c->longest_s > budget_s)
		c->gain->late = true;
	return c->gain->late;
}

/* Whether GPU b stands to its domains of a level as GPU a does: the first use
 * of a domain on one side is the first use on the other. */
static bool domains_alike(const struct weft_fabric *f, uint32_t a, uint32_t b,
			  uint32_t *twin)
{
	for (uint32_t l = 0; l < f->n_levels; l++) {
		uint32_t x = f->gpu_domain[l][a], y = f->gpu_domain[l][b];

		if (!twin[x] && !twin[f->n_domains + y]) {
			twin[x] = y + 1;
			twin[f->n_domains + y] = x + 1;
		}
		if (twin[x] != y + 1 || twin[f->n_domains + y] != x + 1 ||
		    f->domains[x].n_gpus != f->domains[y].n_gpus ||
		    weft_cost_uplink_rate(f, x) != weft_cost_uplink_rate(f, y))
			return false;
	}
	return true;
}

/* True when all ranks meet each other alike on both placements, so that they
 * take the same time; false: perhaps not. */
static bool is_alike(const struct comparison *c, const uint32_t *where)
{
	const struct weft_fabric *f = c->q->fabric;
	const uint32_t *here = c->q->where;
	uint32_t n = c->q->job->n_gpus;
	uint32_t *twin;
	bool alike = true;

	if (memcmp(where, here, n * sizeof(*where)) == 0)
		return true;
	if (c->q->load || f->has_steps || f->cabling)
		return false;
	twin = weft_calloc(f->n_domains, 2 * sizeof(*twin), NULL);
	for (uint32_t r = 0; twin && alike && r < n; r++) {
		uint32_t a = here[r], b = where[r];

		alike = weft_fabric_number(f, a) == weft_fabric_number(f, b) &&
			domains_alike(f, a, b, twin);
	}
	alike = alike && twin;
	free(twin);
	return alike;
}

/* *value_s stays NAN without a placement, or time. */
static int measure(struct comparison *c, const uint32_t *where, double *value_s,
		   struct weft_error *err)
{
	double start_s = weft_budget_clock_s();
	int rc;

	*value_s = (double)NAN;
	if (!where)
		return 0;
	if (where == c->q->where && c->q->here) {
		*value_s = step_note(c, c->q->here);
		return 0;
	}
	if (where != c->q->where && is_alike(c, where)) {
		*value_s = c->gain->here_s;
		return 0;
	}
	if (is_late(c))
		return 0;
	if (c->gain->basis == WEFT_GAIN_LINK)
		rc = link_measure(c, where, value_s, err);
	else
		rc = step_measure(c, where, value_s, err);
	c->longest_s = fmax(c->longest_s, weft_budget_clock_s() - start_s);
	return rc;
}

/* The step of a job that sends nothing. */
static int bound_find(struct comparison *c, struct weft_error *err)
{
	struct weft_schedule silent = c->q->job->schedule;
	double bound_s = (double)NAN;
	struct weft_step step;

	if (c->gain->basis == WEFT_GAIN_STEP && !is_late(c)) {
		silent.n_calls = 0;
		if (step_predict(c, &silent, c->q->where, &step, err))
			return -1;
		bound_s = step.step_s;
	}
	if (c->q->bound_s > 0)
		bound_s = fmax(bound_s, c->q->bound_s);
	c->gain->bound_s = bound_s;
	return 0;
}

/* ---- comparing ---- */

static enum weft_gain_basis basis_find(const struct weft_gain_question *q,
				       const struct weft_gpu **gpu)
{
	*gpu = NULL;
	if (q->job->spec.traffic[0])
		return WEFT_GAIN_LINK;
	if (weft_spec_given(&q->job->spec, "model"))
		*gpu = weft_evaluation_gpu(q->fabric, q->job, q->gpu, NULL);
	return *gpu ? WEFT_GAIN_STEP : WEFT_GAIN_COMMUNICATION;
}

/* How much longer than `than` a step of `value` takes, as a share of it. */
static double longer(const struct weft_gain *g, double value_s, double than_s)
{
	double share = g->basis == WEFT_GAIN_STEP ? 1 : WEFT_ASSUMED_SHARE;

	if (than_s == 0)
		return value_s > 0 ? (double)INFINITY : 0;
	return share * (value_s - than_s) / than_s;
}

static void conclude(struct weft_gain *g)
{
	double stock = longer(g, g->stock_s, g->here_s);
	double spread = longer(g, g->spread_s, g->here_s);

	/* fmin and fmax pass over what is NAN */
	g->best_s =
		fmin(g->best_s, fmin(g->here_s, fmin(g->stock_s, g->spread_s)));
	g->best_is_bound = g->best_s <= g->bound_s * (1 + 1e-6);
	g->gain = 0 - longer(g, g->here_s, g->stock_s);
	g->matters = !(fabs(stock) <= WEFT_SAME_STEP &&
		       fabs(spread) <= WEFT_SAME_STEP);
}

/* The seconds here; of communication where the step cannot be predicted after
 * all, for want of a unit of the job's precision. */
static int here_measure(struct comparison *c, struct weft_error *err)
{
	struct weft_gain *gain = c->gain;
	struct weft_error why = {0};

	gain->basis = basis_find(c->q, &c->gpu);
	if (measure(c, c->q->where, &gain->here_s, &why) == 0)
		return 0;
	if (!c->gpu || why.code == WEFT_ENOMEM) {
		if (err && !err->code)
			*err = why;
		return -1;
	}
	gain->basis = WEFT_GAIN_COMMUNICATION;
	c->gpu = NULL;
	return measure(c, c->q->where, &gain->here_s, err);
}

static void range_find(const struct comparison *c)
{
	const struct weft_job *job = c->q->job;
	struct weft_gain *gain = c->gain;

	gain->low_s = gain->high_s = (double)NAN;
	if (c->gpu) {
		const struct weft_range *range =
			&weft_ranges[weft_run_kind(&job->spec, &job->model)];

		gain->low_s = range->low * gain->here_s;
		gain->high_s = range->high * gain->here_s;
	}
}

int weft_gain(const struct weft_gain_question *q, struct weft_gain *gain,
	      struct weft_error *err)
{
	struct comparison c = {
		.q = q,
		.gain = gain,
		.start_s = weft_budget_clock_s(),
		.longest_s = q->took_s,
	};
	int rc = -1;

	memset(gain, 0, sizeof(*gain));
	gain->nominal_s = (double)NAN;
	if (here_measure(&c, err) == 0 &&
	    measure(&c, q->baselines->stock, &gain->stock_s, err) == 0 &&
	    measure(&c, q->baselines->spread, &gain->spread_s, err) == 0 &&
	    measure(&c, q->found, &gain->best_s, err) == 0 &&
	    bound_find(&c, err) == 0) {
		range_find(&c);
		/* what hides behind computation is in both */
		if (gain->bound_s > 0 && isfinite(gain->nominal_s))
			gain->nominal_s = fmax(gain->nominal_s, gain->bound_s);
		conclude(gain);
		rc = 0;
	}
	weft_cost_scratch_free(&c.scratch);
	return rc;
}
