/* SPDX-License-Identifier: GPL-3.0-or-later */
/* chunks.c - the chunk count that leaves the shortest tail */
#include "lab/calculators/chunks.h"
#include "costmodel/traffic/collective.h"

#include <math.h>

#define SEED_MIN_CHUNK_BYTES 25e6
/* The seeds go on with what they print: hundredths of a millisecond. */
#define SEED_CHUNK_DIGIT_S 1e-5
#define MAX_CHUNKS	   16777216.0

static double or_one(double value)
{
	return value > 0 ? value : 1;
}

static int job_check(const struct weft_chunks_job *job, struct weft_error *err)
{
	if (!(job->gradient_bytes > 0) || !(job->link_bytes_per_s > 0))
		return weft_fail(err, WEFT_EINVAL,
				 "the gradient and the link's rate must be "
				 "above 0");
	if (!(job->overhead_s >= 0) || !(job->backward_s >= 0))
		return weft_fail(err, WEFT_EINVAL, "times start at 0");
	return 0;
}

/* Seconds that the whole gradient takes at the link's full rate. */
static double whole_s(const struct weft_chunks_job *job)
{
	double bytes = job->n_gpus ? weft_volume_all_reduce(job->n_gpus,
							    job->gradient_bytes)
				   : 2 * job->gradient_bytes;

	return bytes / job->link_bytes_per_s;
}

/* The tail T/n + n o is shortest at n = sqrt(T/o).  The seeds' rule: the
 * largest power of two whose chunks are not below a minimum; it has no optimum,
 * their "overlap" grows with n without end. */
static double best_count(const struct weft_chunks_job *job,
			 enum weft_convention convention)
{
	double min = job->min_chunk_bytes > 0 ? job->min_chunk_bytes
					      : SEED_MIN_CHUNK_BYTES;
	double n = 1;

	if (convention == WEFT_RIGHT)
		return sqrt(whole_s(job) / or_one(job->chunk_efficiency) /
			    job->overhead_s);
	while (job->gradient_bytes / (2 * n) >= min)
		n *= 2;
	return n;
}

static double tail_s(const struct weft_chunks_job *job, double n)
{
	return whole_s(job) / or_one(job->chunk_efficiency) / n +
	       n * job->overhead_s;
}

/* The whole number beside `best` with the shorter tail. */
static double count_choose(const struct weft_chunks_job *job, double best)
{
	double low = fmin(fmax(floor(best), 1), MAX_CHUNKS);

	if (job->n_chunks)
		return job->n_chunks;
	return tail_s(job, low + 1) < tail_s(job, low) && low < MAX_CHUNKS
		       ? low + 1
		       : low;
}

/* Chunk i of n is ready at i/n of the backward pass and waits for those before
 * it: the last ends after the first's wait plus all of them, or just after the
 * pass. */
static void overlap_fill(const struct weft_chunks_job *job,
			 enum weft_convention convention,
			 struct weft_chunks *chunks)
{
	double each_s = chunks->total_s / chunks->n_chunks;
	double first_s = job->backward_s / chunks->n_chunks;

	chunks->share_of_backward = (double)NAN;
	chunks->hidden_share = (double)NAN;
	chunks->exposed_s = chunks->total_s;
	if (!(job->backward_s > 0))
		return;
	chunks->share_of_backward = chunks->total_s / job->backward_s;
	chunks->hidden_share =
		fmin(1, (job->backward_s - first_s) / chunks->total_s);
	chunks->exposed_s =
		fmax(each_s, first_s + chunks->total_s - job->backward_s);
	if (convention == WEFT_SEED)
		chunks->hidden_share = fmin(1, chunks->share_of_backward);
}

int weft_chunks(const struct weft_chunks_job *job,
		enum weft_convention convention, struct weft_chunks *chunks,
		struct weft_error *err)
{
	double unsplit_s;

	*chunks = (struct weft_chunks){0};
	if (job_check(job, err))
		return -1;
	chunks->best = best_count(job, convention);
	chunks->n_chunks = count_choose(job, chunks->best);
	if (convention == WEFT_SEED && !job->n_chunks)
		chunks->n_chunks = chunks->best;
	chunks->chunk_bytes = job->gradient_bytes / chunks->n_chunks;
	chunks->chunk_s =
		whole_s(job) / or_one(job->chunk_efficiency) / chunks->n_chunks;
	if (convention == WEFT_SEED)
		chunks->chunk_s = round(chunks->chunk_s / SEED_CHUNK_DIGIT_S) *
				  SEED_CHUNK_DIGIT_S;
	chunks->total_s =
		chunks->n_chunks * (chunks->chunk_s + job->overhead_s);
	unsplit_s = whole_s(job) / or_one(job->whole_efficiency);
	chunks->growth = chunks->total_s / unsplit_s - 1;
	chunks->tail_s = chunks->chunk_s + chunks->n_chunks * job->overhead_s;
	overlap_fill(job, convention, chunks);
	chunks->achieved_s =
		job->step_s > 0
			? job->step_s - chunks->hidden_share * chunks->total_s
			: (double)NAN;
	return 0;
}

double weft_bucket_count(double gradient_bytes)
{
	double rest = gradient_bytes - WEFT_BUCKET_FIRST_BYTES;

	return 1 + ceil(fmax(rest, 0) / WEFT_BUCKET_BYTES);
}
