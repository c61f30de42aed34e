/* SPDX-License-Identifier: GPL-3.0-or-later */
/* limits.c - which nodes of a job must stay together, and what fails together
 */
#include "placement/nodes/limits.h"

#include "base/compare.h"

#include <stdlib.h>
#include <string.h>

uint32_t limits_level(const struct weft_fabric *f)
{
	return weft_fabric_segment_level(f);
}

/* A job inside one domain of that level is one group. */
static bool is_one_group(const struct weft_fabric *f,
			 const struct weft_job *job)
{
	return job->within_level <= limits_level(f);
}

uint32_t limits_segment(const struct weft_fabric *f, const struct weft_job *job)
{
	uint32_t n = job->spec.segment;

	return n > 1 && !is_one_group(f, job) ? n : 0;
}

uint32_t limits_parts(const struct weft_fabric *f, const struct weft_job *job)
{
	uint32_t n = job->spec.n_split;

	return n == 1 && is_one_group(f, job) ? 0 : n;
}

/* Whether run[] are the nodes of the parts, in any order. */
static bool runs_match(const struct weft_job *job, uint32_t *run, uint32_t n)
{
	uint32_t part[WEFT_MAX_PARTS];

	if (n != job->spec.n_split)
		return false;
	memcpy(part, job->spec.split, n * sizeof(*part));
	qsort(part, n, sizeof(*part), weft_compare_numbers);
	qsort(run, n, sizeof(*run), weft_compare_numbers);
	return memcmp(part, run, n * sizeof(*run)) == 0;
}

bool limits_suit(const struct capacity *s, const struct node_set *c)
{
	const struct weft_fabric *f = s->f;
	const uint32_t *domain = f->gpu_domain[limits_level(f)];
	uint32_t segment = limits_segment(f, s->job);
	uint32_t parts = limits_parts(f, s->job);
	uint32_t run[WEFT_MAX_PARTS], n_runs = 0, n_broken = 0, i, k;

	if (!segment && !parts)
		return true;
	for (i = 0; i < c->n_nodes; i = k) {
		uint32_t first = domain[f->nodes[c->node[i]].first_gpu];

		for (k = i + 1; k < c->n_nodes; k++)
			if (domain[f->nodes[c->node[k]].first_gpu] != first)
				break;
		n_broken += segment && (k - i) % segment;
		if (parts && n_runs == parts)
			return false;
		if (parts)
			run[n_runs++] = k - i;
	}
	/* only the last segment may be smaller */
	return n_broken <= 1 && (!parts || runs_match(s->job, run, n_runs));
}

static bool in_one_domain(const struct capacity *s, const uint32_t *where)
{
	const uint32_t *domain = s->f->gpu_domain[limits_level(s->f)];

	for (uint32_t r = 1; r < s->job->n_gpus; r++)
		if (domain[where[r]] != domain[where[0]])
			return false;
	return true;
}

/* Walks along the ranks: a segment takes nodes until it is full, and never
 * comes back to a node of an earlier one.  of: [n_nodes] zeros. */
static bool ranks_in_segments(const struct capacity *s, const uint32_t *where,
			      uint32_t segment, uint32_t *of)
{
	const struct weft_fabric *f = s->f;
	const uint32_t *domain = f->gpu_domain[limits_level(f)];
	uint32_t current = 1, n = 0, at = WEFT_NONE;

	for (uint32_t r = 0; r < s->job->n_gpus; r++) {
		uint32_t node = f->gpu_node[where[r]];

		if (of[node] == current)
			continue;
		if (n == segment) {
			current++;
			n = 0;
		}
		if (of[node] || (n && domain[where[r]] != at))
			return false;
		at = domain[where[r]];
		of[node] = current;
		n++;
	}
	return true;
}

/* of: [n_nodes] zeros; n_in: [domains of the level] zeros. */
static bool nodes_in_parts(const struct capacity *s, const uint32_t *where,
			   uint32_t *of, uint32_t *n_in)
{
	const struct weft_fabric *f = s->f;
	uint32_t level = limits_level(f), run[WEFT_MAX_PARTS], n_runs = 0;
	uint32_t first = f->levels[level].first_domain;

	for (uint32_t r = 0; r < s->job->n_gpus; r++) {
		uint32_t node = f->gpu_node[where[r]];

		n_in[f->gpu_domain[level][where[r]] - first] += !of[node];
		of[node] = 1;
	}
	for (uint32_t i = 0; i < f->levels[level].n_domains; i++) {
		if (!n_in[i])
			continue;
		if (n_runs == s->job->spec.n_split)
			return false;
		run[n_runs++] = n_in[i];
	}
	return runs_match(s->job, run, n_runs);
}

int limits_keep(const struct capacity *s, const uint32_t *where,
		struct weft_error *err)
{
	const struct weft_fabric *f = s->f;
	uint32_t segment = limits_segment(f, s->job);
	uint32_t n = f->levels[limits_level(f)].n_domains;
	uint32_t *of;
	int rc = 1;

	if (!segment && !limits_parts(f, s->job))
		return 1;
	of = weft_calloc((size_t)f->n_nodes + n, sizeof(*of), err);
	if (!of)
		return -1;
	if (segment)
		rc = in_one_domain(s, where) ||
		     ranks_in_segments(s, where, segment, of);
	else
		rc = nodes_in_parts(s, where, of, of + f->n_nodes);
	free(of);
	return rc;
}

uint32_t limits_failure(const struct weft_fabric *f, uint32_t node)
{
	uint32_t level = limits_level(f);

	if (f->n_racks)
		return f->nodes[node].rack == WEFT_NONE ? f->n_racks + node
							: f->nodes[node].rack;
	return f->gpu_domain[level][f->nodes[node].first_gpu] -
	       f->levels[level].first_domain;
}

uint32_t limits_n_failures(const struct weft_fabric *f)
{
	return f->n_racks ? f->n_racks + f->n_nodes
			  : f->levels[limits_level(f)].n_domains;
}

static int compare_pair(const void *pa, const void *pb)
{
	uint64_t a = *(const uint64_t *)pa, b = *(const uint64_t *)pb;

	return (a > b) - (a < b);
}

uint32_t limits_replica(const struct weft_job *job, uint32_t rank)
{
	uint32_t dp = weft_grid_axis(&job->grid, "dp");

	/* an axis of one rank may be left out */
	if (dp == WEFT_MAX_AXES)
		return 0;
	return weft_grid_coordinate(&job->grid, rank, dp);
}

int limits_lost(const struct capacity *s, const uint32_t *where, uint32_t *lost,
		struct weft_error *err)
{
	uint32_t n = s->job->n_gpus;
	uint64_t *pair = weft_calloc(n, sizeof(*pair), err);
	uint32_t here = 0;

	*lost = 0;
	if (!pair)
		return -1;
	for (uint32_t r = 0; r < n; r++) {
		uint32_t node = s->f->gpu_node[where[r]];

		pair[r] = (uint64_t)limits_failure(s->f, node) << 32 |
			  limits_replica(s->job, r);
	}
	qsort(pair, n, sizeof(*pair), compare_pair);
	for (uint32_t i = 0; i < n; i++) {
		if (i > 0 && pair[i] >> 32 != pair[i - 1] >> 32)
			here = 0;
		here += i == 0 || pair[i] != pair[i - 1];
		*lost = here > *lost ? here : *lost;
	}
	free(pair);
	return 0;
}
