/* SPDX-License-Identifier: GPL-3.0-or-later */
/* exchange.c - bytes by pair out of recorded collectives */
#include "lab/trace/exchange.h"

#include "tests/costmodel/trace_file.h"

static double between(const struct weft_exchange *x, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < x->n_pairs; i++) {
		if (x->pairs[i].from == from && x->pairs[i].to == to)
			return x->pairs[i].bytes;
	}
	return 0;
}

static void exchange_of(const char *text, uint32_t n_steps,
			struct weft_exchange *x)
{
	struct weft_error err = {0};
	struct weft_trace t;

	trace_text_load(text, &t, &err);
	assert_no_error(&err);
	weft_trace_set_join(&t, 1, &err);
	assert_no_error(&err);
	weft_exchange_build(&t, 1, n_steps, x, &err);
	assert_no_error(&err);
	weft_trace_free(&t);
}

#define CALL4(name, in, out, more)                                             \
	",\"Collective name\":\"" name "\",\"In msg nelems\":" #in             \
	",\"Out msg nelems\":" #out ",\"dtype\":\"Byte\",\"Group size\":4,"    \
	"\"Process Group Name\":\"0\",\"Process Group Ranks\":"                \
	"\"[3, 1, 0, 2]\"" more
#define RANK1 "\"distributedInfo\":{\"rank\":1,\"world_size\":4},"

static void a_ring_sends_to_the_next_of_the_groups_order(void **state)
{
	struct weft_exchange x;

	(void)state;
	exchange_of(KINETO(RANK1, NCCL("AllReduce", 1, 2,
				       CALL4("allreduce", 800, 800, ))),
		    2, &x);
	/* 2 * 3/4 * 800 over two steps; ranks without a trace do the same */
	assert_int_equal(x.n_ranks, 4);
	assert_int_equal(x.n_pairs, 4);
	assert_close(between(&x, 1, 0), 600, 1e-12);
	assert_close(between(&x, 0, 2), 600, 1e-12);
	assert_close(between(&x, 2, 3), 600, 1e-12);
	assert_close(between(&x, 3, 1), 600, 1e-12);
	assert_close(x.placed_bytes, 2400, 1e-12);
	weft_exchange_free(&x);
	exchange_of(KINETO(RANK1, NCCL("AllGather", 1, 2,
				       CALL4("_allgather_base", 200, 800, ))),
		    1, &x);
	assert_close(between(&x, 1, 0), 600, 1e-12);
	weft_exchange_free(&x);
}

static void a_broadcast_carries_its_bytes_over_all_but_one_link(void **state)
{
	struct weft_exchange x;

	(void)state;
	exchange_of(KINETO(RANK1, NCCL("Broadcast", 1, 2,
				       CALL4("broadcast", 800, 800, ))),
		    1, &x);
	assert_close(x.placed_bytes, 3 * 800, 1e-12);
	weft_exchange_free(&x);
}

static void an_all_to_all_sends_its_splits(void **state)
{
	struct weft_exchange x;

	(void)state;
	exchange_of(KINETO(RANK1,
			   NCCL("SendRecv", 1, 2,
				CALL4("all_to_allv", 1000, 1000,
				      ",\"In split size\":\"[1, 2, 3, 4]\""))),
		    1, &x);
	assert_close(between(&x, 1, 3), 100, 1e-12);
	assert_close(between(&x, 1, 0), 300, 1e-12);
	assert_close(between(&x, 1, 2), 400, 1e-12);
	/* What others send is not recorded: the same to all. */
	assert_close(between(&x, 0, 3), 250, 1e-12);
	weft_exchange_free(&x);
}

static void sends_go_to_their_peer_and_receives_come_from_it(void **state)
{
	struct weft_exchange x;

	(void)state;
	exchange_of(
		KINETO(RANK1,
		       NCCL("SendRecv", 1, 2,
			    CALL4("send", 100, 100,
				  ",\"Dst Rank\":2")) "," NCCL("SendRecv", 4, 2,
							       CALL4("recv", 70,
								     70,
								     ",\"Src "
								     "Rank\":"
								     "0"))),
		1, &x);
	assert_int_equal(x.n_pairs, 2);
	assert_close(between(&x, 1, 2), 100, 1e-12);
	assert_close(between(&x, 0, 1), 70, 1e-12);
	weft_exchange_free(&x);
}

static void a_groups_description_tells_the_axis(void **state)
{
	static const struct {
		const char *about;
		enum weft_axis axis;
	} cases[] = {
		{"TENSOR_MODEL_PARALLEL_GROUP", WEFT_AXIS_TP},
		{"EXPERT_MODEL_PARALLEL_GROUP", WEFT_AXIS_EP},
		{"EXPERT_DATA_PARALLEL_GROUP", WEFT_AXIS_DP},
		{"PIPELINE_MODEL_PARALLEL_GROUP", WEFT_AXIS_PP},
		{"CONTEXT_PARALLEL_GROUP", WEFT_AXIS_CP},
		{"mesh_tp", WEFT_AXIS_TP},
		{"mesh_dp_shard", WEFT_AXIS_DP},
		{"default_pg", WEFT_N_AXES},
		{"endpoint", WEFT_N_AXES},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_exchange x;
		char text[1024];

		snprintf(text, sizeof(text),
			 KINETO(RANK1,
				NCCL("AllReduce", 1, 2,
				     CALL4("allreduce", 800, 800,
					   ",\"Process Group Description\":"
					   "\"%s\""))),
			 cases[i].about);
		exchange_of(text, 1, &x);
		assert_int_equal(x.n_pairs, 4);
		assert_int_equal(x.pairs[0].axis, cases[i].axis);
		assert_close(x.axis_bytes[cases[i].axis], 4800, 1e-12);
		weft_exchange_free(&x);
	}
}

static void what_cannot_be_placed_is_counted(void **state)
{
	struct weft_exchange x;

	(void)state;
	exchange_of(
		KINETO("", NCCL("AllReduce", 1, 2, ) "," NCCL(
				   "Gather", 4, 2, CALL4("gather", 70, 280, ))),
		1, &x);
	assert_int_equal(x.n_pairs, 0);
	assert_int_equal(x.n_unplaced, 2);
	assert_close(x.unplaced_bytes, 280, 1e-12);
	weft_exchange_free(&x);
}

static void eight_ranks_of_others_give_a_whole_matrix(void **state)
{
	struct weft_trace traces[8];
	struct weft_error err = {0};
	struct weft_exchange x;

	(void)state;
	for (int i = 0; i < 8; i++) {
		char name[64];
		const char *path;

		snprintf(name, sizeof(name),
			 "data/real/comm/dlrm-8rank-et/dlrm_eg_%d.json.gz", i);
		path = test_shared(name);
		if (!path) {
			print_message("skipped: ../shared/%s is not here\n",
				      name);
			skip();
		}
		weft_trace_load(path, NULL, &traces[i], &err);
		assert_no_error(&err);
	}
	weft_trace_set_join(traces, 8, &err);
	weft_exchange_build(traces, 8, 1, &x, &err);
	assert_no_error(&err);
	assert_int_equal(x.n_pairs, 56);
	assert_int_equal(x.n_unplaced, 0);
	/* All-reduces of 394241 + 112 + 226960 floats around the ring, two
	 * all-to-alls of 768 floats to each, 3 longs, 48 ints, 224 ints. */
	assert_close(between(&x, 0, 1),
		     2 * 7. / 8 * 4 * (394241 + 112 + 226960) + 2 * 768 * 4 +
			     3 * 8 + 48 * 4 + 224 * 4,
		     1e-12);
	assert_close(between(&x, 1, 0), 2 * 768 * 4 + 3 * 8 + 48 * 4 + 96 * 4,
		     1e-12);
	weft_exchange_free(&x);
	for (int i = 0; i < 8; i++)
		weft_trace_free(&traces[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_ring_sends_to_the_next_of_the_groups_order),
		cmocka_unit_test(
			a_broadcast_carries_its_bytes_over_all_but_one_link),
		cmocka_unit_test(an_all_to_all_sends_its_splits),
		cmocka_unit_test(
			sends_go_to_their_peer_and_receives_come_from_it),
		cmocka_unit_test(a_groups_description_tells_the_axis),
		cmocka_unit_test(what_cannot_be_placed_is_counted),
		cmocka_unit_test(eight_ranks_of_others_give_a_whole_matrix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
