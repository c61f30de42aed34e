/* SPDX-License-Identifier: GPL-3.0-or-later */
/* traffic.c - sparse rows of bytes: built from triples, summed, freed */
#include "costmodel/traffic/traffic.h"

#include "base/clock.h"
#include "base/compare.h"
#include "costmodel/traffic/traffic_parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Half a gigabyte of edges: more would not be placed in useful time either. */
#define MAX_EDGES (1u << 25)

const char *const weft_axis_names[WEFT_N_AXES] = {"tp", "cp", "ep", "pp", "dp"};

int traffic_check_size(uint64_t n_edges, struct weft_error *err)
{
	if (n_edges > MAX_EDGES)
		return weft_fail(err, WEFT_EINVAL,
				 "the ranks exchange bytes in %llu pairs, more "
				 "than the %u supported",
				 (unsigned long long)n_edges, MAX_EDGES);
	return 0;
}

int traffic_alloc(struct weft_traffic *t, uint32_t n_ranks, uint64_t n_edges,
		  struct weft_error *err)
{
	if (traffic_check_size(n_edges, err))
		return -1;
	t->n_ranks = n_ranks;
	t->row = weft_calloc((size_t)n_ranks + 1, sizeof(*t->row), err);
	t->peer = weft_calloc(n_edges, sizeof(*t->peer), err);
	t->axis = weft_calloc(n_edges, sizeof(*t->axis), err);
	t->bytes = weft_calloc(n_edges, sizeof(*t->bytes), err);
	return t->row && t->peer && t->axis && t->bytes ? 0 : -1;
}

void traffic_row_add(struct weft_traffic *t, uint32_t first, uint32_t peer,
		     enum weft_axis axis, double bytes)
{
	uint32_t i = t->n_edges;

	if (!(bytes > 0))
		return;
	while (i > first && (t->peer[i - 1] > peer ||
			     (t->peer[i - 1] == peer && t->axis[i - 1] > axis)))
		i--;
	if (i > first && t->peer[i - 1] == peer && t->axis[i - 1] == axis) {
		t->bytes[i - 1] += bytes;
		return;
	}
	for (uint32_t k = t->n_edges; k > i; k--) {
		t->peer[k] = t->peer[k - 1];
		t->axis[k] = t->axis[k - 1];
		t->bytes[k] = t->bytes[k - 1];
	}
	t->peer[i] = peer;
	t->axis[i] = (uint8_t)axis;
	t->bytes[i] = bytes;
	t->n_edges++;
}

void weft_traffic_free(struct weft_traffic *traffic)
{
	if (!traffic)
		return;
	free(traffic->row);
	free(traffic->peer);
	free(traffic->axis);
	free(traffic->bytes);
	free(traffic->switches);
	free(traffic->member);
	free(traffic->cliques);
	weft_traffic_free(traffic->loose);
	free(traffic->loose);
	memset(traffic, 0, sizeof(*traffic));
}

WEFT_COMPARATOR(flow_compare, struct weft_flow,
		WEFT_UP(from) WEFT_UP(to) WEFT_UP(axis));

static int flow_check(uint32_t n_ranks, const struct weft_flow *flow,
		      uint32_t i, struct weft_error *err)
{
	if (flow->from >= n_ranks || flow->to >= n_ranks)
		return weft_fail(err, WEFT_EINVAL,
				 "flow %u: from %u to %u, but there are %u "
				 "ranks",
				 i, flow->from, flow->to, n_ranks);
	if (flow->from == flow->to)
		return weft_fail(err, WEFT_EINVAL,
				 "flow %u: rank %u sends to itself", i,
				 flow->from);
	if ((unsigned)flow->axis >= WEFT_N_AXES)
		return weft_fail(err, WEFT_EINVAL, "flow %u: unknown axis %d",
				 i, (int)flow->axis);
	if (!(flow->bytes >= 0 && isfinite(flow->bytes)))
		return weft_fail(err, WEFT_EINVAL,
				 "flow %u: expected a number of bytes >= 0", i);
	return 0;
}

int weft_traffic_from_flows(uint32_t n_ranks, struct weft_flow *flows,
			    uint32_t n_flows, struct weft_traffic *traffic,
			    struct weft_error *err)
{
	uint32_t i = 0;

	memset(traffic, 0, sizeof(*traffic));
	if (weft_deadline() > 0 && n_flows > TRAFFIC_TIMED_FLOWS)
		return weft_fail(err, WEFT_ELATE, "no time was left");
	for (uint32_t k = 0; k < n_flows; k++) {
		if (flow_check(n_ranks, &flows[k], k, err))
			return -1;
	}
	if (traffic_alloc(traffic, n_ranks, n_flows, err))
		return -1;
	if (n_flows)
		qsort(flows, n_flows, sizeof(*flows), flow_compare);
	for (uint32_t rank = 0; rank < n_ranks; rank++) {
		traffic->row[rank] = traffic->n_edges;
		while (i < n_flows && flows[i].from == rank) {
			const struct weft_flow *flow = &flows[i];
			double bytes = 0;

			for (;
			     i < n_flows && flow_compare(&flows[i], flow) == 0;
			     i++)
				bytes += flows[i].bytes;
			if (!(bytes > 0))
				continue;
			traffic->peer[traffic->n_edges] = flow->to;
			traffic->axis[traffic->n_edges] = (uint8_t)flow->axis;
			traffic->bytes[traffic->n_edges++] = bytes;
		}
	}
	traffic->row[n_ranks] = traffic->n_edges;
	return 0;
}

double weft_traffic_bytes(const struct weft_traffic *traffic)
{
	const struct weft_traffic *t =
		traffic->loose ? traffic->loose : traffic;
	double sum = 0;

	for (uint32_t k = 0; k < t->n_edges; k++)
		sum += t->bytes[k];
	for (uint32_t k = 0; k < traffic->n_cliques && traffic->loose; k++) {
		const struct weft_clique *c = &traffic->cliques[k];

		sum += c->bytes * c->n_members * (c->n_members - 1);
	}
	for (uint32_t k = 0; k < traffic->n_switches; k++)
		sum += traffic->switches[k].bytes *
		       traffic->switches[k].n_members;
	return sum;
}
