/* SPDX-License-Identifier: GPL-3.0-or-later */
/* job_trace.c - the traces that others have published, with the columns that
 * weft-replay(1) gives for them
 */
#include "lab/replay/job_trace.h"

#include "tests/lib/check.h"

#include <stdio.h>

#define FOLDER "data/real/traces/"
#define MURI                                                                   \
	"submit=submit_time:us,duration=duration:us,gpus=num_gpu,job=job_id"
#define SIA "submit=time,duration=7200,gpus=num_replicas,job=name"

/* Figures are counts of the files' own rows. */
static const struct {
	const char *name, *columns;
	uint32_t n, no_duration, no_gpus, largest;
} traces[] = {
	{"philly-first60.csv.gz",
	 "submit=timestamp,duration=duration,gpus=num_gpus", 49348, 0, 0, 32},
	{"muri-philly-trace1.csv.gz", MURI, 1494, 0, 0, 32},
	{"muri-philly-trace2.csv.gz", MURI, 5755, 0, 0, 32},
	{"gavel-philly-6214e9-seed0.csv.gz",
	 "submit=arrival_time,duration=total_steps*0.05,gpus=scale_factor",
	 2000, 0, 0, 8},
	{"tiresias-60_job.csv",
	 "submit=submit_time,duration=duration,gpus=num_gpu,job=job_id", 60, 0,
	 0, 8},
	{"alibaba-gpu-v2023/openb_pod_list_default.csv.gz",
	 "submit=creation_time,duration=deletion_time-scheduled_time,"
	 "gpus=num_gpu,job=name",
	 6203, 897, 1052, 8},
	{"acme-kalos-converted.csv",
	 "submit=arrival_time,duration=num_iteration*0.75,"
	 "gpus=gpu_workers*gpu_per_worker,job=job_id",
	 319, 0, 0, 1024},
	{"sia-newtrace-workload-1.csv", SIA, 960, 0, 0, 16},
	{"sia-saturn-workload-1.csv", SIA, 160, 0, 0, 16},
	{"sia-saturn-workload-2.csv", SIA, 160, 0, 0, 16},
	{"sia-saturn-workload-3.csv", SIA, 160, 0, 0, 16},
	{"nrel-eagle-sample.csv",
	 "submit=submit_time,duration=run_time,gpus=nodes_req*4,job=job_id",
	 1000, 0, 0, 1440},
	{"NASA-iPSC-1993-3.1-cln.swf.gz", NULL, 18066, 173, 0, 128},
};

static uint32_t largest_of(const struct weft_stream *s)
{
	uint32_t largest = 0;

	for (uint32_t i = 0; i < s->n; i++) {
		if (s->jobs[i].gpus > largest)
			largest = s->jobs[i].gpus;
	}
	return largest;
}

static void published_traces_are_read_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
		struct job_trace_skipped skipped = {0};
		struct weft_stream s = {0};
		struct weft_error err = {0};
		char name[256];
		const char *path;

		snprintf(name, sizeof(name), FOLDER "%s", traces[i].name);
		path = test_shared(name);
		if (!path) {
			print_message("no %s beside the checkout\n", name);
			skip();
		}
		job_trace_load(path, traces[i].columns, &s, &skipped, &err);
		assert_no_error(&err);
		assert_int_equal(s.n, traces[i].n);
		assert_int_equal(skipped.no_submit, 0);
		assert_int_equal(skipped.no_duration, traces[i].no_duration);
		assert_int_equal(skipped.no_gpus, traces[i].no_gpus);
		assert_int_equal(largest_of(&s), traces[i].largest);
		weft_stream_free(&s);
	}
}

/* The first rows of a few, by hand. */
static void their_times_are_in_seconds(void **state)
{
	struct job_trace_skipped skipped = {0};
	struct weft_stream s = {0};
	struct weft_error err = {0};
	const char *path = test_shared(FOLDER "muri-philly-trace1.csv.gz");

	(void)state;
	if (!path) {
		print_message("no traces beside the checkout\n");
		skip();
	}
	job_trace_load(path, MURI, &s, &skipped, &err);
	assert_no_error(&err);
	assert_string_equal(s.jobs[1].name, "1");
	assert_close(s.jobs[1].submit_s, 201.694, 1e-12);
	assert_close(s.jobs[1].duration_s, 4472.936, 1e-12);
	assert_int_equal(s.jobs[1].gpus, 8);
	weft_stream_free(&s);
	path = test_shared(FOLDER "philly-first60.csv.gz");
	job_trace_load(path, "submit=timestamp,duration=duration,gpus=num_gpus",
		       &s, &skipped, &err);
	assert_no_error(&err);
	/* 2017-09-04 10:30:41 to 2017-09-07 03:58:57 */
	assert_close(s.jobs[1].submit_s - s.jobs[0].submit_s, 235696, 1e-12);
	weft_stream_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_traces_are_read_whole),
		cmocka_unit_test(their_times_are_in_seconds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
