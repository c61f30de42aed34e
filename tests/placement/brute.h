/* SPDX-License-Identifier: GPL-3.0-or-later */
/* brute.h - the true optimum of small cases, found with no code of the library;
 * and random jobs for it
 */
#ifndef WEFT_TESTS_PLACEMENT_BRUTE_H
#define WEFT_TESTS_PLACEMENT_BRUTE_H

#include "tests/placement/cases.h"

#include <math.h>
#include <stdlib.h>

#define BRUTE_MAX_RANKS	 8
#define BRUTE_MAX_FABRIC 64 /* GPUs */

/* Branch and bound over every rank in turn on every free GPU. */
struct brute {
	const struct weft_fabric *f;
	const struct weft_job *job;
	const struct weft_occupancy *o;
	double weight[BRUTE_MAX_RANKS][BRUTE_MAX_RANKS]; /* both directions */
	double distance[BRUTE_MAX_FABRIC][BRUTE_MAX_FABRIC];
	uint32_t where[BRUTE_MAX_RANKS];
	uint64_t taken[BRUTE_MAX_FABRIC]; /* by node */
	double best;			  /* INFINITY: no placement */
};

static inline double brute_metric_of(const struct weft_distance *d,
				     enum weft_metric metric)
{
	if (metric == WEFT_HOPS)
		return d->hops == UINT32_MAX ? (double)INFINITY : d->hops;
	return metric == WEFT_LATENCY ? d->latency_s : d->time_s_per_byte;
}

static inline bool brute_within_limits(const struct brute *x)
{
	const struct weft_job *job = x->job;
	uint32_t nodes = 0, level = job->within_level;

	for (uint32_t i = 0; i < x->f->n_nodes; i++) {
		uint32_t n = weft_mask_count(x->taken[i]);

		if (n && job->gpus_per_node && n != job->gpus_per_node)
			return false;
		if (!n && x->o->required && weft_bitset_has(x->o->required, i))
			return false;
		nodes += n > 0;
	}
	for (uint32_t r = 1; r < job->n_gpus && level != WEFT_NONE; r++)
		if (x->f->gpu_domain[level][x->where[r]] !=
		    x->f->gpu_domain[level][x->where[0]])
			return false;
	return nodes >= job->min_nodes &&
	       (!job->max_nodes || nodes <= job->max_nodes);
}

/* True when a lower GPU of the node is the same to everyone and still free. */
static inline bool brute_has_twin_below(const struct brute *x, uint32_t gpu)
{
	const struct weft_node *node = &x->f->nodes[x->f->gpu_node[gpu]];
	uint32_t k = gpu - node->first_gpu;

	if (x->f->n_rails > 1)
		return false;
	for (uint32_t i = 0; i < k; i++) {
		uint64_t bit = UINT64_C(1) << i;
		uint32_t n = x->f->gpu_node[gpu], other = node->first_gpu + i;

		if (x->o->free[n] & bit && !(x->taken[n] & bit) &&
		    x->f->gpu_domain[0][gpu] == x->f->gpu_domain[0][other])
			return true;
	}
	return false;
}

static inline void brute_extend(struct brute *x, uint32_t rank, double cost)
{
	if (cost >= x->best * (1 - 1e-12))
		return;
	if (rank == x->job->n_gpus) {
		if (brute_within_limits(x))
			x->best = cost;
		return;
	}
	for (uint32_t gpu = 0; gpu < x->f->n_gpus; gpu++) {
		uint32_t n = x->f->gpu_node[gpu];
		uint64_t bit = UINT64_C(1) << (gpu - x->f->nodes[n].first_gpu);
		double more = 0;

		if (!(x->o->free[n] & bit) || x->taken[n] & bit ||
		    weft_mask_count(x->taken[n]) >=
			    weft_occupancy_give(x->o, n) ||
		    brute_has_twin_below(x, gpu))
			continue;
		for (uint32_t r = 0; r < rank; r++)
			if (x->weight[r][rank] > 0 ||
			    isinf(x->distance[gpu][x->where[r]]))
				more += (x->weight[r][rank] + 1e-300) *
					x->distance[gpu][x->where[r]];
		x->where[rank] = gpu;
		x->taken[n] |= bit;
		brute_extend(x, rank + 1, cost + more);
		x->taken[n] &= ~bit;
	}
}

static inline double brute_optimum(const struct weft_fabric *f,
				   const struct weft_job *job,
				   const struct weft_occupancy *o)
{
	static struct brute x;
	struct weft_traffic rows;
	const struct weft_traffic *t =
		weft_traffic_whole(&job->traffic, &rows, NULL);

	memset(&x, 0, sizeof(x));
	x.f = f;
	x.job = job;
	x.o = o;
	x.best = INFINITY;
	for (uint32_t r = 0; r < t->n_ranks; r++) {
		for (uint32_t e = t->row[r]; e < t->row[r + 1]; e++) {
			x.weight[r][t->peer[e]] += t->bytes[e];
			x.weight[t->peer[e]][r] += t->bytes[e];
		}
	}
	weft_traffic_free(&rows);
	for (uint32_t a = 0; a < f->n_gpus; a++) {
		for (uint32_t b = 0; b < f->n_gpus; b++) {
			struct weft_distance d = weft_fabric_distance(f, a, b);

			x.distance[a][b] =
				brute_metric_of(&d, job->spec.metric);
		}
	}
	brute_extend(&x, 0, 0);
	return x.best;
}

/* Every rank on its own free GPU, and all limits kept. */
static inline void brute_check_placement(const struct weft_fabric *f,
					 const struct weft_job *job,
					 const struct weft_occupancy *o,
					 const struct weft_placement *p)
{
	static struct brute x;

	memset(&x, 0, sizeof(x));
	x.f = f;
	x.job = job;
	x.o = o;
	for (uint32_t r = 0; r < job->n_gpus; r++) {
		uint32_t n = f->gpu_node[p->where[r]];
		uint64_t bit = UINT64_C(1)
			       << (p->where[r] - f->nodes[n].first_gpu);

		assert_true(o->free[n] & bit);
		assert_false(x.taken[n] & bit);
		x.taken[n] |= bit;
		x.where[r] = p->where[r];
	}
	for (uint32_t i = 0; i < f->n_nodes; i++)
		assert_true(weft_mask_count(x.taken[i]) <=
			    weft_occupancy_give(o, i));
	assert_true(brute_within_limits(&x));
}

/* Measured traffic instead of a model's: any pair may talk. */
static inline void brute_random_traffic(struct weft_job *job, uint64_t *random)
{
	struct weft_flow flow[BRUTE_MAX_RANKS * BRUTE_MAX_RANKS];
	uint32_t n = 0;

	for (uint32_t a = 0; a < job->n_gpus; a++)
		for (uint32_t b = 0; b < job->n_gpus; b++)
			if (a != b && test_random_below(random, 3) == 0)
				flow[n++] = (struct weft_flow){
					a, b, WEFT_AXIS_DP,
					1 + test_random_below(random, 1000)};
	weft_traffic_free(&job->traffic);
	assert_int_equal(weft_traffic_from_flows(job->n_gpus, flow, n,
						 &job->traffic, NULL),
			 0);
}

static inline void brute_random_limits(struct weft_job *job,
				       struct weft_occupancy *o,
				       uint64_t *random)
{
	const struct weft_fabric *f = o->fabric;
	uint32_t kind = test_random_below(random, 12), n = job->n_gpus;

	if (kind == 0)
		job->gpus_per_node = n % 2 ? 1 : 2;
	if (kind == 1)
		job->max_nodes = 1 + test_random_below(random, 3);
	if (kind == 2)
		job->min_nodes = 1 + test_random_below(random, 3);
	if (kind == 3)
		job->min_nodes = job->max_nodes =
			1 + test_random_below(random, 3);
	if (kind == 4)
		job->within_level = test_random_below(random, f->n_levels);
	if (kind == 5) {
		o->required =
			weft_calloc(weft_bitset_words(f->n_nodes), 8, NULL);
		weft_bitset_add(o->required,
				test_random_below(random, f->n_nodes));
	}
}

/* What is to hold of a case; text is for who reads a failure. */
typedef void (*brute_check)(const struct weft_fabric *f,
			    const struct weft_job *job,
			    const struct weft_occupancy *o, const char *text,
			    void *tally);

/* A random small case, and what is to hold of it. */
static inline void brute_case(uint64_t *random, brute_check check, void *tally)
{
	static const struct case_shape shape = {2, 6, 4, true};
	static struct text fabric, spec;
	struct weft_occupancy o;
	struct weft_job job;
	struct weft_fabric *f;
	uint32_t usable;

	case_random_fabric(&fabric, random, &shape);
	f = case_fabric(fabric.at);
	case_random_occupancy(&o, f, random, 30);
	usable = weft_occupancy_usable(&o);
	usable = usable < BRUTE_MAX_RANKS ? usable : BRUTE_MAX_RANKS;
	if (usable >= 2) {
		case_random_spec(&spec, random,
				 2 + test_random_below(random, usable - 1));
		case_job(spec.at, f, &job);
		if (test_random_below(random, 4) == 0)
			brute_random_traffic(&job, random);
		brute_random_limits(&job, &o, random);
		text_add(&fabric, "# %s\n#", spec.at);
		for (uint32_t i = 0; i < f->n_nodes; i++)
			text_add(&fabric, " %s:%u/%x", f->nodes[i].name,
				 o.usable[i], (unsigned)o.free[i]);
		text_add(&fabric, " usable/free; limits %u %u %u %d\n",
			 job.gpus_per_node, job.min_nodes, job.max_nodes,
			 (int)job.within_level);
		check(f, &job, &o, fabric.at, tally);
		weft_job_free(&job);
	}
	weft_occupancy_free(&o);
	weft_fabric_free(f);
}

#endif
