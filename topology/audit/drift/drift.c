/* SPDX-License-Identifier: GPL-3.0-or-later */
/* drift.c - where two sources of the same cluster differ
 *
 * Hosts and switches of both are matched first, also under other names; then
 * what both know is compared, from what explains most to what explains least,
 * and what is explained is not reported again.
 */
#include "topology/audit/drift/drift.h"

#include <stdarg.h>

const char *drift_side_name(const struct drift *d, int side)
{
	const struct weft_inventory *s = d->s[side];

	return s->n_sources ? s->sources[s->n_sources - 1].name : "the other";
}

int drift_note(struct drift *d, int side, enum weft_finding_id id,
	       const char *place, struct weft_place where, double weight,
	       const char *format, ...)
{
	struct weft_finding_at at =
		weft_inventory_at(d->s[side], place, where, weight);
	va_list args;
	int rc;

	va_start(args, format);
	rc = weft_findings_vadd(d->findings, id, at, d->err, format, args);
	va_end(args);
	return rc;
}

static bool knows_cables(const struct weft_inventory *s, enum weft_end_kind of)
{
	for (uint32_t i = 0; i < s->n_cables; i++)
		if (s->cables[i].a.kind == of)
			return true;
	return false;
}

static int drift_open(struct drift *d)
{
	for (int i = 0; i < 2; i++) {
		d->s[i] = d->side[i]->inventory;
		if (WEFT_ARRAY(d->host[i], d->s[i]->n_hosts, &d->memory,
			       d->err) ||
		    WEFT_ARRAY(d->sw[i], d->s[i]->n_switches, &d->memory,
			       d->err) ||
		    audit_graph_build(d->s[i], d->side[i]->hierarchy, &d->g[i],
				      d->err))
			return -1;
		weft_fill_none(d->host[i], d->s[i]->n_hosts);
		weft_fill_none(d->sw[i], d->s[i]->n_switches);
	}
	d->host_cables = knows_cables(d->s[0], WEFT_END_HOST) &&
			 knows_cables(d->s[1], WEFT_END_HOST);
	d->switch_cables = knows_cables(d->s[0], WEFT_END_SWITCH) &&
			   knows_cables(d->s[1], WEFT_END_SWITCH);
	d->trees = d->side[0]->hierarchy && d->side[0]->hierarchy->n_domains &&
		   d->side[1]->hierarchy && d->side[1]->hierarchy->n_domains;
	return WEFT_ARRAY(d->renamed, d->s[0]->n_hosts, &d->memory, d->err) ||
			       WEFT_ARRAY(d->gone, d->s[0]->n_switches,
					  &d->memory, d->err)
		       ? -1
		       : 0;
}

static void drift_close(struct drift *d)
{
	for (int i = 0; i < 2; i++)
		audit_graph_free(&d->g[i]);
	weft_arena_free(&d->memory);
}

static bool is_related(const struct drift *d)
{
	for (uint32_t h = 0; h < d->s[0]->n_hosts; h++)
		if (d->host[0][h] != WEFT_NONE)
			return true;
	return false;
}

int weft_audit_drift(const struct weft_audit_side *wanted,
		     const struct weft_audit_side *now,
		     struct weft_findings *findings, struct weft_error *err)
{
	struct drift d = {
		.side = {wanted, now}, .findings = findings, .err = err};
	int rc = -1;

	if (drift_open(&d) || drift_match_names(&d))
		goto out;
	if (!is_related(&d)) {
		rc = drift_note(&d, 1, WEFT_FINDING_DRIFT_UNRELATED, "",
				(struct weft_place){0}, WEFT_WEIGHT_SWITCH,
				"no node of %s is in %s",
				drift_side_name(&d, 0), drift_side_name(&d, 1));
		goto out;
	}
	if (drift_match_switches(&d) || drift_match_hosts(&d) ||
	    drift_hosts(&d))
		goto out;
	if (d.switch_cables && drift_switch_cables(&d))
		goto out;
	if (d.host_cables && drift_host_cables(&d))
		goto out;
	if (d.trees && !d.host_cables && drift_tree(&d))
		goto out;
	rc = drift_groups(&d);
out:
	drift_close(&d);
	if (rc == 0)
		weft_audit_rank(findings);
	return rc;
}
