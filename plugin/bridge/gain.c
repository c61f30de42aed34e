/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gain.c - what weft's nodes bring a job */
#include "plugin/bridge/gain.h"

#include "base/clock.h"
#include "placement/objective/objective.h"

#include <math.h>
#include <stdio.h>

/* A step is predicted in about so many times the time that its cost takes, and
 * takes so long for each rank at least, whether pairs of ranks were built or
 * not. */
#define STEP_OVER_COST 8
#define STEP_RANK_S    0.2e-6

bool weft_gain_may(const struct weft_bridge *bridge)
{
	return weft_owed_s(&bridge->compared, WEFT_COMPARE_SHARE,
			   weft_clock_s()) < WEFT_COMPARE_AT_ONCE_S;
}

/* Since start_s, by weft_worked_s. */
static void charge(struct weft_bridge *bridge, double start_s)
{
	weft_owed_charge(&bridge->compared, WEFT_COMPARE_SHARE,
			 weft_worked_s() - start_s, weft_clock_s());
}

int weft_gain_baselines(struct weft_bridge *bridge, const char *spec,
			const struct weft_shape *shape,
			const struct weft_occupancy *o,
			struct weft_baselines *baselines)
{
	double start_s = weft_worked_s();
	const struct weft_job *built =
		weft_bridge_job(bridge, spec, shape->n_gpus, NULL);
	struct weft_job job;
	int rc;

	*baselines = (struct weft_baselines){0};
	if (!built || built->n_gpus != shape->n_gpus)
		return -1;
	job = *built;
	job.gpus_per_node = shape->gpus_per_node;
	job.min_nodes = shape->min_nodes;
	job.max_nodes = shape->max_nodes;
	rc = weft_baselines_build(bridge->settings->fabric, &job, o, baselines,
				  NULL);
	charge(bridge, start_s);
	return rc;
}

void weft_gain_compare(struct weft_bridge *bridge, const struct weft_job *job,
		       const struct weft_evaluation *e, double took_s,
		       struct weft_account *account)
{
	const struct weft_gain_question question = {
		.fabric = bridge->settings->fabric,
		.job = job,
		.where = account->where,
		.baselines = account->baselines,
		.load = bridge->load,
		.here = e->timed ? &e->step : NULL,
		.took_s = e->timed ? took_s
				   : fmax(STEP_OVER_COST * took_s,
					  STEP_RANK_S * job->n_gpus),
		.budget_s = account->compare_s,
	};

	double start_s = weft_worked_s();

	account->compared = account->baselines && account->compare_s > 0 &&
			    weft_gain(&question, &account->gain, NULL) == 0;
	charge(bridge, start_s);
}

/* The text about seconds that were compared. */
static void tell_known(const struct weft_gain *g, char *text, size_t size)
{
	double ratio = g->here_s / g->stock_s;

	if (!g->matters)
		snprintf(text, size, " (any nodes: within %.1f%%)",
			 100 * WEFT_SAME_STEP);
	else if (g->basis == WEFT_GAIN_STEP)
		snprintf(text, size, " stock=%.3gs gain=%.1f%%", g->stock_s,
			 100 * g->gain);
	else if (isfinite(ratio))
		snprintf(text, size, " communication=%.2fxstock", ratio);
}

void weft_gain_text(const struct weft_account *account,
		    char text[WEFT_GAIN_TEXT_SIZE])
{
	const struct weft_gain *g = &account->gain;
	char known[64] = "", least[32] = "";

	text[0] = '\0';
	if (account->late && account->planned)
		snprintf(text, WEFT_GAIN_TEXT_SIZE, " gain=late");
	/* Where stock chose, only the order of the ranks is weft's. */
	if (!account->compared || (!account->planned && g->gain == 0))
		return;
	if (isfinite(g->stock_s))
		tell_known(g, known, sizeof(known));
	else if (g->late)
		snprintf(known, sizeof(known), " gain=late");
	if (isfinite(g->bound_s) && g->matters)
		snprintf(least, sizeof(least), " least=%.3gs", g->bound_s);
	snprintf(text, WEFT_GAIN_TEXT_SIZE, "%s%s", known, least);
}
