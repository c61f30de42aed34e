/* SPDX-License-Identifier: GPL-3.0-or-later */
/* audit_places.c - coordinates that contradict each other
 *
 * A rack stands at one place of the network and an NVLink domain is attached to
 * one leaf.  Where all but a few of one are in a domain, it reports the few;
 * where no domain has most of it, nothing is: then the two are simply not
 * aligned.
 */
#include "base/compare.h"
#include "topology/audit/checks.h"
#include "topology/audit/siblings.h"

#include <stdlib.h>
#include <string.h>

static const char *host_rack(const struct weft_inventory_host *host)
{
	return host->rack.text;
}

static const char *host_nvlink(const struct weft_inventory_host *host)
{
	return host->nvlink.text;
}

static const struct subject {
	const char *(*label)(const struct weft_inventory_host *host);
	enum weft_finding_id id;
	uint32_t level; /* whose domains it should not span */
	const char *noun;
} subjects[] = {
	{host_rack, WEFT_FINDING_RACK_SPREAD, 1, "rack"},
	{host_nvlink, WEFT_FINDING_NVLINK_SPREAD, 0, "NVLink domain"},
};

struct member {
	const char *label;
	uint32_t domain, host;
};

WEFT_COMPARATOR(compare_members, struct member,
		WEFT_TEXT(label) WEFT_UP(domain) WEFT_UP(host));

/* The domain of `level` that holds domain d, or d's outermost below it. */
static uint32_t domain_at(const struct weft_hierarchy *s, uint32_t d,
			  uint32_t level)
{
	while (d != WEFT_NONE && s->domains[d].level < level &&
	       s->domains[d].parent != WEFT_NONE)
		d = s->domains[d].parent;
	return d;
}

static int group_look(const struct weft_audit *a, const struct subject *sub,
		      const struct member *m, uint32_t n)
{
	const struct weft_hierarchy *s = a->hierarchy;
	uint32_t most = 0, best = WEFT_NONE;

	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && m[end].domain == m[i].domain;)
			end++;
		if (end - i > most) {
			most = end - i;
			best = m[i].domain;
		}
	}
	if (most == n || n < 3 || !audit_is_few(n - most, n))
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct weft_inventory_host *host =
			&a->inventory->hosts[m[i].host];

		if (m[i].domain != best &&
		    audit_note(a, sub->id, host->name, host->where,
			       WEFT_WEIGHT_HOST,
			       "is in %s %s, whose other nodes are attached to "
			       "%s, but is attached to %s",
			       sub->noun, m[i].label, s->domains[best].name,
			       s->domains[m[i].domain].name))
			return -1;
	}
	return 0;
}

static int subject_look(const struct weft_audit *a, const struct subject *sub,
			struct member *m)
{
	const struct weft_inventory *s = a->inventory;
	uint32_t n = 0;

	for (uint32_t h = 0; h < s->n_hosts; h++) {
		uint32_t d = a->hierarchy->host_domain[h];
		const char *label = sub->label(&s->hosts[h]);

		if (label && d != WEFT_NONE)
			m[n++] = (struct member){
				label, domain_at(a->hierarchy, d, sub->level),
				h};
	}
	WEFT_SORT(m, n, compare_members);
	for (uint32_t i = 0, end; i < n; i = end) {
		for (end = i + 1;
		     end < n && strcmp(m[end].label, m[i].label) == 0;)
			end++;
		if (group_look(a, sub, m + i, end - i))
			return -1;
	}
	return 0;
}

int audit_places(const struct weft_audit *a)
{
	struct member *m;

	if (!a->hierarchy)
		return 0;
	if (WEFT_ARRAY(m, a->inventory->n_hosts, a->memory, a->err))
		return -1;
	for (size_t k = 0; k < WEFT_N_OF(subjects); k++)
		if (subject_look(a, &subjects[k], m))
			return -1;
	return 0;
}
