/* SPDX-License-Identifier: GPL-3.0-or-later */
/* traffic.c - bytes between ranks, against closed forms and by invariants */
#include "tests/lib/traffic.h"
#include "tests/costmodel/traffic_job.h"

#include "costmodel/traffic/collective.h"

#include <math.h>
#include <stdio.h>

/* A spec of anything that the grammar has; may not resolve. */
static void random_mixture(uint64_t *seed, char *text, size_t size)
{
	static const char *const orders[] = {"tp-cp-ep-dp-pp", "tp-ep-cp-dp-pp",
					     "pp/dp/cp/ep/tp",
					     "pp/ep/dp/tp/cp"};
	static const char *const models[] = {"deepseek-v3", "grok1-314B",
					     "gpt-18.4B", "llama3-70B"};
	static const char *const more[] = {"",
					   "recompute=full,",
					   "recompute=selective,",
					   "sp=off,",
					   "scatter=off,",
					   "cp_comm=allgather,",
					   "cp_comm=a2a,",
					   "shard=4,",
					   "route_nodes=2,",
					   "capacity=2,",
					   "compress=4,",
					   "sync_every=3,"};
	uint32_t pp = 1u << test_random_below(seed, 3);

	snprintf(text, size,
		 "%s%stp=%u,cp=%u,pp=%u,dp=%u,ep=%u,zero=%u,order=%s,model=%s,"
		 "vpp=%u",
		 more[test_random_below(seed, 6)],
		 more[5 + test_random_below(seed, 7)],
		 1u << test_random_below(seed, 4),
		 1u << test_random_below(seed, 3), pp,
		 1u << test_random_below(seed, 4),
		 1u << test_random_below(seed, 4), test_random_below(seed, 4),
		 orders[test_random_below(seed, 4)],
		 models[test_random_below(seed, 4)],
		 pp > 1 ? 1 + test_random_below(seed, 3) : 1);
}

static bool mixture_build(const char *text, struct job *job,
			  struct weft_schedule *schedule)
{
	struct weft_error err = {0};

	if (weft_spec_parse(text, &job->spec, &err) ||
	    weft_spec_resolve(&job->spec, 0, &err))
		return false;
	weft_model_find(job->spec.model, &job->model, &err);
	weft_spec_grid(&job->spec, &job->grid, &err);
	assert_no_error(&err);
	if (weft_schedule_build(&job->spec, &job->model, schedule, &err)) {
		assert_int_equal(err.code, WEFT_EINVAL);
		return false;
	}
	traffic_of_spec(&job->spec, &job->model, &job->traffic, &err);
	weft_traffic_expand(&job->traffic, &err);
	assert_no_error(&err);
	return true;
}

/* Every byte of the schedule is in the matrix, and no other: of each rank and
 * axis, and, call by call, over all ranks. */
static void bytes_of_the_schedule_are_conserved(void **state)
{
	uint64_t seed = test_seed();
	uint32_t built = 0;

	(void)state;
	while (built < 300) {
		struct weft_schedule schedule = {0};
		double total = 0, calls = 0;
		struct job job;
		char text[512];

		random_mixture(&seed, text, sizeof(text));
		strcat(text, ",algorithm=ring");
		if (!mixture_build(text, &job, &schedule))
			continue;
		built++;
		check_rows(&job.traffic);
		for (uint32_t r = 0; r < job.traffic.n_ranks; r++) {
			uint32_t stage =
				job.spec.pp > 1 ? coordinate(&job, r, "pp") : 0;

			for (int axis = 0; axis < WEFT_N_AXES; axis++) {
				double sent = schedule_bytes(
					&schedule, (enum weft_axis)axis, stage);

				assert_close(bytes_sent(&job.traffic, r,
							(enum weft_axis)axis),
					     sent, 1e-12);
				total += sent;
			}
		}
		for (uint32_t i = 0; i < schedule.n_calls; i++) {
			const struct weft_call *c = &schedule.calls[i];

			calls += c->count *
				 weft_volume_collective(c->collective, c->n,
							c->size_bytes) *
				 c->n_stages *
				 (job.traffic.n_ranks / job.spec.pp);
		}
		assert_close(weft_traffic_bytes(&job.traffic), total, 1e-9);
		assert_close(calls, total, 1e-9);
		weft_traffic_free(&job.traffic);
		weft_schedule_free(&schedule);
	}
}

/* Whatever the algorithm, an all-reduce among n ranks sends 2 (n-1) S over all,
 * but n S when switches reduce; each rank then is in one switch of its group.
 */
static void every_algorithm_moves_the_same_bytes(void **state)
{
	static const char *const algorithms[] = {
		"auto", "ring", "tree", "hierarchical", "halving-doubling"};
	uint64_t seed = test_seed();
	uint32_t built = 0;

	(void)state;
	while (built < 200) {
		struct weft_schedule schedule = {0};
		double total = 0;
		struct job job;
		char text[512];
		size_t used;

		random_mixture(&seed, text, sizeof(text));
		used = strlen(text);
		snprintf(text + used, sizeof(text) - used,
			 ",algorithm=%s,channels=%u",
			 algorithms[test_random_below(&seed, 5)],
			 1 + test_random_below(&seed, 8));
		if (!mixture_build(text, &job, &schedule))
			continue;
		built++;
		check_rows(&job.traffic);
		for (uint32_t r = 0; r < job.traffic.n_ranks; r++) {
			uint32_t stage =
				job.spec.pp > 1 ? coordinate(&job, r, "pp") : 0;

			for (int axis = 0; axis < WEFT_N_AXES; axis++)
				total += schedule_bytes(
					&schedule, (enum weft_axis)axis, stage);
		}
		assert_close(weft_traffic_bytes(&job.traffic), total, 1e-9);
		weft_traffic_free(&job.traffic);
		weft_schedule_free(&schedule);
	}
}

static void switches_take_each_group_once(void **state)
{
	struct job job;
	uint32_t seen[32] = {0};
	double gradients, bytes = 0;

	(void)state;
	job_build("tp=2,cp=2,dp=4,pp=2,sp=off,model=gpt-7.5B,algorithm=in-"
		  "network",
		  &job);
	gradients =
		4 *
		(weft_model_layers_parameters(&job.model, 0, 18) +
		 (double)job.model.hidden * (job.model.vocab + job.model.seq)) /
		2;
	for (uint32_t k = 0; k < job.traffic.n_switches; k++) {
		const struct weft_switch *s = &job.traffic.switches[k];

		if (s->axis != WEFT_AXIS_DP)
			continue;
		assert_int_equal(s->n_members, 8);
		for (uint32_t i = 0; i < 8; i++) {
			uint32_t r = job.traffic.member[s->first_member + i];

			assert_true(r < 32 && !seen[r]++);
			assert_int_equal(
				coordinate(&job, r, "pp"),
				coordinate(&job,
					   job.traffic.member[s->first_member],
					   "pp"));
			if (r == 0)
				bytes = s->bytes;
		}
	}
	for (uint32_t r = 0; r < 32; r++) {
		assert_int_equal(seen[r], 1);
		assert_true(bytes_sent(&job.traffic, r, WEFT_AXIS_DP) == 0);
	}
	assert_close(bytes, gradients, 1e-12);
	/* a pair has no use for a switch */
	assert_true(bytes_sent(&job.traffic, 0, WEFT_AXIS_TP) > 0);
	weft_traffic_free(&job.traffic);
}

/* Between nodes one ring has one edge each way around, eight have one from each
 * rank; inside they turn the same way. */
static void channels_leave_a_node_from_other_ranks(void **state)
{
	struct job one, eight;
	double between[2][16] = {{0}};

	(void)state;
	job_build("dp=16,model=llama3-8B", &one);
	job_build("dp=16,model=llama3-8B,channels=8", &eight);
	for (uint32_t r = 0; r < 16; r++) {
		for (uint32_t to = 0; to < 16; to++) {
			if (r / 8 == to / 8)
				continue;
			between[0][r] += bytes_between(&one.traffic, r, to,
						       WEFT_AXIS_DP);
			between[1][r] += bytes_between(&eight.traffic, r, to,
						       WEFT_AXIS_DP);
		}
		assert_close(bytes_sent(&eight.traffic, r, WEFT_AXIS_DP),
			     bytes_sent(&one.traffic, r, WEFT_AXIS_DP), 1e-12);
	}
	for (uint32_t r = 0; r < 16; r++)
		assert_close(between[1][r], between[0][r / 8 * 8 + 7] / 8,
			     1e-12);
	weft_traffic_free(&one.traffic);
	weft_traffic_free(&eight.traffic);
}

static void small_messages_go_over_trees(void **state)
{
	struct job ring, tree;

	(void)state;
	job_build("dp=16,model=llama3-8B", &ring);
	assert_int_equal(ring.traffic.n_edges, 16);
	weft_traffic_free(&ring.traffic);
	job_build("dp=16,model=llama3-8B,bucket=128KiB", &tree);
	assert_true(tree.traffic.n_edges > 16);
	weft_traffic_free(&tree.traffic);
}

/* Each rank of an expert group sends to each other one, and each gets what the
 * group's tokens share evenly. */
static void experts_exchange_tokens_with_all_of_their_group(void **state)
{
	struct job job;
	uint32_t ranks[8];
	struct weft_grid expert;
	struct weft_error err = {0};

	(void)state;
	job_build("tp=2,dp=16,ep=8,model=deepseek-v3", &job);
	weft_spec_expert_grid(&job.spec, &expert, &err);
	for (uint32_t g = 0; g < 4; g++) {
		double each;

		assert_int_equal(weft_grid_group(&expert, "ep", g, ranks, &err),
				 8);
		each = bytes_between(&job.traffic, ranks[0], ranks[7],
				     WEFT_AXIS_EP);
		assert_true(each > 0);
		for (uint32_t a = 0; a < 8; a++) {
			for (uint32_t b = 0; b < 8; b++)
				assert_close(bytes_between(&job.traffic,
							   ranks[a], ranks[b],
							   WEFT_AXIS_EP),
					     a == b ? 0 : each, 1e-12);
		}
	}
	assert_no_error(&err);
	weft_traffic_free(&job.traffic);
}

/* As long as cp and dp keep their order, which decides the ring over both. */
static void another_order_only_renames_the_ranks(void **state)
{
	static const char *const orders[] = {"pp-cp-tp-dp", "cp-dp-tp-pp",
					     "dp/pp/cp/tp", "tp/pp/dp/cp"};
	static const char *const axes[] = {"tp", "cp", "dp", "pp"};
	uint64_t seed = test_seed();

	(void)state;
	for (uint32_t i = 0; i < 100; i++) {
		uint64_t again = seed;
		struct job a, b;
		char text[256];
		uint32_t *name;

		random_spec(&seed, "tp-cp-dp-pp", text, sizeof(text));
		job_build(text, &a);
		random_spec(&again, orders[test_random_below(&seed, 4)], text,
			    sizeof(text));
		job_build(text, &b);
		name = calloc(a.grid.n_ranks, sizeof(*name));
		assert_non_null(name);
		for (uint32_t r = 0; r < a.grid.n_ranks; r++) {
			for (size_t x = 0; x < 4; x++)
				name[r] += coordinate(&a, r, axes[x]) *
					   b.grid.stride[weft_grid_axis(
						   &b.grid, axes[x])];
		}
		assert_int_equal(a.traffic.n_edges, b.traffic.n_edges);
		for (uint32_t r = 0; r < a.grid.n_ranks; r++) {
			for (uint32_t k = a.traffic.row[r];
			     k < a.traffic.row[r + 1]; k++)
				assert_close(bytes_between(
						     &b.traffic, name[r],
						     name[a.traffic.peer[k]],
						     (enum weft_axis)
							     a.traffic.axis[k]),
					     a.traffic.bytes[k], 1e-12);
		}
		free(name);
		weft_traffic_free(&a.traffic);
		weft_traffic_free(&b.traffic);
	}
}

static void two_ranks_send_to_each_other(void **state)
{
	struct job job;

	(void)state;
	job_build("dp=2,model=llama3-8B", &job);
	assert_int_equal(job.traffic.n_edges, 2);
	/* 2(2-1)/2 Psi at four bytes a gradient */
	assert_close(bytes_between(&job.traffic, 0, 1, WEFT_AXIS_DP),
		     4 * weft_model_parameters(&job.model), 1e-12);
	assert_close(bytes_between(&job.traffic, 1, 0, WEFT_AXIS_DP),
		     4 * weft_model_parameters(&job.model), 1e-12);
	weft_traffic_free(&job.traffic);
}

static void one_rank_sends_nothing(void **state)
{
	struct job job;

	(void)state;
	job_build("tp=1,model=gpt-7.5B", &job);
	assert_int_equal(job.traffic.n_ranks, 1);
	assert_int_equal(job.traffic.n_edges, 0);
	weft_traffic_free(&job.traffic);
	weft_traffic_free(&job.traffic);
	weft_traffic_free(NULL);
}

/* CV-15: 2*M*V sends of one boundary; the wrap-around has V-1 of them. */
static void interleaving_wraps_around(void **state)
{
	struct job job;
	double send, micro_batches;

	(void)state;
	job_build("pp=4,vpp=3,gbs=16,model=llama3-70B", &job);
	micro_batches = weft_spec_micro_batches(&job.spec);
	send = 8192.0 * 8192 * 2 * micro_batches;
	assert_close(bytes_between(&job.traffic, 0, 1, WEFT_AXIS_PP), 3 * send,
		     1e-12);
	assert_close(bytes_between(&job.traffic, 1, 0, WEFT_AXIS_PP), 3 * send,
		     1e-12);
	assert_close(bytes_between(&job.traffic, 3, 0, WEFT_AXIS_PP), 2 * send,
		     1e-12);
	assert_close(bytes_between(&job.traffic, 0, 3, WEFT_AXIS_PP), 2 * send,
		     1e-12);
	assert_true(bytes_between(&job.traffic, 0, 2, WEFT_AXIS_PP) == 0);
	weft_traffic_free(&job.traffic);
}

static void too_many_stages_are_refused(void **state)
{
	struct weft_error err = {0};
	struct job job;

	(void)state;
	weft_spec_parse("pp=64,vpp=2,model=llama3-8B", &job.spec, &err);
	weft_spec_resolve(&job.spec, 0, &err);
	weft_model_find(job.spec.model, &job.model, &err);
	weft_spec_grid(&job.spec, &job.grid, &err);
	assert_no_error(&err);
	assert_int_equal(
		traffic_of_spec(&job.spec, &job.model, &job.traffic, &err), -1);
	assert_error_says(&err, "pp*vpp = 64*2 parts, but model llama3-8B has "
				"only 32 layers");
	weft_traffic_free(&job.traffic);
}

static void loose_flows_are_sorted_and_summed(void **state)
{
	struct weft_flow flows[] = {
		{2, 0, WEFT_AXIS_DP, 5}, {0, 2, WEFT_AXIS_DP, 1},
		{0, 1, WEFT_AXIS_TP, 2}, {0, 1, WEFT_AXIS_PP, 3},
		{0, 1, WEFT_AXIS_TP, 4}, {1, 0, WEFT_AXIS_TP, 0},
	};
	struct weft_error err = {0};
	struct weft_traffic t;

	(void)state;
	weft_traffic_from_flows(4, flows, 6, &t, &err);
	assert_no_error(&err);
	check_rows(&t);
	assert_int_equal(t.n_edges, 4);
	assert_close(bytes_between(&t, 0, 1, WEFT_AXIS_TP), 6, 0);
	assert_close(bytes_between(&t, 0, 1, WEFT_AXIS_PP), 3, 0);
	assert_close(bytes_between(&t, 0, 2, WEFT_AXIS_DP), 1, 0);
	assert_close(bytes_between(&t, 2, 0, WEFT_AXIS_DP), 5, 0);
	assert_close(weft_traffic_bytes(&t), 15, 0);
	weft_traffic_free(&t);
	weft_traffic_from_flows(3, NULL, 0, &t, &err);
	assert_no_error(&err);
	assert_int_equal(t.row[3], 0);
	weft_traffic_free(&t);
}

static void wrong_flows_are_refused(void **state)
{
	static const struct {
		struct weft_flow flow;
		const char *says;
	} cases[] = {
		{{0, 4, WEFT_AXIS_TP, 1}, "there are 4 ranks"},
		{{4, 0, WEFT_AXIS_TP, 1}, "there are 4 ranks"},
		{{1, 1, WEFT_AXIS_TP, 1}, "sends to itself"},
		{{0, 1, WEFT_N_AXES, 1}, "unknown axis"},
		{{0, 1, WEFT_AXIS_TP, -1}, "number of bytes"},
		{{0, 1, WEFT_AXIS_TP, (double)NAN}, "number of bytes"},
		{{0, 1, WEFT_AXIS_TP, (double)INFINITY}, "number of bytes"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_flow flow = cases[i].flow;
		struct weft_error err = {0};
		struct weft_traffic t;

		assert_int_equal(weft_traffic_from_flows(4, &flow, 1, &t, &err),
				 -1);
		assert_error_says(&err, cases[i].says);
		weft_traffic_free(&t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bytes_of_the_schedule_are_conserved),
		cmocka_unit_test(every_algorithm_moves_the_same_bytes),
		cmocka_unit_test(switches_take_each_group_once),
		cmocka_unit_test(channels_leave_a_node_from_other_ranks),
		cmocka_unit_test(small_messages_go_over_trees),
		cmocka_unit_test(
			experts_exchange_tokens_with_all_of_their_group),
		cmocka_unit_test(another_order_only_renames_the_ranks),
		cmocka_unit_test(two_ranks_send_to_each_other),
		cmocka_unit_test(one_rank_sends_nothing),
		cmocka_unit_test(interleaving_wraps_around),
		cmocka_unit_test(too_many_stages_are_refused),
		cmocka_unit_test(loose_flows_are_sorted_and_summed),
		cmocka_unit_test(wrong_flows_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
