/* SPDX-License-Identifier: GPL-3.0-or-later */
/* loads_worker.c - loads of running jobs, found by a thread */
#include "plugin/bridge/running/loads_worker.h"

#include "base/clock.h"
#include "plugin/bridge/bridge.h"
#include "tests/lib/fabric.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define LONG_S 60.0

static struct weft_settings *settings;
static uint32_t *where;

static void begin(const char *fabric)
{
	settings = calloc(1, sizeof(*settings));
	assert_non_null(settings);
	settings->fabric = test_synth(fabric, NULL);
	where = calloc(settings->fabric->n_gpus, sizeof(*where));
	assert_non_null(where);
	for (uint32_t r = 0; r < settings->fabric->n_gpus; r++)
		where[r] = r;
}

static void end(void)
{
	free(where);
	weft_settings_free(settings);
}

static struct weft_loads_worker *start(const char *const *specs, uint32_t n,
				       uint32_t n_gpus)
{
	struct weft_error err = {0};
	struct weft_loads_worker *worker;
	struct weft_loads_jobs jobs;

	assert_int_equal(weft_loads_jobs_build(n, &jobs, &err), 0);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(weft_loads_jobs_add(&jobs, 7 + i, specs[i],
						     where, n_gpus, &err),
				 0);
	worker = weft_loads_worker_start(settings, &jobs, &err);
	assert_no_error(&err);
	assert_non_null(worker);
	return worker;
}

/* The same as at once. */
static void expect_parts(const struct weft_loads_job *job, const char *spec)
{
	struct weft_bridge bridge = {.settings = settings};
	struct weft_load_parts parts = {0};

	assert_int_equal(weft_bridge_running(&bridge, spec, where, job->n_gpus,
					     &parts, NULL),
			 0);
	assert_true(job->known);
	assert_true(parts.n > 0);
	assert_int_equal(job->parts.n, parts.n);
	assert_memory_equal(job->parts.part, parts.part,
			    parts.n * sizeof(*parts.part));
	weft_load_parts_free(&parts);
	weft_bridge_clear(&bridge);
}

static void loads_are_those_found_at_once(void **state)
{
	static const char *const specs[] = {"tp=8,dp=4", NULL, "tp=3,dp=7",
					    "tp=8,model=llama3-8b"};
	struct weft_loads_jobs jobs;

	(void)state;
	begin("leaf:4 node:2 gpu:8");
	assert_true(weft_loads_worker_take(start(specs, 4, 32), LONG_S, &jobs));
	assert_int_equal(jobs.n, 4);
	expect_parts(&jobs.jobs[0], specs[0]);
	expect_parts(&jobs.jobs[1], NULL);
	/* one that does not suit is taken for one data-parallel group */
	expect_parts(&jobs.jobs[2], NULL);
	expect_parts(&jobs.jobs[3], specs[3]);
	weft_loads_jobs_free(&jobs);
	end();
}

static void gpus_that_are_not_in_the_fabric_have_no_load(void **state)
{
	static const char *const specs[] = {"tp=8,dp=4"};
	struct weft_loads_jobs jobs;

	(void)state;
	begin("leaf:4 node:2 gpu:8");
	where[5] = WEFT_NONE;
	assert_true(weft_loads_worker_take(start(specs, 1, 32), LONG_S, &jobs));
	assert_false(jobs.jobs[0].known);
	assert_int_equal(jobs.jobs[0].parts.n, 0);
	weft_loads_jobs_free(&jobs);
	end();
}

/* Seconds of the processor that it takes to find the load at once. */
static double at_once_s(const char *spec)
{
	struct weft_bridge *bridge = calloc(1, sizeof(*bridge));
	struct weft_load_parts parts = {0};
	double start_s = weft_worked_s();

	assert_non_null(bridge);
	bridge->settings = settings;
	assert_int_equal(weft_bridge_running(bridge, spec, where,
					     settings->fabric->n_gpus, &parts,
					     NULL),
			 0);
	start_s = weft_worked_s() - start_s;
	weft_load_parts_free(&parts);
	weft_bridge_clear(bridge);
	free(bridge);
	return start_s;
}

/* 8,192 nodes: the caller holds Slurm's locks meanwhile.  0.2 ms of 30, where
 * nothing slows the test down. */
static void a_large_job_keeps_nobody_waiting(void **state)
{
	static const char *const specs[] = {"tp=8,pp=8"};
	struct weft_loads_worker *worker;
	struct weft_loads_jobs jobs;
	struct weft_load load;
	double least_s = 1e9;

	(void)state;
	begin("pod:16 leaf:16 node:32 gpu:8");
	assert_int_equal(weft_load_build(settings->fabric, &load, NULL), 0);
	for (int run = 0; run < 5; run++) {
		double start_s = weft_worked_s(), took_s;

		worker = start(specs, 1, settings->fabric->n_gpus);
		took_s = weft_worked_s() - start_s;
		assert_true(weft_loads_worker_take(worker, LONG_S, &jobs));
		assert_true(jobs.jobs[0].known);
		start_s = weft_worked_s();
		weft_load_add(&load, &jobs.jobs[0].parts);
		took_s += weft_worked_s() - start_s;
		weft_loads_jobs_free(&jobs);
		least_s = took_s < least_s ? took_s : least_s;
	}
	assert_true(least_s < at_once_s(specs[0]) / 10);
	weft_load_free(&load);
	end();
}

/* slurmctld reads its configuration meanwhile. */
static void one_that_was_left_frees_what_it_has(void **state)
{
	static const char *const specs[] = {"tp=8,pp=8"};
	struct stat tasks = {0};

	(void)state;
	begin("pod:4 leaf:16 node:32 gpu:8");
	weft_loads_worker_leave(start(specs, 1, settings->fabric->n_gpus));
	weft_loads_worker_leave(NULL);
	end();
	/* "." and ".." and this thread, within a minute */
	for (int i = 0; i < 6000 && tasks.st_nlink != 3; i++) {
		nanosleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
		assert_int_equal(stat("/proc/self/task", &tasks), 0);
	}
	assert_int_equal(tasks.st_nlink, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(loads_are_those_found_at_once),
		cmocka_unit_test(gpus_that_are_not_in_the_fabric_have_no_load),
		cmocka_unit_test(a_large_job_keeps_nobody_waiting),
		cmocka_unit_test(one_that_was_left_frees_what_it_has),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
