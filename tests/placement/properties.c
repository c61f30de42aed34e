/* SPDX-License-Identifier: GPL-3.0-or-later */
/* properties.c - what holds for every answer, on random fabrics, occupancies
 * and jobs under random limits
 */
#include "placement/exact/place_exact.h"
#include "tests/lib/checker.h"
#include "tests/placement/cases.h"

#include <stdlib.h>

#define N_SMALL	  1500
#define N_LARGE	  250
#define N_FREED	  500
#define N_GROUPED 400
#define MAX_RANKS 6

/* A case and the text that tells it when it fails. */
struct scene {
	struct weft_fabric *f;
	struct weft_occupancy o;
	struct weft_job job;
	struct text fabric, spec;
};

/* Racks that follow no switch: every so many nodes, by name. */
static void add_racks(struct text *t, uint64_t *random, uint32_t n_nodes)
{
	uint32_t size = 1 + test_random_below(random, n_nodes);

	text_add(t, "rack:\n");
	for (uint32_t i = 0, r = 0; i < n_nodes; i += size, r++) {
		uint32_t last = i + size < n_nodes ? i + size - 1 : n_nodes - 1;

		text_add(t, "  r%u: n[%u-%u]\n", r, i, last);
	}
}

static uint32_t count_nodes(const char *text)
{
	uint32_t n = 0;

	for (const char *at = text; (at = strstr(at, "\n  n")); at++)
		n += at[4] >= '0' && at[4] <= '9';
	return n;
}

static void require_some(struct scene *s, uint64_t *random)
{
	const struct weft_fabric *f = s->f;

	s->o.required = weft_calloc(weft_bitset_words(f->n_nodes), 8, NULL);
	assert_non_null(s->o.required);
	for (uint32_t n = 1 + test_random_below(random, 2); n > 0; n--)
		weft_bitset_add(s->o.required,
				test_random_below(random, f->n_nodes));
}

static void add_split(struct text *t, uint64_t *random, uint32_t n_nodes)
{
	const char *join = ",split=";
	uint32_t left = 1 + test_random_below(random, n_nodes);

	while (left) {
		uint32_t n = 1 + test_random_below(random, left);

		text_add(t, "%s%u", join, n);
		join = "+";
		left -= n;
	}
}

/* One to three limits on the nodes of a job of n GPUs, written into its spec.
 */
static void add_limits(struct scene *s, uint64_t *random, uint32_t n)
{
	const struct weft_fabric *f = s->f;
	uint32_t most = f->n_nodes < n ? f->n_nodes : n, a, b;
	uint32_t group = test_random_below(random, 5);
	bool nodes = group != 1 && test_random_below(random, 3) == 0;

	if (group == 0 || group == 4)
		text_add(&s->spec, ",segment=%u",
			 1 + test_random_below(random, 4));
	if (group == 1)
		add_split(&s->spec, random, most);
	if (group == 2)
		text_add(&s->spec, ",spread=failure-domain");
	if (nodes) {
		a = 1 + test_random_below(random, most);
		b = a + test_random_below(random, 4);
		text_add(&s->spec, ",nodes=%u-%u", a, b);
	} else if (group != 1 && test_random_below(random, 3) == 0) {
		a = 1 + test_random_below(random, 8);
		while (n % a)
			a--;
		text_add(&s->spec, ",gpus_per_node=%u", a);
	}
	if (test_random_below(random, 5) == 0)
		text_add(
			&s->spec, ",within=%s",
			f->levels[test_random_below(random, f->n_levels)].name);
	if (test_random_below(random, 5) == 0)
		text_add(
			&s->spec, ",prefer=%s",
			f->levels[test_random_below(random, f->n_levels)].name);
	if (test_random_below(random, 5) == 0)
		require_some(s, random);
}

/* False: nothing is free. */
static bool scene_open(struct scene *s, uint64_t *random,
		       const struct case_shape *shape, uint32_t most)
{
	uint32_t usable, n;

	memset(&s->o, 0, sizeof(s->o));
	memset(&s->job, 0, sizeof(s->job));
	case_random_fabric(&s->fabric, random, shape);
	if (test_random_below(random, 4) == 0)
		add_racks(&s->fabric, random, count_nodes(s->fabric.at));
	s->f = case_fabric(s->fabric.at);
	case_random_occupancy(&s->o, s->f, random, 25);
	usable = weft_occupancy_usable(&s->o);
	if (usable < 2)
		return false;
	usable = usable < most ? usable : most;
	n = 2 + test_random_below(random, usable - 1);
	case_random_spec(&s->spec, random, n);
	add_limits(s, random, n);
	case_job(s->spec.at, s->f, &s->job);
	return true;
}

static void scene_close(struct scene *s)
{
	weft_job_free(&s->job);
	weft_occupancy_free(&s->o);
	weft_fabric_free(s->f);
}

static void scene_tell(const struct scene *s, uint32_t i)
{
	const struct weft_fabric *f = s->f;

	print_error("case %u:\n%s%s\n", i, s->fabric.at, s->spec.at);
	for (uint32_t k = 0; k < f->n_nodes; k++)
		print_error("%s%s:%u/%x",
			    s->o.required && weft_bitset_has(s->o.required, k)
				    ? " !"
				    : " ",
			    f->nodes[k].name, s->o.usable[k],
			    (unsigned)s->o.free[k]);
	print_error("\n");
}

/* The place by structure keeps the limits, too, and is there when another is.
 */
static void check_first(const struct scene *s, uint32_t i, bool placed)
{
	struct weft_error err = {0};
	struct weft_placement p;
	const char *text = NULL;

	weft_place_first(s->f, &s->job, &s->o, &p, &err);
	assert_no_error(&err);
	if (p.placed)
		text = checker_where(s->f, &s->job, &s->o, p.where);
	if (!text && p.placed != placed)
		text = placed ? "no place" : "a place";
	if (text) {
		scene_tell(s, i);
		print_error("by structure: %s\n", text);
		fail();
	}
	weft_placement_free(&p);
}

/* Every strategy's answer passes; returns whether the default one found a
 * place. */
static bool check_answers(const struct scene *s, uint32_t i)
{
	bool placed = false;

	for (uint32_t k = weft_n_strategies; k-- > 0;) {
		const struct weft_objective busiest = {
			.goal = WEFT_GOAL_BUSIEST,
			.metric = s->job.spec.metric,
			.fragmentation = i % 4,
		};
		const struct weft_place_options options = {
			.method = weft_strategies[k].name,
			.objective = i % 3 == 2 ? &busiest : NULL,
		};
		struct weft_error err = {0};
		struct weft_placement p;
		const char *text;

		weft_place(s->f, &s->job, &s->o, &options, &p, &err);
		assert_no_error(&err);
		text = checker_answer(s->f, &s->job, &s->o, &p);
		/* first-fit spreads nothing */
		if (text && k > 0 && strstr(text, "failure domain"))
			text = NULL;
		if (text) {
			scene_tell(s, i);
			print_error("%s (%s): %s\n", options.method, p.method,
				    text);
			fail();
		}
		if (k == 0)
			placed = p.placed;
		weft_placement_free(&p);
	}
	check_first(s, i, placed);
	return placed;
}

static void no_placement_means_that_there_is_none(void **state)
{
	static const struct case_shape shapes[] = {
		{1, 6, 4, true}, {2, 7, 3, false}, {3, 8, 2, true}};
	uint64_t random = test_seed();
	static struct scene s;
	uint32_t n_placed = 0, n_none = 0;

	(void)state;
	for (uint32_t i = 0; i < N_SMALL; i++) {
		if (scene_open(&s, &random, &shapes[i % 3], 14)) {
			bool placed = check_answers(&s, i);

			if (!placed && checker_possible(s.f, &s.job, &s.o)) {
				scene_tell(&s, i);
				fail_msg("there is a placement");
			}
			n_placed += placed;
			n_none += !placed;
		}
		scene_close(&s);
	}
	print_message("%u placed, %u have no place\n", n_placed, n_none);
	assert_true(n_placed > N_SMALL / 3 && n_none > N_SMALL / 20);
}

static void every_answer_keeps_to_every_limit(void **state)
{
	static const struct case_shape shapes[] = {
		{4, 40, 8, false}, {4, 40, 8, true}, {20, 60, 4, true}};
	uint64_t random = test_seed();
	static struct scene s;
	uint32_t n_placed = 0;

	(void)state;
	for (uint32_t i = 0; i < N_LARGE; i++) {
		if (scene_open(&s, &random, &shapes[i % 3], 64))
			n_placed += check_answers(&s, i);
		scene_close(&s);
	}
	print_message("%u of %u placed\n", n_placed, N_LARGE);
	assert_true(n_placed > N_LARGE / 3);
}

/* What is wished for, not asked of the cost alone. */
static bool has_wishes(const struct weft_job *job)
{
	return job->spec.segment > 1 || job->spec.n_split ||
	       job->spec.spread != WEFT_PACK || job->prefer_level != WEFT_NONE;
}

/* A busy GPU, or one that was free but not usable. */
static bool free_one(struct weft_occupancy *o, uint64_t *random)
{
	const struct weft_fabric *f = o->fabric;
	uint32_t first = test_random_below(random, f->n_nodes);

	for (uint32_t i = 0; i < f->n_nodes; i++) {
		uint32_t node = (first + i) % f->n_nodes;
		uint64_t busy =
			weft_mask_first(f->nodes[node].n_gpus) & ~o->free[node];

		if (!busy && o->usable[node] == f->nodes[node].n_gpus)
			continue;
		o->free[node] |= busy & -busy;
		o->usable[node]++;
		return true;
	}
	return false;
}

/* Cost of the optimum; < 0: no place, or not proven. */
static double proven_cost(const struct scene *s, bool *placed)
{
	const struct weft_place_options options = {.strategy = &weft_exact,
						   .work_limit = 100000};
	struct weft_error err = {0};
	struct weft_placement p;
	double cost = -1;

	weft_place(s->f, &s->job, &s->o, &options, &p, &err);
	assert_no_error(&err);
	assert_null(checker_answer(s->f, &s->job, &s->o, &p));
	*placed = p.placed;
	if (p.placed && p.gap < 1e-9)
		cost = p.cost.total[p.metric];
	weft_placement_free(&p);
	return cost;
}

static void a_freed_gpu_makes_no_optimum_worse(void **state)
{
	static const struct case_shape shape = {2, 7, 4, true};
	uint64_t random = test_seed();
	static struct scene s;
	uint32_t n_compared = 0;

	(void)state;
	for (uint32_t i = 0; i < N_FREED; i++) {
		bool placed, still;
		double before, after;

		if (scene_open(&s, &random, &shape, 8) && !has_wishes(&s.job)) {
			before = proven_cost(&s, &placed);
			if (placed && free_one(&s.o, &random)) {
				after = proven_cost(&s, &still);
				if (!still) {
					scene_tell(&s, i);
					fail_msg("no place any more");
				}
				if (before >= 0 && after >= 0) {
					if (after > before * (1 + 1e-9)) {
						scene_tell(&s, i);
						fail_msg("%g before, %g after",
							 before, after);
					}
					n_compared++;
				}
			}
		}
		scene_close(&s);
	}
	print_message("%u optima compared\n", n_compared);
	assert_true(n_compared > N_FREED / 10);
}

/* Looks for a placement that keeps to the limits and costs less than `best`,
 * rank by rank on every GPU. */
struct exhaustive {
	const struct scene *s;
	double weight[MAX_RANKS][MAX_RANKS]; /* both directions */
	uint32_t where[MAX_RANKS];
	double best;
};

static double distance(const struct exhaustive *x, uint32_t a, uint32_t b)
{
	struct weft_distance d = weft_fabric_distance(x->s->f, a, b);
	enum weft_metric metric = x->s->job.spec.metric;

	if (metric == WEFT_HOPS)
		return d.hops;
	return metric == WEFT_LATENCY ? d.latency_s : d.time_s_per_byte;
}

static void place_rank(struct exhaustive *x, uint32_t rank, double cost)
{
	const struct scene *s = x->s;

	if (cost >= x->best)
		return;
	if (rank == s->job.n_gpus) {
		if (!checker_where(s->f, &s->job, &s->o, x->where))
			x->best = cost;
		return;
	}
	for (uint32_t gpu = 0; gpu < s->f->n_gpus; gpu++) {
		uint32_t node = s->f->gpu_node[gpu], r = 0;
		double more = 0;

		if (!(s->o.free[node] >> (gpu - s->f->nodes[node].first_gpu) &
		      1))
			continue;
		while (r < rank && x->where[r] != gpu) {
			more += x->weight[r][rank] *
				distance(x, x->where[r], gpu);
			r++;
		}
		if (r < rank)
			continue;
		x->where[rank] = gpu;
		place_rank(x, rank + 1, cost + more);
	}
}

/* The placement's cost over that of the best there is. */
static double over_optimum(const struct scene *s,
			   const struct weft_placement *p)
{
	struct weft_traffic rows;
	const struct weft_traffic *t =
		weft_traffic_whole(&s->job.traffic, &rows, NULL);
	double cost = p->cost.total[p->metric];
	struct exhaustive x = {.s = s, .best = cost * (1 - 1e-9)};

	for (uint32_t r = 0; r < t->n_ranks; r++) {
		for (uint32_t e = t->row[r]; e < t->row[r + 1]; e++) {
			x.weight[r][t->peer[e]] += t->bytes[e];
			x.weight[t->peer[e]][r] += t->bytes[e];
		}
	}
	weft_traffic_free(&rows);
	place_rank(&x, 0, 0);
	if (x.best < p->bound * (1 - 1e-9)) {
		print_error("bound %g, optimum %g\n", p->bound, x.best);
		return -1;
	}
	return cost / x.best;
}

static void segments_and_parts_are_placed_well(void **state)
{
	static const struct case_shape shapes[] = {{3, 7, 3, true},
						   {4, 8, 2, false}};
	uint64_t random = test_seed();
	static struct scene s;
	uint32_t n = 0, n_optimal = 0;
	double sum = 0, worst = 1;

	(void)state;
	for (uint32_t i = 0; i < N_GROUPED; i++) {
		struct weft_error err = {0};
		struct weft_placement p = {0};

		if (scene_open(&s, &random, &shapes[i % 2], MAX_RANKS) &&
		    (s.job.spec.segment > 1 || s.job.spec.n_split) &&
		    !s.job.traffic.n_switches &&
		    s.job.prefer_level == WEFT_NONE) {
			weft_place(s.f, &s.job, &s.o, NULL, &p, &err);
			assert_no_error(&err);
		}
		if (p.placed && p.cost.total[p.metric] > 0) {
			double ratio = over_optimum(&s, &p);

			if (ratio < 0) {
				scene_tell(&s, i);
				fail_msg("the bound is no bound");
			}
			n++;
			n_optimal += ratio < 1 + 1e-6;
			sum += ratio;
			worst = ratio > worst ? ratio : worst;
		}
		weft_placement_free(&p);
		scene_close(&s);
	}
	print_message("%u of %u optimal, mean %.4f of the optimum, worst "
		      "%.3f\n",
		      n_optimal, n, sum / n, worst);
	assert_true(n > N_GROUPED / 8);
	assert_true(n_optimal >= 0.9 * n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_placement_means_that_there_is_none),
		cmocka_unit_test(every_answer_keeps_to_every_limit),
		cmocka_unit_test(segments_and_parts_are_placed_well),
	};
	/* only where there are proofs */
	const struct CMUnitTest proven[] = {
		cmocka_unit_test(a_freed_gpu_makes_no_optimum_worse),
	};

	if (weft_exact_is_built() && cmocka_run_group_tests(proven, NULL, NULL))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
