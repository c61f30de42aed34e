/* SPDX-License-Identifier: GPL-3.0-or-later */
/* qap.c - the quadratic assignment problem against brute force and QAPLIB */
#include "tests/lib/check.h"

#include "lab/qap/lap.h"
#include "lab/qap/qap.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_N 7

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

/* Allocations that still succeed, and the next fails; 0: all do. */
static int left;

void *__wrap_calloc(size_t n, size_t size)
{
	if (left > 0 && --left == 0)
		return NULL;
	return __real_calloc(n, size);
}

/* What a random matrix looks like. */
struct shape {
	const char *desc;
	bool symmetric, diagonal;
	uint32_t values;  /* entries 0..values - 1 */
	uint32_t zero_of; /* rows of nothing: one in so many; 0: none */
	int64_t scale, shift;
};

static const struct shape shapes[] = {
	{"symmetric", true, false, 20, 0, 1, 0},
	{"asymmetric", false, false, 20, 0, 1, 0},
	{"symmetric with a diagonal", true, true, 9, 0, 1, 0},
	{"asymmetric with a diagonal", false, true, 9, 0, 1, 0},
	{"zeros and ones", true, false, 2, 2, 1, 0},
	{"rows of nothing", false, true, 30, 2, 1, 0},
	{"negative", false, true, 30, 0, 1, -15},
	{"large", false, true, 1000, 0, 3001, -500},
	{"all the same", true, true, 1, 0, 1, 4},
};
#define N_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static int64_t *make_matrix(const struct shape *shape, uint32_t n,
			    uint64_t *random)
{
	int64_t *m = calloc((size_t)n * n + 1, sizeof(*m));

	assert_non_null(m);
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t j = 0; j < n; j++) {
			int64_t v = test_random_below(random, shape->values);

			v = (v + shape->shift) * shape->scale;
			if (i == j && !shape->diagonal)
				v = 0;
			m[i * n + j] = v;
			if (shape->symmetric && j < i)
				m[i * n + j] = m[j * n + i];
		}
	}
	for (uint32_t i = 0; shape->zero_of && i < n; i++) {
		if (test_random_below(random, shape->zero_of))
			continue;
		for (uint32_t j = 0; j < n; j++)
			m[i * n + j] = m[j * n + i] = 0;
	}
	return m;
}

static struct qap make_random(uint32_t n, uint64_t *random)
{
	const struct shape *a = &shapes[test_random_below(random, N_SHAPES)];
	const struct shape *b = &shapes[test_random_below(random, N_SHAPES)];

	return (struct qap){
		.n = n,
		.a = make_matrix(a, n, random),
		.b = make_matrix(b, n, random),
	};
}

static void try_all(const struct qap *q, uint32_t *location, uint32_t placed,
		    int64_t *best)
{
	if (placed == q->n) {
		int64_t cost = qap_cost(q, location);

		*best = cost < *best ? cost : *best;
		return;
	}
	for (uint32_t i = placed; i < q->n; i++) {
		uint32_t x = location[placed];

		location[placed] = location[i];
		location[i] = x;
		try_all(q, location, placed + 1, best);
		location[i] = location[placed];
		location[placed] = x;
	}
}

static int64_t brute_force(const struct qap *q)
{
	int64_t best = INT64_MAX;
	uint32_t location[MAX_N];

	for (uint32_t i = 0; i < q->n; i++)
		location[i] = i;
	try_all(q, location, 0, &best);
	return best;
}

static void check_assignment(const struct qap *q, const uint32_t *location,
			     int64_t cost)
{
	bool *taken = calloc(q->n + 1, sizeof(*taken));

	assert_non_null(taken);
	for (uint32_t i = 0; i < q->n; i++) {
		assert_true(location[i] < q->n);
		assert_false(taken[location[i]]);
		taken[location[i]] = true;
	}
	free(taken);
	assert_int_equal(qap_cost(q, location), cost);
}

static void small_problems_are_solved_to_the_optimum(void **state)
{
	uint64_t random = test_seed();

	(void)state;
	for (uint32_t c = 0; c < 300; c++) {
		struct qap q = make_random(c % (MAX_N + 1), &random);
		struct effort effort = {.work = 300000, .random = c};
		uint32_t location[MAX_N];
		struct weft_error err = {0};
		int64_t cost = -1, best = brute_force(&q);
		int64_t bound = INT64_MAX, quick = INT64_MAX;

		qap_solve(&q, INT64_MIN, &effort, location, &cost, &err);
		assert_no_error(&err);
		check_assignment(&q, location, cost);
		assert_int_equal(cost, best);
		effort = (struct effort){.work = UINT64_MAX};
		qap_bound(&q, &effort, &bound, &err);
		assert_no_error(&err);
		assert_true(bound <= best);
		effort = (struct effort){.work = 1};
		qap_bound(&q, &effort, &quick, &err);
		assert_true(quick <= bound);
		qap_free(&q);
	}
}

/* The search keeps its sums up to date by differences, on 32 or 64 bits; only
 * what it says of larger problems shows that they do not drift. */
static void costs_are_what_the_assignment_costs(void **state)
{
	uint64_t random = test_seed();

	(void)state;
	for (uint32_t c = 0; c < 40; c++) {
		struct qap q = make_random(9 + c, &random);
		struct effort effort = {.work = 400000, .random = c};
		uint32_t location[9 + 40], as_given[9 + 40];
		struct weft_error err = {0};
		int64_t cost = -1;

		for (uint32_t i = 0; i < q.n; i++)
			as_given[i] = i;
		qap_solve(&q, INT64_MIN, &effort, location, &cost, &err);
		assert_no_error(&err);
		check_assignment(&q, location, cost);
		assert_true(cost <= qap_cost(&q, as_given));
		qap_free(&q);
	}
}

static void the_same_work_gives_the_same_answer(void **state)
{
	uint64_t random = test_seed();
	struct qap q = make_random(40, &random);
	uint32_t location[2][40];
	int64_t cost[2];

	(void)state;
	for (int run = 0; run < 2; run++) {
		struct effort effort = {.work = 1000000, .random = 7};

		assert_int_equal(qap_solve(&q, INT64_MIN, &effort,
					   location[run], &cost[run], NULL),
				 0);
	}
	assert_int_equal(cost[0], cost[1]);
	assert_memory_equal(location[0], location[1], sizeof(location[0]));
	qap_free(&q);
}

static void a_raised_stop_flag_ends_the_search(void **state)
{
	volatile sig_atomic_t stop = 1;
	struct effort effort = {.work = UINT64_MAX, .stop = &stop};
	uint64_t random = test_seed();
	struct qap q = make_random(60, &random);
	uint32_t location[60];
	int64_t cost = -1;

	(void)state;
	assert_int_equal(
		qap_solve(&q, INT64_MIN, &effort, location, &cost, NULL), 0);
	check_assignment(&q, location, cost);
	qap_free(&q);
}

static void entries_beyond_64_bits_of_cost_are_refused(void **state)
{
	int64_t a[4] = {0, INT64_MAX / 2, 1, 0}, b[4] = {0, 8, 8, 0};
	struct qap q = {.n = 2, .a = a, .b = b};
	struct effort effort = {.work = 1000};
	struct weft_error err = {0};
	uint32_t location[2];
	int64_t cost;

	(void)state;
	assert_int_equal(
		qap_solve(&q, INT64_MIN, &effort, location, &cost, &err), -1);
	assert_error_says(&err, "too large");
	assert_int_equal(qap_bound(&q, &effort, &cost, NULL), -1);
}

static void each_allocation_that_fails_is_told(void **state)
{
	uint64_t random = test_seed();
	uint32_t told = 0;

	(void)state;
	for (int round = 0; round < 2; round++) {
		struct qap q = {
			.n = 9,
			.a = make_matrix(&shapes[3], 9, &random),
			.b = make_matrix(&shapes[3], 9, &random),
		};

		for (int n = 1, rc = -1; rc != 0; n++) {
			struct effort effort = {.work = 100000};
			struct weft_error err = {0};
			uint32_t location[9];
			int64_t cost;

			left = n;
			rc = round ? qap_bound(&q, &effort, &cost, &err)
				   : qap_solve(&q, INT64_MIN, &effort, location,
					       &cost, &err);
			left = 0;
			assert_int_equal(err.code, rc ? WEFT_ENOMEM : 0);
			told += rc != 0;
		}
		qap_free(&q);
	}
	assert_true(told > 30);
}

static int64_t read_number(char **at)
{
	return strtoll(*at, at, 10);
}

static bool read_qaplib(const char *name, struct qap *q)
{
	char path[64], *text, *at;
	const char *file;
	size_t cells;

	snprintf(path, sizeof(path), "data/qaplib/%s.dat", name);
	file = test_shared(path);
	text = file ? test_read_file(file, NULL) : NULL;
	if (!text)
		return false;
	at = text;
	q->n = (uint32_t)read_number(&at);
	cells = (size_t)q->n * q->n;
	q->a = calloc(cells, sizeof(*q->a));
	q->b = calloc(cells, sizeof(*q->b));
	assert_true(q->a && q->b);
	for (size_t i = 0; i < cells; i++)
		q->a[i] = read_number(&at);
	for (size_t i = 0; i < cells; i++)
		q->b[i] = read_number(&at);
	free(text);
	return true;
}

static void qaplib_optima_are_found(void **state)
{
	static const struct {
		const char *name;
		int64_t optimum;
	} cases[] = {
		{"nug15", 1150},     {"nug20", 2570},	  {"rou20", 725522},
		{"chr15a", 9896},    {"bur26b", 3817852}, {"had20", 6922},
		{"els19", 17212548}, {"esc16b", 292},	  {"tai64c", 1855928},
		{"lipa20a", 3683},   {"scr15", 51140},	  {"esc32g", 6},
	};

	(void)state;
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		struct effort effort = {.work = 100000000, .random = 1};
		struct effort more = {.work = 10000000};
		struct qap q = {0};
		uint32_t location[64];
		int64_t cost = -1, bound = INT64_MAX;

		if (!read_qaplib(cases[c].name, &q)) {
			print_message("skipped: data/qaplib is not there\n");
			skip();
		}
		qap_solve(&q, cases[c].optimum, &effort, location, &cost, NULL);
		check_assignment(&q, location, cost);
		if (cost != cases[c].optimum)
			fail_msg("%s: %lld", cases[c].name, (long long)cost);
		assert_int_equal(qap_bound(&q, &more, &bound, NULL), 0);
		assert_true(bound <= cost);
		qap_free(&q);
	}
}

static void more_effort_proves_an_optimum(void **state)
{
	struct effort effort = {.work = 1}, more = {.work = 2000000000};
	struct qap q = {0};
	int64_t quick = 0, bound = 0;

	(void)state;
	if (!read_qaplib("lipa20a", &q)) {
		print_message("skipped: data/qaplib is not there\n");
		skip();
	}
	assert_int_equal(qap_bound(&q, &effort, &quick, NULL), 0);
	assert_int_equal(qap_bound(&q, &more, &bound, NULL), 0);
	assert_true(quick < 3683);
	assert_int_equal(bound, 3683);
	qap_free(&q);
}

static void large_problems_have_a_bound_at_once(void **state)
{
	struct effort effort = {.work = 0}, more = {.work = UINT64_MAX};
	uint64_t random = test_seed();
	uint32_t n = 257;
	struct qap q = {
		.n = n,
		.a = make_matrix(&shapes[3], n, &random),
		.b = make_matrix(&shapes[2], n, &random),
	};
	uint32_t *location = calloc(n, sizeof(*location));
	int64_t quick = INT64_MAX, bound = INT64_MIN;

	(void)state;
	assert_non_null(location);
	for (uint32_t i = 0; i < n; i++)
		location[i] = i;
	assert_int_equal(qap_bound(&q, &effort, &quick, NULL), 0);
	assert_int_equal(qap_bound(&q, &more, &bound, NULL), 0);
	assert_true(quick > 0);
	assert_true(quick <= bound);
	assert_true(bound <= qap_cost(&q, location));
	free(location);
	qap_free(&q);
}

static void linear_assignments_are_the_cheapest(void **state)
{
	uint64_t random = test_seed();

	(void)state;
	for (uint32_t c = 0; c < 300; c++) {
		uint32_t n = 1 + c % MAX_N, range = 2 + c, column_of[MAX_N];
		int64_t cost[MAX_N * MAX_N], row[MAX_N], column[MAX_N];
		void *scratch = malloc(lap_scratch_size(n));
		int64_t sum = 0, prices = 0, result;
		uint32_t taken = 0;

		assert_non_null(scratch);
		for (uint32_t i = 0; i < n * n; i++)
			cost[i] = (int64_t)test_random_below(&random, range) -
				  range / 3;
		result = lap_solve(n, cost, n, column_of, row, column, scratch);
		for (uint32_t i = 0; i < n; i++) {
			sum += cost[i * n + column_of[i]];
			prices += row[i] + column[i];
			taken |= 1U << column_of[i];
			for (uint32_t j = 0; j < n; j++)
				assert_true(row[i] + column[j] <=
					    cost[i * n + j]);
		}
		/* equal to its dual: there is nothing cheaper */
		assert_int_equal(taken, (1U << n) - 1);
		assert_int_equal(sum, result);
		assert_int_equal(prices, result);
		free(scratch);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(linear_assignments_are_the_cheapest),
		cmocka_unit_test(small_problems_are_solved_to_the_optimum),
		cmocka_unit_test(costs_are_what_the_assignment_costs),
		cmocka_unit_test(the_same_work_gives_the_same_answer),
		cmocka_unit_test(a_raised_stop_flag_ends_the_search),
		cmocka_unit_test(entries_beyond_64_bits_of_cost_are_refused),
		cmocka_unit_test(each_allocation_that_fails_is_told),
		cmocka_unit_test(qaplib_optima_are_found),
		cmocka_unit_test(more_effort_proves_an_optimum),
		cmocka_unit_test(large_problems_have_a_bound_at_once),
	};

	return cmocka_run_group_tests_name("qap", tests, NULL, NULL);
}
