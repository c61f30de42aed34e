/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cmd_fabric.c - weft fabric: checks a fabric and prints its shape */
#include "base/compare.h"
#include "cli/cmd.h"
#include "cli/in_unit.h"
#include "cli/json.h"
#include "cli/option.h"
#include "cli/report.h"
#include "costmodel/time/cost.h"
#include "topology/cabling.h"
#include "topology/fabric.h"

#include <argp.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of the domains of a level: what the links above one carry, and how many times
 * as much those below it could send. */
struct fabric_uplinks {
	double rate[3];		    /* least, median, most; bytes per second */
	double oversubscription[3]; /* likewise */
};

enum { LEAST, MEDIAN, MOST, N_OF_THREE };

static const char *const of_three[N_OF_THREE] = {"min", "median", "max"};

/* ---- uplinks ---- */

static void three_take(double *values, uint32_t n, double three[N_OF_THREE])
{
	qsort(values, n, sizeof(*values), weft_compare_reals);
	three[LEAST] = values[0];
	three[MEDIAN] = values[n / 2];
	three[MOST] = values[n - 1];
}

/* What the links below the domain's switches could send up: those above its
 * children, or the ports that its GPUs ought to have. */
static double below_rate(const struct weft_fabric *f, uint32_t domain)
{
	const struct weft_domain *d = &f->domains[domain];
	double sum = 0;

	if (d->level == f->node_level)
		return d->n_gpus *
		       f->levels[d->level + 1].link.rate_bytes_per_s;
	for (uint32_t k = 0; k < d->n_children; k++)
		sum += weft_cost_uplink_rate(f, d->first_child + k);
	return sum;
}

/* level: at least f->node_level, and not the outermost.  -1 when out of
 * memory. */
static int fabric_uplinks(const struct weft_fabric *f, uint32_t level,
			  struct fabric_uplinks *uplinks,
			  struct weft_error *err)
{
	const struct weft_level *l = &f->levels[level];
	double *rate = weft_calloc(l->n_domains, sizeof(*rate), err);
	double *ratio = weft_calloc(l->n_domains, sizeof(*ratio), err);
	int rc = -1;

	if (rate && ratio) {
		for (uint32_t k = 0; k < l->n_domains; k++) {
			uint32_t d = l->first_domain + k;

			rate[k] = weft_cost_uplink_rate(f, d);
			ratio[k] = below_rate(f, d) / rate[k];
		}
		three_take(rate, l->n_domains, uplinks->rate);
		three_take(ratio, l->n_domains, uplinks->oversubscription);
		rc = 0;
	}
	free(rate);
	free(ratio);
	return rc;
}

/* ---- counts ---- */

#define MAX_TIER (UINT8_MAX + 1)

struct counts {
	uint32_t of_tier[MAX_TIER]; /* in the compute network */
	uint32_t of_network[WEFT_MAX_NETWORKS];
	uint64_t up, down; /* single cables */
};

static void counts_fill(const struct weft_cabling *c, struct counts *counts)
{
	memset(counts, 0, sizeof(*counts));
	for (uint32_t k = 0; k < c->n_switches; k++) {
		const struct weft_cabling_switch *s = &c->switches[k];

		counts->of_network[s->network]++;
		counts->of_tier[s->tier] += s->network == WEFT_COMPUTE;
	}
	for (uint32_t k = 0; k < c->n_cables; k++) {
		const struct weft_cable *cable = &c->cables[k];

		counts->up += cable->up ? cable->n : 0;
		counts->down += cable->up ? 0 : cable->n;
	}
}

static uint32_t nodes_of_kind(const struct weft_fabric *f, uint32_t kind)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < f->n_nodes; k++)
		n += f->nodes[k].kind == kind;
	return n;
}

/* ---- JSON ---- */

static json_t *json_three(const double three[N_OF_THREE])
{
	return json_pack("{s:f, s:f, s:f}", of_three[LEAST], three[LEAST],
			 of_three[MEDIAN], three[MEDIAN], of_three[MOST],
			 three[MOST]);
}

static int uplinks_json(const struct weft_fabric *f, json_t *object,
			struct weft_error *err)
{
	json_t *list = json_array();

	for (uint32_t l = f->node_level; l + 1 < f->n_levels; l++) {
		struct fabric_uplinks uplinks;

		if (fabric_uplinks(f, l, &uplinks, err)) {
			json_decref(list);
			return -1;
		}
		json_array_append_new(
			list,
			json_pack("{s:s, s:o, s:o}", "level", f->levels[l].name,
				  "rate_bytes_per_s", json_three(uplinks.rate),
				  "oversubscription",
				  json_three(uplinks.oversubscription)));
	}
	JSON_PUT(object, "uplinks", list);
	return 0;
}

static void cabling_json(const struct weft_cabling *c, json_t *object)
{
	struct counts counts;
	json_t *networks = json_object(), *tiers = json_object();

	counts_fill(c, &counts);
	for (uint32_t k = 0; k < c->n_networks; k++)
		JSON_PUT(networks, c->networks[k], counts.of_network[k]);
	for (uint32_t t = 0; t < MAX_TIER; t++) {
		char name[16];

		snprintf(name, sizeof(name), t ? "%u" : "unknown", t);
		if (counts.of_tier[t])
			JSON_PUT(tiers, name, counts.of_tier[t]);
	}
	JSON_PUT(object, "switches",
		 json_pack("{s:I, s:o, s:o}", "total",
			   (json_int_t)c->n_switches, "by_network", networks,
			   "compute_by_tier", tiers));
	JSON_PUT(object, "cables",
		 json_pack("{s:I, s:I}", "up", (json_int_t)counts.up, "down",
			   (json_int_t)counts.down));
}

/* Adds "kinds", and of a fabric that has them "switches", "cables" and
 * "uplinks". */
static int fabric_cables_json(const struct weft_fabric *f, json_t *object,
			      struct weft_error *err)
{
	json_t *kinds = json_array();

	for (uint32_t k = 0; k < f->n_kinds; k++)
		json_array_append_new(
			kinds, json_pack("{s:o, s:I}", "kind",
					 report_string(f->kinds[k]), "nodes",
					 (json_int_t)nodes_of_kind(f, k)));
	JSON_PUT(object, "kinds", kinds);
	if (f->cabling)
		cabling_json(f->cabling, object);
	return f->uplink_rate_bytes_per_s ? uplinks_json(f, object, err) : 0;
}

/* ---- text ---- */

static void kinds_text(const struct weft_fabric *f)
{
	for (uint32_t k = 0; k < f->n_kinds; k++)
		printf("%s%u of %s",
		       k ? ", " : "nodes by kind: ", nodes_of_kind(f, k),
		       f->kinds[k]);
	if (f->n_kinds)
		putchar('\n');
}

static void cabling_text(const struct weft_cabling *c)
{
	struct counts counts;
	const char *comma = ": ";

	counts_fill(c, &counts);
	printf("%u switch%s", c->n_switches, c->n_switches == 1 ? "" : "es");
	for (uint32_t t = 1; t < MAX_TIER; t++) {
		if (!counts.of_tier[t])
			continue;
		printf("%s%u of tier %u", comma, counts.of_tier[t], t);
		comma = ", ";
	}
	if (counts.of_tier[0])
		printf("%s%u of no tier", comma, counts.of_tier[0]);
	for (uint32_t k = 1; k < c->n_networks; k++)
		printf("; %u of network %s", counts.of_network[k],
		       c->networks[k]);
	printf("\n%llu cable%s", (unsigned long long)(counts.up + counts.down),
	       counts.up + counts.down == 1 ? "" : "s");
	if (counts.down)
		printf(", %llu of them down", (unsigned long long)counts.down);
	putchar('\n');
}

static void three_text(const double three[N_OF_THREE])
{
	for (int k = 0; k < N_OF_THREE; k++)
		printf(" %6.3g:1", three[k]);
}

static int uplinks_text(const struct weft_fabric *f, struct weft_error *err)
{
	printf("%-10s %35s %26s\n", "uplinks", "carry (min, median, max)",
	       "oversub (min, median, max)");
	for (uint32_t l = f->node_level; l + 1 < f->n_levels; l++) {
		struct fabric_uplinks uplinks;

		if (fabric_uplinks(f, l, &uplinks, err))
			return -1;
		printf("%-10s", f->levels[l].name);
		for (int k = 0; k < N_OF_THREE; k++)
			printf(" %11s", IN_UNIT(uplinks.rate[k], "B/s"));
		three_text(uplinks.oversubscription);
		putchar('\n');
	}
	return 0;
}

/* The same for people, behind the table of levels; nothing where there is
 * nothing to say. */
static int fabric_cables_text(const struct weft_fabric *f,
			      struct weft_error *err)
{
	kinds_text(f);
	if (f->cabling)
		cabling_text(f->cabling);
	return f->uplink_rate_bytes_per_s ? uplinks_text(f, err) : 0;
}

/* ---- the command ---- */

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
		option_fabric(state, &query->path, "which fabric file?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

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
			  weft_shape_names[level->shape]);

	if (object && level->shape == WEFT_SHAPE_TORUS)
		JSON_PUT(object, "sides",
			 json_pack("[I,I,I]", (json_int_t)level->dims[0],
				   (json_int_t)level->dims[1],
				   (json_int_t)level->dims[2]));
	if (object && level->queue_bytes > 0)
		JSON_PUT(object, "queue_bytes", level->queue_bytes);
	if (object && level->n_shares)
		JSON_PUT(object, "shares", shares_json(level));
	return object;
}

static void json_add_distance(json_t *object, struct weft_distance d)
{
	bool connected = d.hops != UINT32_MAX;

	JSON_PUT(object, "hops",
		 connected ? json_integer(d.hops) : json_null());
	JSON_PUT(object, "latency_us", d.latency_s * 1e6);
	JSON_PUT(object, "seconds_per_byte", d.time_s_per_byte);
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
		printf("  %s", weft_shape_names[level->shape]);
	if (level->n_shares)
		printf("  shares of %u sizes", level->n_shares);
}

static void shape_text(const struct weft_fabric *f)
{
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
		       IN_UNIT(level->link.rate_bytes_per_s, "B/s"),
		       IN_UNIT(level->link.latency_s, "s"),
		       level->link.oversubscription);
		shape_print(level);
		putchar('\n');
	}
}

static void distance_text(const struct query *query, struct weft_distance d)
{
	if (d.hops == UINT32_MAX) {
		printf("%s to %s: not connected\n", query->from, query->to);
		return;
	}
	printf("%s to %s: %u hops, %s", query->from, query->to, d.hops,
	       IN_UNIT(d.latency_s, "s"));
	if (d.time_s_per_byte > 0)
		printf(", %s", IN_UNIT(1 / d.time_s_per_byte, "B/s"));
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
