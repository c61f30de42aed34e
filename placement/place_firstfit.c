/* SPDX-License-Identifier: GPL-3.0-or-later */
/* place_firstfit.c - the baseline: first nodes by name that fit, ranks in order
 */
#include "placement/place_parts.h"

#include "base/bitset.h"
#include "placement/nodes/limits.h"

#include <stdlib.h>

/* What each scope, a domain that the job may not leave, has gathered so far.
 */
struct scopes {
	uint32_t level;
	uint32_t *n_gpus, *n_nodes, *n_must; /* [domains of the level] */
	uint32_t must;			     /* required nodes of the job */
	uint32_t winner;		     /* domain, or WEFT_NONE */
	uint32_t least;			     /* a node gives, or nothing */
};

static uint32_t scope_of(const struct capacity *s, const struct scopes *scopes,
			 uint32_t node)
{
	uint32_t gpu = s->f->nodes[node].first_gpu;

	return s->f->gpu_domain[scopes->level][gpu];
}

static bool is_required(const struct capacity *s, uint32_t node)
{
	return s->o->required && weft_bitset_has(s->o->required, node);
}

/* GPUs that a node gives.  Under a limit on nodes those that have less than the
 * average are left out: with the others the limit holds. */
static inline uint32_t gives(const struct capacity *s,
			     const struct scopes *scopes, uint32_t node)
{
	uint32_t n = s->give[node];

	return n >= scopes->least || is_required(s, node) ? n : 0;
}

/* Gathers nodes in order, required ones first, until one scope has enough. */
static void gather(const struct capacity *s, bool required,
		   struct scopes *scopes)
{
	const struct weft_job *job = s->job;
	uint32_t first = s->f->levels[scopes->level].first_domain;

	for (uint32_t i = 0; i < s->f->n_nodes; i++) {
		uint32_t node = s->f->counted[i], k;

		if (!gives(s, scopes, node) || is_required(s, node) != required)
			continue;
		k = scope_of(s, scopes, node) - first;
		scopes->n_gpus[k] += gives(s, scopes, node);
		scopes->n_nodes[k]++;
		scopes->n_must[k] += required;
		if (scopes->n_gpus[k] < job->n_gpus ||
		    scopes->n_nodes[k] < job->min_nodes ||
		    scopes->n_must[k] < scopes->must)
			continue;
		scopes->winner = first + k;
		return;
	}
}

/* GPUs taken so far. */
struct taking {
	uint32_t n_nodes, n_gpus;
	uint32_t *share; /* [n_nodes of the fabric] */
};

/* Whole nodes as they come, as long as enough is left for the further nodes
 * that must be used. */
static void take(const struct capacity *s, bool required,
		 const struct scopes *scopes, struct taking *t)
{
	const struct weft_job *job = s->job;
	uint32_t least = capacity_least(s), min = job->min_nodes, left, keep;

	if (required && min < scopes->must)
		min = scopes->must;
	for (uint32_t i = 0; i < s->f->n_nodes; i++) {
		uint32_t node = s->f->counted[i];

		left = job->n_gpus - t->n_gpus;
		if (!left)
			break;
		if (!gives(s, scopes, node) ||
		    is_required(s, node) != required ||
		    scope_of(s, scopes, node) != scopes->winner)
			continue;
		t->n_nodes++;
		keep = t->n_nodes < min ? (min - t->n_nodes) * least : 0;
		if (keep >= left)
			break;
		left -= keep;
		t->share[node] = left < gives(s, scopes, node)
					 ? left
					 : gives(s, scopes, node);
		t->n_gpus += t->share[node];
	}
}

/* Ranks in their own order over the GPUs of the nodes in theirs. */
static void lay_out(const struct capacity *s, const uint32_t *share,
		    uint32_t *where)
{
	uint32_t rank = 0, k;

	for (uint32_t i = 0; rank < s->job->n_gpus; i++) {
		uint32_t node = s->f->counted[i];
		uint64_t rest = s->o->free[node];

		for (uint32_t n = 0; n < share[node]; n++, rest &= rest - 1) {
			k = (uint32_t)__builtin_ctzll(rest);
			where[rank++] = s->f->nodes[node].first_gpu + k;
		}
	}
}

/* Inside one NVLink domain of a node: the first by name that has enough. */
static bool place_inside_node(const struct capacity *s, uint32_t level,
			      uint32_t *where)
{
	const struct weft_fabric *f = s->f;

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		uint64_t rest = s->o->free[s->f->counted[i]];
		uint32_t k, n = 0, last = WEFT_NONE;

		if (s->give[s->f->counted[i]] < s->job->n_gpus ||
		    (s->o->required && !is_required(s, s->f->counted[i])))
			continue;
		weft_mask_foreach (k, rest) {
			uint32_t gpu = f->nodes[s->f->counted[i]].first_gpu + k;

			if (f->gpu_domain[level][gpu] != last)
				n = 0;
			last = f->gpu_domain[level][gpu];
			where[n++] = gpu;
			if (n == s->job->n_gpus)
				return true;
		}
	}
	return false;
}

static int place_on(const struct capacity *s, struct scopes *scopes,
		    uint32_t *where, struct weft_error *err)
{
	const struct weft_job *job = s->job;
	struct taking t = {0};
	uint32_t n = s->f->levels[scopes->level].n_domains;
	int rc = -1;

	scopes->n_gpus = weft_calloc(n, 3 * sizeof(uint32_t), err);
	t.share = weft_calloc(s->f->n_nodes, sizeof(*t.share), err);
	if (!scopes->n_gpus || !t.share)
		goto out;
	scopes->n_nodes = scopes->n_gpus + n;
	scopes->n_must = scopes->n_nodes + n;
	rc = 0;
	/* with required nodes a scope may be complete only after both walks */
	if (s->o->required)
		gather(s, true, scopes);
	if (scopes->winner == WEFT_NONE)
		gather(s, false, scopes);
	if (scopes->winner == WEFT_NONE)
		goto out;
	if (s->o->required)
		take(s, true, scopes, &t);
	take(s, false, scopes, &t);
	if (t.n_gpus != job->n_gpus || t.n_nodes < job->min_nodes ||
	    (job->max_nodes && t.n_nodes > job->max_nodes))
		goto out;
	lay_out(s, t.share, where);
	rc = 1;
out:
	free(scopes->n_gpus);
	free(t.share);
	return rc;
}

int firstfit_find(const struct capacity *s, uint32_t *where,
		  struct weft_error *err)
{
	const struct weft_fabric *f = s->f;
	const struct weft_job *job = s->job;
	struct scopes scopes = {.level = f->n_levels - 1, .winner = WEFT_NONE};
	int rc;

	if (job->within_level != WEFT_NONE)
		scopes.level = job->within_level;
	if (s->o->required)
		scopes.must = weft_bitset_count(s->o->required, f->n_nodes);
	if (job->max_nodes)
		scopes.least =
			(job->n_gpus + job->max_nodes - 1) / job->max_nodes;
	if (scopes.level >= f->node_level)
		rc = place_on(s, &scopes, where, err);
	else
		rc = scopes.must <= 1 && job->min_nodes <= 1 &&
		     place_inside_node(s, scopes.level, where);
	/* it knows nothing of groups, and declines where it breaks them */
	return rc == 1 ? limits_keep(s, where, err) : rc;
}

int place_firstfit(struct capacity *s, const struct weft_place_options *options,
		   struct weft_placement *p, struct weft_error *err)
{
	int rc = -1;

	(void)options;
	p->where = weft_calloc(s->job->n_gpus, sizeof(*p->where), err);
	if (p->where)
		rc = firstfit_find(s, p->where, err);
	p->placed = rc > 0;
	p->n_ranks = s->job->n_gpus;
	p->method = "first-fit";
	return rc < 0 ? -1 : 0;
}
