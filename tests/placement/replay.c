/* SPDX-License-Identifier: GPL-3.0-or-later */
/* replay.c - streams of jobs: who starts when, on what, and what is said of it
 */
#include "lab/replay/replay.h"

#include "lab/replay/ledger.h"
#include "tests/lib/fabric.h"
#include "tests/placement/cases.h"
#include "topology/synth.h"

#include <stdlib.h>

static struct weft_fabric *synth(const char *shape)
{
	const struct weft_synth_options options = {.profile = "roce-llama3"};

	return test_synth(shape, &options);
}

static void add(struct weft_stream *s, double submit_s, double duration_s,
		uint32_t gpus)
{
	const struct weft_stream_job job = {submit_s, duration_s, gpus, "", ""};
	struct weft_error err = {0};

	weft_stream_add(s, &job, &err);
	assert_no_error(&err);
}

/* Runs a stream under a policy; *start_s[i] is for the caller to compare. */
static void run(const struct weft_fabric *f, const struct weft_stream *s,
		const struct weft_replay_options *options, const char *policy,
		struct weft_replay_outcome *outcome)
{
	struct weft_error err = {0};
	struct weft_replay r = {0};

	weft_replay_build(f, s, options, &r, &err);
	assert_no_error(&err);
	weft_replay_run(&r, weft_policy_find(policy, &err), outcome, &err);
	assert_no_error(&err);
	weft_replay_free(&r);
}

struct start {
	double submit_s, duration_s;
	uint32_t gpus;
	double start_s; /* expected */
};

static void check_starts(const struct start *rows, uint32_t n,
			 enum weft_queue queue)
{
	struct weft_fabric *f = synth("leaf:1 node:3 gpu:8");
	const struct weft_replay_options options = {.queue = queue};
	struct weft_stream s = {0};

	for (uint32_t i = 0; i < n; i++)
		add(&s, rows[i].submit_s, rows[i].duration_s, rows[i].gpus);
	for (uint32_t p = 0; p < weft_n_policies; p++) {
		struct weft_replay_outcome o;

		run(f, &s, &options, weft_policies[p].name, &o);
		for (uint32_t i = 0; i < n; i++) {
			assert_close(o.jobs[i].start_s, rows[i].start_s, 1e-12);
			assert_close(o.jobs[i].end_s,
				     rows[i].start_s + rows[i].duration_s,
				     1e-12);
		}
		weft_replay_outcome_free(&o);
	}
	weft_stream_free(&s);
	weft_fabric_free(f);
}
#define check_starts_of(rows, queue)                                           \
	check_starts((rows), sizeof(rows) / sizeof((rows)[0]), (queue))

static void without_backfill_nobody_overtakes(void **state)
{
	static const struct start rows[] = {
		{0, 100, 16, 0},
		{10, 50, 24, 100},
		{20, 10, 8, 150},
	};

	(void)state;
	check_starts_of(rows, WEFT_QUEUE_FIFO);
}

static void a_job_that_ends_in_time_is_let_in_front(void **state)
{
	static const struct start rows[] = {
		{0, 100, 16, 0},
		{10, 50, 24, 100},
		{20, 80, 8, 20},
	};

	(void)state;
	check_starts_of(rows, WEFT_QUEUE_BACKFILL);
}

static void one_that_would_delay_the_first_is_not(void **state)
{
	static const struct start rows[] = {
		{0, 100, 16, 0},
		{10, 50, 24, 100},
		{20, 81, 8, 150},
	};

	(void)state;
	check_starts_of(rows, WEFT_QUEUE_BACKFILL);
}

static void one_beside_the_reservation_may_run_on(void **state)
{
	static const struct start rows[] = {
		{0, 100, 16, 0},
		{10, 50, 16, 100}, /* leaves a node */
		{20, 500, 8, 20},
		{30, 500, 8, 150}, /* which then is taken */
	};

	(void)state;
	check_starts_of(rows, WEFT_QUEUE_BACKFILL);
}

/* The second in the queue has no reservation: what fits may delay it. */
static void only_the_first_has_a_reservation(void **state)
{
	static const struct start rows[] = {
		{0, 100, 16, 0}, {10, 50, 24, 100}, {20, 50, 16, 150},
		{30, 60, 4, 30}, {40, 70, 4, 150},
	};

	(void)state;
	check_starts_of(rows, WEFT_QUEUE_BACKFILL);
}

static void jobs_beyond_the_depth_are_not_tried(void **state)
{
	struct weft_fabric *f = synth("leaf:1 node:2 gpu:8");
	const struct weft_replay_options options = {.depth = 1};
	struct weft_replay_outcome o;
	struct weft_stream s = {0};

	(void)state;
	add(&s, 0, 100, 8);
	add(&s, 1, 100, 16);
	add(&s, 2, 100, 16);
	add(&s, 3, 10, 8);
	run(f, &s, &options, "first-fit", &o);
	assert_close(o.jobs[3].start_s, 300, 1e-12);
	weft_replay_outcome_free(&o);
	weft_stream_free(&s);
	weft_fabric_free(f);
}

static void means_are_of_what_happened(void **state)
{
	struct weft_fabric *f = synth("leaf:1 node:3 gpu:8");
	const struct weft_replay_options options = {0};
	struct weft_replay_outcome o;
	struct weft_stream s = {0};

	(void)state;
	add(&s, 0, 100, 16);
	add(&s, 10, 50, 24);
	add(&s, 20, 10, 8);
	run(f, &s, &options, "weft", &o);
	assert_int_equal(o.all.n, 3);
	assert_int_equal(o.multi.n, 2);
	assert_close(o.wait_s.mean, 30, 1e-12);
	assert_close(o.wait_s.p95, 0, 1e-12);
	assert_close(o.wait_s.max, 90, 1e-12);
	assert_close(o.makespan_s, 150, 1e-12);
	assert_close(o.sor, (1600.0 + 1200 + 80) / (24 * 150), 1e-12);
	assert_close(o.gar, 320.0 / (24 * 20), 1e-12);
	assert_close(o.goodput, o.sor, 1e-12);
	assert_close(o.train_s.mean, 75, 1e-12);
	assert_close(o.train_ratio.p99, 1, 1e-9);
	assert_close(o.gfr, 0, 0);
	assert_close(o.multi.step_ratio, 1, 1e-9);
	assert_close(o.multi.step_s, o.multi.ideal_step_s, 1e-9);
	assert_close(o.all.cost_ratio, 1, 1e-9);
	weft_replay_outcome_free(&o);
	weft_stream_free(&s);
	weft_fabric_free(f);
}

/* A node of three is shared with free GPUs for half of the time. */
static void nodes_in_parts_are_counted_over_time(void **state)
{
	struct weft_fabric *f = synth("leaf:1 node:3 gpu:8");
	const struct weft_replay_options options = {0};
	struct weft_replay_outcome o;
	struct weft_stream s = {0};

	(void)state;
	add(&s, 0, 50, 4);
	add(&s, 0, 200, 8);
	add(&s, 100, 10, 2);
	run(f, &s, &options, "first-fit", &o);
	assert_close(o.gfr, 1.0 / 3 / 2, 1e-12);
	assert_close(o.gar, (4.0 * 50 + 8 * 100) / (24 * 100), 1e-12);
	weft_replay_outcome_free(&o);
	weft_stream_free(&s);
	weft_fabric_free(f);
}

static void jobs_larger_than_the_fabric_are_left_out(void **state)
{
	struct weft_fabric *f = synth("leaf:1 node:2 gpu:8");
	const struct weft_replay_options options = {0};
	struct weft_replay_outcome o;
	struct weft_error err = {0};
	struct weft_stream s = {0};
	struct weft_replay r = {0};

	(void)state;
	add(&s, 0, 10, 17);
	add(&s, 1, 10, 16);
	weft_replay_build(f, &s, &options, &r, &err);
	assert_no_error(&err);
	assert_int_equal(r.n_left_out, 1);
	weft_replay_run(&r, &weft_policies[0], &o, &err);
	assert_no_error(&err);
	assert_int_equal(o.all.n, 1);
	assert_true(o.jobs[0].start_s < 0);
	assert_close(o.jobs[1].start_s, 1, 1e-12);
	weft_replay_outcome_free(&o);
	weft_replay_free(&r);
	weft_stream_free(&s);
	weft_fabric_free(f);
}

/* Who has each GPU until when, found out without the replay's own books. */
struct witness {
	const struct weft_fabric *f;
	const struct weft_stream *s;
	struct grant {
		uint32_t *where, n;
	} * grants; /* [s->n] */
};

static int witness_started(void *context, uint32_t job, const uint32_t *where,
			   uint32_t n)
{
	struct witness *w = context;
	struct grant *g = &w->grants[job];

	assert_null(g->where);
	g->where = malloc(n * sizeof(*where));
	assert_non_null(g->where);
	memcpy(g->where, where, n * sizeof(*where));
	g->n = n;
	return 0;
}

struct span {
	double start_s, end_s;
};

static int by_start(const void *a, const void *b)
{
	const struct span *x = a, *y = b;

	return x->start_s < y->start_s ? -1 : x->start_s > y->start_s;
}

static void check_no_gpu_is_shared(const struct witness *w,
				   const struct weft_replay_outcome *o)
{
	struct span *spans = calloc(w->s->n, sizeof(*spans));

	assert_non_null(spans);
	for (uint32_t gpu = 0; gpu < w->f->n_gpus; gpu++) {
		uint32_t n = 0;

		for (uint32_t i = 0; i < w->s->n; i++) {
			for (uint32_t k = 0; k < w->grants[i].n; k++) {
				if (w->grants[i].where[k] == gpu)
					spans[n++] = (struct span){
						o->jobs[i].start_s,
						o->jobs[i].end_s};
			}
		}
		if (n)
			qsort(spans, n, sizeof(*spans), by_start);
		for (uint32_t i = 1; i < n; i++)
			assert_true(spans[i - 1].end_s <= spans[i].start_s);
	}
	free(spans);
}

static void random_stream(struct weft_stream *s, uint64_t *random, uint32_t n)
{
	static const uint32_t sizes[] = {1, 2, 4, 8, 8, 12, 16, 24, 32, 64};
	double now_s = 0;

	for (uint32_t i = 0; i < n; i++) {
		now_s += test_random_below(random, 20);
		add(s, now_s, 1 + test_random_below(random, 200),
		    sizes[test_random_below(random, 10)]);
	}
}

static void check_policy(const struct weft_fabric *f,
			 const struct weft_stream *s, enum weft_queue queue,
			 const char *policy)
{
	struct witness w = {f, s, calloc(s->n, sizeof(*w.grants))};
	struct weft_replay_options options = {
		.queue = queue, .started = witness_started, .context = &w};
	struct weft_replay_outcome o, again;

	assert_non_null(w.grants);
	run(f, s, &options, policy, &o);
	check_no_gpu_is_shared(&w, &o);
	for (uint32_t i = 0; i < s->n; i++) {
		assert_true(w.grants[i].n >= s->jobs[i].gpus);
		assert_true(o.jobs[i].start_s >= s->jobs[i].submit_s);
		if (queue == WEFT_QUEUE_FIFO && i > 0)
			assert_true(o.jobs[i].start_s >= o.jobs[i - 1].start_s);
		free(w.grants[i].where);
	}
	options.started = NULL;
	run(f, s, &options, policy, &again);
	assert_memory_equal(o.jobs, again.jobs, s->n * sizeof(*o.jobs));
	weft_replay_outcome_free(&o);
	weft_replay_outcome_free(&again);
	free(w.grants);
}

static void no_policy_gives_a_gpu_twice_and_all_repeat_themselves(void **state)
{
	struct weft_fabric *f = synth("pod:2 leaf:3 node:3 gpu:8");
	uint64_t random = test_seed();
	struct weft_stream s = {0};

	(void)state;
	random_stream(&s, &random, 150);
	for (uint32_t p = 0; p < weft_n_policies; p++) {
		check_policy(f, &s, WEFT_QUEUE_BACKFILL, weft_policies[p].name);
		check_policy(f, &s, WEFT_QUEUE_FIFO, weft_policies[p].name);
	}
	weft_stream_free(&s);
	weft_fabric_free(f);
}

/* With every job of one size and shape nobody can profit from another's place:
 * all policies that do not wait for blocks start each job at the same time. */
static void waits_do_not_depend_on_where_equal_jobs_run(void **state)
{
	struct weft_fabric *f = synth("leaf:4 node:2 gpu:8");
	const struct weft_replay_options options = {.as_recorded = true};
	struct weft_replay_outcome first, o;
	uint64_t random = test_seed();
	struct weft_stream s = {0};

	(void)state;
	for (uint32_t i = 0; i < 100; i++)
		add(&s, 10 * i, 1 + test_random_below(&random, 60), 16);
	run(f, &s, &options, "weft", &first);
	run(f, &s, &options, "random", &o);
	for (uint32_t i = 0; i < s.n; i++)
		assert_close(o.jobs[i].start_s, first.jobs[i].start_s, 1e-12);
	weft_replay_outcome_free(&o);
	weft_replay_outcome_free(&first);
	weft_stream_free(&s);
	weft_fabric_free(f);
}

/* Whatever slows it, unless durations are those of the trace. */
static void a_job_lasts_as_its_steps(void **state)
{
	struct weft_fabric *f = synth("pod:2 leaf:4 node:2 gpu:8");
	const struct weft_replay_options recorded = {.as_recorded = true};
	const struct weft_replay_options options = {0};
	struct weft_replay_outcome o;
	struct weft_stream s = {0};

	(void)state;
	add(&s, 0, 1000, 32);
	run(f, &s, &options, "random", &o);
	assert_true(o.multi.step_ratio > 1.000001);
	assert_close(o.jobs[0].end_s, 1000 * o.multi.step_ratio, 1e-9);
	assert_close(o.train_ratio.mean, o.multi.step_ratio, 1e-9);
	assert_true(o.goodput < o.sor);
	weft_replay_outcome_free(&o);
	run(f, &s, &recorded, "random", &o);
	assert_true(o.multi.step_ratio > 1.000001);
	assert_close(o.jobs[0].end_s, 1000, 1e-12);
	weft_replay_outcome_free(&o);
	weft_stream_free(&s);
	weft_fabric_free(f);
}

static void axes_of_the_trace_replace_the_rule(void **state)
{
	struct weft_fabric *f = synth("leaf:2 node:2 gpu:8");
	const struct weft_replay_options options = {0};
	const struct weft_stream_job good = {0, 1, 16, "a", "tp=2,pp=4"};
	const struct weft_stream_job bad = {0, 1, 16, "b", "tp=3"};
	struct weft_error err = {0};
	struct weft_stream s = {0};
	struct weft_replay r = {0};

	(void)state;
	weft_stream_add(&s, &good, &err);
	weft_replay_build(f, &s, &options, &r, &err);
	assert_no_error(&err);
	assert_int_equal(r.kinds[0].job.spec.tp, 2);
	assert_int_equal(r.kinds[0].job.spec.pp, 4);
	assert_int_equal(r.kinds[0].job.spec.dp, 2);
	weft_replay_free(&r);
	weft_stream_add(&s, &bad, &err);
	assert_int_equal(weft_replay_build(f, &s, &options, &r, &err), -1);
	assert_error_says(&err, "job \"b\"");
	weft_replay_free(&r);
	weft_stream_free(&s);
	weft_fabric_free(f);
}

static int give_up(void *context, uint32_t done, uint32_t n)
{
	(void)context;
	return done > n / 2;
}

static void a_replay_can_be_given_up(void **state)
{
	struct weft_fabric *f = synth("leaf:2 node:2 gpu:8");
	const struct weft_replay_options options = {.progress = give_up};
	struct weft_replay_outcome o;
	struct weft_error err = {0};
	struct weft_stream s = {0};
	struct weft_replay r = {0};

	(void)state;
	for (uint32_t i = 0; i < 1000; i++)
		add(&s, i, 10, 8);
	weft_replay_build(f, &s, &options, &r, &err);
	assert_no_error(&err);
	assert_int_equal(weft_replay_run(&r, &weft_policies[0], &o, &err), -1);
	assert_error_says(&err, "interrupted");
	weft_replay_outcome_free(&o);
	weft_replay_free(&r);
	weft_stream_free(&s);
	weft_fabric_free(f);
}

static void arrivals_are_sorted_and_start_at_zero(void **state)
{
	struct weft_error err = {0};
	struct weft_stream s = {0};

	(void)state;
	add(&s, 30, 1, 3);
	add(&s, 10, 1, 1);
	add(&s, 30, 1, 4);
	add(&s, 20, 1, 2);
	weft_stream_sort(&s, 3, &err);
	assert_no_error(&err);
	assert_int_equal(s.n, 3);
	for (uint32_t i = 0; i < s.n; i++) {
		assert_int_equal(s.jobs[i].gpus, i + 1);
		assert_close(s.jobs[i].submit_s, 10 * i, 1e-12);
	}
	weft_stream_scale(&s, 0.5);
	assert_close(s.jobs[2].submit_s, 10, 1e-12);
	weft_stream_free(&s);
}

static void the_books_refuse_what_cannot_be(void **state)
{
	struct weft_fabric *f = synth("leaf:2 node:2 gpu:8");
	const uint32_t gpus[] = {3, 9};
	struct weft_error err = {0};
	struct ledger l;

	(void)state;
	assert_int_equal(ledger_build(f, &l, &err), 0);
	assert_int_equal(ledger_take(&l, gpus, 2, &err), 0);
	assert_int_equal(l.n_free, 30);
	assert_int_equal(l.n_slots[8], 2);
	assert_int_equal(l.n_slots[7], 4);
	assert_int_equal(ledger_take(&l, gpus + 1, 1, &err), -1);
	err = (struct weft_error){0};
	assert_int_equal(ledger_give(&l, gpus, 2, &err), 0);
	assert_int_equal(l.n_slots[8], 4);
	assert_int_equal(ledger_give(&l, gpus, 1, &err), -1);
	ledger_free(&l);
	weft_fabric_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_backfill_nobody_overtakes),
		cmocka_unit_test(a_job_that_ends_in_time_is_let_in_front),
		cmocka_unit_test(one_that_would_delay_the_first_is_not),
		cmocka_unit_test(one_beside_the_reservation_may_run_on),
		cmocka_unit_test(only_the_first_has_a_reservation),
		cmocka_unit_test(jobs_beyond_the_depth_are_not_tried),
		cmocka_unit_test(means_are_of_what_happened),
		cmocka_unit_test(nodes_in_parts_are_counted_over_time),
		cmocka_unit_test(jobs_larger_than_the_fabric_are_left_out),
		cmocka_unit_test(
			no_policy_gives_a_gpu_twice_and_all_repeat_themselves),
		cmocka_unit_test(waits_do_not_depend_on_where_equal_jobs_run),
		cmocka_unit_test(a_job_lasts_as_its_steps),
		cmocka_unit_test(axes_of_the_trace_replace_the_rule),
		cmocka_unit_test(a_replay_can_be_given_up),
		cmocka_unit_test(arrivals_are_sorted_and_start_at_zero),
		cmocka_unit_test(the_books_refuse_what_cannot_be),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
