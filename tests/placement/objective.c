/* SPDX-License-Identifier: GPL-3.0-or-later */
/* objective.c - what every objective keeps to, on random fabrics and jobs */
#include "placement/objective/objective.h"
#include "placement/capacity/slots.h"

#include "costmodel/time/step.h"
#include "placement/capacity/running.h"
#include "placement/objective/judge.h"
#include "placement/ranks/links.h"
#include "tests/lib/checker.h"
#include "tests/placement/cases.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS 60

struct world {
	struct weft_fabric *f;
	struct weft_occupancy o;
	struct weft_job job;
	uint32_t n; /* GPUs of the job; 0: none fits */
};

static const struct case_shape shape = {4, 20, 8, false};

static void open_world(struct world *x, uint64_t *random)
{
	struct text t;

	memset(x, 0, sizeof(*x));
	case_random_fabric(&t, random, &shape);
	x->f = case_fabric(t.at);
	case_random_occupancy(&x->o, x->f, random, 30);
	x->n = weft_occupancy_usable(&x->o);
	if (x->n > 64)
		x->n = 64;
	if (x->n < 2) {
		x->n = 0;
		return;
	}
	/* even numbers have more ways to be cut */
	x->n = 2 * (1 + test_random_below(random, x->n / 2));
	case_random_spec(&t, random, x->n);
	case_job(t.at, x->f, &x->job);
}

static void close_world(struct world *x)
{
	weft_job_free(&x->job);
	weft_occupancy_free(&x->o);
	weft_fabric_free(x->f);
}

/* Worlds of other seeds that were answered wrong once. */
struct past {
	uint64_t seed;
	uint32_t round;
};

static void open_past(struct world *x, const struct past *past)
{
	uint64_t random = past->seed;

	for (uint32_t round = 0; round < past->round; round++) {
		open_world(x, &random);
		close_world(x);
	}
	open_world(x, &random);
}

static struct weft_objective objective_of(const struct world *x,
					  enum weft_goal goal)
{
	struct weft_objective objective = weft_objective_of_spec(&x->job.spec);

	objective.goal = goal;
	objective.gpu = weft_gpu_find("H100", NULL);
	return objective;
}

static void place(const struct world *x, const struct weft_objective *objective,
		  struct weft_placement *p)
{
	const struct weft_place_options options = {.objective = objective};
	struct weft_error err = {0};

	weft_place(x->f, &x->job, &x->o, &options, p, &err);
	assert_no_error(&err);
}

static struct weft_measure measure(const struct world *x,
				   const struct weft_objective *objective,
				   const uint32_t *where)
{
	struct weft_judge judge;
	struct weft_measure m;
	struct weft_error err = {0};

	weft_judge_build(x->f, &x->job, &x->o, objective, &judge, &err);
	assert_no_error(&err);
	weft_judge_measure(&judge, where, &m, &err);
	assert_no_error(&err);
	weft_judge_free(&judge);
	return m;
}

static void check_valid(const struct world *x, const struct weft_placement *p)
{
	const char *wrong = checker_where(x->f, &x->job, &x->o, p->where);

	if (wrong)
		fail_msg("%s: %s", p->method, wrong);
}

/* ---- the parts ---- */

static void the_spec_says_the_objective(void **state)
{
	struct weft_spec spec;
	struct weft_objective objective;

	(void)state;
	assert_int_equal(weft_spec_parse("metric=hops", &spec, NULL), 0);
	objective = weft_objective_of_spec(&spec);
	assert_int_equal(objective.goal, WEFT_GOAL_COST);
	assert_int_equal(objective.metric, WEFT_HOPS);
	assert_true(weft_objective_is_cost(&objective));
	assert_int_equal(weft_spec_parse("spread=balance", &spec, NULL), 0);
	objective = weft_objective_of_spec(&spec);
	assert_int_equal(objective.goal, WEFT_GOAL_BUSIEST);
	assert_false(weft_objective_is_cost(&objective));
}

static void wrong_objectives_are_refused(void **state)
{
	static const struct weft_objective wrong[] = {
		{.goal = WEFT_N_GOALS},
		{.metric = WEFT_N_METRICS},
		{.fragmentation = -1},
		{.fragmentation = (double)INFINITY},
		{.fragmentation = (double)NAN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct weft_error err = {0};

		assert_int_equal(weft_objective_check(&wrong[i], &err), -1);
		assert_int_equal(err.code, WEFT_EINVAL);
	}
}

/* Where the fabric does not say which GPUs it has, what the job sends is all
 * that is known of its step. */
static void an_unknown_step_is_what_is_communicated(void **state)
{
	struct world x = {.f = case_fabric("weft: fabric/1\nnodes:\n"
					   "  n[0-3]: 4\n")};
	struct weft_objective objective = {.goal = WEFT_GOAL_STEP};
	struct weft_placement p;
	struct weft_step step;
	struct weft_step_job placed = {.fabric = x.f};
	struct weft_error err = {0};
	double sum_s = 0;

	(void)state;
	weft_occupancy_build(x.f, &x.o, NULL);
	case_job("gpus=16,tp=2", x.f, &x.job);
	x.f->profile = "";
	place(&x, &objective, &p);
	assert_true(p.placed);
	placed.spec = &x.job.spec;
	placed.model = &x.job.model;
	placed.schedule = &x.job.schedule;
	placed.where = p.where;
	weft_step_communication(&placed, &step, &err);
	assert_no_error(&err);
	for (int a = 0; a < WEFT_N_AXES; a++)
		sum_s += step.communication_s[a] + step.latency_s[a];
	assert_true(step.communication_s[WEFT_AXIS_TP] > 0);
	assert_true(step.communication_s[WEFT_AXIS_DP] > 0);
	assert_close(measure(&x, &objective, p.where).goal, sum_s, 1e-12);
	weft_placement_free(&p);
	close_world(&x);
}

/* A random move of up to three ranks: among free GPUs and their own. */
static void random_move(struct links *k, const struct world *x,
			uint64_t *random)
{
	uint32_t rank[2], gpu[2], n = 1;

	rank[0] = test_random_below(random, x->n);
	gpu[0] = test_random_below(random, x->f->n_gpus);
	if (k->rank_at[gpu[0]] == rank[0])
		return;
	if (k->rank_at[gpu[0]] != WEFT_NONE) {
		rank[n] = k->rank_at[gpu[0]];
		gpu[n++] = k->where[rank[0]];
	}
	links_move(k, rank, gpu, n);
}

static void check_links(const struct links *k, const struct world *x,
			const struct weft_objective *objective)
{
	struct busy_link busiest = links_busiest(k);
	struct weft_cost cost;
	double *up = calloc(2 * (size_t)x->f->n_domains, sizeof(*up));
	double *down = up + x->f->n_domains;

	assert_int_equal(
		weft_cost(x->f, &x->job.traffic, k->where, NULL, &cost, NULL),
		0);
	assert_close(k->cost, cost.total[objective->metric], 1e-9);
	/* built with a reference of one second */
	assert_close(pow(busiest.pressure, 1.0 / 8), cost.busiest.time_s, 1e-9);
	assert_int_equal(weft_cost_links(x->f, &x->job.traffic, k->where, up,
					 down, NULL),
			 0);
	for (uint32_t d = 0; d < x->f->n_domains; d++) {
		double most = fmax(up[d], down[d]) * 1e-9 + 1;

		assert_true(fabs(k->bytes[2 * d] - up[d]) <= most);
		assert_true(fabs(k->bytes[2 * d + 1] - down[d]) <= most);
	}
	free(up);
}

static void loads_stay_those_of_a_new_count(void **state)
{
	uint64_t random = test_seed();

	(void)state;
	for (uint32_t round = 0; round < test_cases(ROUNDS); round++) {
		struct weft_objective objective;
		struct weft_judge judge;
		struct weft_placement p;
		struct links k;
		struct world x;

		open_world(&x, &random);
		if (!x.n || !x.f->connected || x.job.traffic.n_switches) {
			close_world(&x);
			continue;
		}
		objective = objective_of(&x, WEFT_GOAL_BUSIEST);
		place(&x, &objective, &p);
		if (p.placed) {
			weft_judge_build(x.f, &x.job, &x.o, &objective, &judge,
					 NULL);
			assert_int_equal(
				links_build(&judge, p.where, 1, &k, NULL), 0);
			for (int i = 0; i < 20; i++) {
				random_move(&k, &x, &random);
				check_links(&k, &x, &objective);
			}
			links_free(&k);
			weft_judge_free(&judge);
		}
		weft_placement_free(&p);
		close_world(&x);
	}
}

/* ---- answers ---- */

static double room_lost(const struct world *x, const uint32_t *where)
{
	struct weft_slots slots = {0};
	double lost;

	assert_int_equal(weft_slots_build(&x->o, x->job.n_gpus, &slots, NULL),
			 0);
	lost = weft_slots_lost(&slots, where);
	weft_slots_free(&slots);
	return lost;
}

/* Steps that the model cannot tell apart are equal, and a longer one of them is
 * taken only where it leaves more room to others or costs less; fewer domains
 * are worth WEFT_PRICE_OF_DOMAIN each. */
static double worth(const struct world *x, enum weft_goal goal,
		    const struct weft_placement *p,
		    const struct weft_placement *cheapest)
{
	double more = 1e-9, n;

	if (goal == WEFT_GOAL_BUSIEST)
		return 1.001e-3;
	if (goal != WEFT_GOAL_STEP)
		return more;
	n = (double)case_priced(x->f, &x->o, cheapest) -
	    case_priced(x->f, &x->o, p);
	if (n > 0)
		more += pow(1 + WEFT_PRICE_OF_DOMAIN, n) - 1;
	if (n > 0 || (weft_spec_given(&x->job.spec, "model") &&
		      (room_lost(x, p->where) < room_lost(x, cheapest->where) ||
		       p->cost.total[x->job.spec.metric] <
			       cheapest->cost.total[x->job.spec.metric])))
		more += WEFT_SAME_STEP;
	return more;
}

static void check_goals(const struct world *x)
{
	struct weft_placement p[WEFT_N_GOALS];
	struct weft_measure m;

	for (int g = 0; x->n && g < WEFT_N_GOALS; g++) {
		struct weft_objective by = objective_of(x, (enum weft_goal)g);
		double cheapest;

		place(x, &by, &p[g]);
		assert_int_equal(p[g].placed, p[0].placed);
		if (!p[g].placed)
			continue;
		check_valid(x, &p[g]);
		m = measure(x, &by, p[g].where);
		cheapest = measure(x, &by, p[0].where).value;
		if (m.value > cheapest * (1 + worth(x, by.goal, &p[g], &p[0])))
			fail_msg("%s: %g, for the cost %g", weft_goal_names[g],
				 m.value, cheapest);
		assert_close(p[g].cost.total[by.metric],
			     m.cost.total[by.metric], 1e-9);
		assert_close(p[g].cost.busiest.time_s, m.cost.busiest.time_s,
			     1e-9);
		assert_true(p[g].cost.total[by.metric] >=
			    p[g].bound * (1 - 1e-9));
	}
	for (int g = 0; x->n && g < WEFT_N_GOALS; g++)
		weft_placement_free(&p[g]);
}

static void goals_are_never_worse_than_the_cost_is_by_them(void **state)
{
	static const struct past pasts[] = {
		{9, 19}, {11, 44}, {3, 45}, {19, 52}, {29, 50}};
	uint64_t random = test_seed();
	struct world x;

	(void)state;
	for (size_t i = 0; i < sizeof(pasts) / sizeof(pasts[0]); i++) {
		open_past(&x, &pasts[i]);
		check_goals(&x);
		close_world(&x);
	}
	for (uint32_t round = 0; round < test_cases(ROUNDS); round++) {
		open_world(&x, &random);
		check_goals(&x);
		close_world(&x);
	}
}

/* What moves ranks about knows the limits of each job. */
static void every_goal_keeps_to_the_limits(void **state)
{
	static const char text[] =
		"weft: fabric/1\nprofile: roce-llama3\n"
		"nodes:\n  n[0-31]: 8\nlevels:\n  leaf:\n    l[0-7]: n[0-31]\n"
		"  pod:\n    p[0-1]: l[0-7]\n";
	static const char *const specs[] = {
		"gpus=48,tp=4,zero=3",
		"gpus=48,tp=4,pp=3,gpus_per_node=6",
		"gpus=48,tp=8,nodes=6,pp=2",
		"gpus=32,tp=4,nodes=8",
		"gpus=48,tp=8,within=pod",
		"gpus=24,tp=8,within=leaf",
		"gpus=64,tp=8,pp=2,segment=2",
		"gpus=48,tp=8,pp=3,segment=3",
		"gpus=48,tp=8,split=4+2",
		"gpus=64,tp=8,pp=4,spread=failure-domain",
		"gpus=48,tp=4,spread=balance,pp=3",
	};
	uint64_t random = test_seed();

	(void)state;
	for (uint32_t round = 0; round < 44; round++) {
		struct world x = {.f = case_fabric(text)};

		case_random_occupancy(&x.o, x.f, &random, 30);
		case_job(specs[round % 11], x.f, &x.job);
		if (round % 4 == 3) {
			uint32_t node = test_random_below(&random, 32);

			x.o.required = calloc(1, sizeof(*x.o.required));
			weft_bitset_add(x.o.required, node);
			x.o.free[node] = 0xff;
			x.o.usable[node] = 8;
		}
		for (int g = 0; g < 2 * WEFT_N_GOALS; g++) {
			struct weft_objective by =
				objective_of(&x, (enum weft_goal)(g / 2));
			struct weft_placement p;

			by.fragmentation = g % 2;
			place(&x, &by, &p);
			if (p.placed)
				check_valid(&x, &p);
			weft_placement_free(&p);
		}
		close_world(&x);
	}
}

static void no_weight_is_the_answer_without_objective(void **state)
{
	uint64_t random = test_seed();

	(void)state;
	for (uint32_t round = 0; round < test_cases(ROUNDS); round++) {
		struct weft_objective objective;
		struct weft_placement with, without;
		struct world x;

		open_world(&x, &random);
		if (x.n) {
			objective = weft_objective_of_spec(&x.job.spec);
			place(&x, &objective, &with);
			place(&x, NULL, &without);
			assert_int_equal(with.placed, without.placed);
			if (with.placed)
				assert_memory_equal(with.where, without.where,
						    x.n * sizeof(uint32_t));
			weft_placement_free(&with);
			weft_placement_free(&without);
		}
		close_world(&x);
	}
}

/* Counts the weights that lose less than the one before. */
static void check_weights(const struct world *x, uint32_t *n_less)
{
	static const double weights[] = {0, 0.01, 0.1, 1, 100};
	double last = 1;

	for (size_t i = 0; x->n && i < 5; i++) {
		struct weft_objective objective =
			objective_of(x, WEFT_GOAL_COST);
		struct weft_placement p;
		double share;

		objective.fragmentation = weights[i];
		place(x, &objective, &p);
		if (p.placed) {
			check_valid(x, &p);
			share = measure(x, &objective, p.where).share_lost;
			assert_true(share <= last + 1e-9);
			*n_less += i > 0 && share < last - 1e-9;
			last = share;
		}
		weft_placement_free(&p);
	}
}

static void more_weight_never_loses_more_room(void **state)
{
	static const struct past pasts[] = {{15, 39}, {25, 52}};
	uint64_t random = test_seed();
	uint32_t n_less = 0;
	struct world x;

	(void)state;
	for (size_t i = 0; i < sizeof(pasts) / sizeof(pasts[0]); i++) {
		open_past(&x, &pasts[i]);
		check_weights(&x, &n_less);
		close_world(&x);
	}
	for (uint32_t round = 0; round < test_cases(ROUNDS); round++) {
		open_world(&x, &random);
		check_weights(&x, &n_less);
		close_world(&x);
	}
	assert_true(n_less > 0);
}

static void twice_the_rates_halve_what_is_a_time(void **state)
{
	uint64_t random = test_seed();

	(void)state;
	for (uint32_t round = 0; round < test_cases(ROUNDS); round++) {
		struct weft_objective objective;
		struct weft_measure before, after;
		struct weft_placement p;
		struct world x;

		open_world(&x, &random);
		if (!x.n) {
			close_world(&x);
			continue;
		}
		/* rates say where trees are chosen */
		x.job.spec.algorithm = WEFT_BY_RING;
		objective = objective_of(&x, WEFT_GOAL_BUSIEST);
		objective.fragmentation = 1;
		place(&x, &objective, &p);
		if (p.placed) {
			before = measure(&x, &objective, p.where);
			for (uint32_t l = 0; l < x.f->n_levels; l++) {
				x.f->levels[l].link.rate_bytes_per_s *= 2;
				x.f->distance[l][0].time_s_per_byte /= 2;
				x.f->distance[l][1].time_s_per_byte /= 2;
			}
			after = measure(&x, &objective, p.where);
			assert_close(after.value, before.value / 2, 1e-12);
			assert_close(after.share_lost, before.share_lost, 0);
			assert_close(after.cost.total[WEFT_TIME],
				     before.cost.total[WEFT_TIME] / 2, 1e-12);
		}
		weft_placement_free(&p);
		close_world(&x);
	}
}

/* n0 .. n7 under other names, so in another order: m7 .. m0. */
static void other_names_have_the_same_value(void **state)
{
	static const char text[] =
		"weft: fabric/1\nnodes:\n  %c[0-7]: 4\nlevels:\n  leaf:\n"
		"    l%d: %c[%s]\n    l%d: %c[%s]\n"
		"links:\n  leaf: {oversubscription: 3}\n";
	struct text a, b;
	struct world x = {0}, y = {0};
	uint32_t where[12], mirrored[12];

	(void)state;
	a.n = b.n = 0;
	text_add(&a, text, 'n', 0, 'n', "0-2", 1, 'n', "3-7");
	text_add(&b, text, 'm', 1, 'm', "0-4", 0, 'm', "5-7");
	x.f = case_fabric(a.at);
	y.f = case_fabric(b.at);
	weft_occupancy_build(x.f, &x.o, NULL);
	weft_occupancy_build(y.f, &y.o, NULL);
	case_job("gpus=12,tp=2,pp=2", x.f, &x.job);
	case_job("gpus=12,tp=2,pp=2", y.f, &y.job);
	for (uint32_t r = 0; r < 12; r++) {
		char name[2][8];

		snprintf(name[0], 8, "n%u", r / 2 + r / 7);
		snprintf(name[1], 8, "m%u", 7 - (r / 2 + r / 7));
		where[r] =
			x.f->nodes[weft_fabric_node(x.f, name[0])].first_gpu +
			r % 2;
		mirrored[r] =
			y.f->nodes[weft_fabric_node(y.f, name[1])].first_gpu +
			r % 2;
	}
	where[7] += 2;
	mirrored[7] += 2;
	for (int g = 0; g < WEFT_N_GOALS; g++) {
		struct weft_objective by = objective_of(&x, (enum weft_goal)g);

		by.fragmentation = 0.5;
		assert_close(measure(&x, &by, where).value,
			     measure(&y, &by, mirrored).value, 1e-12);
	}
	close_world(&x);
	close_world(&y);
}

static void the_busiest_link_keeps_to_its_bound(void **state)
{
	uint64_t random = test_seed();
	uint32_t n_tight = 0;

	(void)state;
	for (uint32_t round = 0; round < 2 * test_cases(ROUNDS); round++) {
		struct weft_objective objective;
		struct weft_placement p;
		struct weft_judge judge;
		struct world x;
		double bound;

		open_world(&x, &random);
		if (!x.n) {
			close_world(&x);
			continue;
		}
		objective = objective_of(&x, WEFT_GOAL_BUSIEST);
		place(&x, &objective, &p);
		if (p.placed) {
			weft_judge_build(x.f, &x.job, NULL, &objective, &judge,
					 NULL);
			assert_int_equal(weft_judge_bound(&judge, &x.o, p.bound,
							  &bound, NULL),
					 0);
			assert_true(p.cost.busiest.time_s >= bound);
			n_tight += bound > 0 &&
				   p.cost.busiest.time_s <= bound * 1.001;
			weft_judge_free(&judge);
		}
		weft_placement_free(&p);
		close_world(&x);
	}
	assert_true(n_tight > 0);
}

/* n1 and n3 under leafs whose narrow uplinks job a uses, too. */
static void other_jobs_make_links_slower(void **state)
{
	static const char text[] =
		"weft: fabric/1\nprofile: dgx-h100-superpod\n"
		"nodes:\n  n[0-5]: 8\nlevels:\n"
		"  leaf:\n    l[0-2]: n[0-5]\n  pod:\n    p: l[0-2]\n"
		"links:\n  pod: {oversubscription: 8}\n";
	static const char running[] =
		"weft: state/1\njobs:\n"
		"- {id: a, nodes: \"n[0,2]\", job: \"tp=8\", step_s: 0.5}\n"
		"- {id: b, nodes: \"n4\", job: \"tp=8\"}\n"
		"- {id: c, gpus: \"n5:0\"}\n";
	struct world x = {.f = case_fabric(text)};
	struct weft_objective objective;
	struct weft_running_list list;
	struct weft_load load;
	struct weft_measure alone, beside;
	struct weft_error err = {0};
	uint32_t where[16], n_silent;

	(void)state;
	weft_occupancy_build(x.f, &x.o, NULL);
	weft_running_parse(&x.o, running, sizeof(running) - 1, "state", &list,
			   &err);
	assert_no_error(&err);
	case_job("gpus=16,tp=8", x.f, &x.job);
	weft_load_build(x.f, &load, &err);
	weft_running_traffic(&list, NULL, NULL, &load, &n_silent, &err);
	assert_no_error(&err);
	assert_int_equal(n_silent, 1);
	/* the others have one node */
	assert_int_equal(load.n, 1);
	for (uint32_t r = 0; r < 16; r++)
		where[r] = (r < 8 ? 8 : 24 - 8) + r;
	for (int g = 1; g < WEFT_N_GOALS; g++) {
		objective = objective_of(&x, (enum weft_goal)g);
		alone = measure(&x, &objective, where);
		objective.load = &load;
		beside = measure(&x, &objective, where);
		assert_true(beside.value > alone.value);
		assert_close(beside.cost.total[WEFT_TIME],
			     alone.cost.total[WEFT_TIME], 0);
	}
	weft_load_free(&load);
	weft_running_free(&list);
	close_world(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_spec_says_the_objective),
		cmocka_unit_test(wrong_objectives_are_refused),
		cmocka_unit_test(an_unknown_step_is_what_is_communicated),
		cmocka_unit_test(loads_stay_those_of_a_new_count),
		cmocka_unit_test(
			goals_are_never_worse_than_the_cost_is_by_them),
		cmocka_unit_test(every_goal_keeps_to_the_limits),
		cmocka_unit_test(no_weight_is_the_answer_without_objective),
		cmocka_unit_test(more_weight_never_loses_more_room),
		cmocka_unit_test(twice_the_rates_halve_what_is_a_time),
		cmocka_unit_test(other_names_have_the_same_value),
		cmocka_unit_test(the_busiest_link_keeps_to_its_bound),
		cmocka_unit_test(other_jobs_make_links_slower),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
