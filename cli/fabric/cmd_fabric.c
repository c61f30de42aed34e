/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_fabric.c - weft fabric: checks a fabric and prints its shape */
#include "base/size.h"
#include "cli/cmd.h"
#include "cli/fabric/fabric_cables.h"
#include "cli/report.h"
#include "topology/fabric.h"

#include <argp.h>
#include <math.h>
#include <stdio.h>

enum { KEY_DISTANCE = 256, KEY_JSON };

static const struct argp_option options[] = {
	{"distance", KEY_DISTANCE, "A B", 0,
	 "distance of two GPUs, each NODE:GPU, NODE or a number", 0},
	{"json", KEY_JSON, NULL, 0, "answer in JSON", 0},
	{0},
};

struct query {
	const char *path, *from, *to;
	bool json;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct query *query = state->input;

	switch (key) {
	case KEY_DISTANCE:
		/* argp knows options with one argument: take the second. */
		if (state->next >= state->argc)
			argp_error(state, "--distance needs two GPUs");
		query->from = arg;
		query->to = state->argv[state->next++];
		return 0;
	case KEY_JSON:
		query->json = true;
		return 0;
	case ARGP_KEY_ARG:
		if (query->path)
			argp_error(state, "one fabric file, not also \"%s\"",
				   arg);
		query->path = arg;
		return 0;
	case ARGP_KEY_END:
		if (!query->path)
			query->path = getenv("WEFT_FABRIC");
		if (!query->path || !*query->path)
			argp_error(state, "which fabric file?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* JSON has no infinity: null is "not connected". */
static json_t *json_finite(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static const char *const shape_names[] = {
	[WEFT_SHAPE_SWITCHED] = "switched",
	[WEFT_SHAPE_RING] = "ring",
	[WEFT_SHAPE_TORUS] = "torus",
	[WEFT_SHAPE_GROUPS] = "groups",
};

static json_t *shares_json(const struct weft_level *level)
{
	json_t *list = json_array();

	for (uint32_t k = 0; k < level->n_shares; k++)
		json_array_append_new(
			list, json_pack("[f,f]", level->shares[k].size_bytes,
					level->shares[k].share));
	return list;
}

static json_t *json_level(const struct weft_level *level)
{
	json_t *object =
		json_pack("{s:s, s:I, s:I, s:f, s:f, s:f, s:s}", "name",
			  level->name, "domains", (json_int_t)level->n_domains,
			  "hops", (json_int_t)level->hops, "rate_bytes_per_s",
			  level->link.rate_bytes_per_s, "latency_s",
			  level->link.latency_s, "oversubscription",
			  level->link.oversubscription, "shape",
			  shape_names[level->shape]);

	if (object && level->shape == WEFT_SHAPE_TORUS)
		json_object_set_new(object, "sides",
				    json_pack("[I,I,I]",
					      (json_int_t)level->dims[0],
					      (json_int_t)level->dims[1],
					      (json_int_t)level->dims[2]));
	if (object && level->queue_bytes > 0)
		json_object_set_new(object, "queue_bytes",
				    json_real(level->queue_bytes));
	if (object && level->n_shares)
		json_object_set_new(object, "shares", shares_json(level));
	return object;
}

static void json_add_distance(json_t *object, struct weft_distance d)
{
	bool connected = d.hops != UINT32_MAX;

	json_object_set_new(object, "hops",
			    connected ? json_integer(d.hops) : json_null());
	json_object_set_new(object, "latency_us",
			    json_finite(d.latency_s * 1e6));
	json_object_set_new(object, "seconds_per_byte",
			    json_finite(d.time_s_per_byte));
}

static int shape_json(const struct weft_fabric *f,
		      const struct weft_distance *distance,
		      struct weft_error *err)
{
	json_t *levels = json_array();
	json_t *object;

	for (uint32_t l = 0; l < f->n_levels; l++)
		json_array_append_new(levels, json_level(&f->levels[l]));
	object = json_pack(
		"{s:s, s:s, s:s, s:I, s:I, s:I, s:I, s:s, s:I, s:b, s:o}",
		"schema", "weft.fabric/1", "name", f->name, "profile",
		f->profile, "nodes", (json_int_t)f->n_nodes, "gpus",
		(json_int_t)f->n_gpus, "rails", (json_int_t)f->n_rails, "racks",
		(json_int_t)f->n_racks, "routing",
		weft_routing_names[f->routing], "flows", (json_int_t)f->n_flows,
		"connected", f->connected, "levels", levels);
	if (object && fabric_cables_json(f, object, err)) {
		json_decref(object);
		return -1;
	}
	if (object && distance)
		json_add_distance(object, *distance);
	return report_print(object, err);
}

/* "8" or, where domains differ, "4-8". */
static void range_print(const struct weft_fabric *f,
			const struct weft_level *level, int width)
{
	uint32_t min = UINT32_MAX, max = 0;
	char text[32];

	for (uint32_t i = 0; i < level->n_domains; i++) {
		uint32_t n = f->domains[level->first_domain + i].n_gpus;

		min = n < min ? n : min;
		max = n > max ? n : max;
	}
	snprintf(text, sizeof(text), min == max ? "%u" : "%u-%u", min, max);
	printf("%*s", width, text);
}

/* How the domains below are joined, where not by switches; and whether the rate
 * depends on sizes. */
static void shape_print(const struct weft_level *level)
{
	if (level->shape == WEFT_SHAPE_TORUS)
		printf("  torus %ux%ux%u", level->dims[0], level->dims[1],
		       level->dims[2]);
	else if (level->shape != WEFT_SHAPE_SWITCHED)
		printf("  %s", shape_names[level->shape]);
	if (level->n_shares)
		printf("  shares of %u sizes", level->n_shares);
}

static void shape_text(const struct weft_fabric *f)
{
	char rate[32], latency[32];

	/* the name is optional in a fabric file */
	if (f->name[0])
		printf("%s: ", f->name);
	printf("%u node%s, %u GPU%s", f->n_nodes, f->n_nodes == 1 ? "" : "s",
	       f->n_gpus, f->n_gpus == 1 ? "" : "s");
	if (f->profile[0])
		printf(", profile %s", f->profile);
	if (f->n_rails > 1)
		printf(", %u rails", f->n_rails);
	if (f->routing != WEFT_ROUTING_ADAPTIVE)
		printf(", %s routing of %u flow%s",
		       weft_routing_names[f->routing], f->n_flows,
		       f->n_flows == 1 ? "" : "s");
	if (f->n_racks)
		printf(", %u racks", f->n_racks);
	if (!f->connected)
		printf(", disjoint");
	printf("\n%-10s %8s %13s %5s %12s %9s %8s\n", "level", "domains",
	       "GPUs each", "hops", "rate per GPU", "latency", "oversub");
	for (uint32_t l = 0; l < f->n_levels; l++) {
		const struct weft_level *level = &f->levels[l];

		printf("%-10s %8u ", level->name, level->n_domains);
		range_print(f, level, 13);
		printf(" %5u %12s %9s %6g:1", level->hops,
		       weft_quantity_text(level->link.rate_bytes_per_s, "B/s",
					  rate, sizeof(rate)),
		       weft_quantity_text(level->link.latency_s, "s", latency,
					  sizeof(latency)),
		       level->link.oversubscription);
		shape_print(level);
		putchar('\n');
	}
}

static void distance_text(const struct query *query, struct weft_distance d)
{
	char rate[32], latency[32];

	if (d.hops == UINT32_MAX) {
		printf("%s to %s: not connected\n", query->from, query->to);
		return;
	}
	printf("%s to %s: %u hops, %s", query->from, query->to, d.hops,
	       weft_quantity_text(d.latency_s, "s", latency, sizeof(latency)));
	if (d.time_s_per_byte > 0)
		printf(", %s", weft_quantity_text(1 / d.time_s_per_byte, "B/s",
						  rate, sizeof(rate)));
	putchar('\n');
}

static int answer(const struct query *query, const struct weft_fabric *f,
		  struct weft_error *err)
{
	struct weft_distance distance;
	uint32_t from, to;

	if (query->from) {
		if (weft_fabric_gpu(f, query->from, &from, err) ||
		    weft_fabric_gpu(f, query->to, &to, err))
			return -1;
		distance = weft_fabric_distance(f, from, to);
	}
	if (query->json)
		return shape_json(f, query->from ? &distance : NULL, err);
	shape_text(f);
	if (fabric_cables_text(f, err))
		return -1;
	if (query->from)
		distance_text(query, distance);
	return 0;
}

int cmd_fabric(int argc, char **argv)
{
	static const struct argp argp = {
		.options = options,
		.parser = parse,
		.args_doc = "[FILE]",
		.doc = "Checks a fabric file, weft-fabric(5), and prints its "
		       "shape.  FILE defaults to $WEFT_FABRIC.",
	};
	struct query query = {0};
	struct weft_error err = {0};
	struct weft_fabric *f;
	int result;

	argp_parse(&argp, argc, argv, 0, NULL, &query);
	f = weft_fabric_load(query.path, &err);
	if (!f)
		return cmd_fail(&err);
	result = answer(&query, f, &err);
	weft_fabric_free(f);
	return result ? cmd_fail(&err) : EXIT_YES;
}
