/* SPDX-License-Identifier: GPL-3.0-or-later */
/* known.c - what is known of a placement is what would be measured of it
 *
 * Random jobs on random fabrics, with load of other jobs on some links and some
 * uplinks thinner than others: placements that differ from one another by
 * domains that changed places, and others.
 */
#include "placement/objective/judge.h"
#include "tests/lib/fabric.h"
#include "tests/placement/cases.h"
#include "topology/synth.h"

#include <math.h>
#include <stdlib.h>

#define N_CASES 300
#define N_TRIES 24

/* Sums may be taken in another order. */
#define ROUNDING 1e-9

static struct weft_fabric *synthetic(uint64_t *random)
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
	struct text t = {0};
	char *text;

	if (k >= 2 || test_random_below(random, 2))
		return test_synth(kinds[k].shape, &options);
	text = weft_synth(kinds[k].shape, &options, &err);
	assert_no_error(&err);
	text_add(&t, "%suplinks:\n  leaf[1-2]: 100Gbps\n", text);
	free(text);
	return case_fabric(t.at);
}

static struct weft_fabric *random_ring(uint64_t *random)
{
	static const char *const shapes[] = {"ring", "[3, 3]", "groups"};
	struct text text = {0}, *t = &text;

	text_add(t,
		 "weft: fabric/1\nname: known\nnodes:\n  n[0-17]: 4\nlevels:\n"
		 "  leaf:\n");
	for (uint32_t i = 0; i < 9; i++)
		text_add(t, "    l%u: n[%u-%u]\n", i, 2 * i, 2 * i + 1);
	text_add(t, "shapes:\n  core: %s\n",
		 shapes[test_random_below(random, 3)]);
	return case_fabric(t->at);
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

static struct weft_fabric *random_fabric(uint64_t *random)
{
	static const struct case_shape shape = {4, 24, 8, true};
	uint32_t kind = test_random_below(random, 5);
	struct text text = {0};

	if (kind == 0)
		return random_ring(random);
	if (kind > 1)
		return synthetic(random);
	case_random_fabric(&text, random, &shape);
	return case_fabric(text.at);
}

/* False: no such job. */
static bool random_job(const struct weft_fabric *f, uint64_t *random,
		       struct weft_job *job, struct text *spec)
{
	uint32_t n = 2 + test_random_below(random, 62);
	struct weft_error err = {0};

	case_random_spec(spec, random, n < f->n_gpus ? n : f->n_gpus);
	return weft_job_build(spec->at, 0, true, f, job, &err) == 0;
}

struct scene {
	struct weft_fabric *f;
	struct weft_job job;
	struct text spec;
	struct weft_occupancy o;
	struct weft_load load;
	struct weft_objective objective;
};

static void scene_open(struct scene *s, uint64_t *random)
{
	struct weft_error err = {0};

	memset(s, 0, sizeof(*s));
	s->f = random_fabric(random);
	while (!random_job(s->f, random, &s->job, &s->spec))
		weft_job_free(&s->job);
	weft_occupancy_build(s->f, &s->o, &err);
	weft_load_build(s->f, &s->load, &err);
	assert_no_error(&err);
	random_load(&s->load, random);
	s->objective.goal = test_random_below(random, 3);
	s->objective.metric = s->job.spec.metric;
	if (test_random_below(random, 2))
		s->objective.load = &s->load;
}

static void scene_close(struct scene *s)
{
	weft_load_free(&s->load);
	weft_occupancy_free(&s->o);
	weft_job_free(&s->job);
	weft_fabric_free(s->f);
}

static int measure_anew(const struct scene *s, const uint32_t *where,
			struct weft_measure *measure)
{
	struct weft_judge judge = {0};
	struct weft_error err = {0};
	int rc = weft_judge_build(s->f, &s->job, &s->o, &s->objective, &judge,
				  &err);

	if (rc == 0)
		rc = weft_judge_measure(&judge, where, measure, &err);
	weft_judge_free(&judge);
	return rc;
}

/* Returns how many placements it measured or looked up. */
static uint32_t compare_all(const struct scene *s, uint64_t *random,
			    uint32_t *n_measured)
{
	uint32_t where[64], n = s->job.n_gpus, n_looked = 0;
	struct weft_judge judge = {0};
	struct weft_error err = {0};

	weft_judge_build(s->f, &s->job, &s->o, &s->objective, &judge, &err);
	assert_no_error(&err);
	for (int k = 0; k < N_TRIES; k++) {
		struct weft_measure known, anew;
		double bound = 0;
		int rc;

		if (k % 8 == 0)
			random_places(s->f, n, random, where);
		swap_domains(s->f, n, random, where);
		if (k % 3 == 0 && judge.gpu &&
		    s->objective.goal == WEFT_GOAL_STEP)
			weft_judge_bound_one(&judge, where, &bound, &err);
		rc = weft_judge_measure(&judge, where, &known, &err);
		assert_int_equal(rc, measure_anew(s, where, &anew));
		n_looked += rc == 0;
		if (rc == 0)
			assert_same(&known, &anew, s->spec.at);
		if (rc == 0)
			assert_true(bound <= known.goal * (1 + ROUNDING));
	}
	*n_measured += judge.n_measured;
	weft_judge_free(&judge);
	return n_looked;
}

static void known_is_what_would_be_measured(void **state)
{
	uint32_t n_measured = 0, n_looked = 0;
	uint64_t random = test_seed();

	(void)state;
	for (int i = 0; i < N_CASES; i++) {
		struct scene s;

		scene_open(&s, &random);
		n_looked += compare_all(&s, &random, &n_measured);
		scene_close(&s);
	}
	assert_in_range(n_measured, n_looked / 20, n_looked * 3 / 4);
}

static void what_is_no_gpu_is_refused(void **state)
{
	struct weft_fabric *f = test_synth("leaf:2 node:4 gpu:8", NULL);
	const struct weft_objective objective = {.goal = WEFT_GOAL_COST};
	uint32_t where[2] = {0, WEFT_NONE};
	struct weft_judge judge = {0};
	struct weft_measure measure;
	struct weft_error err = {0};
	struct weft_job job = {0};

	(void)state;
	case_job("gpus=2,tp=2", f, &job);
	weft_judge_build(f, &job, NULL, &objective, &judge, &err);
	assert_no_error(&err);
	assert_int_equal(weft_judge_measure(&judge, where, &measure, &err), -1);
	assert_true(err.text[0]);
	weft_judge_free(&judge);
	weft_job_free(&job);
	weft_fabric_free(f);
}

/* Ranks in their order on nodes drawn anew, as many on each. */
static void draw_nodes(const struct weft_fabric *f, uint32_t n, uint32_t each,
		       uint32_t *where, uint64_t *random)
{
	uint32_t *node = calloc(f->n_nodes, sizeof(*node));

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		uint32_t k = (uint32_t)test_random_below(random, i + 1);

		node[i] = node[k];
		node[k] = i;
	}
	for (uint32_t r = 0; r < n; r++)
		where[r] = f->nodes[node[r / each]].first_gpu + r % each;
	free(node);
}

static double step_of(const struct weft_fabric *f, const struct weft_job *job,
		      const uint32_t *where)
{
	const struct weft_objective objective =
		weft_objective_of_spec(&job->spec);
	struct weft_measure m;
	struct weft_judge judge;

	weft_judge_build(f, job, NULL, &objective, &judge, NULL);
	assert_int_equal(weft_judge_measure(&judge, where, &m, NULL), 0);
	weft_judge_free(&judge);
	assert_false(m.inferred);
	return m.value;
}

/* Of a job on hosts drawn again and again; returns how many were inferred. */
static uint32_t infer(const struct weft_fabric *f, const struct weft_job *job,
		      uint64_t *random)
{
	const struct weft_objective objective =
		weft_objective_of_spec(&job->spec);
	uint32_t *where = calloc(job->n_gpus, sizeof(*where)), n = 0;
	struct weft_judge judge;

	weft_judge_build(f, job, NULL, &objective, &judge, NULL);
	judge.links_idle = true;
	for (uint32_t i = 0; i < 24; i++) {
		struct weft_measure m;
		double value;

		draw_nodes(f, job->n_gpus, i % 3 ? 8 : 4, where, random);
		assert_int_equal(weft_judge_measure(&judge, where, &m, NULL),
				 0);
		value = step_of(f, job, where);
		assert_close(m.value, value, m.inferred ? judge.same : 1e-12);
		n += m.inferred;
	}
	weft_judge_free(&judge);
	free(where);
	return n;
}

static void steps_inferred_are_those_predicted(void **state)
{
	static const char *const specs[] = {
		"tp=8,pp=2,model=llama3-8B", "tp=4,cp=2,model=llama3-70B",
		"pp=4,ep=8,model=deepseek-v3", "zero=3,model=llama3-8B",
		"tp=2,algorithm=tree,order=dp-tp-pp-ep-cp,model=llama3-8B"};
	struct weft_fabric *f = test_synth("pod:3 leaf:3 node:4 gpu:8", NULL);
	struct weft_error err = {0};
	uint64_t random = test_seed();
	uint32_t n = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(specs) / sizeof(specs[0]); i++) {
		struct weft_job job;

		weft_job_build(specs[i], 64, true, f, &job, &err);
		assert_no_error(&err);
		n += infer(f, &job, &random);
		weft_job_free(&job);
	}
	/* of 120: those whose rings are as long on either set of nodes */
	assert_true(n >= 10);
	weft_fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_is_what_would_be_measured),
		cmocka_unit_test(what_is_no_gpu_is_refused),
		cmocka_unit_test(steps_inferred_are_those_predicted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
