/* SPDX-License-Identifier: GPL-3.0-or-later */
/* tighter.c - limits do not make a job cheaper than it is without
 *
 * What keeps to a limit is a placement of the job without it, too, so the
 * answer to that should be as good.  Random jobs on racks of NVLink domains,
 * rails, uneven uplinks, nodes of several sizes and fragments, each under
 * fifteen limits.  $WEFT_TEST_CASES: how many jobs; $WEFT_TEST_TELL: each limit
 * that made one cheaper.
 */
#include "base/bitset.h"
#include "placement/mapping/sites.h"
#include "placement/objective/judge.h"
#include "tests/placement/cases.h"
#include "topology/synth.h"

#include <math.h>
#include <stdlib.h>

#define N_CASES 60

/* Limits of each kind that a job is placed under. */
#define TIMES 3

/* Steps that are that much shorter are cheaper, beyond what counts as equal. */
#define CHEAPER 1.001

/* What a domain of the outermost tapered level costs, as objective.h. */
#define PRICE WEFT_PRICE_OF_DOMAIN

/* What the search does not yet find: of a hundred limits so many made a job
 * cheaper, and the most by this factor; of a hundred answers that are worth as
 * much with the limit so many destroy less room with it. */
#define MOST_CHEAPER 0.014
#define MOST_GAINED  1.2
#define MOST_RUDE    0.015

enum kind { NVL72, NVL_SMALL, LEAFS, RAILS, MIXED, N_KINDS };
static const char *const kind_names[N_KINDS] = {"nvl72", "nvl-small", "leafs",
						"rails", "mixed"};

enum limit { SEGMENT, WITHIN, EXCLUDED, PER_NODE, FEWER, N_LIMITS };
static const char *const limit_names[N_LIMITS] = {
	"segment", "within", "excluded", "gpus_per_node", "fewer free"};

struct tally {
	uint32_t n, n_cheaper;
	double worst;
	/* answers that are worth the same with and without the limit, and
	 * those that destroy more room without */
	uint32_t n_equal, n_rude;
};

static void synthetic(struct text *t, const char *shape, const char *profile,
		      uint32_t rails)
{
	const struct weft_synth_options options = {
		.name = "tighter", .profile = profile, .rails = rails};
	struct weft_error err = {0};
	char *text = weft_synth(shape, &options, &err);

	assert_no_error(&err);
	t->n = 0;
	text_add(t, "%s", text);
	free(text);
}

static void random_fabric(struct text *t, uint64_t *random, enum kind kind)
{
	char shape[80];
	uint32_t n = 1 + test_random_below(random, 3),
		 m = 2 + test_random_below(random, 5);

	if (kind == NVL72) {
		snprintf(shape, sizeof(shape),
			 "leaf:%u nvlink:%u node:18 gpu:4", n, m);
		synthetic(t, shape, "gb200-nvl72", 0);
	} else if (kind == NVL_SMALL) {
		snprintf(shape, sizeof(shape),
			 "pod:%u leaf:%u nvlink:%u node:%u gpu:%u", n,
			 1 + test_random_below(random, 3), m,
			 2 + test_random_below(random, 8),
			 2 << test_random_below(random, 2));
		synthetic(t, shape, "gb200-nvl72", 0);
	} else if (kind == RAILS) {
		snprintf(shape, sizeof(shape), "pod:%u leaf:%u node:%u gpu:8",
			 n, m, 2 + test_random_below(random, 7));
		synthetic(t, shape, NULL, 8);
	} else if (kind == LEAFS) {
		snprintf(shape, sizeof(shape), "pod:%u leaf:%u node:%u gpu:8",
			 n, m, 2 + test_random_below(random, 15));
		synthetic(t, shape, NULL, 0);
		/* uplinks of some leafs are degraded */
		if (test_random_below(random, 2) && !strstr(t->at, "uplinks"))
			text_add(t, "uplinks:\n  leaf%s: 100Gbps\n",
				 n * m > 10 ? "00" : "0");
	} else {
		static const struct case_shape mixed = {8, 40, 8, true};

		case_random_fabric(t, random, &mixed);
	}
	if (kind != MIXED && test_random_below(random, 2))
		text_add(t, "links:\n  %s: {oversubscription: %u}\n",
			 kind == NVL72 ? "leaf" : "pod",
			 2 + test_random_below(random, 6));
}

/* Whole nodes, single GPUs or runs of nodes, as jobs that came and went leave
 * them. */
static void random_busy(struct weft_occupancy *o, uint64_t *random,
			uint32_t style)
{
	uint32_t n = o->fabric->n_nodes,
		 pct = 10 + test_random_below(random, 60), run;

	for (uint32_t i = 0; style == 0 && i < n; i++)
		if (test_random_below(random, 100) < pct)
			weft_occupancy_take(o, i, UINT64_MAX);
	for (uint32_t i = 0; style == 1 && i < n; i++)
		for (uint32_t k = 0; k < o->fabric->nodes[i].n_gpus; k++)
			if (test_random_below(random, 100) < pct)
				weft_occupancy_take(o, i, UINT64_C(1) << k);
	for (uint32_t i = 0; style == 2 && i < n;) {
		bool busy = test_random_below(random, 100) < pct;

		for (run = 1 + test_random_below(random, 8); run && i < n;
		     run--, i++)
			if (busy)
				weft_occupancy_take(o, i,
						    test_random_below(random, 8)
							    ? UINT64_MAX
							    : 0x03);
	}
}

/* False: too little is free. */
static bool random_job(struct text *t, uint64_t *random, uint32_t usable)
{
	static const char *const models[] = {
		"", ",model=llama3-70B", ",model=gpt3-175B", ",metric=time"};
	uint32_t tp = 1u << test_random_below(random, 4),
		 pp = 1u << test_random_below(random, 3), dp;
	uint32_t most = (usable < 256 ? usable : 256) / (tp * pp);

	if (!most)
		return false;
	dp = 1 + test_random_below(random, most);
	if (test_random_below(random, 2))
		while (dp & (dp - 1))
			dp--;
	if (tp * pp * dp < 4)
		return false;
	t->n = 0;
	text_add(t, "gpus=%u,tp=%u,pp=%u", tp * pp * dp, tp, pp);
	if (test_random_below(random, 4) == 0 && dp % 4 == 0)
		text_add(t, ",ep=%u,model=deepseek-v3", dp % 8 ? 4 : 8);
	else
		text_add(t, "%s", models[test_random_below(random, 4)]);
	return true;
}

struct scene {
	struct weft_fabric *f;
	struct weft_occupancy o;
	struct weft_job job;
	struct text fabric, spec;
	struct weft_objective objective;
	struct weft_judge judge;
	enum kind kind;
	uint32_t style;
};

static bool scene_open(struct scene *s, uint64_t *random)
{
	struct weft_error err = {0};

	memset(&s->o, 0, sizeof(s->o));
	memset(&s->job, 0, sizeof(s->job));
	memset(&s->judge, 0, sizeof(s->judge));
	s->kind = test_random_below(random, N_KINDS);
	s->style = test_random_below(random, 3);
	random_fabric(&s->fabric, random, s->kind);
	s->f = case_fabric(s->fabric.at);
	weft_occupancy_build(s->f, &s->o, &err);
	assert_no_error(&err);
	random_busy(&s->o, random, s->style);
	if (!random_job(&s->spec, random, weft_occupancy_usable(&s->o)))
		return false;
	if (weft_job_build(s->spec.at, 0, true, s->f, &s->job, &err))
		return false;
	s->objective = weft_objective_of_spec(&s->job.spec);
	weft_judge_build(s->f, &s->job, &s->o, &s->objective, &s->judge, &err);
	assert_no_error(&err);
	return true;
}

static void scene_close(struct scene *s)
{
	weft_judge_free(&s->judge);
	weft_job_free(&s->job);
	weft_occupancy_free(&s->o);
	weft_fabric_free(s->f);
}

static bool place(const struct scene *s, const char *spec,
		  const struct weft_occupancy *o, struct weft_placement *p)
{
	const struct weft_place_options options = {0};
	struct weft_job job = {0};
	struct weft_error err = {0};

	memset(p, 0, sizeof(*p));
	if (weft_job_build(spec, 0, true, s->f, &job, &err) == 0) {
		weft_place(s->f, &job, o, &options, p, &err);
		assert_no_error(&err);
	}
	weft_job_free(&job);
	return p->placed;
}

/* Some of the answer's nodes, and any others. */
static void exclude_nodes(const struct scene *s, uint64_t *random,
			  const struct weft_placement *loose,
			  struct weft_occupancy *o)
{
	for (uint32_t k = 1 + test_random_below(random, 6); k; k--) {
		uint32_t i = test_random_below(random, loose->n_nodes);
		uint32_t any = test_random_below(random, s->f->n_nodes);
		bool own = test_random_below(random, 2);

		weft_occupancy_take(o, own ? loose->nodes[i] : any, UINT64_MAX);
	}
}

/* The same of single GPUs. */
static void take_gpus(const struct scene *s, uint64_t *random,
		      const struct weft_placement *loose,
		      struct weft_occupancy *o)
{
	for (uint32_t k = 1 + test_random_below(random, 12); k; k--) {
		uint32_t i = test_random_below(random, loose->n_ranks);
		uint32_t any = test_random_below(random, s->f->n_gpus);
		uint32_t gpu =
			test_random_below(random, 2) ? loose->where[i] : any;
		uint32_t node = s->f->gpu_node[gpu];
		uint32_t bit = gpu - s->f->nodes[node].first_gpu;

		weft_occupancy_take(o, node, UINT64_C(1) << bit);
	}
}

/* The job under one more limit, as a spec and an occupancy; false: there is no
 * such limit. */
static bool tighten(const struct scene *s, enum limit limit, uint64_t *random,
		    const struct weft_placement *loose, struct text *spec,
		    struct weft_occupancy *o)
{
	struct weft_error err = {0};
	uint32_t n = s->job.n_gpus, g;

	spec->n = 0;
	text_add(spec, "%s", s->spec.at);
	weft_occupancy_copy(&s->o, o, &err);
	assert_no_error(&err);
	switch (limit) {
	case SEGMENT:
		text_add(spec, ",segment=%u", 2 + test_random_below(random, 7));
		return true;
	case WITHIN:
		text_add(spec, ",within=%s",
			 s->f->levels[test_random_below(random, s->f->n_levels)]
				 .name);
		return true;
	case EXCLUDED:
		exclude_nodes(s, random, loose, o);
		return true;
	case PER_NODE:
		g = 1u << test_random_below(random, 4);
		if (n % g)
			return false;
		text_add(spec, ",gpus_per_node=%u", g);
		return true;
	default:
		take_gpus(s, random, loose, o);
		return true;
	}
}

struct worth {
	double value, cost, busiest, second, share_lost;
	uint64_t sizes;	   /* bit n - 1: it has nodes of n GPUs */
	uint32_t n_priced; /* domains that have a price */
};

static struct worth worth_of(struct scene *s, const struct weft_placement *p)
{
	enum weft_metric metric = s->job.spec.metric;
	struct weft_measure m;
	struct weft_error err = {0};
	uint64_t sizes = 0;

	weft_judge_measure(&s->judge, p->where, &m, &err);
	assert_no_error(&err);
	for (uint32_t i = 0; i < p->n_nodes; i++)
		sizes |= UINT64_C(1) << (s->f->nodes[p->nodes[i]].n_gpus - 1);
	return (struct worth){m.value,
			      m.cost.total[metric],
			      m.cost.busiest.time_s,
			      m.cost.total[sites_second(metric)],
			      m.share_lost,
			      sizes,
			      s->objective.goal == WEFT_GOAL_STEP
				      ? case_priced(s->f, &s->o, p)
				      : 1};
}

/* How many times as dear a is as b; 1 where it is not dearer.  Values closer
 * than what counts as equal leave it to the cost, unless a destroys less room:
 * for jobs whose step does not care that counts more. */
static double excess(const struct scene *s, const struct worth *a,
		     const struct worth *b)
{
	double same = s->objective.goal == WEFT_GOAL_STEP ? s->judge.same : 0;
	double va = a->value, vb = b->value;

	va *= pow(1 + PRICE, (double)a->n_priced - b->n_priced);
	if (s->judge.gpu && s->objective.goal == WEFT_GOAL_STEP) {
		double least = fmin(a->cost, b->cost);

		va *= 1 + WEFT_PRICE_OF_COST * (a->cost / least - 1);
		vb *= 1 + WEFT_PRICE_OF_COST * (b->cost / least - 1);
	}
	if (va > vb * (1 + same) * CHEAPER)
		return va / vb;
	return vb <= va && a->cost > b->cost * CHEAPER &&
			       a->share_lost >= b->share_lost - 1e-9
		       ? CHEAPER
		       : 1;
}

static bool is_same(double a, double b)
{
	return fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

/* In all that decides before the room does, weft-plan(1). */
static bool is_equal(const struct worth *a, const struct worth *b)
{
	return is_same(a->value, b->value) && is_same(a->cost, b->cost) &&
	       is_same(a->busiest, b->busiest) &&
	       is_same(a->second, b->second) &&
	       weft_mask_count(a->sizes) == weft_mask_count(b->sizes);
}

static void tell(const struct scene *s, uint32_t i, enum limit limit,
		 const char *spec, const struct worth *a, const struct worth *b)
{
	if (getenv("WEFT_TEST_TELL"))
		print_message("job %u, %s, busy %u, %s, %s: value %g, not %g; "
			      "cost %g, not %g\n",
			      i, kind_names[s->kind], s->style,
			      limit_names[limit], spec, b->value, a->value,
			      b->cost, a->cost);
}

/* One job and one limit: how many times as dear it is without; 0 where there is
 * no such limit or no place. */
static double compare(struct scene *s, uint32_t i, enum limit limit,
		      uint64_t *random, const struct weft_placement *loose,
		      struct tally *t)
{
	static struct text spec;
	struct weft_placement tight = {0};
	struct weft_occupancy o = {0};
	struct worth a, b;
	double ratio = 0;

	if (tighten(s, limit, random, loose, &spec, &o) &&
	    place(s, spec.at, &o, &tight)) {
		a = worth_of(s, loose);
		b = worth_of(s, &tight);
		ratio = excess(s, &a, &b);
		if (ratio > 1)
			tell(s, i, limit, spec.at, &a, &b);
		t->n_equal += is_equal(&a, &b);
		t->n_rude +=
			is_equal(&a, &b) && a.share_lost > b.share_lost + 1e-9;
	}
	weft_placement_free(&tight);
	weft_occupancy_free(&o);
	return ratio;
}

static void count(struct tally *t, double ratio)
{
	t->n += ratio > 0;
	t->n_cheaper += ratio > 1;
	t->worst = fmax(t->worst, ratio);
}

static void compare_all(struct scene *s, uint32_t i, uint64_t *random,
			struct tally limits[N_LIMITS], struct tally *kind)
{
	struct weft_placement loose = {0};
	double most = 1;

	if (place(s, s->spec.at, &s->o, &loose)) {
		for (uint32_t k = 0; k < N_LIMITS * TIMES; k++) {
			double ratio = compare(s, i, k % N_LIMITS, random,
					       &loose, &limits[k % N_LIMITS]);

			count(&limits[k % N_LIMITS], ratio);
			most = fmax(most, ratio);
		}
		count(kind, most);
	}
	weft_placement_free(&loose);
}

static void report(const char *name, const struct tally *t)
{
	print_message("%-14s %5u: %4u cheaper, by %.3f at most\n", name, t->n,
		      t->n_cheaper, t->worst);
}

static void limits_hardly_make_a_job_cheaper(void **state)
{
	struct tally limits[N_LIMITS] = {0}, kinds[N_KINDS] = {0}, all = {0};
	uint64_t random = test_seed();
	static struct scene s;

	(void)state;
	for (uint32_t i = 0; i < test_cases(N_CASES); i++) {
		uint64_t own = test_random(&random);

		if (scene_open(&s, &own))
			compare_all(&s, i, &own, limits, &kinds[s.kind]);
		scene_close(&s);
	}
	for (uint32_t l = 0; l < N_LIMITS; l++) {
		report(limit_names[l], &limits[l]);
		all.n += limits[l].n;
		all.n_cheaper += limits[l].n_cheaper;
		all.worst = fmax(all.worst, limits[l].worst);
		all.n_equal += limits[l].n_equal;
		all.n_rude += limits[l].n_rude;
	}
	print_message("of %u that are worth the same, %u destroy more room "
		      "without the limit\n",
		      all.n_equal, all.n_rude);
	print_message("jobs, under any of their limits:\n");
	for (uint32_t k = 0; k < N_KINDS; k++)
		report(kind_names[k], &kinds[k]);
	/* one more, which is much of few cases */
	assert_true(all.n_cheaper <= 1 + MOST_CHEAPER * all.n);
	assert_true(all.worst <= MOST_GAINED);
	assert_true(all.n_rude <= MOST_RUDE * all.n_equal);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limits_hardly_make_a_job_cheaper),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
