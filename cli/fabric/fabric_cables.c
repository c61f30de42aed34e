/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fabric_cables.c - the switches, cables and uplinks of a fabric, reported */
#include "cli/fabric/fabric_cables.h"

#include "base/size.h"
#include "cli/report.h"
#include "costmodel/time/cost.h"
#include "topology/cabling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST, MEDIAN, MOST, N_OF_THREE };

static const char *const of_three[N_OF_THREE] = {"min", "median", "max"};

/* ---- uplinks ---- */

static int compare(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

static void three_take(double *values, uint32_t n, double three[N_OF_THREE])
{
	qsort(values, n, sizeof(*values), compare);
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

int fabric_uplinks(const struct weft_fabric *f, uint32_t level,
		   struct fabric_uplinks *uplinks, struct weft_error *err)
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
	json_object_set_new(object, "uplinks", list);
	return 0;
}

static void cabling_json(const struct weft_cabling *c, json_t *object)
{
	struct counts counts;
	json_t *networks = json_object(), *tiers = json_object();

	counts_fill(c, &counts);
	for (uint32_t k = 0; k < c->n_networks; k++)
		json_object_set_new(networks, c->networks[k],
				    json_integer(counts.of_network[k]));
	for (uint32_t t = 0; t < MAX_TIER; t++) {
		char name[16];

		snprintf(name, sizeof(name), t ? "%u" : "unknown", t);
		if (counts.of_tier[t])
			json_object_set_new(tiers, name,
					    json_integer(counts.of_tier[t]));
	}
	json_object_set_new(object, "switches",
			    json_pack("{s:I, s:o, s:o}", "total",
				      (json_int_t)c->n_switches, "by_network",
				      networks, "compute_by_tier", tiers));
	json_object_set_new(object, "cables",
			    json_pack("{s:I, s:I}", "up", (json_int_t)counts.up,
				      "down", (json_int_t)counts.down));
}

int fabric_cables_json(const struct weft_fabric *f, json_t *object,
		       struct weft_error *err)
{
	json_t *kinds = json_array();

	for (uint32_t k = 0; k < f->n_kinds; k++)
		json_array_append_new(
			kinds, json_pack("{s:o, s:I}", "kind",
					 report_string(f->kinds[k]), "nodes",
					 (json_int_t)nodes_of_kind(f, k)));
	json_object_set_new(object, "kinds", kinds);
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
		char rate[32];

		if (fabric_uplinks(f, l, &uplinks, err))
			return -1;
		printf("%-10s", f->levels[l].name);
		for (int k = 0; k < N_OF_THREE; k++)
			printf(" %11s",
			       weft_quantity_text(uplinks.rate[k], "B/s", rate,
						  sizeof(rate)));
		three_text(uplinks.oversubscription);
		putchar('\n');
	}
	return 0;
}

int fabric_cables_text(const struct weft_fabric *f, struct weft_error *err)
{
	kinds_text(f);
	if (f->cabling)
		cabling_text(f->cabling);
	return f->uplink_rate_bytes_per_s ? uplinks_text(f, err) : 0;
}
