/* SPDX-License-Identifier: GPL-3.0-or-later */
/* audit_hosts.c - hosts that have less than their siblings: GPUs, adapters,
 * cables
 *
 * Siblings have names of the same pattern and the same kind of GPU.  Where the
 * hosts of a host's own leaf are as it is, it is of a kind of its own.
 */
#include "base/compare.h"
#include "topology/audit/checks.h"
#include "topology/audit/siblings.h"

#include <stdlib.h>
#include <string.h>

#define NOT_KNOWN (-1.0)

static double host_gpus(const struct weft_audit *a, uint32_t h)
{
	const struct weft_inventory_host *host = &a->inventory->hosts[h];

	return host->gpus.value > 0 ? host->gpus.value : NOT_KNOWN;
}

static double host_adapters(const struct weft_audit *a, uint32_t h)
{
	const struct weft_inventory_host *host = &a->inventory->hosts[h];

	return host->n_hcas ? (double)host->n_hcas : NOT_KNOWN;
}

static double host_cables(const struct weft_audit *a, uint32_t h)
{
	const struct weft_inventory *s = a->inventory;
	const uint32_t *cable;
	uint32_t n;
	double up = 0;

	cable = audit_graph_cables(a->graph, WEFT_END_HOST, h, &n);
	for (uint32_t i = 0; i < n; i++) {
		const struct weft_inventory_cable *c = &s->cables[cable[i]];

		/* one that is down is a finding of its own */
		if (a->graph->network[c->b.index] == 0)
			up += c->n;
	}
	return n || s->hosts[h].n_hcas ? up : NOT_KNOWN;
}

/* What hosts are compared by. */
static const struct subject {
	double (*value)(const struct weft_audit *a, uint32_t host);
	enum weft_finding_id id;
	const char *noun;
} subjects[] = {
	{host_gpus, WEFT_FINDING_GPUS_SHORT, "GPU"},
	{host_adapters, WEFT_FINDING_HCA_MISSING, "adapter"},
	{host_cables, WEFT_FINDING_LINKS_SHORT, "compute cable"},
};

/* ---- siblings ---- */

struct member {
	const char *kind;
	char stem[64];
	uint32_t host, domain;
	double value;
};

WEFT_COMPARATOR(compare_members, struct member,
		WEFT_TEXT(kind) WEFT_TEXT(stem) WEFT_UP(domain) WEFT_UP(host));

static bool same_class(const struct member *a, const struct member *b)
{
	return strcmp(a->kind, b->kind) == 0 && strcmp(a->stem, b->stem) == 0;
}

static struct audit_majority members_majority(const struct member *m,
					      uint32_t n, double *scratch)
{
	uint32_t known = 0;

	for (uint32_t i = 0; i < n; i++)
		if (m[i].value > NOT_KNOWN)
			scratch[known++] = m[i].value;
	return audit_majority(scratch, known);
}

static uint32_t count_below(const struct member *m, uint32_t n, double value)
{
	uint32_t below = 0;

	for (uint32_t i = 0; i < n; i++)
		below += m[i].value > NOT_KNOWN && m[i].value < value;
	return below;
}

static int member_note(const struct weft_audit *a, const struct subject *sub,
		       const struct member *m, struct audit_majority usual)
{
	const struct weft_inventory_host *host = &a->inventory->hosts[m->host];
	struct weft_place where =
		sub->value == host_gpus ? host->gpus.where : host->where;

	return audit_note(a, sub->id, host->name, where,
			  WEFT_WEIGHT_HOST + usual.value - m->value,
			  "has %.0f %s%s; its siblings have %.0f", m->value,
			  sub->noun, m->value >= 0 && m->value < 2 ? "" : "s",
			  usual.value);
}

/* Hosts of one leaf: m[0..n) of a class whose majority is `usual`. */
static int leaf_look(const struct weft_audit *a, const struct subject *sub,
		     const struct member *m, uint32_t n,
		     struct audit_majority usual, bool few, double *scratch)
{
	struct audit_majority leaf = members_majority(m, n, scratch);
	bool decided =
		leaf.n_same >= WEFT_LEAST_MAJORITY && leaf.n_same * 2 > leaf.n;

	if (m[0].domain != WEFT_NONE && decided)
		usual = leaf;
	else if (!few)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		if (m[i].value > NOT_KNOWN && m[i].value < usual.value &&
		    member_note(a, sub, &m[i], usual))
			return -1;
	return 0;
}

static int class_look(const struct weft_audit *a, const struct subject *sub,
		      const struct member *m, uint32_t n, double *scratch)
{
	struct audit_majority usual = members_majority(m, n, scratch);
	uint32_t below = count_below(m, n, usual.value);

	if (below == 0 || usual.n_same < WEFT_LEAST_MAJORITY)
		return 0;
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && m[end].domain == m[i].domain;)
			end++;
		if (leaf_look(a, sub, m + i, end - i, usual,
			      audit_is_few(below, usual.n), scratch))
			return -1;
	}
	return 0;
}

static uint32_t members_fill(const struct weft_audit *a,
			     const struct subject *sub, struct member *m)
{
	const struct weft_inventory *s = a->inventory;
	uint32_t n = 0;

	for (uint32_t h = 0; h < s->n_hosts; h++) {
		const struct weft_inventory_host *host = &s->hosts[h];

		if (host->no_gpus)
			continue;
		m[n] = (struct member){
			.kind = host->gpu_kind.text ? host->gpu_kind.text : "",
			.host = h,
			.domain = a->hierarchy ? a->hierarchy->host_domain[h]
					       : WEFT_NONE,
			.value = sub->value(a, h),
		};
		audit_stem(host->name, m[n].stem, sizeof(m[n].stem));
		n++;
	}
	return n;
}

int audit_hosts(const struct weft_audit *a)
{
	uint32_t room = a->inventory->n_hosts, n;
	struct member *m;
	double *scratch;

	if (WEFT_ARRAY(m, room, a->memory, a->err) ||
	    WEFT_ARRAY(scratch, room, a->memory, a->err))
		return -1;
	for (size_t k = 0; k < WEFT_N_OF(subjects); k++) {
		n = members_fill(a, &subjects[k], m);
		WEFT_SORT(m, n, compare_members);
		for (uint32_t i = 0, end; i < n; i = end) {
			for (end = i + 1;
			     end < n && same_class(m + i, m + end);)
				end++;
			if (class_look(a, &subjects[k], m + i, end - i,
				       scratch))
				return -1;
		}
	}
	return 0;
}
