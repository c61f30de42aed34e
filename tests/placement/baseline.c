/* SPDX-License-Identifier: GPL-3.0-or-later */
/* baseline.c - placements on larger fabrics: against first-fit, against the
 * same cluster under other names, and against themselves
 */
#include "tests/placement/cases.h"

#include <stdlib.h>

#define N_CASES	  400
#define N_RENAMED 60
#define MAX_NODES 256

struct tally {
	uint32_t n_both, n_better;
	double ratio;
};

static void compare(const struct weft_fabric *f, const struct weft_job *job,
		    const struct weft_occupancy *o, struct tally *tally)
{
	static const struct weft_place_options fit = {.method = "first-fit"};
	struct weft_error err = {0};
	struct weft_placement p, base;

	weft_place(f, job, o, NULL, &p, &err);
	assert_no_error(&err);
	weft_place(f, job, o, &fit, &base, &err);
	assert_no_error(&err);
	if (base.placed) {
		double a = p.cost.total[p.metric];
		double b = base.cost.total[p.metric];

		assert_true(p.placed);
		assert_true(a <= b * (1 + 1e-9));
		assert_true(p.bound <= a * (1 + 1e-9));
		tally->n_both++;
		tally->n_better += a < b * (1 - 1e-9);
		tally->ratio += b > 0 ? a / b : 1;
	}
	weft_placement_free(&base);
	weft_placement_free(&p);
}

static void first_fit_is_never_better(void **state)
{
	static const struct case_shape shapes[] = {
		{4, 40, 8, false}, {4, 40, 8, true}, {20, 60, 4, true}};
	static struct text fabric, spec;
	uint64_t random = test_seed();
	struct tally tally = {0};

	(void)state;
	for (uint32_t i = 0; i < N_CASES; i++) {
		struct weft_occupancy o;
		struct weft_job job;
		struct weft_fabric *f;
		uint32_t usable;

		case_random_fabric(&fabric, &random, &shapes[i % 3]);
		f = case_fabric(fabric.at);
		case_random_occupancy(&o, f, &random, 25);
		usable = weft_occupancy_usable(&o);
		usable = usable < 2 ? 2 : usable > 96 ? 96 : usable;
		case_random_spec(&spec, &random,
				 2 + test_random_below(&random, usable - 1));
		case_job(spec.at, f, &job);
		compare(f, &job, &o, &tally);
		weft_job_free(&job);
		weft_occupancy_free(&o);
		weft_fabric_free(f);
	}
	print_message("%u placed by both, %u cheaper than first-fit, mean cost "
		      "%.3f of first-fit's\n",
		      tally.n_both, tally.n_better, tally.ratio / tally.n_both);
	assert_true(tally.n_both > N_CASES / 2);
}

/* Node i of the structure is in leaf leaf[i] and is called n<name[i]>. */
struct cluster {
	uint32_t n_nodes, n_leafs, n_pods;
	uint32_t leaf[MAX_NODES], name[MAX_NODES], pod[MAX_NODES];
	uint64_t busy[MAX_NODES];
};

static void random_cluster(struct cluster *c, uint64_t *random)
{
	c->n_leafs = 2 + test_random_below(random, 7);
	c->n_pods = 1 + test_random_below(random, 3);
	c->n_nodes = 0;
	for (uint32_t l = 0; l < c->n_leafs; l++) {
		uint32_t n = 1 + test_random_below(random, 12);

		c->pod[l] = l < c->n_pods
				    ? l
				    : test_random_below(random, c->n_pods);
		for (uint32_t k = 0; k < n; k++, c->n_nodes++) {
			c->leaf[c->n_nodes] = l;
			c->name[c->n_nodes] = c->n_nodes;
			c->busy[c->n_nodes] =
				test_random_below(random, 3) ? 0
				: test_random_below(random, 2)
					? 0xff
					: test_random(random) & 0xff;
		}
	}
	if (c->n_pods > c->n_leafs)
		c->n_pods = c->n_leafs;
}

/* Other names for the nodes of each leaf, other GPUs busy in each. */
static void rename_cluster(struct cluster *c, uint64_t *random)
{
	for (uint32_t i = c->n_nodes - 1; i > 0; i--) {
		uint32_t k = test_random_below(random, i + 1);
		uint32_t name = c->name[i];

		c->name[i] = c->name[k];
		c->name[k] = name;
	}
	for (uint32_t i = 0; i < c->n_nodes; i++) {
		uint32_t by = test_random_below(random, 8);

		c->busy[i] = (c->busy[i] << by | c->busy[i] >> (8 - by)) & 0xff;
	}
}

static void write_cluster(const struct cluster *c, struct text *t,
			  bool backwards)
{
	t->n = 0;
	text_add(t, "weft: fabric/1\nnodes:\n  n[0-%u]: 8\nlevels:\n  leaf:\n",
		 c->n_nodes - 1);
	for (uint32_t i = 0; i < c->n_leafs; i++) {
		uint32_t l = backwards ? c->n_leafs - 1 - i : i;
		bool first = true;

		text_add(t, "    l%u: ", i);
		for (uint32_t k = 0; k < c->n_nodes; k++) {
			if (c->leaf[k] != l)
				continue;
			text_add(t, "%sn%u", first ? "" : ",", c->name[k]);
			first = false;
		}
		text_add(t, "\n");
	}
	text_add(t, "  pod:\n");
	for (uint32_t p = 0; p < c->n_pods; p++) {
		bool first = true;

		text_add(t, "    p%u: ", p);
		for (uint32_t i = 0; i < c->n_leafs; i++) {
			uint32_t l = backwards ? c->n_leafs - 1 - i : i;

			if (c->pod[l] != p)
				continue;
			text_add(t, "%sl%u", first ? "" : ",", i);
			first = false;
		}
		text_add(t, "\n");
	}
}

static double place_cluster(const struct cluster *c, bool backwards,
			    const char *spec, char *method)
{
	static struct text fabric;
	struct weft_error err = {0};
	struct weft_placement p;
	struct weft_occupancy o;
	struct weft_job job;
	struct weft_fabric *f;
	char name[32];
	double cost;

	write_cluster(c, &fabric, backwards);
	f = case_fabric(fabric.at);
	weft_occupancy_build(f, &o, &err);
	for (uint32_t i = 0; i < c->n_nodes; i++) {
		snprintf(name, sizeof(name), "n%u", c->name[i]);
		weft_occupancy_take(&o, weft_fabric_node(f, name), c->busy[i]);
	}
	case_job(spec, f, &job);
	weft_place(f, &job, &o, NULL, &p, &err);
	assert_no_error(&err);
	cost = p.placed ? p.cost.total[p.metric] : -1;
	*method = p.method[0];
	weft_placement_free(&p);
	weft_job_free(&job);
	weft_occupancy_free(&o);
	weft_fabric_free(f);
	return cost;
}

static void other_names_cost_the_same(void **state)
{
	static const char *const specs[] = {
		"gpus=32,tp=8,pp=2",
		"gpus=48,tp=4,pp=3",
		"gpus=64,tp=2,pp=4",
		"gpus=24,tp=8",
		"gpus=40",
		"gpus=32,tp=4,cp=2,pp=2",
		"gpus=32,tp=4,algorithm=in-network",
		"gpus=64,tp=4,pp=2,gpus_per_node=8,segment=2",
		"gpus=48,tp=8,pp=3,split=3+2+1",
		"gpus=40,tp=4,segment=3",
		"gpus=36,tp=4,split=3+2"};
	const uint32_t n_specs = sizeof(specs) / sizeof(specs[0]);
	uint64_t random = test_seed();
	struct cluster c;
	char method, other;

	(void)state;
	for (uint32_t i = 0; i < N_RENAMED; i++) {
		double cost, renamed;

		random_cluster(&c, &random);
		cost = place_cluster(&c, false, specs[i % n_specs], &method);
		rename_cluster(&c, &random);
		renamed = place_cluster(&c, true, specs[i % n_specs], &other);
		/* first-fit goes by names, which is its point */
		if (method == 'p' && other == 'p')
			assert_close(renamed, cost, 1e-9);
	}
}

static void same_seed_same_answer(void **state)
{
	struct weft_fabric *f =
		case_fabric("weft: fabric/1\nnodes:\n  n[0-39]: 8\nlevels:\n"
			    "  leaf:\n    l[0-7]: n[0-39]\n"
			    "  pod:\n    p[0-1]: l[0-7]\n");
	const struct weft_place_options options = {.seed = 42};
	struct weft_error err = {0};
	struct weft_occupancy o;
	struct weft_placement a, b;
	struct weft_job job;
	uint64_t random = test_seed();

	(void)state;
	case_random_occupancy(&o, f, &random, 20);
	case_job("gpus=96,tp=2,pp=3", f, &job);
	weft_place(f, &job, &o, &options, &a, &err);
	weft_place(f, &job, &o, &options, &b, &err);
	assert_no_error(&err);
	assert_true(a.placed && b.placed);
	assert_memory_equal(a.where, b.where, 96 * sizeof(*a.where));
	weft_placement_free(&a);
	weft_placement_free(&b);
	weft_job_free(&job);
	weft_occupancy_free(&o);
	weft_fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_fit_is_never_better),
		cmocka_unit_test(other_names_cost_the_same),
		cmocka_unit_test(same_seed_same_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
