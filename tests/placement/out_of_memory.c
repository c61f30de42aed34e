/* SPDX-License-Identifier: GPL-3.0-or-later */
/* out_of_memory.c - each allocation of a placement fails in turn */
#include "placement/capacity/running.h"
#include "placement/exact/place_exact.h"
#include "tests/lib/failing.h"
#include "tests/placement/cases.h"

/* Steps of search, which allocate for each set of nodes. */
#define WORK 15000

static const char fabric_text[] = "weft: fabric/1\nnodes:\n  n[0-11]: 4\n"
				  "levels:\n  leaf:\n    l[0-3]: n[0-11]\n"
				  "  pod:\n    p[0-1]: l[0-3]\n";

struct scene {
	struct weft_fabric *f;
	struct weft_occupancy o;
	struct weft_job job;
	const char *method;
};

static int place(const struct scene *x, struct weft_error *err)
{
	const struct weft_place_options options = {.method = x->method,
						   .work_limit = WORK};
	struct weft_placement p;
	int rc = weft_place(x->f, &x->job, &x->o, &options, &p, err);

	weft_placement_free(&p);
	return rc;
}

/* Twice, as the second finds what the first has left. */
static int place_again(const struct scene *x, struct weft_error *err)
{
	struct weft_place_options options = {
		.plan_cache = weft_plan_cache_build(err), .work_limit = WORK};
	int rc = options.plan_cache ? 0 : -1;

	for (uint32_t i = 0; options.plan_cache && i < 2; i++) {
		struct weft_placement p;

		if (weft_place(x->f, &x->job, &x->o, &options, &p, err))
			rc = -1;
		weft_placement_free(&p);
	}
	weft_plan_cache_free(options.plan_cache);
	return rc;
}

/* With a limit, since every step that is predicted allocates, too. */
static int pursue(const struct scene *x, struct weft_error *err)
{
	static const struct weft_objective by[] = {
		{.goal = WEFT_GOAL_BUSIEST, .metric = WEFT_TIME},
		{.goal = WEFT_GOAL_STEP, .metric = WEFT_TIME},
		{.goal = WEFT_GOAL_COST, .fragmentation = 1},
	};
	struct weft_objective objective = by[x->method[0] - '0'];
	const struct weft_place_options options = {
		.objective = &objective,
		.work_limit = 1000,
	};
	struct weft_placement p;
	int rc;

	objective.gpu = weft_gpu_find("H100", NULL);
	rc = weft_place(x->f, &x->job, &x->o, &options, &p, err);
	weft_placement_free(&p);
	return rc;
}

static int run_beside(const struct scene *x, struct weft_error *err)
{
	static const char text[] =
		"weft: state/1\njobs:\n"
		"- {id: a, nodes: \"n[0,4]\", job: \"tp=4\", step_s: 1}\n"
		"- {id: b, gpus: \"n8:0-1\", job: \"tp=2\"}\n";
	struct weft_running_list list = {0};
	struct weft_load load = {0};
	struct weft_occupancy o;
	uint32_t n_silent;
	int rc = -1;

	if (weft_occupancy_build(x->f, &o, err) == 0 &&
	    weft_running_parse(&o, text, sizeof(text) - 1, "state", &list,
			       err) == 0 &&
	    weft_load_build(x->f, &load, err) == 0)
		rc = weft_running_traffic(&list, weft_gpu_find("H100", NULL),
					  NULL, &load, &n_silent, err);
	weft_load_free(&load);
	weft_running_free(&list);
	weft_occupancy_free(&o);
	return rc;
}

/* With a certificate, so that all steps of a proof are taken. */
static int prove(const struct scene *x, struct weft_error *err)
{
	char text[65536];
	FILE *file = fmemopen(text, sizeof(text), "w");
	const struct weft_place_options options = {.strategy = &weft_exact,
						   .work_limit = 2000,
						   .certificate = file};
	struct weft_placement p;
	int rc;

	if (!weft_exact_is_built()) {
		fclose(file);
		return 0;
	}
	rc = weft_place(x->f, &x->job, &x->o, &options, &p, err);
	fclose(file);
	weft_placement_free(&p);
	return rc;
}

static int ranks(const struct scene *x, struct weft_error *err)
{
	struct weft_placement p;
	uint32_t gpus[18];
	int rc;

	for (uint32_t r = 0; r < 18; r++)
		gpus[r] = r * 2;
	rc = weft_place_ranks(x->f, &x->job, gpus, NULL, &p, err);
	weft_placement_free(&p);
	return rc;
}

static int score(const struct scene *x, struct weft_error *err)
{
	struct weft_placement p;
	uint32_t where[18];
	int rc;

	for (uint32_t r = 0; r < 18; r++)
		where[r] = r;
	rc = weft_place_score(x->f, &x->job, NULL, where, &p, err);
	weft_placement_free(&p);
	return rc;
}

static int build_job(const struct scene *x, struct weft_error *err)
{
	struct weft_job job;
	int rc = weft_job_build("gpus=18,tp=2,pp=3", 0, false, x->f, &job, err);

	weft_job_free(&job);
	return rc;
}

static int read_busy(const struct scene *x, struct weft_error *err)
{
	struct weft_occupancy o;
	int rc = -1;

	if (weft_occupancy_build(x->f, &o, err) == 0)
		rc = weft_occupancy_busy(&o, "n[0-1],n2:0-1", err);
	weft_occupancy_free(&o);
	return rc;
}

/* Nothing leaks (the sanitizer build sees to that), and all that fails says
 * so. */
static void every_failed_allocation_is_reported(void **state)
{
	static const struct {
		const char *desc, *method, *limits;
		int (*run)(const struct scene *x, struct weft_error *err);
	} cases[] = {
		{"pack", "pack", "", place},
		{"pack with a memo", "pack", "", place_again},
		{"segments", "pack", ",segment=2", place},
		{"segments that do not fit", "pack", ",segment=4", place},
		{"parts", "pack", ",split=3+2", place},
		{"parts that do not fit", "pack", ",split=4+1", place},
		{"spread", "pack", ",spread=failure-domain", place},
		{"first-fit", "first-fit", "", place},
		{"exact", NULL, "", prove},
		{"busiest link", "0", "", pursue},
		{"busiest link, parts", "0", ",split=3+2", pursue},
		{"step", "1", "", pursue},
		{"room", "2", "", pursue},
		{"running jobs", NULL, "", run_beside},
		{"ranks", NULL, "", ranks},
		{"score", NULL, "", score},
		{"job", NULL, "", build_job},
		{"busy", NULL, "", read_busy},
	};
	struct scene x = {.f = case_fabric(fabric_text)};

	(void)state;
	assert_int_equal(weft_occupancy_build(x.f, &x.o, NULL), 0);
	weft_occupancy_take(&x.o, 1, 0x3);
	weft_occupancy_take(&x.o, 5, 0xf);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int n = 0, rc = -1;
		char spec[64];

		snprintf(spec, sizeof(spec), "gpus=18,tp=2,pp=3%s",
			 cases[i].limits);
		case_job(spec, x.f, &x.job);
		x.method = cases[i].method;
		while (rc && n < 5000) {
			struct weft_error err = {0};

			left = n++;
			rc = cases[i].run(&x, &err);
			left = -1;
			if (rc && err.code != WEFT_ENOMEM) {
				print_error("%s: allocation %d: code %d\n",
					    cases[i].desc, n, err.code);
				fail();
			}
		}
		print_message("%s: %d allocations\n", cases[i].desc, n - 1);
		assert_int_equal(rc, 0);
		weft_job_free(&x.job);
	}
	weft_occupancy_free(&x.o);
	weft_fabric_free(x.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_failed_allocation_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
