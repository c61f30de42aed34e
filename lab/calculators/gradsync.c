/* SPDX-License-Identifier: GPL-3.0-or-later */
/* gradsync.c - gradient synchronisation, right and as the seeds print it */
#include "lab/calculators/gradsync.h"
#include "costmodel/traffic/collective.h"

#include <math.h>

/* Bytes that the seeds' "GB" has, but their "GB/s" has not. */
#define GIB 1073741824.0
/* Unit in which the seeds round the minimum bandwidth up: 100 Gb/s. */
#define SEED_RECOMMEND_UNIT (100e9 / 8)

const char *const weft_gradsync_algorithm_names[WEFT_N_GRADSYNC_ALGORITHMS] = {
	"fastest", "ring", "tree", "halving-doubling", "hierarchical", "star",
};

static int job_check(const struct weft_gradsync_job *job,
		     struct weft_error *err)
{
	if (!(job->parameters > 0) || !(job->parameter_bytes > 0))
		return weft_fail(err, WEFT_EINVAL,
				 "parameters and their bytes must be above 0");
	if (job->n_gpus < 1)
		return weft_fail(err, WEFT_EINVAL, "there must be a GPU");
	if (!(job->link_bytes_per_s > 0))
		return weft_fail(err, WEFT_EINVAL,
				 "the link's rate must be above 0");
	if (job->gpus_per_node && job->n_gpus % job->gpus_per_node)
		return weft_fail(err, WEFT_EINVAL,
				 "%u GPUs are not a whole number of nodes of "
				 "%u",
				 job->n_gpus, job->gpus_per_node);
	if (job->gpus_per_node && !(job->intra_bytes_per_s > 0))
		return weft_fail(err, WEFT_EINVAL,
				 "GPUs per node need the rate inside a node");
	if (job->algorithm == WEFT_GRADSYNC_HIERARCHICAL && !job->gpus_per_node)
		return weft_fail(err, WEFT_EINVAL,
				 "a hierarchical all-reduce needs the GPUs per "
				 "node");
	if (!(job->overlap >= 0 && job->overlap <= 1))
		return weft_fail(err, WEFT_EINVAL,
				 "overlap is a share from 0 to 1");
	return 0;
}

/* The forms of Thakur, Rabenseifner, Gropp 2005; S over the link's rate. */
static double ring_s(uint32_t n, double bytes, double rate, double latency_s)
{
	return 2 * (n - 1.0) * latency_s + 2 * (n - 1.0) / n * bytes / rate;
}

/* Two pipelined trees (Sanders et al. 2009).  The inner vertex of one has a
 * parent and two children and is a leaf of the other: it sends 2 S, unless
 * there are few. */
static double tree_s(uint32_t n, double bytes, double rate, double latency_s)
{
	static const double few[] = {0, 0, 1, 1.5};

	return 2 * ceil(log2(n)) * latency_s +
	       (n < 4 ? few[n] : 2) * bytes / rate;
}

/* Partners at distance 1, 2, 4, ... there and back. */
static double halving_s(uint32_t n, double bytes, double rate, double latency_s)
{
	if (n & (n - 1))
		return (double)INFINITY;
	return 2 * log2(n) * latency_s + 2 * (n - 1.0) / n * bytes / rate;
}

/* Reduce-scatter and all-gather inside nodes, an all-reduce of each GPU's part
 * between them over its own link. */
static double hierarchical_s(const struct weft_gradsync_job *job, double bytes,
			     double latency_s)
{
	uint32_t g = job->gpus_per_node;

	if (g < 2 || g == job->n_gpus)
		return (double)INFINITY;
	return ring_s(g, bytes, job->intra_bytes_per_s, latency_s) +
	       ring_s(job->n_gpus / g, bytes / g, job->link_bytes_per_s,
		      latency_s);
}

/* The root's link carries every other GPU's gradients in and the sum out to
 * each: O(n), not O(n^2), which is what all pairs take. */
static double star_s(uint32_t n, double bytes, double rate, double latency_s)
{
	return n < 2 ? 0 : 2 * (n - 1.0) * bytes / rate + 2 * latency_s;
}

/* The seeds' tree takes 2 S/B whatever the ranks. */
static void times_fill(const struct weft_gradsync_job *job, double bytes,
		       enum weft_convention convention, double *time_s)
{
	double rate = job->link_bytes_per_s;
	double latency_s = convention == WEFT_SEED ? 0 : job->latency_s;
	uint32_t n = job->n_gpus;

	time_s[WEFT_GRADSYNC_RING] = ring_s(n, bytes, rate, latency_s);
	time_s[WEFT_GRADSYNC_TREE] =
		convention == WEFT_SEED ? 2 * bytes / rate
					: tree_s(n, bytes, rate, latency_s);
	time_s[WEFT_GRADSYNC_HALVING] = halving_s(n, bytes, rate, latency_s);
	time_s[WEFT_GRADSYNC_HIERARCHICAL] =
		hierarchical_s(job, bytes, latency_s);
	time_s[WEFT_GRADSYNC_STAR] = star_s(n, bytes, rate, latency_s);
}

/* The seeds' figures are those of a ring. */
static enum weft_gradsync_algorithm
algorithm_choose(const struct weft_gradsync_job *job, const double *time_s,
		 enum weft_convention convention)
{
	enum weft_gradsync_algorithm best = WEFT_GRADSYNC_RING;

	if (job->algorithm != WEFT_GRADSYNC_FASTEST)
		return job->algorithm;
	if (convention == WEFT_SEED)
		return best;
	for (int a = best + 1; a < WEFT_N_GRADSYNC_ALGORITHMS; a++) {
		if (time_s[a] < time_s[best])
			best = (enum weft_gradsync_algorithm)a;
	}
	return best;
}

static void compute_fill(const struct weft_gradsync_job *job,
			 struct weft_gradsync *sync)
{
	double per_parameter = job->compute_s_per_parameter > 0
				       ? job->compute_s_per_parameter
				       : WEFT_GRADSYNC_COMPUTE;
	double once_s = job->compute_s > 0 ? job->compute_s
					   : job->parameters * per_parameter;

	sync->compute_s = once_s * (job->accumulation ? job->accumulation : 1);
}

static void step_fill(const struct weft_gradsync_job *job,
		      struct weft_gradsync *sync)
{
	double comm_s = sync->time_s[WEFT_GRADSYNC_FASTEST];
	double wall = job->wall > 0 ? job->wall : WEFT_GRADSYNC_WALL;

	sync->exposed_s = comm_s - job->overlap * fmin(comm_s, sync->compute_s);
	sync->step_s = sync->compute_s + sync->exposed_s;
	sync->overhead = sync->exposed_s / sync->step_s;
	sync->efficiency = sync->compute_s / sync->step_s;
	sync->ratio = comm_s / sync->compute_s;
	sync->wall = sync->overhead > wall;
}

/* The link that hides the sync.  The seeds leave the ring's factor out and
 * round up in units of 100G times the link's rate, for which there is no
 * physical reason. */
static void links_fill(const struct weft_gradsync_job *job, double bytes,
		       enum weft_convention convention,
		       struct weft_gradsync *sync)
{
	double link = job->link_bytes_per_s;

	if (convention == WEFT_SEED) {
		sync->hiding_bytes_per_s = bytes / sync->compute_s;
		sync->recommended_bytes_per_s =
			ceil(sync->hiding_bytes_per_s / SEED_RECOMMEND_UNIT) *
			link;
		return;
	}
	sync->hiding_bytes_per_s = sync->wire_bytes / sync->compute_s;
	/* A last link for nothing but rounding would be a wrong advice. */
	sync->recommended_bytes_per_s =
		ceil(sync->hiding_bytes_per_s / link * (1 - 1e-12)) * link;
}

int weft_gradsync(const struct weft_gradsync_job *job,
		  enum weft_convention convention, struct weft_gradsync *sync,
		  struct weft_error *err)
{
	double size, bytes;

	*sync = (struct weft_gradsync){0};
	if (job_check(job, err))
		return -1;
	size = job->parameters * job->parameter_bytes;
	bytes = size / (job->compression > 0 ? job->compression : 1);
	sync->gradient_bytes = size;
	sync->wire_bytes = weft_volume_all_reduce(job->n_gpus, bytes);
	if (convention == WEFT_SEED) {
		sync->gradient_bytes *= 1e9 / GIB;
		bytes *= 1e9 / GIB;
	}
	sync->ring_steps = 2 * (job->n_gpus - 1.0);
	sync->tree_steps = 2 * ceil(log2(job->n_gpus));
	times_fill(job, bytes, convention, sync->time_s);
	sync->algorithm = algorithm_choose(job, sync->time_s, convention);
	if (isinf(sync->time_s[sync->algorithm]))
		return weft_fail(err, WEFT_EINVAL,
				 "%s needs a power of two of GPUs, not %u",
				 weft_gradsync_algorithm_names[sync->algorithm],
				 job->n_gpus);
	sync->time_s[WEFT_GRADSYNC_FASTEST] = sync->time_s[sync->algorithm];
	compute_fill(job, sync);
	step_fill(job, sync);
	links_fill(job, bytes, convention, sync);
	sync->bus_bytes_per_s =
		sync->time_s[sync->algorithm] > 0
			? sync->wire_bytes / sync->time_s[sync->algorithm]
			: 0;
	return 0;
}
