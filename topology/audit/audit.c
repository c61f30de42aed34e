/* SPDX-License-Identifier: GPL-3.0-or-later */
/* audit.c - the table of checks, and which finding explains which */
#include "topology/audit/audit.h"
#include "topology/audit/checks.h"
#include "topology/audit/graph.h"

#include <string.h>

const struct weft_audit_check weft_audit_checks[] = {
	{"hosts", "GPUs, adapters and cables of hosts against their siblings",
	 audit_hosts},
	{"links", "cables that are down, narrow or slow", audit_links},
	{"rails", "rails that fewer hosts are attached to", audit_rails},
	{"uplinks", "leafs without uplinks, and uneven ones", audit_uplinks},
	{"meshes",
	 "pairs with fewer cables, where switches are joined each to each",
	 audit_meshes},
	{"capacity", "switches that are more oversubscribed than their like",
	 audit_capacity},
	{"networks", "adapters on another network than their siblings",
	 audit_networks},
	{"nvlink", "NVLink domains that lack nodes or are degraded",
	 audit_nvlink},
	{"places", "racks and NVLink domains against the network",
	 audit_places},
	{"tree", "roots that join nothing, and loops", audit_tree},
	{"blocks", "block sizes that Slurm would refuse", audit_blocks},
};
const uint32_t weft_n_audit_checks = WEFT_N_OF(weft_audit_checks);

/* An outcome is not reported where its cause is, at the same host or switch. */
static const struct {
	enum weft_finding_id outcome, cause;
} explained[] = {
	{WEFT_FINDING_LINKS_SHORT, WEFT_FINDING_HCA_MISSING},
	{WEFT_FINDING_LINKS_SHORT, WEFT_FINDING_RAIL_MISSING},
	{WEFT_FINDING_HCA_MISSING, WEFT_FINDING_RAIL_MISSING},
	{WEFT_FINDING_OVERSUBSCRIBED, WEFT_FINDING_UPLINKS_UNEVEN},
	{WEFT_FINDING_OVERSUBSCRIBED, WEFT_FINDING_CABLE_MOVED},
	{WEFT_FINDING_OVERSUBSCRIBED, WEFT_FINDING_LINK_SLOW},
	{WEFT_FINDING_OVERSUBSCRIBED, WEFT_FINDING_LINK_NARROW},
	{WEFT_FINDING_OVERSUBSCRIBED, WEFT_FINDING_LINK_DOWN},
	{WEFT_FINDING_UPLINKS_UNEVEN, WEFT_FINDING_LEAF_ORPHAN},
	{WEFT_FINDING_LEAF_ORPHAN, WEFT_FINDING_DRIFT_SWITCH_CUT},
};

/* ---- what explains what ---- */

/* The end of the host's or switch's name in a place: "n07" of "n07:mlx5_3",
 * "leaf3" of "leaf3--spine1". */
static size_t stem_size(const char *place)
{
	const char *dash = strstr(place, "--");
	size_t colon = strcspn(place, ":");

	return dash && (size_t)(dash - place) < colon ? (size_t)(dash - place)
						      : colon;
}

static bool same_thing(const struct weft_finding *a,
		       const struct weft_finding *b)
{
	size_t n = stem_size(a->place);

	return n && n == stem_size(b->place) &&
	       memcmp(a->place, b->place, n) == 0;
}

static bool is_outcome(enum weft_finding_id id)
{
	for (size_t i = 0; i < WEFT_N_OF(explained); i++)
		if (explained[i].outcome == id)
			return true;
	return false;
}

static bool explains(enum weft_finding_id cause, enum weft_finding_id outcome)
{
	for (size_t i = 0; i < WEFT_N_OF(explained); i++)
		if (explained[i].cause == cause &&
		    explained[i].outcome == outcome)
			return true;
	return false;
}

/* Of several adapters that a host lacks each is a cause of its own. */
static bool is_explained(const struct weft_findings *findings,
			 const struct weft_finding *f)
{
	double left = f->id == WEFT_FINDING_HCA_MISSING
			      ? f->weight - WEFT_WEIGHT_HOST
			      : 1;

	for (uint32_t i = 0; i < findings->n && left > 0; i++)
		if (explains(findings->item[i].id, f->id) &&
		    same_thing(&findings->item[i], f))
			left--;
	return left <= 0;
}

/* The inventory and two checks look for leafs that are cut off, each in its
 * way.
 */
static bool is_repeated(const struct weft_findings *findings, uint32_t n,
			const struct weft_finding *f)
{
	for (uint32_t i = 0; f->id == WEFT_FINDING_LEAF_ORPHAN && i < n; i++)
		if (findings->item[i].id == f->id &&
		    strcmp(findings->item[i].place, f->place) == 0)
			return true;
	return false;
}

/* What has changed comes before what may always have been so. */
static bool is_news(const struct weft_finding *f)
{
	return f->severity != WEFT_INFO &&
	       strncmp(weft_finding_kinds[f->id].code, "drift-", 6) == 0;
}

/* Keeps the order of those before and of those behind. */
static void news_first(struct weft_findings *findings)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < findings->n; i++) {
		struct weft_finding f = findings->item[i];

		if (!is_news(&f))
			continue;
		memmove(&findings->item[n + 1], &findings->item[n],
			(i - n) * sizeof(f));
		findings->item[n++] = f;
	}
}

void weft_audit_rank(struct weft_findings *findings)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < findings->n; i++) {
		struct weft_finding *f = &findings->item[i];

		if (is_outcome(f->id) && is_explained(findings, f))
			findings->of_kind[f->id]--;
		else
			findings->item[kept++] = *f;
	}
	findings->n = kept;
	weft_findings_sort(
		findings); /* the weightiest of those repeated first */
	kept = 0;
	for (uint32_t i = 0; i < findings->n; i++) {
		struct weft_finding *f = &findings->item[i];

		if (is_repeated(findings, kept, f))
			findings->of_kind[f->id]--;
		else
			findings->item[kept++] = *f;
	}
	findings->n = kept;
	news_first(findings);
}

int weft_audit_run(const struct weft_audit *audit, struct weft_error *err)
{
	struct weft_audit a = *audit;
	struct weft_arena memory = {0};
	struct audit_graph graph;
	int rc = audit_graph_build(a.inventory, a.hierarchy, &graph, err);

	a.graph = &graph;
	a.memory = &memory;
	a.err = err;
	for (uint32_t i = 0; i < weft_n_audit_checks && rc == 0; i++)
		rc = weft_audit_checks[i].run(&a);
	audit_graph_free(&graph);
	weft_arena_free(&memory);
	if (rc == 0)
		weft_audit_rank(a.findings);
	return rc;
}
