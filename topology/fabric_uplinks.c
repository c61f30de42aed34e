/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fabric_uplinks.c - what the links above each domain really carry
 *
 * Cables and the section `uplinks` say line rates, of which GPUs get a part:
 * the levels' bandwidth is what arrives.  That part is the bandwidth of the
 * first network level over the line rate of a node's cables per GPU, in the
 * middle of all nodes; so cables that are as the links say change nothing.
 */
#include "topology/cabling.h"
#include "topology/fabric_draft.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of a domain whose cables are all down: never worth it, and yet finite. */
#define DEAD_BYTES_PER_S 1.0

static int rate_compare(const void *pa, const void *pb)
{
	double a = *(const double *)pa, b = *(const double *)pb;

	return (a > b) - (a < b);
}

/* What arrives of a line rate: at most 1, and 1 where no cable tells. */
static int goodput(struct weft_draft *d, const struct weft_fabric *f,
		   const struct weft_uplinks *uplinks, double *share)
{
	const struct weft_level *level = &f->levels[f->node_level];
	double *rate = weft_calloc(level->n_domains, sizeof(*rate), d->err);
	uint32_t n = 0;

	*share = 1;
	if (!rate)
		return -1;
	for (uint32_t k = 0; k < level->n_domains; k++) {
		uint32_t domain = level->first_domain + k;

		if (uplinks[domain].whole && uplinks[domain].n_up)
			rate[n++] = uplinks[domain].line_rate_bytes_per_s /
				    f->domains[domain].n_gpus;
	}
	qsort(rate, n, sizeof(*rate), rate_compare);
	if (n)
		*share = fmin(1, level[1].link.rate_bytes_per_s / rate[n / 2]);
	free(rate);
	return 0;
}

static int rates_from_cables(struct weft_draft *d, struct weft_fabric *f)
{
	struct weft_uplinks *uplinks =
		weft_calloc(f->n_domains, sizeof(*uplinks), d->err);
	double share = 1;
	int rc = -1;

	if (!uplinks)
		return -1;
	weft_cabling_uplinks(f, uplinks);
	if (goodput(d, f, uplinks, &share) == 0)
		rc = 0;
	for (uint32_t k = 0; !rc && k < f->n_domains; k++) {
		const struct weft_uplinks *u = &uplinks[k];

		if (f->domains[k].parent != WEFT_NONE && u->whole &&
		    u->n_up + u->n_down > 0)
			f->uplink_rate_bytes_per_s[k] =
				fmax(DEAD_BYTES_PER_S,
				     share * u->line_rate_bytes_per_s);
	}
	free(uplinks);
	return rc;
}

int weft_draft_uplinks(struct weft_draft *d, struct weft_fabric *f)
{
	if (!f->cabling || f->node_level + 1 >= f->n_levels)
		return 0;
	f->uplink_rate_bytes_per_s = weft_calloc(
		f->n_domains, sizeof(*f->uplink_rate_bytes_per_s), d->err);
	if (!f->uplink_rate_bytes_per_s)
		return -1;
	return rates_from_cables(d, f);
}
