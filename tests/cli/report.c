/* SPDX-License-Identifier: GPL-3.0-or-later */
/* report.c - each allocation of an answer in JSON fails in turn */
#include "cli/report.h"
#include "cli/plan/gain.h"
#include "cli/plan/verdict.h"
#include "placement/place.h"
#include "tests/lib/fabric.h"

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);

/* Allocations that still succeed; negative: all do. */
static int left = -1;
static bool refused;

void *__wrap_malloc(size_t size)
{
	if (left == 0) {
		refused = true;
		return NULL;
	}
	if (left > 0)
		left--;
	return __real_malloc(size);
}

static const char one_node[] = "weft: fabric/1\nnodes:\n  n0: 2\n";

static void an_answer_is_whole_or_not_written(void **state)
{
	struct request request = {0};
	struct weft_occupancy *free_gpus = &request.occupancy;
	struct weft_placement p = {0};
	struct verdict verdict = {0};
	struct gain gain = {0};
	const struct report report = {
		.placement = &p, .verdict = &verdict, .gain = &gain};
	struct weft_error err = {0};
	int n = -1, result;

	(void)state;
	request.fabric = test_fabric(one_node);
	weft_job_build("gpus=2,tp=2", 0, false, request.fabric, &request.job,
		       &err);
	assert_no_error(&err);
	weft_occupancy_build(request.fabric, free_gpus, &err);
	weft_place(request.fabric, &request.job, free_gpus, NULL, &p, &err);
	assert_no_error(&err);
	assert_true(p.placed);
	assert_int_equal(gain_find(&request, &p, &verdict, false, &gain, &err),
			 0);
	do {
		struct weft_error why = {0};

		report_start();
		refused = false;
		left = ++n;
		result = report_print(report_object("plan", &request, &report),
				      &why);
		left = -1;
		assert_int_equal(result, refused ? -1 : 0);
		assert_int_equal(why.code, refused ? WEFT_ENOMEM : 0);
	} while (result);
	assert_true(n > 100);
	gain_free(&gain);
	weft_placement_free(&p);
	weft_occupancy_free(free_gpus);
	weft_job_free(&request.job);
	weft_fabric_free(request.fabric);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_answer_is_whole_or_not_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
