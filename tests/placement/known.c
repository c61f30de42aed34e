/* SPDX-License-Identifier: GPL-3.0-or-later */
/* known.c - what is known of a placement is what would be measured of it
 *
 * Random jobs on random fabrics, with load of other jobs on some links and some
 * uplinks thinner than others: placements that differ from one another by
 * domains that changed places, and others.
 */
#include "placement/objective/judge.h"
#include "tests/placement/cases.h"
#include "topology/synth.h"

#include <math.h>
#include <stdlib.h>

#define N_CASES 300
#define N_TRIES 24

/* Sums may be taken in another order. */
#define ROUNDING 1e-9

static void synthetic(struct text *t, uint64_t *random)
{
	static const struct {
		const char *shape, *profile;
		uint32_t rails;
	} kinds[] = {
		{"pod:2 leaf:3 node:4 gpu:8", NULL, 0},
		{"pod:2 leaf:3 node:4 gpu:8", "roce-llama3", 0},
		{"pod:2 leaf:2 node:6 gpu:8", NULL, 8},
		{"leaf:2 nvlink:3 node:6 gpu:4", "gb200-nvl72", 0},
	};
	uint32_t k = test_random_below(random, 4);
	const struct weft_synth_options options = {.name = "known",
						   .profile = kinds[k].profile,
						   .rails = kinds[k].rails};
	struct weft_error err = {0};
	char *text = weft_synth(kinds[k].shape, &options, &err);

	assert_no_error(&err);
	t->n = 0;
	text_add(t, "%s", text);
	free(text);
	if (k < 2 && test_random_below(random, 2))
		text_add(t, "uplinks:\n  leaf[1-2]: 100Gbps\n");
}

static void random_ring(struct text *t, uint64_t *random)
{
	static const char *const shapes[] = {"ring", "[3, 3]", "groups"};

	t->n = 0;
	text_add(t,
		 "weft: fabric/1\nname: known\nnodes:\n  n[0-17]: 4\nlevels:\n"
		 "  leaf:\n");
	for (uint32_t i = 0; i < 9; i++)
		text_add(t, "    l%u: n[%u-%u]\n", i, 2 * i, 2 * i + 1);
	text_add(t, "shapes:\n  core: %s\n",
		 shapes[test_random_below(random, 3)]);
}

/* Of other jobs, the same on some links. */
static void random_load(struct weft_load *load, uint64_t *random)
{
	const struct weft_fabric *f = load->fabric;
	struct weft_load_parts parts = {0};
	struct weft_error err = {0};

	for (uint32_t link = 0; link < 2 * f->n_domains; link++) {
		const struct weft_load_part part = {
			.link = link,
			.add = {0.3, 0.09, 2.4, 1e9, 16},
		};

		if (test_random_below(random, 4) == 0)
			weft_load_parts_add(&parts, &part, &err);
		assert_no_error(&err);
	}
	weft_load_add(load, &parts);
	weft_load_parts_free(&parts);
}

static void random_places(const struct weft_fabric *f, uint32_t n,
			  uint64_t *random, uint32_t *where)
{
	for (uint32_t r = 0; r < n; r++) {
		bool again = true;

		while (again) {
			where[r] = test_random_below(random, f->n_gpus);
			again = false;
			for (uint32_t i = 0; i < r; i++)
				again |= where[i] == where[r];
		}
	}
}

/* Two domains of a level that have as many GPUs change places. */
static void swap_domains(const struct weft_fabric *f, uint32_t n,
			 uint64_t *random, uint32_t *where)
{
	const struct weft_level *level =
		&f->levels[test_random_below(random, f->n_levels)];
	const struct weft_domain *first = &f->domains[level->first_domain];
	const struct weft_domain *a =
		&first[test_random_below(random, level->n_domains)];
	const struct weft_domain *b =
		&first[test_random_below(random, level->n_domains)];

	if (a == b || a->n_gpus != b->n_gpus)
		return;
	for (uint32_t r = 0; r < n; r++) {
		uint32_t in_a = where[r] - a->first_gpu,
			 in_b = where[r] - b->first_gpu;

		if (in_a < a->n_gpus)
			where[r] = b->first_gpu + in_a;
		else if (in_b < b->n_gpus)
			where[r] = a->first_gpu + in_b;
	}
}

static bool is_near(double a, double b)
{
	return a == b || fabs(a - b) <= ROUNDING * fabs(b);
}

static void assert_same(const struct weft_measure *a,
			const struct weft_measure *b, const char *spec)
{
	bool same = is_near(a->goal, b->goal) && is_near(a->value, b->value) &&
		    is_near(a->share_lost, b->share_lost) &&
		    is_near(a->cost.busiest.time_s, b->cost.busiest.time_s);

	for (int m = 0; m < WEFT_N_METRICS; m++)
		same &= is_near(a->cost.total[m], b->cost.total[m]);
	if (!same)
		fail_msg("%s: %.17g known, %.17g measured", spec, a->goal,
			 b->goal);
}

static void known_is_what_would_be_measured(void **state)
{
	static const struct case_shape shape = {4, 24, 8, true};
	uint64_t random = test_seed();
	uint32_t n_measured = 0, n_looked = 0;
	struct text fabric, spec;

	(void)state;
	for (int i = 0; i < N_CASES; i++) {
		struct weft_objective objective = {
			.goal = test_random_below(&random, 3)};
		uint32_t where[64], n, kind = test_random_below(&random, 5);
		struct weft_occupancy o = {0};
		struct weft_load load = {0};
		struct weft_judge judge = {0};
		struct weft_error err = {0};
		struct weft_job job = {0};
		struct weft_fabric *f;

		if (kind == 0)
			random_ring(&fabric, &random);
		else if (kind == 1)
			case_random_fabric(&fabric, &random, &shape);
		else
			synthetic(&fabric, &random);
		f = case_fabric(fabric.at);
		n = 2 + test_random_below(&random,
					  f->n_gpus < 63 ? f->n_gpus - 1 : 62);
		n = n > f->n_gpus ? f->n_gpus : n;
		case_random_spec(&spec, &random, n);
		if (weft_job_build(spec.at, 0, true, f, &job, &err)) {
			weft_fabric_free(f);
			continue;
		}
		weft_occupancy_build(f, &o, &err);
		weft_load_build(f, &load, &err);
		assert_no_error(&err);
		random_load(&load, &random);
		if (test_random_below(&random, 2))
			objective.load = &load;
		objective.metric = job.spec.metric;
		weft_judge_build(f, &job, &o, &objective, &judge, &err);
		assert_no_error(&err);
		for (int k = 0; k < N_TRIES; k++) {
			struct weft_measure known, anew;
			struct weft_judge other = {0};

			if (k % 8 == 0)
				random_places(f, n, &random, where);
			swap_domains(f, n, &random, where);
			if (weft_judge_measure(&judge, where, &known, &err)) {
				err = (struct weft_error){0};
				continue;
			}
			weft_judge_build(f, &job, &o, &objective, &other, &err);
			weft_judge_measure(&other, where, &anew, &err);
			assert_no_error(&err);
			assert_same(&known, &anew, spec.at);
			weft_judge_free(&other);
			n_looked++;
		}
		n_measured += judge.n_measured;
		weft_judge_free(&judge);
		weft_load_free(&load);
		weft_occupancy_free(&o);
		weft_job_free(&job);
		weft_fabric_free(f);
	}
	assert_in_range(n_measured, n_looked / 20, n_looked * 3 / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_is_what_would_be_measured),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
