/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gain.c - what a placement brings */
#include "cli/plan/gain.h"

#include "base/size.h"
#include "cli/in_unit.h"
#include "cli/json.h"
#include "cli/plan/verdict.h"
#include "placement/place.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A search for the least step goes on for so long at most. */
#define SEARCH_BUDGET_S 2

void gain_free(struct gain *gain)
{
	weft_baselines_free(&gain->baselines);
}

/* The least step of any place on o that a search finds; where it fails, or
 * finds no place, there is one placement less to compare with. */
static int search(const struct request *request, const struct weft_occupancy *o,
		  struct weft_placement *p, struct weft_error *err)
{
	const struct weft_objective least = {
		.goal = WEFT_GOAL_STEP,
		.metric = request->objective.metric,
		.load = request->objective.load,
		.gpu = request->gpu,
	};
	const struct weft_place_options options = {
		.objective = &least,
		.budget_s = SEARCH_BUDGET_S,
	};
	struct weft_error why = {0};

	if (weft_place(request->fabric, &request->job, o, &options, p, &why) &&
	    why.code == WEFT_ENOMEM)
		return weft_fail(err, why.code, "%s", why.text);
	return 0;
}

/* Of the step, where it is what the bound is of. */
static double bound_of(const struct request *request,
		       const struct verdict *verdict)
{
	const struct weft_objective *objective = &request->objective;

	return objective->goal == WEFT_GOAL_STEP &&
			       !(objective->fragmentation > 0)
		       ? verdict->bound
		       : (double)NAN;
}

int gain_find(const struct request *request, const struct weft_placement *p,
	      const struct verdict *verdict, bool searched, struct gain *gain,
	      struct weft_error *err)
{
	struct weft_gain_question q = {
		.fabric = request->fabric,
		.job = &request->job,
		.where = p->where,
		.baselines = &gain->baselines,
		.gpu = request->gpu,
		.load = request->objective.load,
		.exact_sharing = true,
		.bound_s = bound_of(request, verdict),
	};
	struct weft_placement found = {0};
	struct weft_occupancy o = {0}, before;
	int result = -1;

	memset(gain, 0, sizeof(*gain));
	if (verdict_occupancy(request, p, &o, err))
		goto out;
	before = o;
	before.required = request->occupancy.required;
	before.weight = request->occupancy.weight;
	if (weft_baselines_build(request->fabric, &request->job, &before,
				 &gain->baselines, err) ||
	    (!searched && search(request, &before, &found, err)))
		goto out;
	q.found = found.placed ? found.where : NULL;
	result = weft_gain(&q, &gain->values, err);
out:
	weft_placement_free(&found);
	weft_occupancy_free(&o);
	return result;
}

/* ---- JSON ---- */

/* Nodes in the order of their lowest rank; null: stock finds no place. */
static json_t *stock_nodes_json(const struct request *request,
				const struct gain *gain)
{
	const struct weft_fabric *f = request->fabric;
	const uint32_t *where = gain->baselines.stock;
	uint32_t last = WEFT_NONE;
	json_t *nodes = json_array();

	if (!where) {
		json_decref(nodes);
		return json_null();
	}
	for (uint32_t r = 0; r < request->job.n_gpus; r++) {
		uint32_t node = f->gpu_node[where[r]];

		if (node != last)
			json_array_append_new(nodes,
					      json_string(f->nodes[node].name));
		last = node;
	}
	return nodes;
}

/* The four figures of one basis; null where the comparison is of another. */
static void json_add_seconds(json_t *object, const char *what, bool known,
			     const struct weft_gain *g)
{
	const double value[] = {g->here_s, g->stock_s, g->spread_s, g->best_s};
	static const char *const whose[] = {"", "stock_", "spread_", "best_"};
	char key[64];

	for (size_t i = 0; i < sizeof(value) / sizeof(value[0]); i++) {
		snprintf(key, sizeof(key), "%s%s_s", whose[i], what);
		JSON_PUT(object, key,
			 known ? json_real_or_null(value[i]) : json_null());
	}
}

json_t *gain_json(const struct request *request, const struct gain *gain)
{
	const struct weft_gain *g = &gain->values;
	bool steps = g->basis == WEFT_GAIN_STEP;
	json_t *object = json_object();

	JSON_PUT(object, "basis", weft_gain_bases[g->basis]);
	for (int b = 0; b < WEFT_N_GAIN_BASES; b++)
		json_add_seconds(object, weft_gain_bases[b], b == (int)g->basis,
				 g);
	JSON_PUT(object, "best_is", g->best_is_bound ? "bound" : "found");
	JSON_PUT(object, "nominal_s", g->nominal_s);
	JSON_PUT(object, "bound_s", g->bound_s);
	JSON_PUT(object, "gain", g->gain);
	JSON_PUT(object, "share", steps ? 1 : WEFT_ASSUMED_SHARE);
	JSON_PUT(object, "low_s", g->low_s);
	JSON_PUT(object, "high_s", g->high_s);
	JSON_PUT(object, "matters", g->matters);
	JSON_PUT(object, "stock_nodes", stock_nodes_json(request, gain));
	return object;
}

/* ---- text ---- */

static const char *const names[WEFT_N_GAIN_BASES] = {
	[WEFT_GAIN_STEP] = "step",
	[WEFT_GAIN_COMMUNICATION] = "communication",
	[WEFT_GAIN_LINK] = "busiest link",
};

static void print_none(const struct weft_gain *g)
{
	printf("  gain       none: any nodes, within %.1f %% of a step (%s "
	       "%s on stock\n             Slurm's nodes, %s spread out)\n",
	       100 * WEFT_SAME_STEP, names[g->basis], IN_UNIT(g->stock_s, "s"),
	       IN_UNIT(g->spread_s, "s"));
}

static void print_no_better(const struct weft_gain *g)
{
	printf("  gain       none over stock Slurm's nodes, within %.1f %% of "
	       "a "
	       "step:\n             %s %s there",
	       100 * WEFT_SAME_STEP, names[g->basis], IN_UNIT(g->stock_s, "s"));
	if (isfinite(g->spread_s))
		printf(", %s spread out", IN_UNIT(g->spread_s, "s"));
	putchar('\n');
}

static void print_against_stock(const struct weft_gain *g)
{
	printf("  gain       %.1f %% against stock Slurm's nodes",
	       100 * g->gain);
	if (g->basis == WEFT_GAIN_STEP)
		printf(", %s (errors mostly cancel)\n",
		       IN_UNIT(g->stock_s, "s"));
	else
		printf(", if a step waits for\n             communication %.0f "
		       "%% of its time: %s %s, not %s\n",
		       100 * WEFT_ASSUMED_SHARE, names[g->basis],
		       IN_UNIT(g->here_s, "s"), IN_UNIT(g->stock_s, "s"));
}

static void print_best(const struct weft_gain *g)
{
	printf("  best       %s %s %s", names[g->basis],
	       IN_UNIT(g->best_s, "s"),
	       g->best_is_bound ? "(proven)" : "found");
	if (!g->best_is_bound &&
	    g->nominal_s >= g->best_s * (1 - WEFT_SAME_STEP))
		printf(", as on idle links above nodes");
	else if (!g->best_is_bound && isfinite(g->nominal_s))
		printf(", %s on idle links above nodes (an estimate)",
		       IN_UNIT(g->nominal_s, "s"));
	if (isfinite(g->bound_s) && !g->best_is_bound)
		printf(";\n             proven: at least %s",
		       IN_UNIT(g->bound_s, "s"));
	putchar('\n');
}

void gain_print(const struct gain *gain)
{
	const struct weft_gain *g = &gain->values;

	if (!g->matters)
		print_none(g);
	else if (!isfinite(g->stock_s))
		puts("  gain       not known: stock Slurm finds no place for "
		     "it "
		     "now");
	else if (fabs(g->gain) <= WEFT_SAME_STEP)
		print_no_better(g);
	else
		print_against_stock(g);
	print_best(g);
}
