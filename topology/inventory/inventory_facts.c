/* SPDX-License-Identifier: GPL-3.0-or-later */
/* inventory_facts.c - facts of hosts, of which two sources may say different
 * things
 */
#include "base/compare.h"
#include "base/hostlist.h"
#include "topology/inventory/inventory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- one fact ---- */

static int conflict_note(struct weft_inventory *s, uint32_t host,
			 const char *what, const char *first,
			 struct weft_place first_at, const char *second,
			 struct weft_place second_at, struct weft_error *err)
{
	char place[256];

	return weft_inventory_note(
		s, WEFT_FINDING_CONFLICT, s->hosts[host].name, second_at, err,
		"%s is %s here, but %s in %s", what, second, first,
		weft_inventory_place(s, first_at, place, sizeof(place)));
}

int weft_inventory_set_gpus(struct weft_inventory *s, uint32_t host, uint32_t n,
			    struct weft_place where, struct weft_error *err)
{
	struct weft_fact_number *fact = &s->hosts[host].gpus;
	char first[16], second[16];

	if (n == 0) {
		s->hosts[host].no_gpus = fact->value == 0;
		return 0;
	}
	if (fact->value == 0) {
		*fact = (struct weft_fact_number){n, where};
		s->hosts[host].no_gpus = false;
		return 0;
	}
	if (fact->value == n)
		return 0;
	snprintf(first, sizeof(first), "%.0f", fact->value);
	snprintf(second, sizeof(second), "%u", n);
	return conflict_note(s, host, "its number of GPUs", first, fact->where,
			     second, where, err);
}

static const char *const host_texts[] = {
	[WEFT_HOST_GPU_KIND] = "its kind of GPU",
	[WEFT_HOST_RACK] = "its rack",
	[WEFT_HOST_NVLINK] = "its NVLink domain",
	[WEFT_HOST_NVLINK_STATE] = "the state of its NVLink",
	[WEFT_HOST_FEATURES] = "its list of features",
};

static struct weft_fact_text *host_fact(struct weft_inventory_host *host,
					enum weft_host_text which)
{
	struct weft_fact_text *facts[] = {
		[WEFT_HOST_GPU_KIND] = &host->gpu_kind,
		[WEFT_HOST_RACK] = &host->rack,
		[WEFT_HOST_NVLINK] = &host->nvlink,
		[WEFT_HOST_NVLINK_STATE] = &host->nvlink_state,
		[WEFT_HOST_FEATURES] = &host->features,
	};

	return facts[which];
}

int weft_inventory_set_text(struct weft_inventory *s, uint32_t host,
			    enum weft_host_text which, const char *text,
			    struct weft_place where, struct weft_error *err)
{
	struct weft_fact_text *fact = host_fact(&s->hosts[host], which);

	if (fact->text)
		return strcmp(fact->text, text) == 0
			       ? 0
			       : conflict_note(s, host, host_texts[which],
					       fact->text, fact->where, text,
					       where, err);
	fact->text = weft_arena_copy(&s->arena, text, err);
	fact->where = where;
	return fact->text ? 0 : -1;
}

/* ---- the insides of nodes ---- */

static int inside_give(struct weft_inventory *s, uint32_t host, uint32_t inside,
		       struct weft_error *err)
{
	const struct weft_inventory_inside *in = &s->insides[inside];

	if (s->hosts[host].inside == WEFT_NONE)
		s->hosts[host].inside = inside;
	if ((in->n_gpus || in->no_gpus) &&
	    weft_inventory_set_gpus(s, host, in->n_gpus, in->where, err))
		return -1;
	if (in->n_gpus && in->gpus[0].kind[0])
		return weft_inventory_set_text(s, host, WEFT_HOST_GPU_KIND,
					       in->gpus[0].kind, in->where,
					       err);
	return 0;
}

/* To the hosts that it names, which may be new. */
static int inside_give_named(struct weft_inventory *s, uint32_t inside,
			     struct weft_error *err)
{
	struct weft_hostlist list;
	int rc = weft_hostlist_decode(s->insides[inside].hosts,
				      WEFT_INVENTORY_MAX_HOSTS, &list, err);

	for (uint32_t i = 0; rc == 0 && i < list.n; i++) {
		uint32_t host = weft_inventory_host(
			s, list.names[i], s->insides[inside].where, err);

		rc = host == WEFT_NONE ? -1 : inside_give(s, host, inside, err);
	}
	weft_hostlist_free(&list);
	return rc;
}

/* To every host without one of its own that may have GPUs.  Where no source
 * names a host, the description is of the one node there is. */
static int inside_give_all(struct weft_inventory *s, uint32_t inside,
			   struct weft_error *err)
{
	if (s->n_hosts == 0 &&
	    weft_inventory_host(s, "node0", s->insides[inside].where, err) ==
		    WEFT_NONE)
		return -1;
	for (uint32_t h = 0; h < s->n_hosts; h++)
		if (s->hosts[h].inside == WEFT_NONE && !s->hosts[h].no_gpus &&
		    inside_give(s, h, inside, err))
			return -1;
	return 0;
}

static int insides_give(struct weft_inventory *s, struct weft_error *err)
{
	for (uint32_t i = 0; i < s->n_insides; i++)
		if (s->insides[i].hosts && inside_give_named(s, i, err))
			return -1;
	for (uint32_t i = 0; i < s->n_insides; i++)
		if (!s->insides[i].hosts && inside_give_all(s, i, err))
			return -1;
	return 0;
}

/* ---- cables that several sources told ---- */

WEFT_COMPARATOR(compare_ends, struct weft_end,
		WEFT_UP(kind) WEFT_UP(index) WEFT_UP(hca) WEFT_UP(port));

WEFT_COMPARATOR(compare_cables, struct weft_inventory_cable,
		WEFT_KEY(compare_ends(&a->a, &b->a))
			WEFT_KEY(compare_ends(&a->b, &b->b))
				WEFT_UP(where.source) WEFT_UP(where.line));

static void cable_turn(struct weft_inventory_cable *cable)
{
	struct weft_end a = cable->a;
	bool turned = cable->a.kind == cable->b.kind
			      ? compare_ends(&cable->a, &cable->b) > 0
			      : cable->a.kind == WEFT_END_SWITCH;

	if (turned) {
		cable->a = cable->b;
		cable->b = a;
	}
}

/* Cables without port numbers cannot be told apart inside a source, but two
 * sources that name the same ends mean the same cables. */
static void cables_sort(struct weft_inventory *s)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < s->n_cables; i++)
		cable_turn(&s->cables[i]);
	WEFT_SORT(s->cables, s->n_cables, compare_cables);
	for (uint32_t i = 0; i < s->n_cables; i++) {
		const struct weft_inventory_cable *c = &s->cables[i];
		const struct weft_inventory_cable *last =
			kept ? &s->cables[kept - 1] : NULL;

		if (last && compare_ends(&last->a, &c->a) == 0 &&
		    compare_ends(&last->b, &c->b) == 0 &&
		    last->where.source != c->where.source)
			continue;
		s->cables[kept++] = *c;
	}
	s->n_cables = kept;
}

int weft_inventory_finish(struct weft_inventory *s, struct weft_error *err)
{
	cables_sort(s);
	return insides_give(s, err);
}
