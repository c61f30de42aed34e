/* SPDX-License-Identifier: GPL-3.0-or-later */
/* traffic_job.h - a job's traffic with what it was built from, for tests */
#ifndef WEFT_TESTS_COSTMODEL_TRAFFIC_JOB_H
#define WEFT_TESTS_COSTMODEL_TRAFFIC_JOB_H

#include "costmodel/traffic/schedule.h"
#include "costmodel/traffic/traffic.h"
#include "tests/lib/check.h"
#include "tests/lib/traffic.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct job {
	struct weft_spec spec;
	struct weft_model model;
	struct weft_grid grid;
	struct weft_traffic traffic;
};

static inline void job_build(const char *text, struct job *job)
{
	struct weft_error err = {0};

	weft_spec_parse(text, &job->spec, &err);
	assert_no_error(&err);
	weft_spec_resolve(&job->spec, 0, &err);
	assert_no_error(&err);
	weft_model_find(job->spec.model, &job->model, &err);
	weft_spec_grid(&job->spec, &job->grid, &err);
	assert_no_error(&err);
	traffic_of_spec(&job->spec, &job->model, &job->traffic, &err);
	weft_traffic_expand(&job->traffic, &err);
	assert_no_error(&err);
}

static inline double bytes_between(const struct weft_traffic *t, uint32_t from,
				   uint32_t to, enum weft_axis axis)
{
	for (uint32_t k = t->row[from]; k < t->row[from + 1]; k++) {
		if (t->peer[k] == to && t->axis[k] == axis)
			return t->bytes[k];
	}
	return 0;
}

static inline double bytes_sent(const struct weft_traffic *t, uint32_t from,
				enum weft_axis axis)
{
	double sum = 0;

	for (uint32_t k = t->row[from]; k < t->row[from + 1]; k++)
		sum += t->axis[k] == axis ? t->bytes[k] : 0;
	return sum;
}

static inline uint32_t coordinate(const struct job *job, uint32_t rank,
				  const char *axis)
{
	return weft_grid_coordinate(&job->grid, rank,
				    weft_grid_axis(&job->grid, axis));
}

/* The sparse rows are well formed. */
static inline void check_rows(const struct weft_traffic *t)
{
	assert_int_equal(t->row[0], 0);
	assert_int_equal(t->row[t->n_ranks], t->n_edges);
	for (uint32_t r = 0; r < t->n_ranks; r++) {
		for (uint32_t k = t->row[r]; k < t->row[r + 1]; k++) {
			assert_true(t->peer[k] < t->n_ranks);
			assert_int_not_equal(t->peer[k], r);
			assert_true(t->bytes[k] > 0 && isfinite(t->bytes[k]));
			assert_true(t->axis[k] < WEFT_N_AXES);
			if (k == t->row[r])
				continue;
			assert_true(t->peer[k] > t->peer[k - 1] ||
				    (t->peer[k] == t->peer[k - 1] &&
				     t->axis[k] > t->axis[k - 1]));
		}
	}
}

static inline void random_spec(uint64_t *seed, const char *order, char *text,
			       size_t size)
{
	static const char *const models[] = {"gpt-7.5B", "llama3-70B",
					     "grok1-314B", "deepseek-v3",
					     "nemotron4-15B"};
	static const char *const dtypes[] = {"bf16", "fp16", "fp32", "fp8"};
	uint32_t pp = 1 + test_random_below(seed, 5);

	snprintf(text, size,
		 "tp=%u,cp=%u,pp=%u,dp=%u,vpp=%u,zero=%u,mbs=%u,model=%s,"
		 "dtype=%s,order=%s,sp=off,algorithm=ring",
		 1 + test_random_below(seed, 5), 1 + test_random_below(seed, 4),
		 pp, 1 + test_random_below(seed, 5),
		 pp > 1 ? 1 + test_random_below(seed, 3) : 1,
		 test_random_below(seed, 4), 1 + test_random_below(seed, 3),
		 models[test_random_below(seed, 5)],
		 dtypes[test_random_below(seed, 4)], order);
}

#endif
