/* SPDX-License-Identifier: GPL-3.0-or-later */
/* drift_hosts.c - hosts that only one side has, or that have another name or
 * other GPUs
 */
#include "base/suggest.h"
#include "topology/audit/drift/drift.h"

#include <string.h>

/* Of more names than that the nearest one means nothing. */
#define MAX_SUGGESTIONS 64

/* Same up to the first dot. */
static bool same_short_name(const char *a, const char *b)
{
	size_t n = strcspn(a, ".");

	return n == strcspn(b, ".") && memcmp(a, b, n) == 0;
}

static int renamed_tell(struct drift *d)
{
	for (uint32_t h = 0; h < d->s[0]->n_hosts; h++) {
		const struct weft_inventory_host *was = &d->s[0]->hosts[h], *is;

		if (d->host[0][h] == WEFT_NONE)
			continue;
		is = &d->s[1]->hosts[d->host[0][h]];
		if (same_short_name(was->name, is->name))
			continue;
		d->renamed[h] = true;
		if (drift_note(d, 1, WEFT_FINDING_DRIFT_HOST_RENAMED, was->name,
			       is->where, WEFT_WEIGHT_HOST,
			       "is now called %s: same place, another name",
			       is->name))
			return -1;
	}
	return 0;
}

/* ---- missing and new ---- */

/* The name of a host that only the other side has and that is near, or NULL. */
static const char *near_name(const struct drift *d, int side, const char *name)
{
	const struct weft_inventory *other = d->s[!side];
	const char *known[MAX_SUGGESTIONS];
	uint32_t n = 0;

	for (uint32_t h = 0; h < other->n_hosts; h++) {
		if (d->host[!side][h] != WEFT_NONE)
			continue;
		if (n == MAX_SUGGESTIONS)
			return NULL;
		known[n++] = other->hosts[h].name;
	}
	return n ? weft_suggest(name, known, n) : NULL;
}

/* Hosts with GPUs of a domain, and how many of them the other side lacks. */
struct census {
	uint32_t n, missing;
};

static int missing_note(struct drift *d, uint32_t h)
{
	const struct weft_inventory_host *host = &d->s[0]->hosts[h];
	const char *near = near_name(d, 0, host->name);

	return drift_note(d, 0, WEFT_FINDING_DRIFT_HOST_MISSING, host->name,
			  host->where, WEFT_WEIGHT_HOST, "is not in %s%s%s%s",
			  drift_side_name(d, 1),
			  near ? "; only that one has " : "", near ? near : "",
			  near ? ", is that it?" : "");
}

static int domain_note(struct drift *d, uint32_t domain, uint32_t n)
{
	return drift_note(d, 0, WEFT_FINDING_DRIFT_SWITCH_MISSING,
			  d->side[0]->hierarchy->domains[domain].name,
			  (struct weft_place){0}, WEFT_WEIGHT_SWITCH + n,
			  "is not in %s with all of its %u nodes",
			  drift_side_name(d, 1), n);
}

/* A leaf whose hosts are all gone is what is gone. */
static int missing_tell(struct drift *d)
{
	const struct weft_hierarchy *hierarchy = d->side[0]->hierarchy;
	uint32_t n = hierarchy ? hierarchy->n_domains : 0;
	struct census *census;
	int rc = 0;

	if (WEFT_ARRAY(census, n, &d->memory, d->err))
		return -1;
	for (uint32_t h = 0; n && h < d->s[0]->n_hosts; h++) {
		uint32_t at = hierarchy->host_domain[h];

		if (at == WEFT_NONE)
			continue;
		census[at].n++;
		census[at].missing += d->host[0][h] == WEFT_NONE;
	}
	for (uint32_t k = 0; rc == 0 && k < n; k++)
		if (census[k].n > 1 && census[k].missing == census[k].n)
			rc = domain_note(d, k, census[k].n);
	for (uint32_t h = 0; rc == 0 && h < d->s[0]->n_hosts; h++) {
		uint32_t at = n ? hierarchy->host_domain[h] : WEFT_NONE;

		if (d->host[0][h] != WEFT_NONE ||
		    (at != WEFT_NONE && census[at].n > 1 &&
		     census[at].missing == census[at].n))
			continue;
		rc = missing_note(d, h);
	}
	return rc;
}

/* Whether the host is one that jobs with GPUs would run on: its GPUs are known,
 * or a scheduler names it. */
static bool is_for_jobs(const struct drift *d,
			const struct weft_inventory_host *h)
{
	const struct weft_inventory *s = d->s[1];

	return !h->no_gpus &&
	       (h->gpus.value > 0 ||
		(h->where.source < s->n_sources &&
		 strncmp(s->sources[h->where.source].format, "slurm", 5) == 0));
}

static int new_tell(struct drift *d)
{
	for (uint32_t h = 0; h < d->s[1]->n_hosts; h++) {
		const struct weft_inventory_host *host = &d->s[1]->hosts[h];
		bool jobs = is_for_jobs(d, host);

		if (d->host[1][h] != WEFT_NONE)
			continue;
		if (drift_note(d, 1,
			       jobs ? WEFT_FINDING_DRIFT_HOST_NEW
				    : WEFT_FINDING_DRIFT_HOST_OTHER,
			       host->name, host->where,
			       jobs ? WEFT_WEIGHT_HOST : WEFT_WEIGHT_OUTCOME,
			       "is not in %s", drift_side_name(d, 0)))
			return -1;
	}
	return 0;
}

/* ---- GPUs ---- */

static int gpus_tell(struct drift *d)
{
	for (uint32_t h = 0; h < d->s[0]->n_hosts; h++) {
		const struct weft_inventory_host *was = &d->s[0]->hosts[h], *is;
		double a = was->gpus.value, b;

		if (d->host[0][h] == WEFT_NONE)
			continue;
		is = &d->s[1]->hosts[d->host[0][h]];
		b = is->gpus.value;
		if (is->no_gpus && a > 0 &&
		    drift_note(d, 1, WEFT_FINDING_DRIFT_GPUS, was->name,
			       is->where, WEFT_WEIGHT_HOST,
			       "has no GPUs; %s says %.0f",
			       drift_side_name(d, 0), a))
			return -1;
		if (a > 0 && b > 0 && (a < b || a > b) &&
		    drift_note(d, 1, WEFT_FINDING_DRIFT_GPUS, was->name,
			       is->gpus.where, WEFT_WEIGHT_HOST,
			       "has %.0f GPU%s; %s says %.0f", b,
			       b < 2 ? "" : "s", drift_side_name(d, 0), a))
			return -1;
		if (was->gpu_kind.text && is->gpu_kind.text &&
		    strcmp(was->gpu_kind.text, is->gpu_kind.text) != 0 &&
		    drift_note(d, 1, WEFT_FINDING_DRIFT_GPU_KIND, was->name,
			       is->gpu_kind.where, WEFT_WEIGHT_HOST,
			       "has GPUs of kind %s; %s says %s",
			       is->gpu_kind.text, drift_side_name(d, 0),
			       was->gpu_kind.text))
			return -1;
	}
	return 0;
}

int drift_hosts(struct drift *d)
{
	return renamed_tell(d) || missing_tell(d) || new_tell(d) || gpus_tell(d)
		       ? -1
		       : 0;
}
