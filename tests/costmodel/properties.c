/* SPDX-License-Identifier: GPL-3.0-or-later */
/* properties.c - what must hold for every job on every cluster
 *
 * Hundreds of random ones each, from the printed seed.
 */
#include "costmodel/time/step.h"
#include "costmodel/traffic/schedule.h"
#include "tests/costmodel/random.h"
#include "tests/lib/traffic.h"

#define N_CASES 300

/* A random job, placed on random GPUs of a random cluster. */
struct scene {
	struct plan plan;
	struct weft_fabric *f;
	struct weft_spec spec;
	struct weft_model model;
	struct weft_grid grid;
	struct weft_traffic t;
	uint32_t where[PLAN_MAX_RANKS];
	struct weft_cost cost;
};

static uint32_t power_of_two(uint64_t *seed, uint32_t most)
{
	uint32_t n = 1;

	while (n * 2 <= most && test_random_below(seed, 2))
		n *= 2;
	return n;
}

/* The largest power of two up to `most` that divides n. */
static uint32_t common_power_of_two(uint32_t n, uint32_t most)
{
	uint32_t common = n & -n;

	return common < most ? common : most;
}

/* At most `most` ranks. */
static void job_random(uint64_t *seed, uint32_t most, const char *algorithm,
		       struct scene *s)
{
	static const char *const orders[] = {"tp-cp-ep-dp-pp", "tp-cp-pp-dp",
					     "pp/dp/cp/tp", "dp-pp-tp-cp"};
	static const char *const models[] = {"gpt-1.7B", "llama3-8B",
					     "megatron-22B", "grok1-314B"};
	static const char *const cp_comms[] = {"p2p", "allgather", "a2a"};
	static const char *const recomputes[] = {"none", "selective", "full"};
	uint32_t tp = power_of_two(seed, most);
	uint32_t pp = power_of_two(seed, most / tp < 8 ? most / tp : 8);
	uint32_t cp = power_of_two(seed, most / tp / pp);
	uint32_t dp = 1 + test_random_below(seed, most / tp / pp / cp);
	uint32_t vpp = pp > 1 ? 1 + test_random_below(seed, 2) : 1;
	uint32_t micro = pp * (1 + test_random_below(seed, 4));
	uint32_t model = test_random_below(seed, 4), ep = 1;
	struct weft_error err = {0};
	char text[320];

	if (model == 3)
		ep = power_of_two(seed, common_power_of_two(tp * cp * dp, 8));
	snprintf(text, sizeof(text),
		 "tp=%u,pp=%u,cp=%u,dp=%u,ep=%u,vpp=%u,mbs=2,gbs=%u,zero=%u,"
		 "sp=%s,cp_comm=%s,recompute=%s,order=%s,model=%s,algorithm=%s",
		 tp, pp, cp, dp, ep, vpp, 2 * dp * micro,
		 test_random_below(seed, 4),
		 ep > 1 || test_random_below(seed, 2) ? "on" : "off",
		 cp_comms[test_random_below(seed, tp * cp > 8 ? 2 : 3)],
		 recomputes[test_random_below(seed, 3)],
		 orders[test_random_below(seed, ep > 1 ? 1 : 4)], models[model],
		 algorithm);
	weft_spec_parse(text, &s->spec, &err);
	weft_spec_resolve(&s->spec, 0, &err);
	assert_no_error(&err);
	weft_model_find(s->spec.model, &s->model, &err);
	weft_spec_grid(&s->spec, &s->grid, &err);
	traffic_of_spec(&s->spec, &s->model, &s->t, &err);
	weft_traffic_expand(&s->t, &err);
	assert_no_error(&err);
}

static struct weft_cost cost_of(const struct weft_fabric *f,
				const struct weft_traffic *t,
				const uint32_t *where)
{
	struct weft_error err = {0};
	struct weft_cost cost;

	weft_cost(f, t, where, NULL, &cost, &err);
	assert_no_error(&err);
	return cost;
}

/* algorithm NULL: any. */
static void scene_random(uint64_t *seed, const char *algorithm, struct scene *s)
{
	static const char *const algorithms[] = {
		"auto",	     "ring", "tree", "hierarchical", "halving-doubling",
		"in-network"};
	uint32_t most;

	s->plan = plan_random(seed);
	s->f = plan_fabric(&s->plan);
	most = s->f->n_gpus < PLAN_MAX_RANKS ? s->f->n_gpus : PLAN_MAX_RANKS;
	job_random(seed, most,
		   algorithm ? algorithm
			     : algorithms[test_random_below(seed, 6)],
		   s);
	where_random(seed, s->f, s->where, s->t.n_ranks);
	s->cost = cost_of(s->f, &s->t, s->where);
}

/* The step of the scene's job on other numbers or links. */
static struct weft_step step_of(const struct scene *s,
				const struct weft_fabric *f,
				const uint32_t *where)
{
	const struct weft_step_options options = {
		.gpu = weft_gpu_find("H100", NULL),
	};
	const struct weft_step_job job = {
		.fabric = f,
		.spec = &s->spec,
		.model = &s->model,
		.where = where,
	};
	struct weft_error err = {0};
	struct weft_step step;

	weft_step(&job, &options, &step, &err);
	assert_no_error(&err);
	return step;
}

static void scene_free(struct scene *s)
{
	weft_traffic_free(&s->t);
	weft_fabric_free(s->f);
}

static double axis_bytes(const struct weft_traffic *t, enum weft_axis axis)
{
	double sum = 0;

	for (uint32_t k = 0; k < t->n_edges; k++)
		sum += t->axis[k] == axis ? t->bytes[k] : 0;
	for (uint32_t k = 0; k < t->n_switches; k++)
		sum += t->switches[k].axis == axis
			       ? t->switches[k].bytes * t->switches[k].n_members
			       : 0;
	return sum;
}

/* What leaves the members of every group of `token` on `axis` arrives at
 * members of the same group. */
static void check_group(const struct scene *s, const char *token,
			enum weft_axis axis)
{
	uint32_t ranks[PLAN_MAX_RANKS], n = 1;
	struct weft_error err = {0};

	for (uint32_t g = 0; g * n < s->grid.n_ranks; g++) {
		double sent[PLAN_MAX_RANKS] = {0}, got[PLAN_MAX_RANKS] = {0};

		n = weft_grid_group(&s->grid, token, g, ranks, &err);
		assert_no_error(&err);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t r = ranks[i];

			for (uint32_t k = s->t.row[r]; k < s->t.row[r + 1];
			     k++) {
				uint32_t to = 0;

				if (s->t.axis[k] != axis)
					continue;
				while (to < n && ranks[to] != s->t.peer[k])
					to++;
				assert_true(to < n);
				sent[i] += s->t.bytes[k];
				got[to] += s->t.bytes[k];
			}
		}
		/* In a ring everybody passes on as much as it gets. */
		for (uint32_t i = 0; i < n && axis != WEFT_AXIS_PP; i++) {
			assert_close(sent[i], got[i], 1e-9);
			assert_close(sent[i], sent[0], 1e-9);
		}
	}
}

static void bytes_of_a_collective_stay_in_its_group(void **state)
{
	uint64_t seed = test_seed();

	(void)state;
	for (uint32_t i = 0; i < N_CASES; i++) {
		struct scene s = {0};

		scene_random(&seed, "ring", &s);
		check_group(&s, "tp", WEFT_AXIS_TP);
		if (weft_grid_axis(&s.grid, "cp") != WEFT_MAX_AXES)
			check_group(&s, "cp", WEFT_AXIS_CP);
		/* Replicas of experts lie across those of dense layers. */
		if (s.spec.ep == 1)
			check_group(&s, "dp-cp", WEFT_AXIS_DP);
		check_group(&s, "pp", WEFT_AXIS_PP);
		scene_free(&s);
	}
}

/* M(i,j) holds what the calls of the schedule say, by axis: nothing is lost on
 * the way from calls to pairs, and nothing counted twice. */
static void every_byte_of_the_schedule_is_in_the_traffic(void **state)
{
	uint64_t seed = test_seed();
	double by_axis[WEFT_N_AXES] = {0};

	(void)state;
	for (uint32_t i = 0; i < N_CASES; i++) {
		struct weft_schedule schedule;
		struct weft_error err = {0};
		struct scene s = {0};

		scene_random(&seed, "ring", &s);
		weft_schedule_build(&s.spec, &s.model, &schedule, &err);
		assert_no_error(&err);
		for (uint32_t axis = 0; axis < WEFT_N_AXES; axis++) {
			double calls = 0;

			for (uint32_t p = 0; p < s.spec.pp; p++)
				calls += schedule_bytes(&schedule, axis, p);
			calls *= (double)s.t.n_ranks / s.spec.pp;
			assert_close(axis_bytes(&s.t, axis), calls, 1e-9);
			by_axis[axis] += calls;
		}
		weft_schedule_free(&schedule);
		scene_free(&s);
	}
	for (int axis = 0; axis < WEFT_N_AXES; axis++)
		assert_true(by_axis[axis] > 0);
}

/* Whatever the placement, it moves each byte once over some level. */
static void a_placement_neither_adds_nor_drops_bytes(void **state)
{
	uint64_t seed = test_seed();

	(void)state;
	for (uint32_t i = 0; i < N_CASES; i++) {
		struct scene s = {0};
		double by_level = 0, by_axis = 0;

		scene_random(&seed, NULL, &s);
		for (uint32_t l = 0; l < WEFT_MAX_LEVELS; l++)
			by_level += s.cost.bytes_by_level[l];
		for (int axis = 0; axis < WEFT_N_AXES; axis++)
			by_axis += axis_bytes(&s.t, (enum weft_axis)axis);
		assert_close(by_level, weft_traffic_bytes(&s.t), 1e-9);
		assert_close(by_axis, weft_traffic_bytes(&s.t), 1e-9);
		scene_free(&s);
	}
}

static void check_equal(const struct weft_cost *a, const struct weft_cost *b)
{
	for (int m = 0; m < WEFT_N_METRICS; m++) {
		assert_close(a->total[m], b->total[m], 1e-9);
		for (int axis = 0; axis < WEFT_N_AXES; axis++)
			assert_close(a->by_axis[axis][m], b->by_axis[axis][m],
				     1e-9);
		for (uint32_t l = 0; l < WEFT_MAX_LEVELS; l++)
			assert_close(a->by_level[l][m], b->by_level[l][m],
				     1e-9);
	}
	assert_close(a->busiest.time_s, b->busiest.time_s, 1e-9);
}

/* The same cluster written in another order numbers its GPUs differently. */
static void renumbering_the_gpus_changes_nothing(void **state)
{
	uint64_t seed = test_seed();

	(void)state;
	for (uint32_t i = 0; i < N_CASES; i++) {
		uint32_t where[PLAN_MAX_RANKS];
		struct weft_step before, after;
		struct weft_fabric *renumbered;
		struct weft_cost cost;
		struct scene s = {0};

		scene_random(&seed, NULL, &s);
		plan_shuffle(&seed, &s.plan);
		renumbered = plan_fabric(&s.plan);
		for (uint32_t r = 0; r < s.t.n_ranks; r++)
			where[r] = gpu_renamed(s.f, s.where[r], renumbered);
		cost = cost_of(renumbered, &s.t, where);
		check_equal(&s.cost, &cost);
		before = step_of(&s, s.f, s.where);
		after = step_of(&s, renumbered, where);
		assert_close(after.step_s, before.step_s, 1e-9);
		weft_fabric_free(renumbered);
		scene_free(&s);
	}
}

/* The bound looks at some of the groups only. */
static void a_step_takes_no_less_than_its_bound(void **state)
{
	const struct weft_step_options options = {
		.gpu = weft_gpu_find("H100", NULL),
	};
	uint64_t seed = test_seed();
	uint32_t n_near = 0;

	(void)state;
	for (uint32_t i = 0; i < N_CASES; i++) {
		struct scene s = {0};
		struct weft_step step;
		struct weft_schedule schedule;
		struct weft_error err = {0};
		double bound_s;

		scene_random(&seed, NULL, &s);
		weft_schedule_build(&s.spec, &s.model, &schedule, &err);
		weft_step_bound(
			&(struct weft_step_job){
				.fabric = s.f,
				.spec = &s.spec,
				.model = &s.model,
				.where = s.where,
				.schedule = &schedule,
			},
			&options, &bound_s, &err);
		assert_no_error(&err);
		step = step_of(&s, s.f, s.where);
		assert_true(bound_s > 0);
		assert_true(bound_s <= step.step_s * (1 + 1e-12));
		n_near += bound_s > 0.9 * step.step_s;
		weft_schedule_free(&schedule);
		scene_free(&s);
	}
	assert_true(n_near > N_CASES / 10);
}

static void doubling_every_bandwidth_halves_the_time(void **state)
{
	uint64_t seed = test_seed();

	(void)state;
	for (uint32_t i = 0; i < N_CASES; i++) {
		struct weft_step before, after;
		struct weft_fabric *fast;
		struct weft_cost cost;
		struct scene s = {0};
		double longer_hops_s = 0;

		scene_random(&seed, NULL, &s);
		for (uint32_t l = 0; l < PLAN_LINKS; l++)
			s.plan.link[l].rate_bytes_per_s *= 2;
		fast = plan_fabric(&s.plan);
		cost = cost_of(fast, &s.t, s.where);
		assert_close(2 * cost.total[WEFT_TIME], s.cost.total[WEFT_TIME],
			     1e-9);
		assert_close(2 * cost.busiest.time_s, s.cost.busiest.time_s,
			     1e-9);
		/* Faster links change where trees are chosen, which may load
		 * another link more. */
		if (s.spec.algorithm == WEFT_BY_SIZE)
			s.spec.algorithm = WEFT_BY_RING;
		before = step_of(&s, s.f, s.where);
		after = step_of(&s, fast, s.where);
		for (int axis = 0; axis < WEFT_N_AXES; axis++) {
			longer_hops_s +=
				fmax(0, after.latency_s[axis] -
						before.latency_s[axis]);
			/* of the stage in which both together take longest */
			if (after.communication_stage[axis] !=
			    before.communication_stage[axis])
				continue;
			assert_close(2 * after.communication_s[axis],
				     before.communication_s[axis], 1e-9);
			/* the protocol is chosen for the sum of both */
			assert_true(after.communication_s[axis] +
					    after.latency_s[axis] <=
				    (before.communication_s[axis] +
				     before.latency_s[axis]) *
					    (1 + 1e-9));
		}
		assert_close(cost.total[WEFT_HOPS], s.cost.total[WEFT_HOPS], 0);
		assert_close(cost.total[WEFT_LATENCY],
			     s.cost.total[WEFT_LATENCY], 0);
		weft_fabric_free(fast);
		scene_free(&s);
	}
}

/* One switch in place of two brings no pair of GPUs further apart, and its link
 * upwards is as wide as both. */
static void merging_two_domains_never_raises_cost(void **state)
{
	uint64_t seed = test_seed();
	uint32_t n_merged = 0;

	(void)state;
	for (uint32_t i = 0; i < N_CASES; i++) {
		bool pods = test_random_below(&seed, 2);
		uint32_t where[PLAN_MAX_RANKS];
		struct weft_fabric *merged;
		struct weft_cost cost;
		struct scene s = {0};

		scene_random(&seed, NULL, &s);
		n_merged +=
			pods ? plan_merge(&seed, &s.plan.pods, &s.plan.leafs)
			     : plan_merge(&seed, &s.plan.leafs, &s.plan.units);
		merged = plan_fabric(&s.plan);
		for (uint32_t r = 0; r < s.t.n_ranks; r++)
			where[r] = gpu_renamed(s.f, s.where[r], merged);
		cost = cost_of(merged, &s.t, where);
		for (int m = 0; m < WEFT_N_METRICS; m++)
			assert_true(cost.total[m] <=
				    s.cost.total[m] * (1 + 1e-9));
		assert_true(cost.busiest.time_s <=
			    s.cost.busiest.time_s * (1 + 1e-9));
		/* A step takes the link where two ranks meet to be the
		 * narrowest between them, as it is on usual clusters.  The
		 * stages of a pipeline may lose what others win by sharing. */
		if (s.plan.outwards && s.spec.pp == 1)
			assert_true(step_of(&s, merged, where).step_s <=
				    step_of(&s, s.f, s.where).step_s *
					    (1 + 1e-9));
		weft_fabric_free(merged);
		scene_free(&s);
	}
	assert_true(n_merged > N_CASES / 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_of_a_collective_stay_in_its_group),
		cmocka_unit_test(every_byte_of_the_schedule_is_in_the_traffic),
		cmocka_unit_test(a_placement_neither_adds_nor_drops_bytes),
		cmocka_unit_test(renumbering_the_gpus_changes_nothing),
		cmocka_unit_test(a_step_takes_no_less_than_its_bound),
		cmocka_unit_test(doubling_every_bandwidth_halves_the_time),
		cmocka_unit_test(merging_two_domains_never_raises_cost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
