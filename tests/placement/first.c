/* SPDX-License-Identifier: GPL-3.0-or-later */
/* first.c - the place by structure: the order of ranks */
#include "placement/objective/judge.h"
#include "tests/lib/fabric.h"
#include "tests/placement/cases.h"
#include "topology/synth.h"

/* Of the default search's value. */
#define WORST 1.1

#define N_JOBS	  200
#define WORST_ALL 1.6 /* of random jobs: bytes are not seconds */
#define MEAN_ALL  1.03

struct setting {
	struct weft_fabric *f;
	struct weft_occupancy o;
};

static void open_setting(struct setting *s, const char *shape,
			 const char *profile)
{
	const struct weft_synth_options options = {.profile = profile};
	struct weft_error err = {0};

	s->f = test_synth(shape, &options);
	weft_occupancy_build(s->f, &s->o, &err);
	assert_no_error(&err);
}

static void close_setting(struct setting *s)
{
	weft_occupancy_free(&s->o);
	weft_fabric_free(s->f);
}

static double value_of(const struct weft_fabric *f, const struct weft_job *job,
		       const struct weft_placement *p)
{
	const struct weft_objective objective =
		weft_objective_of_spec(&job->spec);
	struct weft_judge judge = {0};
	struct weft_measure measure;
	struct weft_error err = {0};

	assert_true(p->placed);
	weft_judge_build(f, job, NULL, &objective, &judge, &err);
	weft_judge_measure(&judge, p->where, &measure, &err);
	assert_no_error(&err);
	weft_judge_free(&judge);
	return measure.value;
}

/* The value of the place by structure, in the default's. */
static double ratio_of(const struct setting *s, const char *spec)
{
	struct weft_placement first = {0}, plan = {0};
	struct weft_error err = {0};
	struct weft_job job;
	double ratio;

	case_job(spec, s->f, &job);
	weft_place_first(s->f, &job, &s->o, &first, &err);
	weft_place(s->f, &job, &s->o, NULL, &plan, &err);
	assert_no_error(&err);
	ratio = value_of(s->f, &job, &first) / value_of(s->f, &job, &plan);
	weft_placement_free(&first);
	weft_placement_free(&plan);
	weft_job_free(&job);
	return ratio;
}

static void check_jobs(const struct setting *s, const char *const *jobs,
		       size_t n)
{
	for (size_t i = 0; i < n; i++) {
		double ratio = ratio_of(s, jobs[i]);

		if (ratio > WORST)
			print_error("%s: %.3f\n", jobs[i], ratio);
		assert_true(ratio <= WORST);
	}
}

/* Ranks whose own order takes the axis with most bytes across nodes. */
static void the_heaviest_axes_stay_close(void **state)
{
	static const char *const jobs[] = {
		"gpus=128,tp=8,pp=4,order=pp-dp-tp",
		"gpus=128,tp=8,pp=4,order=dp-pp-tp,model=llama3-70B",
		"gpus=64,tp=16,pp=2,order=pp-tp-dp",
		"gpus=256,tp=1,cp=8,pp=8,order=pp-dp-cp-tp",
		"gpus=128,tp=2,ep=8,model=mixtral-8x7B,order=tp-cp-ep-dp-pp",
		"gpus=256,tp=4,ep=16,model=deepseek-v3,order=dp-tp-ep",
	};
	struct setting s;

	(void)state;
	open_setting(&s, "pod:2 leaf:4 node:8 gpu:8", "roce-llama3");
	check_jobs(&s, jobs, sizeof(jobs) / sizeof(jobs[0]));
	close_setting(&s);
}

/* 16 nodes of each rack of 18, so that rings have as many NICs everywhere. */
static void racks_of_nvlink_give_equal_shares(void **state)
{
	static const char *const jobs[] = {
		"gpus=256,gpus_per_node=4,tp=8",
		"gpus=512,gpus_per_node=4,tp=8,pp=4",
		"gpus=256,gpus_per_node=4,tp=16,pp=2,model=llama3-405B",
		"gpus=512,gpus_per_node=4,tp=4,ep=32,model=deepseek-v3",
	};
	struct setting s;

	(void)state;
	open_setting(&s, "leaf:2 nvlink:8 node:18 gpu:4", "gb200-nvl72");
	check_jobs(&s, jobs, sizeof(jobs) / sizeof(jobs[0]));
	close_setting(&s);
}

/* That the place by structure is in. */
static uint32_t count_pods(const struct setting *s, const char *spec)
{
	const uint32_t *pod = s->f->gpu_domain[s->f->n_levels - 2];
	struct weft_placement p = {0};
	struct weft_error err = {0};
	struct weft_job job;
	uint32_t low = UINT32_MAX, high = 0;

	case_job(spec, s->f, &job);
	weft_place_first(s->f, &job, &s->o, &p, &err);
	assert_no_error(&err);
	for (uint32_t r = 0; r < p.n_ranks; r++) {
		low = pod[p.where[r]] < low ? pod[p.where[r]] : low;
		high = pod[p.where[r]] > high ? pod[p.where[r]] : high;
	}
	weft_placement_free(&p);
	weft_job_free(&job);
	return high - low + 1;
}

/* Racks 2, 3, 6, ... of each leaf of four have but two nodes free: what is left
 * of a job there has too few NICs for its rings. */
static void fragments_of_racks_are_left(void **state)
{
	static const char *const jobs[] = {
		/* the other pod has whole racks, too */
		"gpus=320,gpus_per_node=4,tp=8",
		/* nothing but whole racks and a rest makes up 83 nodes */
		"gpus=332,gpus_per_node=4,tp=4",
	};
	struct setting s;

	(void)state;
	open_setting(&s, "pod:2 leaf:2 nvlink:4 node:18 gpu:4", "gb200-nvl72");
	for (uint32_t i = 0; i < s.f->n_nodes; i++)
		if (i / 18 % 4 > 1 && i % 18 > 1)
			weft_occupancy_take(&s.o, i, UINT64_MAX);
	check_jobs(&s, jobs, sizeof(jobs) / sizeof(jobs[0]));
	assert_int_equal(count_pods(&s, jobs[0]), 2);
	assert_int_equal(count_pods(&s, "gpus=320,gpus_per_node=4,tp=8,"
					"prefer=pod"),
			 1);
	close_setting(&s);
}

/* On GPUs that somebody else chose, whatever their order. */
static void given_gpus_are_ordered_alike(void **state)
{
	uint32_t given[128];
	struct weft_placement first = {0}, ranks = {0};
	struct weft_error err = {0};
	struct weft_job job;
	struct setting s;

	(void)state;
	open_setting(&s, "pod:2 leaf:4 node:8 gpu:8", "roce-llama3");
	case_job("gpus=128,tp=8,pp=4,order=pp-dp-tp", s.f, &job);
	weft_place_first(s.f, &job, &s.o, &first, &err);
	for (uint32_t i = 0; i < 128; i++)
		given[i] = first.where[127 - i];
	weft_place_first_ranks(s.f, &job, given, &ranks, &err);
	assert_no_error(&err);
	assert_true(ranks.placed);
	assert_memory_equal(ranks.where, first.where, sizeof(given));
	weft_placement_free(&first);
	weft_placement_free(&ranks);
	weft_job_free(&job);
	close_setting(&s);
}

static void draw(uint64_t *random, char *spec, size_t size)
{
	static const char *const orders[] = {"tp-cp-ep-dp-pp", "pp-dp-ep-cp-tp",
					     "tp-pp-cp-ep-dp", "pp-tp-cp-ep-dp",
					     "dp-tp-pp-ep-cp"};
	static const char *const models[] = {"llama3-70B", "mixtral-8x7B",
					     "deepseek-v3", "llama3-8B"};
	uint32_t m = test_random_below(random, 4);
	uint32_t tp = 1u << test_random_below(random, 4);
	uint32_t cp = 1u << test_random_below(random, 2);
	uint32_t pp = 1u << test_random_below(random, 3);
	uint32_t ep = m == 1 || m == 2 ? 1u << test_random_below(random, 4) : 1;

	snprintf(spec, size,
		 "gpus=%u,model=%s,tp=%u,cp=%u,pp=%u,ep=%u,order=%s",
		 64u << test_random_below(random, 3), models[m], tp, cp, pp, ep,
		 orders[test_random_below(random, 5)]);
}

static void so_they_do_in_random_jobs(void **state)
{
	uint64_t random = test_seed();
	double sum = 0, worst = 0;
	uint32_t n = 0;
	struct setting s;
	char spec[256];

	(void)state;
	open_setting(&s, "pod:2 leaf:4 node:8 gpu:8", "roce-llama3");
	while (n < N_JOBS) {
		struct weft_error err = {0};
		struct weft_job job;
		double ratio;

		draw(&random, spec, sizeof(spec));
		if (weft_job_build(spec, 0, false, s.f, &job, &err) < 0) {
			weft_job_free(&job);
			continue;
		}
		weft_job_free(&job);
		ratio = ratio_of(&s, spec);
		worst = ratio > worst ? ratio : worst;
		sum += ratio;
		n++;
	}
	print_message("mean %.4f, worst %.3f\n", sum / n, worst);
	assert_true(sum / n <= MEAN_ALL && worst <= WORST_ALL);
	close_setting(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_heaviest_axes_stay_close),
		cmocka_unit_test(racks_of_nvlink_give_equal_shares),
		cmocka_unit_test(fragments_of_racks_are_left),
		cmocka_unit_test(given_gpus_are_ordered_alike),
		cmocka_unit_test(so_they_do_in_random_jobs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
