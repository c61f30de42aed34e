/* SPDX-License-Identifier: GPL-3.0-or-later */
/* audit_nvlink.c - NVLink domains that lack nodes, or do not work as they
 * should
 */
#include "base/compare.h"
#include "topology/audit/checks.h"
#include "topology/audit/siblings.h"

#include <stdlib.h>
#include <string.h>

struct member {
	const char *domain;
	uint32_t host;
};

WEFT_COMPARATOR(compare_members, struct member,
		WEFT_TEXT(domain) WEFT_UP(host));

static uint32_t domain_end(const struct member *m, uint32_t i, uint32_t n)
{
	uint32_t end = i + 1;

	while (end < n && strcmp(m[end].domain, m[i].domain) == 0)
		end++;
	return end;
}

static int states_tell(const struct weft_audit *a)
{
	const struct weft_inventory *s = a->inventory;

	for (uint32_t h = 0; h < s->n_hosts; h++) {
		const struct weft_fact_text *state = &s->hosts[h].nvlink_state;

		if (state->text &&
		    audit_note(a, WEFT_FINDING_NVLINK_DEGRADED,
			       s->hosts[h].name, state->where, WEFT_WEIGHT_HOST,
			       "NVLink is degraded: %s", state->text))
			return -1;
	}
	return 0;
}

static int domains_compare(const struct weft_audit *a, const struct member *m,
			   uint32_t n, double *size)
{
	const struct weft_inventory *s = a->inventory;
	struct audit_majority usual;
	uint32_t k = 0, below = 0;

	for (uint32_t i = 0, end; i < n; i = end) {
		end = domain_end(m, i, n);
		size[k++] = end - i;
	}
	usual = audit_majority(size, k);
	for (uint32_t i = 0; i < k; i++)
		below += size[i] < usual.value;
	/* a quarter of the racks may miss a node at a time */
	if (usual.n < 3 || usual.value < 2 || below * 4 > k)
		return 0;
	for (uint32_t i = 0, end; i < n; i = end) {
		end = domain_end(m, i, n);
		if (end - i < usual.value &&
		    audit_note(a, WEFT_FINDING_NVLINK_INCOMPLETE, m[i].domain,
			       s->hosts[m[i].host].nvlink.where,
			       WEFT_WEIGHT_HOST,
			       "has %u nodes; the other NVLink domains have "
			       "%.0f",
			       end - i, usual.value))
			return -1;
	}
	return 0;
}

int audit_nvlink(const struct weft_audit *a)
{
	const struct weft_inventory *s = a->inventory;
	struct member *m;
	double *size;
	uint32_t n = 0;

	if (WEFT_ARRAY(m, s->n_hosts, a->memory, a->err) ||
	    WEFT_ARRAY(size, s->n_hosts, a->memory, a->err))
		return -1;
	for (uint32_t h = 0; h < s->n_hosts; h++)
		if (s->hosts[h].nvlink.text)
			m[n++] = (struct member){s->hosts[h].nvlink.text, h};
	WEFT_SORT(m, n, compare_members);
	return states_tell(a) ? -1 : domains_compare(a, m, n, size);
}
