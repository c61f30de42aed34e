/* SPDX-License-Identifier: GPL-3.0-or-later */
/* known.c - placements that have been timed */
#include "placement/objective/known.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void weft_known_free(struct weft_known *known)
{
	int saved = errno;

	free(known->where);
	free(known->twin);
	memset(known, 0, sizeof(*known));
	errno = saved;
}

static uint32_t host_of(const struct weft_fabric *f, uint32_t gpu)
{
	return f->gpu_domain[f->node_level][gpu] -
	       f->levels[f->node_level].first_domain;
}

/* Whether GPU b is to its host what GPU a is to its own, as far as ranks before
 * them say.  GPUs of a node are alike where they have no rails and no domains
 * inside it. */
static bool gpus_alike(const struct weft_known *known,
		       const struct weft_fabric *f, uint32_t a, uint32_t b)
{
	uint32_t n_hosts = f->levels[f->node_level].n_domains;
	uint32_t x = host_of(f, a), y = host_of(f, b);
	uint32_t *of_x = &known->twin[x], *of_y = &known->twin[n_hosts + y];

	if (!*of_x && !*of_y) {
		*of_x = y + 1;
		*of_y = x + 1;
	}
	return *of_x == y + 1 && *of_y == x + 1 &&
	       f->nodes[f->gpu_node[a]].n_gpus ==
		       f->nodes[f->gpu_node[b]].n_gpus &&
	       ((f->node_level == 0 && f->n_rails < 2) ||
		weft_fabric_number(f, a) == weft_fabric_number(f, b));
}

/* Whether all ranks share hosts with the same others on both. */
static bool hosts_alike(const struct weft_known *known,
			const struct weft_fabric *f, const uint32_t *a,
			const uint32_t *b, uint32_t n)
{
	uint32_t n_hosts = f->levels[f->node_level].n_domains;
	bool alike = true;
	uint32_t done = 0;

	for (; done < n && alike; done++)
		alike = gpus_alike(known, f, a[done], b[done]);
	while (done-- > 0) {
		known->twin[host_of(f, a[done])] = 0;
		known->twin[n_hosts + host_of(f, b[done])] = 0;
	}
	return alike;
}

bool weft_known_alike(const struct weft_known *known,
		      const struct weft_fabric *f, const uint32_t *a,
		      const uint32_t *b, uint32_t n)
{
	return known->twin && hosts_alike(known, f, a, b, n);
}

static void time_take(const struct weft_measure *from,
		      struct weft_measure *measure)
{
	measure->goal = from->goal;
	measure->to_gain = from->to_gain;
	measure->cost.busiest = from->cost.busiest;
}

bool weft_known_find(const struct weft_known *known,
		     const struct weft_fabric *f, const uint32_t *where,
		     uint32_t n, bool infer, struct weft_measure *measure)
{
	uint32_t n_kept = known->n < WEFT_KNOWN ? known->n : WEFT_KNOWN;

	for (uint32_t i = 0; i < n_kept; i++) {
		if (memcmp(&known->where[(size_t)i * n], where,
			   n * sizeof(*where)) == 0) {
			time_take(&known->measure[i], measure);
			return true;
		}
	}
	for (uint32_t i = 0; infer && i < n_kept; i++) {
		if (known->anywhere[i] &&
		    hosts_alike(known, f, &known->where[(size_t)i * n], where,
				n)) {
			time_take(&known->measure[i], measure);
			measure->inferred = true;
			return true;
		}
	}
	return false;
}

static bool known_reserve(struct weft_known *known, const struct weft_fabric *f,
			  uint32_t n)
{
	uint32_t n_hosts = f->levels[f->node_level].n_domains;

	if (!known->where)
		known->where = weft_calloc((size_t)WEFT_KNOWN * n,
					   sizeof(*known->where), NULL);
	if (!known->twin)
		known->twin =
			weft_calloc(n_hosts, 2 * sizeof(*known->twin), NULL);
	return known->where && known->twin;
}

void weft_known_keep(struct weft_known *known, const struct weft_fabric *f,
		     const uint32_t *where, uint32_t n,
		     const struct weft_measure *measure, bool anywhere)
{
	uint32_t at = known->n % WEFT_KNOWN;

	if (!known_reserve(known, f, n))
		return;
	memcpy(&known->where[(size_t)at * n], where, n * sizeof(*where));
	known->measure[at] = *measure;
	known->anywhere[at] = anywhere;
	known->n++;
}
