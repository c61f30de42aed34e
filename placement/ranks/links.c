/* SPDX-License-Identifier: GPL-3.0-or-later */
/* links.c - what every link carries while ranks move about */
#include "placement/ranks/links.h"

#include "placement/mapping/sites.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double eighth(double x)
{
	x *= x;
	x *= x;
	return x * x;
}

static void add(struct links *k, double *bytes, double per_byte, double change)
{
	double after = *bytes + change;

	/* what is left of a sum whose terms are all taken away again */
	if (after < 0)
		after = 0;
	k->pressure += eighth(after * per_byte) - eighth(*bytes * per_byte);
	*bytes = after;
}

static void add_edge(struct links *k, uint32_t from, uint32_t to, double bytes)
{
	const struct weft_fabric *f = k->f;
	uint32_t a = k->where[from], b = k->where[to], cross;
	uint32_t level = weft_fabric_relation(f, a, b, &cross);

	k->cost +=
		bytes * (k->distance[level][cross] +
			 k->step[level] * weft_fabric_further(f, level, a, b));
	for (uint32_t l = 0; l < level; l++) {
		uint32_t up = 2 * f->gpu_domain[l][a];
		uint32_t down = 2 * f->gpu_domain[l][b] + 1;

		add(k, &k->bytes[up], k->per_byte[up], bytes);
		add(k, &k->bytes[down], k->per_byte[down], bytes);
	}
	if (level > f->node_level) {
		add(k, &k->nic[2 * (size_t)from], k->nic_per_byte, bytes);
		add(k, &k->nic[2 * (size_t)to + 1], k->nic_per_byte, bytes);
	}
}

/* All edges of a rank but those to ranks that are lifted. */
static uint32_t add_rank(struct links *k, uint32_t rank, double sign)
{
	const struct weft_traffic *t = k->t;

	for (uint32_t e = t->row[rank]; e < t->row[rank + 1]; e++)
		if (!k->lifted[t->peer[e]])
			add_edge(k, rank, t->peer[e], sign * t->bytes[e]);
	for (uint32_t e = k->in_row[rank]; e < k->in_row[rank + 1]; e++)
		if (!k->lifted[k->in_peer[e]])
			add_edge(k, k->in_peer[e], rank, sign * k->in_bytes[e]);
	return t->row[rank + 1] - t->row[rank] + k->in_row[rank + 1] -
	       k->in_row[rank];
}

uint32_t links_move(struct links *links, const uint32_t *ranks,
		    const uint32_t *gpu, uint32_t n)
{
	uint32_t edges = 0;

	for (uint32_t i = 0; i < n; i++) {
		edges += add_rank(links, ranks[i], -1);
		links->lifted[ranks[i]] = true;
		links->rank_at[links->where[ranks[i]]] = WEFT_NONE;
	}
	for (uint32_t i = 0; i < n; i++) {
		links->where[ranks[i]] = gpu[i];
		links->rank_at[gpu[i]] = ranks[i];
	}
	for (uint32_t i = 0; i < n; i++) {
		links->lifted[ranks[i]] = false;
		edges += add_rank(links, ranks[i], 1);
	}
	return edges;
}

/* One block for all arrays: the widest first, for alignment. */
static int allocate(struct links *k, struct weft_error *err)
{
	size_t domains = 2 * (size_t)k->f->n_domains;
	size_t ranks = k->t->n_ranks, edges = k->t->n_edges;
	size_t reals = 2 * domains + 2 * ranks + edges;
	size_t words = ranks + k->f->n_gpus + ranks + 1 + edges;
	char *p = weft_calloc(reals * sizeof(double) +
				      words * sizeof(uint32_t) + ranks,
			      1, err);

	if (!p)
		return -1;
	k->memory = p;
	k->bytes = (double *)(void *)p;
	k->per_byte = k->bytes + domains;
	k->nic = k->per_byte + domains;
	k->in_bytes = k->nic + 2 * ranks;
	k->where = (uint32_t *)(void *)(k->in_bytes + edges);
	k->rank_at = k->where + ranks;
	k->in_row = k->rank_at + k->f->n_gpus;
	k->in_peer = k->in_row + ranks + 1;
	k->lifted = (bool *)(k->in_peer + edges);
	return 0;
}

static void transpose(struct links *k)
{
	const struct weft_traffic *t = k->t;

	for (uint32_t e = 0; e < t->n_edges; e++)
		k->in_row[t->peer[e] + 1]++;
	for (uint32_t r = 0; r < t->n_ranks; r++)
		k->in_row[r + 1] += k->in_row[r];
	/* each row's start walks to its end, and back again */
	for (uint32_t r = 0; r < t->n_ranks; r++) {
		for (uint32_t e = t->row[r]; e < t->row[r + 1]; e++) {
			uint32_t at = k->in_row[t->peer[e]]++;

			k->in_peer[at] = r;
			k->in_bytes[at] = t->bytes[e];
		}
	}
	for (uint32_t r = t->n_ranks; r > 0; r--)
		k->in_row[r] = k->in_row[r - 1];
	k->in_row[0] = 0;
}

static double rate_of(const struct weft_judge *judge, uint32_t domain, bool up)
{
	if (judge->objective.load)
		return weft_load_rate(judge->objective.load, domain, up);
	return weft_cost_uplink_rate(judge->f, domain);
}

static void scale(struct links *k, const struct weft_judge *judge,
		  double reference_s)
{
	const struct weft_fabric *f = k->f;

	for (uint32_t d = 0; d < f->n_domains; d++) {
		k->per_byte[2 * d] = 1 / rate_of(judge, d, true) / reference_s;
		k->per_byte[2 * d + 1] =
			1 / rate_of(judge, d, false) / reference_s;
	}
	if (f->node_level + 1 < f->n_levels)
		k->nic_per_byte =
			1 / f->levels[f->node_level + 1].link.rate_bytes_per_s /
			reference_s;
	for (uint32_t l = 0; l < f->n_levels; l++) {
		struct weft_distance step = {1, f->levels[l].hop_latency_s, 0};

		k->step[l] = sites_metric(&step, judge->objective.metric);
		for (uint32_t cross = 0; cross < 2; cross++)
			k->distance[l][cross] =
				sites_metric(&f->distance[l][cross],
					     judge->objective.metric);
	}
}

int links_build(const struct weft_judge *judge, const uint32_t *where,
		double reference_s, struct links *links, struct weft_error *err)
{
	const struct weft_traffic *t = &judge->job->traffic;

	memset(links, 0, sizeof(*links));
	links->f = judge->f;
	links->t = t = weft_traffic_whole(t, &links->rows, err);
	if (!t || allocate(links, err))
		return -1;
	scale(links, judge, reference_s);
	transpose(links);
	memset(links->rank_at, 0xff, links->f->n_gpus * sizeof(uint32_t));
	for (uint32_t r = 0; r < t->n_ranks; r++) {
		links->where[r] = where[r];
		links->rank_at[where[r]] = r;
	}
	for (uint32_t r = 0; r < t->n_ranks; r++)
		for (uint32_t e = t->row[r]; e < t->row[r + 1]; e++)
			add_edge(links, r, t->peer[e], t->bytes[e]);
	return 0;
}

void links_free(struct links *links)
{
	free(links->memory);
	weft_traffic_free(&links->rows);
	memset(links, 0, sizeof(*links));
}

static void look_at(const double bytes[2], double per_byte, uint32_t domain,
		    uint32_t rank, struct busy_link *busiest)
{
	double pressure = eighth(fmax(bytes[0], bytes[1]) * per_byte);

	if (pressure > busiest->pressure)
		*busiest = (struct busy_link){pressure, domain, rank};
}

struct busy_link links_busiest(const struct links *links)
{
	struct busy_link busiest = {0, WEFT_NONE, WEFT_NONE};

	for (uint32_t r = 0; r < links->t->n_ranks; r++) {
		for (uint32_t l = 0; l + 1 < links->f->n_levels; l++) {
			uint32_t d = links->f->gpu_domain[l][links->where[r]];
			double scaled[2] = {links->bytes[2 * d] *
						    links->per_byte[2 * d],
					    links->bytes[2 * d + 1] *
						    links->per_byte[2 * d + 1]};

			look_at(scaled, 1, d, WEFT_NONE, &busiest);
		}
		look_at(&links->nic[2 * (size_t)r], links->nic_per_byte,
			WEFT_NONE, r, &busiest);
	}
	return busiest;
}
