/* SPDX-License-Identifier: GPL-3.0-or-later */
/* checker.c - placements against what was asked: plain loops over everything */
#include "tests/lib/checker.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *wrong(const char *format, ...)
	__attribute__((format(printf, 1, 2)));

static const char *wrong(const char *format, ...)
{
	static char text[200];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return text;
}

static uint32_t *zeros(size_t n)
{
	uint32_t *p = calloc(n ? n : 1, sizeof(*p));

	if (!p)
		abort();
	return p;
}

/* The innermost level with several nodes in a domain, or the last. */
static uint32_t segment_level(const struct weft_fabric *f)
{
	for (uint32_t d = 0; d < f->n_domains; d++)
		if (f->domains[d].n_nodes > 1)
			return f->domains[d].level;
	return f->n_levels - 1;
}

static uint32_t usable(const struct weft_occupancy *o, uint32_t node)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < 64; k++)
		n += (uint32_t)(o->free[node] >> k & 1);
	return n < o->usable[node] ? n : o->usable[node];
}

static bool required(const struct weft_occupancy *o, uint32_t node)
{
	return o->required && o->required[node / 64] >> (node % 64) & 1;
}

/* ---- the set of nodes: n_of[node] GPUs of each ---- */

static const char *check_counts(const struct weft_fabric *f,
				const struct weft_job *job,
				const struct weft_occupancy *o,
				const uint32_t *n_of)
{
	uint32_t n_nodes = 0, n_gpus = 0;

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		if (n_of[i] > usable(o, i))
			return wrong("%s gives %u GPUs, can give %u",
				     f->nodes[i].name, n_of[i], usable(o, i));
		if (n_of[i] && job->gpus_per_node &&
		    n_of[i] != job->gpus_per_node)
			return wrong("%s gives %u GPUs, gpus_per_node is %u",
				     f->nodes[i].name, n_of[i],
				     job->gpus_per_node);
		if (!n_of[i] && required(o, i))
			return wrong("%s is required", f->nodes[i].name);
		n_nodes += n_of[i] > 0;
		n_gpus += n_of[i];
	}
	if (n_gpus != job->n_gpus)
		return wrong("%u GPUs, the job has %u", n_gpus, job->n_gpus);
	if (n_nodes < job->min_nodes)
		return wrong("%u nodes, at least %u", n_nodes, job->min_nodes);
	if (job->max_nodes && n_nodes > job->max_nodes)
		return wrong("%u nodes, at most %u", n_nodes, job->max_nodes);
	return NULL;
}

/* Nodes in each domain of the level where groups are; one entry per domain of
 * the fabric. */
static uint32_t *nodes_in(const struct weft_fabric *f, const uint32_t *n_of)
{
	uint32_t *n = zeros(f->n_domains), level = segment_level(f);

	for (uint32_t i = 0; i < f->n_nodes; i++)
		if (n_of[i])
			n[f->gpu_domain[level][f->nodes[i].first_gpu]]++;
	return n;
}

static const char *check_groups(const struct weft_fabric *f,
				const struct weft_job *job,
				const uint32_t *n_of)
{
	const struct weft_spec *spec = &job->spec;
	uint32_t *n = nodes_in(f, n_of), n_small = 0;
	bool used[WEFT_MAX_PARTS] = {false};
	const char *text = NULL;

	for (uint32_t d = 0; d < f->n_domains; d++) {
		uint32_t i = 0;

		if (!n[d])
			continue;
		n_small += spec->segment > 1 && n[d] % spec->segment;
		while (i < spec->n_split && (used[i] || spec->split[i] != n[d]))
			i++;
		if (spec->n_split && i == spec->n_split)
			text = wrong("%u nodes in %s: no such part", n[d],
				     f->domains[d].name);
		else if (spec->n_split)
			used[i] = true;
	}
	for (uint32_t i = 0; i < spec->n_split && !text; i++)
		if (!used[i])
			text = wrong("no domain has part %u, %u nodes", i,
				     spec->split[i]);
	if (n_small > 1)
		text = wrong("%u domains have a smaller segment", n_small);
	free(n);
	return text;
}

/* ---- ranks ---- */

static const char *check_gpus(const struct weft_fabric *f,
			      const struct weft_job *job,
			      const struct weft_occupancy *o,
			      const uint32_t *where, uint32_t *n_of)
{
	uint32_t *taken = zeros(f->n_gpus);
	const char *text = NULL;

	for (uint32_t r = 0; r < job->n_gpus && !text; r++) {
		uint32_t gpu = where[r], node;

		if (gpu >= f->n_gpus || taken[gpu]++) {
			text = wrong("rank %u: GPU %u is taken or none", r,
				     gpu);
			break;
		}
		node = f->gpu_node[gpu];
		if (!(o->free[node] >> (gpu - f->nodes[node].first_gpu) & 1))
			text = wrong("rank %u: GPU %u is busy", r, gpu);
		n_of[node]++;
	}
	free(taken);
	return text;
}

static const char *check_levels(const struct weft_fabric *f,
				const struct weft_job *job,
				const uint32_t *where)
{
	uint32_t level = f->n_levels - 1;

	if (job->spec.within[0])
		level = weft_fabric_level(f, job->spec.within);
	else if (job->within_level != WEFT_NONE)
		level = job->within_level;
	for (uint32_t r = 1; r < job->n_gpus; r++)
		if (f->gpu_domain[level][where[r]] !=
		    f->gpu_domain[level][where[0]])
			return wrong("ranks 0 and %u are in different %ss", r,
				     f->levels[level].name);
	return NULL;
}

static bool in_one_domain(const struct weft_fabric *f,
			  const struct weft_job *job, const uint32_t *where,
			  uint32_t level)
{
	uint32_t r = 0;

	while (r < job->n_gpus &&
	       f->gpu_domain[level][where[r]] == f->gpu_domain[level][where[0]])
		r++;
	return r == job->n_gpus;
}

/* Each segment: nodes of one domain, ranks that follow each other; nothing to
 * keep to where one domain has them all. */
static const char *check_ranks(const struct weft_fabric *f,
			       const struct weft_job *job,
			       const uint32_t *where)
{
	uint32_t segment = job->spec.segment, level = segment_level(f);
	uint32_t at = 0, n = segment, gpu = 0;
	uint32_t *of; /* segment of each node, from 1 */
	const char *text = NULL;

	if (in_one_domain(f, job, where, level))
		return NULL;
	of = zeros(f->n_nodes);
	for (uint32_t r = 0; r < job->n_gpus && segment > 1; r++) {
		uint32_t node = f->gpu_node[where[r]];

		if (of[node] && of[node] == at)
			continue;
		if (of[node]) {
			text = wrong("rank %u goes back to segment %u", r,
				     of[node]);
			break;
		}
		if (n == segment) {
			at++;
			n = 0;
			gpu = where[r];
		}
		if (f->gpu_domain[level][where[r]] !=
		    f->gpu_domain[level][gpu]) {
			text = wrong("segment %u leaves its %s with rank %u",
				     at, f->levels[level].name, r);
			break;
		}
		of[node] = at;
		n++;
	}
	free(of);
	return text;
}

const char *checker_where(const struct weft_fabric *f,
			  const struct weft_job *job,
			  const struct weft_occupancy *o, const uint32_t *where)
{
	uint32_t *n_of = zeros(f->n_nodes);
	const char *text = check_gpus(f, job, o, where, n_of);

	if (!text)
		text = check_counts(f, job, o, n_of);
	if (!text)
		text = check_levels(f, job, where);
	if (!text)
		text = check_groups(f, job, n_of);
	if (!text)
		text = check_ranks(f, job, where);
	free(n_of);
	return text;
}

/* ---- what fails together ---- */

/* Racks where there are any; a node in none fails alone. */
static uint32_t failure_of(const struct weft_fabric *f, uint32_t node)
{
	if (!f->n_racks)
		return f->gpu_domain[segment_level(f)]
				    [f->nodes[node].first_gpu];
	return f->nodes[node].rack == WEFT_NONE ? f->n_racks + node
						: f->nodes[node].rack;
}

static uint32_t replica_of(const struct weft_job *job, uint32_t rank)
{
	for (uint32_t a = 0; a < job->grid.n_axes; a++)
		if (strcmp(job->grid.name[a], "dp") == 0)
			return rank / job->grid.stride[a] % job->grid.size[a];
	return 0;
}

uint32_t checker_lost(const struct weft_fabric *f, const struct weft_job *job,
		      const uint32_t *where)
{
	uint32_t n = f->n_domains + f->n_racks + f->n_nodes, most = 0;
	uint32_t *lost = zeros(n), *last = zeros(n);

	/* replica by replica, so that one mark per domain is enough */
	for (uint32_t k = 0; k < job->spec.dp; k++) {
		for (uint32_t r = 0; r < job->n_gpus; r++) {
			uint32_t d = failure_of(f, f->gpu_node[where[r]]);

			if (replica_of(job, r) != k || last[d] == k + 1)
				continue;
			last[d] = k + 1;
			lost[d]++;
			most = lost[d] > most ? lost[d] : most;
		}
	}
	free(lost);
	free(last);
	return most;
}

/* The fewest replicas in a domain when all stay whole; 0: they cannot. */
static uint32_t least_whole(const struct weft_fabric *f,
			    const struct weft_job *job,
			    const struct weft_occupancy *o)
{
	uint32_t n = f->n_domains + f->n_racks + f->n_nodes;
	uint32_t *room = zeros(n), most = 0;
	uint32_t size = job->n_gpus / job->spec.dp;

	for (uint32_t i = 0; i < f->n_nodes; i++)
		room[failure_of(f, i)] += usable(o, i);
	for (uint32_t m = 1; m <= job->spec.dp && !most; m++) {
		uint64_t sum = 0;

		for (uint32_t d = 0; d < n; d++)
			sum += room[d] / size < m ? room[d] / size : m;
		if (sum >= job->spec.dp)
			most = m;
	}
	free(room);
	return most;
}

static const char *check_spread(const struct weft_fabric *f,
				const struct weft_job *job,
				const struct weft_occupancy *o,
				const uint32_t *where)
{
	uint32_t lost, least;

	if (job->spec.spread != WEFT_FAILURE_DOMAIN || job->min_nodes ||
	    job->max_nodes || job->gpus_per_node || o->required ||
	    job->within_level != WEFT_NONE || job->prefer_level != WEFT_NONE ||
	    !f->connected)
		return NULL;
	lost = checker_lost(f, job, where);
	least = least_whole(f, job, o);
	if (!least || lost <= least)
		return NULL;
	return wrong("one failure domain takes %u replicas, %u are enough",
		     lost, least);
}

/* ---- the answer ---- */

static double distance(const struct weft_distance *d, enum weft_metric metric)
{
	if (metric == WEFT_HOPS)
		return d->hops;
	return metric == WEFT_LATENCY ? d->latency_s : d->time_s_per_byte;
}

/* Traffic that is reduced in the network has no pairs to sum over. */
static const char *check_cost(const struct weft_fabric *f,
			      const struct weft_job *job,
			      const struct weft_placement *p)
{
	struct weft_traffic rows;
	const struct weft_traffic *t =
		weft_traffic_whole(&job->traffic, &rows, NULL);
	double sum = 0, cost = p->cost.total[p->metric];

	for (uint32_t r = 0; r < t->n_ranks; r++) {
		for (uint32_t e = t->row[r]; e < t->row[r + 1]; e++) {
			struct weft_distance d = weft_fabric_distance(
				f, p->where[r], p->where[t->peer[e]]);

			sum += t->bytes[e] * distance(&d, p->metric);
		}
	}
	weft_traffic_free(&rows);
	if (!job->traffic.n_switches && fabs(sum - cost) > 1e-9 * sum)
		return wrong("cost %.17g, counted %.17g", cost, sum);
	if (p->bound > cost * (1 + 1e-9))
		return wrong("bound %.17g above cost %.17g", p->bound, cost);
	if (cost > 0 && fabs((cost - p->bound) / cost - p->gap) > 1e-9)
		return wrong("gap %g of bound %g and cost %g", p->gap, p->bound,
			     cost);
	return NULL;
}

static const char *check_nodes(const struct weft_fabric *f,
			       const struct weft_job *job,
			       const struct weft_placement *p)
{
	uint32_t *seen = zeros(f->n_nodes), n = 0;
	const char *text = NULL;

	for (uint32_t r = 0; r < job->n_gpus && !text; r++) {
		uint32_t node = f->gpu_node[p->where[r]];

		if (seen[node]++)
			continue;
		if (n >= p->n_nodes || p->nodes[n] != node)
			text = wrong("node %u of the list is not %s", n,
				     f->nodes[node].name);
		n++;
	}
	if (!text && n != p->n_nodes)
		text = wrong("%u nodes listed, %u used", p->n_nodes, n);
	free(seen);
	return text;
}

const char *checker_answer(const struct weft_fabric *f,
			   const struct weft_job *job,
			   const struct weft_occupancy *o,
			   const struct weft_placement *p)
{
	const char *text;

	if (!p->placed)
		return p->n_why ? NULL : wrong("no placement and no reason");
	if (p->n_ranks != job->n_gpus)
		return wrong("%u ranks, the job has %u", p->n_ranks,
			     job->n_gpus);
	text = checker_where(f, job, o, p->where);
	if (!text)
		text = check_nodes(f, job, p);
	if (!text)
		text = check_cost(f, job, p);
	if (!text)
		text = check_spread(f, job, o, p->where);
	return text;
}

/* ---- every set there is ---- */

struct sets {
	const struct weft_fabric *f;
	const struct weft_job *job;
	const struct weft_occupancy *o;
	uint32_t *n_of;
};

/* One domain of the level has all nodes in use, and of a level inside nodes
 * enough free GPUs. */
static bool set_connects(const struct sets *x)
{
	const struct weft_fabric *f = x->f;
	uint32_t level = x->job->within_level, n;

	if (level == WEFT_NONE)
		level = f->n_levels - 1;
	for (uint32_t d = 0; d < f->n_domains; d++) {
		bool all = f->domains[d].level == level;

		n = 0;
		for (uint32_t i = 0; i < f->n_nodes && all; i++) {
			const struct weft_node *node = &f->nodes[i];
			uint32_t here = 0;

			for (uint32_t k = 0; k < node->n_gpus; k++)
				here += f->gpu_domain[level][node->first_gpu +
							     k] == d &&
					x->o->free[i] >> k & 1;
			all = x->n_of[i] <= here;
			n += x->n_of[i];
		}
		if (all && n)
			return true;
	}
	return false;
}

static bool extend_set(struct sets *x, uint32_t node, uint32_t left)
{
	uint32_t most = usable(x->o, node < x->f->n_nodes ? node : 0);

	if (node == x->f->n_nodes)
		return left == 0 &&
		       !check_counts(x->f, x->job, x->o, x->n_of) &&
		       !check_groups(x->f, x->job, x->n_of) && set_connects(x);
	for (uint32_t n = 0; n <= most && n <= left; n++) {
		x->n_of[node] = n;
		if (extend_set(x, node + 1, left - n))
			return true;
	}
	x->n_of[node] = 0;
	return false;
}

bool checker_possible(const struct weft_fabric *f, const struct weft_job *job,
		      const struct weft_occupancy *o)
{
	struct sets x = {f, job, o, zeros(f->n_nodes)};
	bool possible = extend_set(&x, 0, job->n_gpus);

	free(x.n_of);
	return possible;
}
