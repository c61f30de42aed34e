/* SPDX-License-Identifier: GPL-3.0-or-later */
/* overlap.c - hidden and exposed time of traces small enough to see */
#include "lab/trace/overlap.h"

#include "tests/costmodel/trace_file.h"

#include <math.h>

struct measured {
	struct weft_trace trace;
	struct weft_overlap o;
};

static void measure(const char *text, struct measured *m)
{
	struct weft_error err = {0};

	trace_text_load(text, &m->trace, &err);
	assert_no_error(&err);
	weft_overlap_build(&m->trace, &m->o, &err);
	assert_no_error(&err);
}

static void measured_free(struct measured *m)
{
	weft_overlap_free(&m->o);
	weft_trace_free(&m->trace);
}

/* The parts add up to the span; a union is never longer than its parts. */
static void check_identities(const struct weft_overlap *o)
{
	double busy = o->compute_s + o->comm_s - o->overlap_s;

	assert_close(o->span_s, busy + o->copy_s + o->idle_s, 1e-9);
	assert_close(o->exposed_s, o->comm_s - o->overlap_s, 1e-9);
	assert_true(o->overlap_s <= o->comm_s * (1 + 1e-12));
	assert_true(o->overlap_s <= o->compute_s * (1 + 1e-12));
	assert_true(o->idle_s >= 0 && o->copy_s >= -1e-12);
}

/*
 *         0    10   20   30   40   50   60
 * compute  ####      ####...           ##     10 + 10 + 5
 * comm          ##########   ######           20 + 10
 */
static void tau_and_eta_are_those_counted_by_hand(void **state)
{
	struct measured m;

	(void)state;
	measure(KINETO("",
		       KERNEL(7, 0, 10, ) "," KERNEL(7, 20, 8, ) "," KERNEL(8, 25, 5, ) "," KERNEL(
			       7, 55,
			       5, ) "," NCCL("AllReduce", 5, 20,
					     CALL("allreduce", 100,
						  "[0, 1]")) "," NCCL("AllGathe"
								      "r",
								      35, 10,
								      CALL("all"
									   "gat"
									   "he"
									   "r",
									   100,
									   "[0,"
									   " 1"
									   "]"))),
		&m);
	assert_close(m.o.span_s, 60e-6, 1e-9);
	assert_close(m.o.compute_s, 25e-6, 1e-9);
	assert_close(m.o.comm_s, 30e-6, 1e-9);
	assert_close(m.o.overlap_s, 10e-6, 1e-9);
	assert_close(m.o.eta_overlap, 1.0 / 3, 1e-9);
	assert_close(m.o.exposed_s, 20e-6, 1e-9);
	assert_close(m.o.idle_s, 60e-6 - 45e-6, 1e-9);
	assert_close(m.o.exposed_each_s[0], 10e-6, 1e-9);
	assert_close(m.o.exposed_each_s[1], 10e-6, 1e-9);
	assert_int_equal(m.o.kinds[WEFT_OP_ALL_REDUCE].n, 1);
	assert_close(m.o.kinds[WEFT_OP_ALL_REDUCE].bytes, 400, 0);
	assert_close(m.o.kinds[WEFT_OP_ALL_REDUCE].time_s, 20e-6, 1e-9);
	assert_close(m.o.kinds[WEFT_OP_ALL_GATHER].exposed_s, 10e-6, 1e-9);
	check_identities(&m.o);
	measured_free(&m);
}

static void communication_under_computing_costs_nothing(void **state)
{
	struct measured m;

	(void)state;
	measure(KINETO("", KERNEL(7, 0, 100, ) "," NCCL(
				   "AllReduce", 10, 20, ) "," NCCL("AllReduce",
								   15, 25, )),
		&m);
	assert_close(m.o.comm_s, 30e-6, 1e-9);
	assert_close(m.o.eta_overlap, 1, 0);
	assert_close(m.o.exposed_s, 0, 0);
	/* Each is counted whole though they run side by side. */
	assert_close(m.o.kinds[WEFT_OP_ALL_REDUCE].time_s, 45e-6, 1e-9);
	check_identities(&m.o);
	measured_free(&m);
}

static void without_communication_eta_is_zero_and_not_nan(void **state)
{
	struct measured m;

	(void)state;
	measure(KINETO("", KERNEL(7, 0, 100, )), &m);
	assert_close(m.o.eta_overlap, 0, 0);
	check_identities(&m.o);
	measured_free(&m);
}

static void copies_count_only_where_nothing_else_runs(void **state)
{
	struct measured m;

	(void)state;
	measure(KINETO("", KERNEL(7, 0, 10, ) ","
					      "{\"ph\":\"X\",\"cat\":\"gpu_"
					      "memcpy\",\"name\":"
					      "\"Memcpy\",\"ts\":5,\"dur\":10,"
					      "\"args\":{}}"),
		&m);
	assert_close(m.o.copy_s, 5e-6, 1e-9);
	assert_close(m.o.idle_s, 0, 1e-9);
	check_identities(&m.o);
	measured_free(&m);
}

#define LAUNCH(id, at)                                                         \
	"{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\"" \
	",\"tid\":1,\"ts\":" #at ",\"dur\":1,\"args\":{\"correlation\":" #id   \
	"}}"

/* Launched at 2, behind a kernel that ends at 10; it starts at 14, though the
 * stream was free and what it waits for was done at 10. */
static void delay_counts_from_when_all_it_waits_for_is_done(void **state)
{
	struct measured m;

	(void)state;
	measure(KINETO("",
		       LAUNCH(1, 0) "," LAUNCH(2, 2) "," LAUNCH(3, 3) "," KERNEL(
			       7, 1, 9,
			       ",\"correlation\":1") "," KERNEL(7, 11, 9,
								",\"correlation"
								"\":3") "," NCCL("AllReduce",
										 14,
										 20,
										 ",\"correlation\":2")),
		&m);
	assert_close(m.o.delay_each_s[0], 4e-6, 1e-9);
	measured_free(&m);
}

/* Gaps of 10 us each: the first ends 4 us after its launch, the second with
 * work launched long before. */
static void idle_before_a_launch_is_the_cpus(void **state)
{
	struct measured m;

	(void)state;
	measure(KINETO("",
		       LAUNCH(1, 0) "," LAUNCH(2, 16) "," LAUNCH(3, 17) "," KERNEL(
			       7, 0, 10,
			       ",\"correlation\":1") "," KERNEL(7, 20, 10,
								",\"correlation"
								"\":2") "," KERNEL(7,
										   40,
										   10,
										   ",\"correlation\":3")),
		&m);
	assert_close(m.o.idle_s, 20e-6, 1e-9);
	assert_close(m.o.unlaunched_s, 6e-6, 1e-9);
	measured_free(&m);
}

static void ring_times_are_those_of_the_table(void **state)
{
	(void)state;
	/* 14 GB over 8 ranks at 50 GB/s: the seeds' example, right units */
	assert_close(weft_overlap_ring_s(WEFT_OP_ALL_REDUCE, 8, 14e9, 50e9, 0),
		     0.490, 1e-12);
	assert_close(weft_overlap_ring_s(WEFT_OP_ALL_GATHER, 4, 4e9, 1e9, 1),
		     3 + 3, 1e-12);
	assert_close(weft_overlap_ring_s(WEFT_OP_BROADCAST, 4, 4e9, 1e9, 1),
		     3 + 4, 1e-12);
	assert_close(weft_overlap_ring_s(WEFT_OP_SEND, 0, 4e9, 1e9, 1), 5,
		     1e-12);
	assert_close(weft_overlap_ring_s(WEFT_OP_ALL_REDUCE, 1, 4e9, 1e9, 1), 0,
		     0);
}

/* A sweep over every instant at which anything begins or ends: slow, and
 * obviously right. */
static double overlap_by_instants(const struct weft_trace *t)
{
	double sum = 0;

	for (int64_t at = 0; at < 400; at++) {
		bool comp = false, comm = false;

		for (uint32_t i = 0; i < t->n_events; i++) {
			const struct weft_trace_event *e = &t->events[i];
			bool here = e->start_ns <= at * 1000 &&
				    at * 1000 < e->end_ns;

			comp |= here && e->work == WEFT_WORK_COMPUTE;
			comm |= here && e->work == WEFT_WORK_COMM;
		}
		sum += comp && comm ? 1e-6 : 0;
	}
	return sum;
}

static void random_traces_agree_with_counting_every_instant(void **state)
{
	uint64_t seed = test_seed();

	(void)state;
	for (int round = 0; round < 200; round++) {
		char text[8192] = "{\"traceEvents\":[";
		struct measured m;

		for (uint32_t i = 0, n = 1 + test_random_below(&seed, 40);
		     i < n; i++) {
			size_t used = strlen(text);

			snprintf(text + used, sizeof(text) - used,
				 "%s{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":"
				 "\"%s\",\"ts\":%u,\"dur\":%u,\"args\":{}}",
				 i ? "," : "",
				 test_random_below(&seed, 3) ? "gemm"
							     : "ncclAllReduce",
				 test_random_below(&seed, 300),
				 test_random_below(&seed, 40));
		}
		strcat(text, "]}");
		measure(text, &m);
		check_identities(&m.o);
		assert_true(fabs(m.o.overlap_s -
				 overlap_by_instants(&m.trace)) < 1e-9);
		measured_free(&m);
	}
}

static void real_traces_keep_the_identities(void **state)
{
	static const char *const names[] = {
		"data/real/comm/hta-nccl-meta-2ranks.json.gz",
		"data/real/comm/hta-rank0-of-128.json.gz",
		"data/real/comm/hta-rank1-of-128.json.gz",
	};

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		const char *path = test_shared(names[i]);
		struct weft_error err = {0};
		struct measured m;

		if (!path) {
			print_message("skipped: ../shared/%s is not here\n",
				      names[i]);
			skip();
		}
		weft_trace_load(path, NULL, &m.trace, &err);
		assert_no_error(&err);
		weft_overlap_build(&m.trace, &m.o, &err);
		assert_no_error(&err);
		check_identities(&m.o);
		assert_true(m.o.comm_s > 0 && m.o.compute_s > 0);
		measured_free(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tau_and_eta_are_those_counted_by_hand),
		cmocka_unit_test(communication_under_computing_costs_nothing),
		cmocka_unit_test(without_communication_eta_is_zero_and_not_nan),
		cmocka_unit_test(copies_count_only_where_nothing_else_runs),
		cmocka_unit_test(
			delay_counts_from_when_all_it_waits_for_is_done),
		cmocka_unit_test(idle_before_a_launch_is_the_cpus),
		cmocka_unit_test(ring_times_are_those_of_the_table),
		cmocka_unit_test(
			random_traces_agree_with_counting_every_instant),
		cmocka_unit_test(real_traces_keep_the_identities),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
