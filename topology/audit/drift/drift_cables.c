/* SPDX-License-Identifier: GPL-3.0-or-later */
/* drift_cables.c - cables of hosts that lead elsewhere, are gone, or carry less
 */
#include "topology/audit/drift/drift.h"
#include "topology/audit/siblings.h"

#include <string.h>

/* Cables of one host looked at; hosts have up to a few dozen. */
#define MAX_CABLES 256

/* A cable of a host on side 0 and what has become of it. */
struct fate {
	const struct weft_inventory_cable *was, *is; /* is: NULL: gone */
};

struct host_fates {
	uint32_t host; /* of side 0 */
	uint32_t n, n_new;
	struct fate fate[MAX_CABLES];
	const struct weft_inventory_cable *added[MAX_CABLES];
};

static const char *cable_hca(const struct weft_inventory *s,
			     const struct weft_inventory_cable *c)
{
	return c->a.hca == WEFT_NONE ? NULL : s->hcas[c->a.hca].name;
}

/* How surely two cables are the same; 0: cannot be told. */
static int likeness(const struct drift *d,
		    const struct weft_inventory_cable *was,
		    const struct weft_inventory_cable *is)
{
	const char *a = cable_hca(d->s[0], was), *b = cable_hca(d->s[1], is);
	bool same_switch = d->sw[0][was->b.index] == is->b.index;

	if (a && b && strcmp(a, b) == 0)
		return 3;
	if (same_switch)
		return was->b.port && was->b.port == is->b.port ? 2 : 1;
	return 0;
}

static uint32_t cables_list(const struct drift *d, int side, uint32_t host,
			    const struct weft_inventory_cable **list)
{
	uint32_t n;
	const uint32_t *cable =
		audit_graph_cables(&d->g[side], WEFT_END_HOST, host, &n);

	n = n < MAX_CABLES ? n : MAX_CABLES;
	for (uint32_t i = 0; i < n; i++)
		list[i] = &d->s[side]->cables[cable[i]];
	return n;
}

/* Pairs the cables of a host, the surest first; then what is left, in order. */
static void fates_find(const struct drift *d, uint32_t host,
		       struct host_fates *f)
{
	const struct weft_inventory_cable *was[MAX_CABLES], **is = f->added;
	uint32_t left;

	f->host = host;
	f->n = cables_list(d, 0, host, was);
	left = cables_list(d, 1, d->host[0][host], is);
	for (uint32_t i = 0; i < f->n; i++)
		f->fate[i] = (struct fate){was[i], NULL};
	for (int sure = 3; sure >= 0; sure--)
		for (uint32_t i = 0; i < f->n; i++) {
			uint32_t k = 0;

			if (f->fate[i].is)
				continue;
			while (k < left && likeness(d, was[i], is[k]) != sure)
				k++;
			if (k == left)
				continue;
			f->fate[i].is = is[k];
			memmove(&is[k], &is[k + 1], (--left - k) * sizeof(*is));
		}
	f->n_new = left;
}

static bool has_moved(const struct drift *d, const struct fate *f)
{
	return f->is && d->sw[0][f->was->b.index] != f->is->b.index;
}

/* What a switch of side 1 is called. */
static const char *now_name(const struct drift *d, const struct fate *f)
{
	return d->s[1]->switches[f->is->b.index].name;
}

static const char *was_name(const struct drift *d, const struct fate *f)
{
	return d->s[0]->switches[f->was->b.index].name;
}

/* ---- cables that lead elsewhere ---- */

/* Two that have changed places. */
static bool is_swap(const struct drift *d, const struct fate *a,
		    const struct fate *b)
{
	return d->sw[0][a->was->b.index] == b->is->b.index &&
	       d->sw[0][b->was->b.index] == a->is->b.index;
}

static int swap_note(struct drift *d, uint32_t host, const struct fate *a,
		     const struct fate *b)
{
	const char *x = cable_hca(d->s[0], a->was);
	const char *y = cable_hca(d->s[0], b->was);

	return drift_note(d, 1, WEFT_FINDING_DRIFT_RAIL_SWAPPED,
			  d->s[0]->hosts[host].name, a->is->where,
			  WEFT_WEIGHT_CABLE,
			  "the cables of %s to %s and of %s to %s have changed "
			  "places",
			  x ? x : "one adapter", was_name(d, a),
			  y ? y : "another", was_name(d, b));
}

static int moved_note(struct drift *d, const struct fate *f)
{
	char place[160];

	audit_graph_place(&d->g[0], f->was, place, sizeof(place));
	return drift_note(
		d, 1, WEFT_FINDING_DRIFT_CABLE_MOVED, place, f->is->where,
		WEFT_WEIGHT_CABLE, "leads to %s; by %s it should lead to %s",
		now_name(d, f), drift_side_name(d, 0), was_name(d, f));
}

static int all_moved_note(struct drift *d, uint32_t host, const struct fate *f,
			  uint32_t n)
{
	return drift_note(d, 1, WEFT_FINDING_DRIFT_HOST_MOVED,
			  d->s[0]->hosts[host].name, f->is->where,
			  WEFT_WEIGHT_HOST,
			  "all of its %u cables lead elsewhere, such as to %s "
			  "instead of %s",
			  n, now_name(d, f), was_name(d, f));
}

static int moves_tell(struct drift *d, const struct host_fates *f)
{
	const struct fate *moved[MAX_CABLES];
	uint32_t n = 0;

	for (uint32_t i = 0; i < f->n; i++)
		if (has_moved(d, &f->fate[i]) &&
		    !d->gone[f->fate[i].was->b.index])
			moved[n++] = &f->fate[i];
	if (n == 2 && is_swap(d, moved[0], moved[1]))
		return swap_note(d, f->host, moved[0], moved[1]);
	if (n > 1 && n == f->n)
		return all_moved_note(d, f->host, moved[0], n);
	for (uint32_t i = 0; i < n; i++)
		if (moved_note(d, moved[i]))
			return -1;
	return 0;
}

/* ---- cables that are gone, or new ---- */

static int gone_tell(struct drift *d, const struct host_fates *f)
{
	uint32_t gone = 0;

	for (uint32_t i = 0; i < f->n; i++)
		gone += !f->fate[i].is && !d->gone[f->fate[i].was->b.index];
	if (gone > 1 && gone == f->n)
		return drift_note(d, 0, WEFT_FINDING_DRIFT_CABLE_MISSING,
				  d->s[0]->hosts[f->host].name,
				  f->fate[0].was->where, WEFT_WEIGHT_HOST,
				  "has none of its %u cables in %s", gone,
				  drift_side_name(d, 1));
	for (uint32_t i = 0; i < f->n; i++) {
		const struct fate *x = &f->fate[i];
		char place[160];

		if (x->is || d->gone[x->was->b.index])
			continue;
		audit_graph_place(&d->g[0], x->was, place, sizeof(place));
		if (drift_note(d, 0, WEFT_FINDING_DRIFT_CABLE_MISSING, place,
			       x->was->where, WEFT_WEIGHT_CABLE,
			       "its cable to %s is not in %s", was_name(d, x),
			       drift_side_name(d, 1)))
			return -1;
	}
	return 0;
}

/* Cables to networks that side 0 does not describe at all are not news. */
static bool is_news(const struct drift *d, const struct weft_inventory_cable *c)
{
	return d->sw[1][c->b.index] != WEFT_NONE;
}

static int new_tell(struct drift *d, const struct host_fates *f)
{
	for (uint32_t i = 0; i < f->n_new; i++) {
		const struct weft_inventory_cable *c = f->added[i];
		char place[160];

		if (!is_news(d, c))
			continue;
		audit_graph_place(&d->g[1], c, place, sizeof(place));
		if (drift_note(d, 1, WEFT_FINDING_DRIFT_CABLE_NEW, place,
			       c->where, WEFT_WEIGHT_OUTCOME,
			       "its cable to %s is not in %s",
			       d->s[1]->switches[c->b.index].name,
			       drift_side_name(d, 0)))
			return -1;
	}
	return 0;
}

/* ---- cables that carry less ---- */

int drift_cable_compare(struct drift *d, const struct weft_inventory_cable *was,
			const struct weft_inventory_cable *is)
{
	char place[160], before[32], after[32];

	audit_graph_place(&d->g[0], was, place, sizeof(place));
	if (is->down && !was->down)
		return drift_note(d, 1, WEFT_FINDING_DRIFT_LINK_DOWN, place,
				  is->where, WEFT_WEIGHT_CABLE, "is down");
	if (was->width && is->width && is->width < was->width)
		return drift_note(d, 1, WEFT_FINDING_DRIFT_LINK_SLOWER, place,
				  is->where, WEFT_WEIGHT_CABLE,
				  "is %ux wide; %s says %ux", is->width,
				  drift_side_name(d, 0), was->width);
	if (was->rate_bytes_per_s <= 0 || is->rate_bytes_per_s <= 0 ||
	    is->rate_bytes_per_s >= 0.99 * was->rate_bytes_per_s)
		return 0;
	return drift_note(
		d, 1, WEFT_FINDING_DRIFT_LINK_SLOWER, place, is->where,
		WEFT_WEIGHT_CABLE, "carries %s; %s says %s",
		audit_rate(is->rate_bytes_per_s, after, sizeof(after)),
		drift_side_name(d, 0),
		audit_rate(was->rate_bytes_per_s, before, sizeof(before)));
}

static int rates_tell(struct drift *d, const struct host_fates *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (f->fate[i].is &&
		    drift_cable_compare(d, f->fate[i].was, f->fate[i].is))
			return -1;
	return 0;
}

/* ---- switches that are gone ---- */

/* Leafs of side 0 without a counterpart, whose hosts are there. */
static int leafs_tell(struct drift *d)
{
	const struct weft_inventory *s = d->s[0];

	for (uint32_t k = 0; k < s->n_switches; k++) {
		uint32_t n, hosts = 0;
		const uint32_t *cable =
			audit_graph_cables(&d->g[0], WEFT_END_SWITCH, k, &n);

		if (d->sw[0][k] != WEFT_NONE || d->gone[k])
			continue;
		for (uint32_t i = 0; i < n; i++) {
			const struct weft_end *e = &s->cables[cable[i]].a;

			hosts += e->kind == WEFT_END_HOST &&
				 d->host[0][e->index] != WEFT_NONE;
		}
		if (hosts < 2)
			continue;
		d->gone[k] = true;
		if (drift_note(d, 0, WEFT_FINDING_DRIFT_SWITCH_MISSING,
			       s->switches[k].name, s->switches[k].where,
			       WEFT_WEIGHT_SWITCH + hosts,
			       "is not in %s, where its %u host cables lead "
			       "elsewhere or nowhere",
			       drift_side_name(d, 1), hosts))
			return -1;
	}
	return 0;
}

int drift_host_cables(struct drift *d)
{
	struct host_fates *f;

	if (WEFT_ARRAY(f, 1, &d->memory, d->err) || leafs_tell(d))
		return -1;
	for (uint32_t h = 0; h < d->s[0]->n_hosts; h++) {
		if (d->host[0][h] == WEFT_NONE)
			continue;
		fates_find(d, h, f);
		if (moves_tell(d, f) || gone_tell(d, f) || new_tell(d, f) ||
		    rates_tell(d, f))
			return -1;
	}
	return 0;
}
