/* SPDX-License-Identifier: GPL-3.0-or-later */
/* drift_uplinks.c - cables between switches that are gone, new, or carry less
 */
#include "base/compare.h"
#include "topology/audit/deltas.h"
#include "topology/audit/drift/drift.h"

#include <stdlib.h>
#include <string.h>

/* One cable between two switches, as side 0 numbers them. */
struct strand {
	uint32_t low, high;
	uint32_t port; /* of a: tells parallel cables apart */
	const struct weft_inventory_cable *cable;
};

struct strands {
	struct strand *item;
	uint32_t n;
};

WEFT_COMPARATOR(compare_pairs, struct strand, WEFT_UP(low) WEFT_UP(high));

/* Slow and down ones first, so that what is lacking meets what was least. */
static int compare_strands(const void *pa, const void *pb)
{
	const struct strand *a = pa, *b = pb;
	double x = a->cable->down ? 0 : a->cable->rate_bytes_per_s;
	double y = b->cable->down ? 0 : b->cable->rate_bytes_per_s;
	int order = compare_pairs(a, b);

	return order ? order : (x > y) - (x < y);
}

/* Switch of a side as side 0 numbers it, or WEFT_NONE. */
static uint32_t wanted_number(const struct drift *d, int side, uint32_t k)
{
	return side == 0 ? k : d->sw[1][k];
}

static uint32_t strands_count(const struct weft_inventory *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_cables; i++)
		if (s->cables[i].a.kind == WEFT_END_SWITCH)
			n += s->cables[i].n;
	return n;
}

static int strands_list(struct drift *d, int side, struct strands *list)
{
	const struct weft_inventory *s = d->s[side];

	if (WEFT_ARRAY(list->item, strands_count(s), &d->memory, d->err))
		return -1;
	for (uint32_t i = 0; i < s->n_cables; i++) {
		const struct weft_inventory_cable *c = &s->cables[i];
		uint32_t a, b;

		if (c->a.kind != WEFT_END_SWITCH)
			continue;
		a = wanted_number(d, side, c->a.index);
		b = wanted_number(d, side, c->b.index);
		if (a == WEFT_NONE || b == WEFT_NONE || d->gone[a] ||
		    d->gone[b])
			continue;
		if (d->g[0].tier[a] > d->g[0].tier[b]) {
			uint32_t swap = a;

			a = b;
			b = swap;
		}
		for (uint32_t k = 0; k < c->n; k++)
			list->item[list->n++] =
				(struct strand){a, b, c->a.port, c};
	}
	WEFT_SORT(list->item, list->n, compare_strands);
	return 0;
}

static uint32_t run_end(const struct strands *list, uint32_t i)
{
	uint32_t end = i;

	while (end < list->n &&
	       compare_pairs(&list->item[i], &list->item[end]) == 0)
		end++;
	return end;
}

/* As many cables between two switches as there were: do they carry as much? */
static int run_compare(struct drift *d, const struct strand *was,
		       const struct strand *is, uint32_t n)
{
	for (uint32_t k = 0; k < n; k++)
		if (drift_cable_compare(d, was[k].cable, is[k].cable))
			return -1;
	return 0;
}

static int strands_compare(struct drift *d, const struct strands list[2],
			   struct audit_deltas *deltas)
{
	uint32_t i[2] = {0, 0};

	while (i[0] < list[0].n || i[1] < list[1].n) {
		uint32_t end[2] = {run_end(&list[0], i[0]),
				   run_end(&list[1], i[1])};
		const struct strand *a = list[0].item + i[0];
		const struct strand *b = list[1].item + i[1];
		int order = i[0] == list[0].n	? 1
			    : i[1] == list[1].n ? -1
						: compare_pairs(a, b);
		uint32_t n[2] = {order <= 0 ? end[0] - i[0] : 0,
				 order >= 0 ? end[1] - i[1] : 0};
		const struct strand *some = order <= 0 ? a : b;

		if (n[0] == n[1] && run_compare(d, a, b, n[0]))
			return -1;
		if (n[0] != n[1] &&
		    audit_deltas_add(deltas,
				     (struct audit_delta){some->low, some->high,
							  (int)n[1] - (int)n[0],
							  false},
				     d->err))
			return -1;
		i[0] += n[0];
		i[1] += n[1];
	}
	return 0;
}

/* How many cables to other switches a switch of side 0 has. */
static uint32_t cables_of(const struct strands *list, uint32_t sw)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < list->n; i++)
		n += list->item[i].low == sw || list->item[i].high == sw;
	return n;
}

static int culprit_note(struct drift *d, const struct strands list[2],
			const struct audit_culprit *c)
{
	const struct weft_inventory_switch *sw = &d->s[0]->switches[c->sw];
	const struct weft_inventory_switch *all = d->s[0]->switches;
	const char *now = drift_side_name(d, 1);

	if (c->more == 0 && cables_of(&list[1], c->sw) == 0)
		return drift_note(d, 0, WEFT_FINDING_DRIFT_SWITCH_CUT, sw->name,
				  sw->where, WEFT_WEIGHT_SWITCH,
				  "has none of its %u cables to other switches "
				  "in %s",
				  c->fewer, now);
	if (c->fewer && c->more)
		return drift_note(d, 0, WEFT_FINDING_DRIFT_CABLE_MOVED,
				  sw->name, sw->where, WEFT_WEIGHT_CABLE,
				  "%u of its cables lead elsewhere in %s: to "
				  "%s instead of %s",
				  c->more, now, all[c->gained].name,
				  all[c->lost].name);
	if (c->fewer)
		return drift_note(d, 0, WEFT_FINDING_DRIFT_CABLE_MISSING,
				  sw->name, sw->where, WEFT_WEIGHT_CABLE,
				  "has %u cables fewer in %s, such as to %s",
				  c->fewer, now, all[c->lost].name);
	return drift_note(d, 0, WEFT_FINDING_DRIFT_CABLE_NEW, sw->name,
			  sw->where, WEFT_WEIGHT_OUTCOME,
			  "has %u cables more in %s, such as to %s", c->more,
			  now, all[c->gained].name);
}

/* Of a network that side 0 does not describe. */
static bool is_foreign(const struct drift *d, uint32_t k)
{
	const char *name = d->g[1].networks[d->g[1].network[k]];

	for (uint32_t i = 0; i < d->s[0]->n_switches; i++)
		if (strcmp(d->g[0].networks[d->g[0].network[i]], name) == 0)
			return false;
	return true;
}

static int lonely_tell(struct drift *d)
{
	static const enum weft_finding_id ids[2] = {
		WEFT_FINDING_DRIFT_SWITCH_MISSING,
		WEFT_FINDING_DRIFT_SWITCH_NEW};
	static const double weight[2] = {WEFT_WEIGHT_SWITCH,
					 WEFT_WEIGHT_DOMAIN};

	for (int side = 0; side < 2; side++)
		for (uint32_t k = 0; k < d->s[side]->n_switches; k++) {
			const struct weft_inventory_switch *sw =
				&d->s[side]->switches[k];
			uint32_t n;

			audit_graph_cables(&d->g[side], WEFT_END_SWITCH, k, &n);
			if (d->sw[side][k] != WEFT_NONE || n == 0 ||
			    (side == 0 ? d->gone[k] : is_foreign(d, k)))
				continue;
			if (side == 0)
				d->gone[k] = true;
			if (drift_note(d, side, ids[side], sw->name, sw->where,
				       weight[side] + n, "is not in %s",
				       drift_side_name(d, !side)))
				return -1;
		}
	return 0;
}

static int renamed_tell(struct drift *d)
{
	uint32_t same = 0, other = 0;

	for (uint32_t k = 0; k < d->s[0]->n_switches; k++) {
		if (d->sw[0][k] == WEFT_NONE)
			continue;
		if (weft_inventory_find_switch(
			    d->s[1], d->s[0]->switches[k].name) == d->sw[0][k])
			same++;
		else
			other++;
	}
	/* where most have other names, the sources just name differently */
	for (uint32_t k = 0; other < same && k < d->s[0]->n_switches; k++) {
		const struct weft_inventory_switch *was = &d->s[0]->switches[k];
		uint32_t now = d->sw[0][k];

		if (now == WEFT_NONE ||
		    weft_inventory_find_switch(d->s[1], was->name) == now)
			continue;
		if (drift_note(d, 1, WEFT_FINDING_DRIFT_SWITCH_RENAMED,
			       was->name, d->s[1]->switches[now].where,
			       WEFT_WEIGHT_HOST,
			       "is now called %s: same cables, another name",
			       d->s[1]->switches[now].name))
			return -1;
	}
	return 0;
}

int drift_switch_cables(struct drift *d)
{
	struct strands list[2] = {{0}, {0}};
	struct audit_deltas deltas = {0};
	struct audit_culprit culprit;
	uint32_t *count;
	int rc;

	if (WEFT_ARRAY(count, d->s[0]->n_switches, &d->memory, d->err) ||
	    renamed_tell(d) || lonely_tell(d) || strands_list(d, 0, &list[0]) ||
	    strands_list(d, 1, &list[1]))
		return -1;
	rc = strands_compare(d, list, &deltas);
	while (rc == 0 &&
	       audit_deltas_next(&deltas, d->s[0]->n_switches, count, &culprit))
		rc = culprit_note(d, list, &culprit);
	audit_deltas_free(&deltas);
	return rc;
}
