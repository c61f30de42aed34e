/* SPDX-License-Identifier: GPL-3.0-or-later */
/* audit_fabric.c - a fabric file whose levels contradict its cables
 *
 * Deduces the levels again, from the cables alone, as for a network that was
 * imported; reports what is odd about that, and where it differs from the
 * levels of the file.
 */
#include "topology/audit/audit.h"

#include <stdlib.h>

/* What the deduction says of single cables; the rest is about describing a
 * network, which a fabric file has done. */
static const enum weft_finding_id of_cables[] = {
	WEFT_FINDING_RAIL_SWAPPED,
	WEFT_FINDING_RAIL_MISSING,
	WEFT_FINDING_CABLE_MOVED,
};

static bool is_of_cables(enum weft_finding_id id)
{
	for (size_t i = 0; i < WEFT_N_OF(of_cables); i++)
		if (of_cables[i] == id)
			return true;
	return false;
}

static int finding_take(const struct weft_finding *f, enum weft_finding_id id,
			const char *before, struct weft_findings *to,
			struct weft_error *err)
{
	const struct weft_finding_at at = {
		.place = f->place,
		.source = f->source,
		.line = f->line,
		.weight = f->weight,
	};

	return weft_findings_add(to, id, at, err, "%s%s", before, f->text);
}

/* Every node is attached to a switch by a cable, and leafs are attached to
 * others where there are levels above them: else the file describes a part
 * only, from which nothing can be deduced. */
static bool is_whole(const struct weft_fabric *f,
		     const struct weft_inventory *s)
{
	bool *has = calloc((size_t)s->n_hosts + 1, sizeof(*has));
	uint32_t n = 0, up = 0;

	for (uint32_t i = 0; has && i < s->n_cables; i++) {
		const struct weft_inventory_cable *c = &s->cables[i];

		if (c->a.kind == WEFT_END_SWITCH) {
			up++;
		} else if (!has[c->a.index]) {
			has[c->a.index] = true;
			n++;
		}
	}
	free(has);
	return n == s->n_hosts && (up || f->n_levels <= f->node_level + 2);
}

/* Levels of the file against those of the cables. */
static int levels_compare(const struct weft_audit *a,
			  const struct weft_inventory *inventory,
			  const struct weft_hierarchy *deduced,
			  struct weft_error *err)
{
	struct weft_inventory said = *a->inventory, cabled = *inventory;
	const struct weft_audit_side sides[2] = {{&said, a->hierarchy},
						 {&cabled, deduced}};
	struct weft_findings found = {0};
	int rc;

	said.n_cables = 0;
	cabled.n_cables = 0;
	rc = weft_audit_drift(&sides[0], &sides[1], &found, err);
	for (uint32_t i = 0; i < found.n && rc == 0; i++)
		if (found.item[i].id == WEFT_FINDING_DRIFT_HOST_MOVED ||
		    found.item[i].id == WEFT_FINDING_DRIFT_SWITCH_MOVED)
			rc = finding_take(&found.item[i],
					  WEFT_FINDING_LEVELS_CONTRADICTED,
					  "by its cables it ", a->findings,
					  err);
	weft_findings_free(&found);
	return rc;
}

/* Levels that join at the top what no cable joins. */
static int root_look(const struct weft_audit *a,
		     const struct weft_hierarchy *deduced,
		     struct weft_error *err)
{
	const struct weft_fabric *f = a->fabric;
	const struct weft_finding_at at = {
		.place = f->levels[f->n_levels - 1].name,
		.source = a->inventory->n_sources
				  ? a->inventory->sources[0].name
				  : NULL,
		.weight = WEFT_WEIGHT_DOMAIN,
	};
	uint32_t roots = 0;

	for (uint32_t d = 0; d < deduced->n_domains; d++)
		roots += deduced->domains[d].parent == WEFT_NONE;
	if (!f->connected || roots < 2)
		return 0;
	return weft_findings_add(a->findings, WEFT_FINDING_ROOT_FAKE, at, err,
				 "joins %u parts that no cable joins", roots);
}

int weft_audit_cabling(const struct weft_audit *a, struct weft_error *err)
{
	const struct weft_hierarchy_options options = {0};
	struct weft_error why = {0};
	struct weft_hierarchy *deduced = NULL;
	struct weft_inventory *s;
	int rc = 0;

	if (!a->fabric || !a->fabric->cabling ||
	    !is_whole(a->fabric, a->inventory))
		return 0;
	s = weft_inventory_from_fabric(
		a->fabric,
		a->inventory->n_sources ? a->inventory->sources[0].name : "",
		err);
	if (!s)
		return -1;
	/* what cannot be deduced contradicts nothing */
	if (weft_inventory_finish(s, &why) == 0)
		deduced = weft_hierarchy_build(s, &options, &why);
	for (uint32_t i = 0; deduced && i < s->findings.n && rc == 0; i++)
		if (is_of_cables(s->findings.item[i].id))
			rc = finding_take(&s->findings.item[i],
					  s->findings.item[i].id, "",
					  a->findings, err);
	if (deduced && rc == 0)
		rc = levels_compare(a, s, deduced, err) ||
				     root_look(a, deduced, err)
			     ? -1
			     : 0;
	weft_hierarchy_free(deduced);
	weft_inventory_free(s);
	free(s);
	return rc;
}
