/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mapping.c - graphs mapped onto trees, against the truth on small ones */
#include "placement/mapping/mapping.h"
#include "base/error.h"

#include "base/clock.h"
#include "tests/lib/check.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SITES 1024
#define MAX_EDGES 40000
#define LEVELS	  4

/* A graph and a tree of nodes, leaves and pods, in memory of their own. */
struct problem {
	struct graph g;
	struct sites s;
	uint32_t row[MAX_SITES + 1], peer[MAX_EDGES];
	double weight[MAX_EDGES];
	uint32_t gpu[MAX_SITES], node[MAX_SITES], rail[MAX_SITES];
	uint8_t meet[11][MAX_SITES];
};

static struct problem p; /* too large for the stack */

static const double distances[LEVELS] = {1, 9, 12, 24};

static void finish_sites(uint32_t n, double rail)
{
	p.s = (struct sites){
		.n = n, .gpu = p.gpu, .node = p.node, .rail = p.rail};
	for (uint32_t k = 0; k < 11; k++)
		p.s.meet[k] = p.meet[k];
	for (uint32_t k = 1; (1u << k) < n; k++) {
		for (uint32_t i = 0; i + (1u << k) < n; i++) {
			uint8_t a = p.meet[k - 1][i];
			uint8_t b = p.meet[k - 1][i + (1u << (k - 1))];

			p.meet[k][i] = a > b ? a : b;
		}
	}
	for (uint32_t l = 0; l < LEVELS; l++) {
		p.s.distance[l][0] = distances[l];
		p.s.distance[l][1] = distances[l] + (l ? rail : 0);
	}
	for (uint32_t l = LEVELS; l <= WEFT_MAX_LEVELS; l++)
		p.s.distance[l][0] = p.s.distance[l][1] = (double)INFINITY;
}

/* Uneven: each neighbour is in the same node, leaf, pod or none by chance. */
static void random_sites(uint32_t n, uint32_t largest, double rail,
			 uint64_t *seed)
{
	uint32_t node = 0, in_node = 0;

	for (uint32_t i = 0; i < n; i++) {
		p.gpu[i] = i;
		p.node[i] = node;
		p.rail[i] = rail > 0 ? in_node : 0;
		in_node++;
		p.meet[0][i] = 0;
		if (in_node < largest && test_random_below(seed, 3))
			continue;
		p.meet[0][i] = (uint8_t)(1 + test_random_below(seed, 3));
		node++;
		in_node = 0;
	}
	finish_sites(n, rail);
}

/* Edges from a table of weights, n * n. */
static void build_graph(uint32_t n, const double *w)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < n; j++) {
			if (i == j || w[i * n + j] == 0)
				continue;
			p.peer[at] = j;
			p.weight[at++] = w[i * n + j];
		}
		p.row[i + 1] = at;
	}
	p.g = (struct graph){n, at, p.row, p.peer, p.weight, 0};
}

static void random_graph(uint32_t n, uint64_t *seed)
{
	double w[64 * 64] = {0};

	for (uint32_t i = 0; i < n; i++)
		for (uint32_t j = 0; j < i; j++)
			if (test_random_below(seed, 2))
				w[i * n + j] = w[j * n + i] =
					1 + test_random_below(seed, 100);
	build_graph(n, w);
}

/* Rings of `ring` ranks with heavy edges, joined crosswise by light ones: a
 * model's parallelism in small.  shuffle: numbered at random. */
static void grid_graph(uint32_t rings, uint32_t ring, uint64_t *shuffle)
{
	uint32_t n = rings * ring, name[64];
	double w[64 * 64] = {0};

	for (uint32_t i = 0; i < n; i++) {
		uint32_t j = shuffle ? test_random_below(shuffle, i + 1) : i;

		name[i] = i;
		name[i] = name[j];
		name[j] = i;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t next = i / ring * ring + (i + 1) % ring;
		uint32_t across = (i + ring) % n;
		uint32_t a = name[i], b = name[next], c = name[across];

		w[a * n + b] = w[b * n + a] = 100;
		w[a * n + c] = w[c * n + a] = 7;
	}
	build_graph(n, w);
}

static double solve_by(bool spread, uint64_t work, uint64_t seed,
		       uint32_t *site_of)
{
	struct mapping m = {.g = &p.g, .s = &p.s, .spread = spread};
	struct effort e = {.work = work, .random = seed};
	struct weft_error err = {0};
	bool taken[MAX_SITES] = {false};
	double cost;

	assert_int_equal(mapping_solve(&m, &e, site_of, &cost, NULL, &err), 0);
	assert_no_error(&err);
	for (uint32_t v = 0; v < p.g.n; v++) {
		assert_true(site_of[v] < p.s.n);
		assert_false(taken[site_of[v]]);
		taken[site_of[v]] = true;
	}
	assert_close(cost, mapping_cost(&p.g, &p.s, site_of), 1e-12);
	return cost;
}

static double solve(uint64_t work, uint64_t seed, uint32_t *site_of)
{
	return solve_by(false, work, seed, site_of);
}

/* Every vertex in turn on every free site. */
static void extend(uint32_t v, double cost, uint32_t *site_of, bool *taken,
		   double *best)
{
	if (cost >= *best)
		return;
	if (v == p.g.n) {
		*best = cost;
		return;
	}
	for (uint32_t site = 0; site < p.s.n; site++) {
		double more = 0;

		if (taken[site])
			continue;
		for (uint32_t e = p.g.row[v]; e < p.g.row[v + 1]; e++)
			if (p.g.peer[e] < v)
				more += p.g.weight[e] *
					sites_distance(&p.s, site,
						       site_of[p.g.peer[e]]);
		taken[site] = true;
		site_of[v] = site;
		extend(v + 1, cost + more, site_of, taken, best);
		taken[site] = false;
	}
}

static double brute_force(void)
{
	uint32_t site_of[MAX_SITES];
	bool taken[MAX_SITES] = {false};
	double best = (double)INFINITY;

	extend(0, 0, site_of, taken, &best);
	return best;
}

static void small_problems_are_solved_to_the_optimum(void **state)
{
	uint64_t seed = test_seed();
	uint32_t site_of[MAX_SITES];

	(void)state;
	for (int i = 0; i < 120; i++) {
		uint32_t n = 2 + test_random_below(&seed, 6);
		uint32_t spare = test_random_below(&seed, 3);

		random_graph(n, &seed);
		random_sites(n + spare, 4, i % 3 ? 0 : 3, &seed);
		assert_close(solve(300000, 1, site_of), brute_force(), 1e-12);
	}
}

static void groups_that_fill_nodes_end_in_them(void **state)
{
	uint64_t seed = test_seed();
	uint32_t site_of[MAX_SITES];

	(void)state;
	grid_graph(8, 4, &seed);
	for (uint32_t i = 0; i < 32; i++) {
		p.gpu[i] = i;
		p.node[i] = i / 4;
		p.rail[i] = 0;
		p.meet[0][i] = i % 4 < 3 ? 0 : i % 16 < 15 ? 1 : 2;
	}
	finish_sites(32, 0);
	/* 32 heavy edges inside; a ring of nodes crosses leaves twice */
	assert_close(solve(1000000, 1, site_of),
		     32 * 100 + 4 * 7 * (6 * 9 + 2 * 12), 1e-12);
}

/* Rings in nodes that have more slots than one of them but less than two. */
static void groups_that_leave_slots_spare_stay_whole(void **state)
{
	static const struct {
		uint32_t ring, slots;
	} cases[] = {{6, 8}, {5, 8}, {4, 6}};
	uint64_t seed = test_seed();
	uint32_t site_of[MAX_SITES];

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		uint32_t slots = cases[k].slots, n = 9 * slots;

		grid_graph(8, cases[k].ring, &seed);
		for (uint32_t i = 0; i < n; i++) {
			p.gpu[i] = i;
			p.node[i] = i / slots;
			p.rail[i] = 0;
			p.meet[0][i] = (i + 1) % slots ? 0 : 1;
		}
		finish_sites(n, 0);
		/* one ring a node: what joins them crosses a leaf */
		assert_close(solve(20000, 1, site_of),
			     8 * cases[k].ring * (100 + 7 * 9), 1e-12);
	}
}

/* Groups in which all exchange a little, joined crosswise by edges heavier than
 * those inside, in domains with room for one and some more: edge by edge such
 * groups are not seen, and filled domains part them. */
static void domains_with_room_to_spare_share_evenly(void **state)
{
	enum { GROUPS = 4, SIZE = 64, ROOM = 72, N = GROUPS * SIZE };
	static double w[N * N];
	uint32_t site_of[MAX_SITES];

	(void)state;
	for (uint32_t i = 0; i < N; i++) {
		uint32_t across = (i + SIZE) % N;

		for (uint32_t j = 0; j < N; j++)
			if (i != j && i / SIZE == j / SIZE)
				w[i * N + j] = 1;
		w[i * N + across] = w[across * N + i] = 6;
	}
	build_graph(N, w);
	for (uint32_t i = 0; i < GROUPS * ROOM; i++) {
		p.gpu[i] = i;
		p.node[i] = i / ROOM;
		p.rail[i] = 0;
		p.meet[0][i] = (i + 1) % ROOM ? 0 : 1;
	}
	finish_sites(GROUPS * ROOM, 0);
	assert_close(solve_by(true, 3000000, 1, site_of),
		     GROUPS * (SIZE * (SIZE - 1) / 2 + SIZE * 6 * 9), 1e-12);
}

static void relabelled_vertices_cost_the_same(void **state)
{
	uint64_t seed = test_seed();
	uint32_t site_of[MAX_SITES];

	(void)state;
	for (int i = 0; i < 5; i++) {
		double plain, shuffled;
		uint64_t same = seed;

		random_sites(24, 4, 0, &same);
		grid_graph(6, 4, NULL);
		plain = solve(5000000, 1, site_of);
		grid_graph(6, 4, &seed);
		shuffled = solve(5000000, 2, site_of);
		assert_close(plain, shuffled, 1e-12);
		seed++;
	}
}

static void answer_is_never_worse_than_a_start(void **state)
{
	uint64_t seed = test_seed();

	(void)state;
	for (int i = 0; i < 40; i++) {
		uint32_t start[48], site_of[MAX_SITES];
		const uint32_t *const starts[] = {start};
		struct mapping m = {
			.g = &p.g, .s = &p.s, .start = starts, .n_starts = 1};
		struct effort e = {.work = (uint64_t)i * 500, .random = 1};
		double cost;

		random_graph(40, &seed);
		random_sites(48, 8, i % 2 ? 3 : 0, &seed);
		for (uint32_t v = 0; v < 48; v++)
			start[v] = 47 - v;
		assert_int_equal(
			mapping_solve(&m, &e, site_of, &cost, NULL, NULL), 0);
		assert_true(cost <= mapping_cost(&p.g, &p.s, start));
		for (uint32_t v = 0; v < 48; v++)
			start[v] = v;
		assert_true(cost <= mapping_cost(&p.g, &p.s, start));
	}
}

static void same_work_gives_the_same_answer(void **state)
{
	uint64_t seed = test_seed();

	(void)state;
	for (int i = 0; i < 10; i++) {
		uint32_t first[MAX_SITES], second[MAX_SITES];

		random_graph(50, &seed);
		random_sites(60, 8, i % 2 ? 3 : 0, &seed);
		solve(200000, 7, first);
		solve(200000, 7, second);
		assert_memory_equal(first, second, 50 * sizeof(*first));
	}
}

static void deadline_and_stop_flag_end_the_search(void **state)
{
	const volatile sig_atomic_t stop = 1;
	uint64_t seed = test_seed();
	uint32_t site_of[MAX_SITES];
	struct mapping m = {.g = &p.g, .s = &p.s};
	struct effort e = {.work = UINT64_MAX, .random = 1, .stop = &stop};
	double cost, begin_s;

	(void)state;
	random_graph(64, &seed);
	random_sites(64, 8, 3, &seed);
	assert_int_equal(mapping_solve(&m, &e, site_of, &cost, NULL, NULL), 0);
	e.stop = NULL;
	begin_s = weft_clock_s();
	e.deadline_s = begin_s + 0.01;
	assert_int_equal(mapping_solve(&m, &e, site_of, &cost, NULL, NULL), 0);
	assert_true(weft_clock_s() - begin_s < 5);
}

static void search_ends_by_itself(void **state)
{
	uint64_t seed = test_seed();
	uint32_t site_of[MAX_SITES];

	(void)state;
	random_graph(8, &seed);
	random_sites(10, 4, 3, &seed);
	solve(UINT64_MAX, 1, site_of);
}

static void odd_shapes_are_served(void **state)
{
	uint64_t seed = test_seed();
	uint32_t site_of[MAX_SITES];
	double cost;

	(void)state;
	/* no edges at all */
	p.g = (struct graph){5, 0, p.row, p.peer, p.weight, 0};
	memset(p.row, 0, sizeof(p.row));
	random_sites(9, 4, 3, &seed);
	assert_close(solve(100000, 1, site_of), 0, 0);
	/* one vertex */
	p.g.n = 1;
	assert_close(solve(100000, 1, site_of), 0, 0);
	/* all in one node, and every site a node of its own */
	random_graph(16, &seed);
	for (int apart = 0; apart < 2; apart++) {
		for (uint32_t i = 0; i < 20; i++) {
			p.node[i] = apart ? i : 0;
			p.rail[i] = 0;
			p.meet[0][i] = (uint8_t)apart;
		}
		finish_sites(20, 0);
		cost = solve(100000, 1, site_of);
		for (uint32_t v = 0; v < 16; v++)
			site_of[v] = v;
		assert_close(cost, mapping_cost(&p.g, &p.s, site_of), 1e-12);
	}
	/* two islands, of which one has room for all */
	random_graph(10, &seed);
	for (uint32_t i = 0; i < 20; i++)
		p.meet[0][i] = i == 4 ? WEFT_MAX_LEVELS : 1;
	finish_sites(20, 0);
	assert_true(isfinite(solve(100000, 1, site_of)));
}

static void more_vertices_than_sites_is_an_error(void **state)
{
	uint64_t seed = test_seed();
	struct mapping m = {.g = &p.g, .s = &p.s};
	struct effort e = {.work = 1000};
	struct weft_error err = {0};
	uint32_t site_of[MAX_SITES];
	double cost;

	(void)state;
	random_graph(9, &seed);
	random_sites(8, 4, 0, &seed);
	assert_int_equal(mapping_solve(&m, &e, site_of, &cost, NULL, &err), -1);
	assert_error_says(&err, "9 vertices for 8 sites");
}

/* One of the public instances, in the format of their README. */
static bool load(const char *name)
{
	char path[128], line[64];
	const char *file;
	uint32_t n = 0, v = 0, edge = 0, pod, leaf, size, last_pod = 0,
		 last_leaf = 0, node = 0;
	char *text, *at;
	FILE *f;

	snprintf(path, sizeof(path), "data/mapping/%s.graph", name);
	file = test_shared(path);
	text = file ? test_read_file(file, NULL) : NULL;
	if (!text)
		return false;
	at = strchr(text, '\n') + 1; /* a comment first */
	p.g.n = (uint32_t)strtoul(at, NULL, 10);
	for (at = strchr(at, '\n') + 1; v < p.g.n; v++) {
		char *end = strchr(at, '\n');

		while (at < end) {
			p.peer[edge] = (uint32_t)strtoul(at, &at, 10) - 1;
			p.weight[edge++] = (double)strtoul(at, &at, 10);
			at += strspn(at, " ");
		}
		at = end + 1;
		p.row[v + 1] = edge;
	}
	p.g = (struct graph){p.g.n, edge, p.row, p.peer, p.weight, 0};
	free(text);
	snprintf(path, sizeof(path), "data/mapping/%s.arch", name);
	f = fopen(test_shared(path), "r");
	while (f && fgets(line, sizeof(line), f)) {
		if (sscanf(line, "node %u %u %u", &pod, &leaf, &size) != 3)
			continue;
		if (n)
			p.meet[0][n - 1] = pod != last_pod     ? 3
					   : leaf != last_leaf ? 2
							       : 1;
		last_pod = pod;
		last_leaf = leaf;
		for (uint32_t k = 0; k < size; k++, n++) {
			p.gpu[n] = n;
			p.node[n] = node;
			p.rail[n] = 0;
			p.meet[0][n] = 0;
		}
		node++;
	}
	fclose(f);
	finish_sites(n, 0);
	return true;
}

static void public_instances_reach_the_best_known_cost(void **state)
{
	static const struct {
		const char *name;
		uint64_t work;
		double best;
	} rows[] = {
		{"p01-llama70b-512-reg", 3000000, 654286592},
		{"p02-llama70b-512-frag", 10000000, 666652304},
		{"p07-llama70b-nvl72-576", 3000000, 732755584},
		{"p08-gpt20b-288of296", 10000000, 32286048},
		{"p09-gpt20b-64-small", 1000000, 8954960},
	};
	uint32_t site_of[MAX_SITES];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!load(rows[i].name)) {
			print_message("skipped: no %s in ../shared\n",
				      rows[i].name);
			skip();
		}
		assert_true(solve(rows[i].work, 1, site_of) <=
			    rows[i].best * (1 + 1e-9));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(small_problems_are_solved_to_the_optimum),
		cmocka_unit_test(groups_that_fill_nodes_end_in_them),
		cmocka_unit_test(groups_that_leave_slots_spare_stay_whole),
		cmocka_unit_test(domains_with_room_to_spare_share_evenly),
		cmocka_unit_test(relabelled_vertices_cost_the_same),
		cmocka_unit_test(answer_is_never_worse_than_a_start),
		cmocka_unit_test(same_work_gives_the_same_answer),
		cmocka_unit_test(deadline_and_stop_flag_end_the_search),
		cmocka_unit_test(search_ends_by_itself),
		cmocka_unit_test(odd_shapes_are_served),
		cmocka_unit_test(more_vertices_than_sites_is_an_error),
		cmocka_unit_test(public_instances_reach_the_best_known_cost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
