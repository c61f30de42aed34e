/* SPDX-License-Identifier: GPL-3.0-or-later */
/* schedule.c - the calls of a step against published volumes */
#include "costmodel/traffic/schedule.h"

#include "costmodel/traffic/collective.h"
#include "tests/costmodel/table.h"
#include "tests/lib/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct job {
	struct weft_spec spec;
	struct weft_model model;
	struct weft_schedule schedule;
};

static void job_build(const char *text, struct job *job)
{
	struct weft_error err = {0};

	weft_spec_parse(text, &job->spec, &err);
	assert_no_error(&err);
	weft_spec_resolve(&job->spec, 0, &err);
	assert_no_error(&err);
	weft_model_find(job->spec.model, &job->model, &err);
	weft_schedule_build(&job->spec, &job->model, &job->schedule, &err);
	assert_no_error(&err);
}

/* Which calls a row of the table is about; "" and -1: any. */
struct pick {
	enum weft_axis axis;
	int phase;
	const char *what; /* part of the call's name */
};

static bool picked(const struct pick *pick, const struct weft_call *call)
{
	return call->axis == pick->axis &&
	       (pick->phase < 0 || pick->phase == (int)call->phase) &&
	       strstr(call->what, pick->what);
}

/* Bytes that a rank of `stage` sends in the calls picked. */
static double bytes_of(const struct weft_schedule *s, const struct pick *pick,
		       uint32_t stage)
{
	double sum = 0;

	for (uint32_t i = 0; i < s->n_calls; i++) {
		const struct weft_call *call = &s->calls[i];

		if (picked(pick, call) && stage >= call->first_stage &&
		    stage - call->first_stage < call->n_stages)
			sum += call->count *
			       weft_volume_collective(call->collective, call->n,
						      call->size_bytes);
	}
	return sum;
}

/* What the bytes of a row are divided by. */
enum unit {
	STEP,
	MICRO_BATCH,
	LAYER,	      /* and micro-batch */
	EXPERT_LAYER, /* and micro-batch */
	PARAMETER,    /* of a rank, times `scale` of the row */
};

struct row {
	const char *id, *spec;
	struct pick pick;
	uint32_t stage;
	enum unit unit;
	double scale;
};

/* A: GPT-3 on 1,536 GPUs; B: long context of Llama-3 405B; C: DeepSeek-V3,
 * 4,096 tokens a rank over 64; Z: 7e9 parameters over 64. */
#define A     "model=gpt3-175B,tp=8,pp=12,dp=16,gbs=1536,seq=2048"
#define A_OFF A ",sp=off"
#define B     "model=llama3-405B,tp=8,cp=16,seq=131072,gbs=1"
#define C                                                                      \
	"model=deepseek-v3,dp=64,ep=64,gbs=64,seq=4096,gpus_per_node=8,"       \
	"dispatch_dtype="
#define Z     "model=llama3-8B,dp=64,gbs=64"
#define TP    WEFT_AXIS_TP
#define CP    WEFT_AXIS_CP
#define EP    WEFT_AXIS_EP
#define PP    WEFT_AXIS_PP
#define DP    WEFT_AXIS_DP
#define PSI   7e9
#define A_PSI (175e9 / (8 * 12))

static const struct row rows[] = {
	{"CV-01", A_OFF, {TP, WEFT_FORWARD, "of activations"}, 5, LAYER, 1},
	{"CV-02", A_OFF, {TP, WEFT_BACKWARD, "activation gr"}, 5, LAYER, 1},
	{"CV-03",
	 A_OFF ",recompute=full",
	 {TP, WEFT_RECOMPUTE, ""},
	 5,
	 LAYER,
	 1},
	{"CV-04", A_OFF, {TP, -1, "of activation"}, 5, LAYER, 1},
	{"CV-05", A, {TP, WEFT_FORWARD, "all-gather"}, 5, LAYER, 1},
	{"CV-06", A, {TP, WEFT_FORWARD, "reduce-scatter"}, 5, LAYER, 1},
	{"CV-07", A, {TP, WEFT_BACKWARD, "gradients"}, 5, LAYER, 1},
	{"CV-08", A, {TP, WEFT_BACKWARD, "kept split"}, 5, LAYER, 1},
	{"CV-09", A_OFF, {TP, -1, "embeddings"}, 0, MICRO_BATCH, 1},
	{"CV-10", A_OFF, {TP, -1, "output gradients"}, 11, MICRO_BATCH, 1},
	{"CV-11", A, {TP, -1, "cross entropy"}, 11, MICRO_BATCH, 1},
	{"CV-12", A, {TP, WEFT_STEP_END, "norm"}, 5, STEP, 1},
	{"CV-13", A, {PP, WEFT_FORWARD, ""}, 5, MICRO_BATCH, 1},
	{"CV-14", A, {PP, WEFT_BACKWARD, ""}, 5, MICRO_BATCH, 1},
	{"CV-15", A, {PP, -1, "send"}, 5, STEP, 1},
	{"CV-16", A, {PP, -1, "tied"}, 11, STEP, 1},
	{"CV-17", B, {CP, WEFT_FORWARD, ""}, 0, LAYER, 1},
	{"CV-18", B, {CP, WEFT_BACKWARD, ""}, 0, LAYER, 1},
	{"CV-19", B ",cp_comm=allgather", {CP, WEFT_FORWARD, ""}, 0, LAYER, 1},
	{"CV-20", B ",cp_comm=allgather", {CP, WEFT_BACKWARD, ""}, 0, LAYER, 1},
	{"CV-21", B ",cp_comm=a2a", {CP, WEFT_FORWARD, ""}, 0, LAYER, 1},
	{"CV-22", B ",cp_comm=a2a", {CP, WEFT_BACKWARD, ""}, 0, LAYER, 1},
	{"CV-24", C "fp8", {EP, WEFT_FORWARD, "dispatch"}, 0, EXPERT_LAYER, 1},
	{"CV-25", C "fp8", {EP, WEFT_FORWARD, "combine"}, 0, EXPERT_LAYER, 1},
	{"CV-26", C "fp8", {EP, WEFT_BACKWARD, ""}, 0, EXPERT_LAYER, 1},
	{"CV-27",
	 C "bf16,capacity=1.25",
	 {EP, WEFT_FORWARD, "dispatch"},
	 0,
	 EXPERT_LAYER,
	 1},
	{"CV-32", Z ",grad_dtype=bf16", {DP, -1, ""}, 0, PARAMETER, PSI},
	{"CV-33", Z ",zero=1", {DP, -1, ""}, 0, PARAMETER, PSI},
	{"CV-34", Z ",zero=1,grad_dtype=bf16", {DP, -1, ""}, 0, PARAMETER, PSI},
	{"CV-35", Z ",zero=2,grad_dtype=bf16", {DP, -1, ""}, 0, PARAMETER, PSI},
	{"CV-36", Z ",zero=3,grad_dtype=bf16", {DP, -1, ""}, 0, PARAMETER, PSI},
	/* Gathered once and kept is what stage 2 does. */
	{"CV-37", Z ",zero=2", {DP, -1, ""}, 0, PARAMETER, PSI},
	{"CV-38",
	 Z ",shard=8,grad_dtype=bf16",
	 {DP, -1, "across"},
	 0,
	 PARAMETER,
	 PSI},
	{"CV-39", A ",grad_dtype=bf16", {DP, -1, ""}, 5, PARAMETER, A_PSI},
	/* One in a thousand of 4 bytes is kept, with a 4-byte index. */
	{"CV-41", Z ",compress=500", {DP, -1, "sparse"}, 0, PARAMETER, PSI},
	{"CV-42", Z ",sync_every=8", {DP, -1, ""}, 0, PARAMETER, PSI},
};

/* Parameters that a rank of example A's inner stages, or of Z, holds. */
static double parameters_held(const struct job *job)
{
	if (job->spec.pp == 1)
		return weft_model_parameters(&job->model);
	return weft_model_layers_parameters(&job->model, 0,
					    job->model.layers / job->spec.pp) /
	       job->spec.tp;
}

static double row_bytes(const struct row *row)
{
	struct job job;
	double bytes, layers, micro_batches;

	job_build(row->spec, &job);
	layers = job.model.layers / job.spec.pp;
	micro_batches = weft_spec_micro_batches(&job.spec);
	bytes = bytes_of(&job.schedule, &row->pick, row->stage);
	if (row->unit == LAYER)
		bytes /= layers * micro_batches;
	if (row->unit == EXPERT_LAYER)
		bytes /= (layers - job.model.dense_layers) * micro_batches;
	if (row->unit == MICRO_BATCH)
		bytes /= micro_batches;
	if (row->unit == PARAMETER)
		bytes *= row->scale / parameters_held(&job);
	weft_schedule_free(&job.schedule);
	return bytes;
}

#define VOLUMES "data/costmodel/comm_volumes.csv"

static void published_volumes_come_out(void **state)
{
	struct csv csv = table_open(VOLUMES);
	size_t found = 0, n = sizeof(rows) / sizeof(rows[0]);

	(void)state;
	for (uint32_t line = 0; line < csv.n_rows; line++) {
		for (size_t i = 0; i < n; i++) {
			double megabytes, wanted;

			if (strcmp(rows[i].id, table_cell(&csv, line, "id")) !=
			    0)
				continue;
			found++;
			megabytes = row_bytes(&rows[i]) / 1e6;
			wanted = table_number(&csv, line, "example_value");
			/* The table has four decimals. */
			if (!(fabs(megabytes - wanted) < 0.000051))
				fail_msg("%s: %.6f, expected %.4f MB",
					 rows[i].id, megabytes, wanted);
		}
	}
	assert_int_equal(found, n);
	csv_free(&csv);
}

/* CV-28: on the network a token goes to each node once, at most four. */
static void routed_tokens_cross_the_network_once_per_node(void **state)
{
	const struct pick dispatch = {EP, WEFT_FORWARD, "dispatch"};
	double net = 0, node = 0;
	struct job job;

	(void)state;
	job_build(C "fp8,route_nodes=4", &job);
	for (uint32_t i = 0; i < job.schedule.n_calls; i++) {
		const struct weft_call *call = &job.schedule.calls[i];
		double bytes = call->count / (58 * 1) *
			       weft_volume_collective(call->collective, call->n,
						      call->size_bytes);

		if (!picked(&dispatch, call))
			continue;
		assert_int_equal(call->n, 8);
		if (strcmp(call->group, "ep_net") == 0)
			net += bytes;
		else if (strcmp(call->group, "ep_node") == 0)
			node += bytes;
		else
			fail_msg("dispatch in groups of \"%s\"", call->group);
	}
	assert_close(net, 4096.0 * 4 * 7 / 8 * 7168, 1e-12);
	assert_close(node, 4096.0 * 8 * 7 / 8 * 7168, 1e-12);
	weft_schedule_free(&job.schedule);
	if (test_shared(VOLUMES)) {
		struct csv csv = table_open(VOLUMES);

		assert_string_equal(table_cell(&csv, 27, "id"), "CV-28");
		assert_true(fabs(net / 1e6 -
				 table_number(&csv, 27, "example_value")) <
			    0.000051);
		csv_free(&csv);
	}
}

static uint32_t group_size(const struct weft_schedule *s,
			   const struct pick *pick)
{
	for (uint32_t i = 0; i < s->n_calls; i++) {
		if (picked(pick, &s->calls[i]))
			return s->calls[i].n;
	}
	return 0;
}

/* CV-23, CV-31: dense gradients over dp*cp ranks, those of experts over
 * gpus/(etp*ep*pp). */
static void gradients_are_reduced_over_their_own_ranks(void **state)
{
	const struct pick gradients = {DP, -1, "gradients"};
	uint32_t dense = 0, expert = 0;
	struct job job;

	(void)state;
	job_build("tp=4,cp=2,pp=2,dp=8,ep=8,etp=2,model=deepseek-v3", &job);
	for (uint32_t i = 0; i < job.schedule.n_calls; i++) {
		const struct weft_call *call = &job.schedule.calls[i];

		if (!picked(&gradients, call))
			continue;
		if (call->expert_grid)
			expert = call->n;
		else
			dense = call->n;
	}
	assert_int_equal(dense, 16);
	assert_int_equal(expert, 128 / (2 * 8 * 2));
	weft_schedule_free(&job.schedule);
	job_build("tp=2,cp=4,dp=8,model=llama3-8B", &job);
	assert_int_equal(group_size(&job.schedule, &gradients), 32);
	weft_schedule_free(&job.schedule);
}

/* As InternLM does: all replicas reduce, those of a shard group broadcast. */
static void whole_tensors_are_broadcast_one_by_one(void **state)
{
	const struct pick gradients = {DP, WEFT_STEP_END, "gradients"};
	const struct weft_call *call = NULL;
	uint32_t n = 0;
	struct job job;

	(void)state;
	job_build("dp=16,zero=1,shard=8,zero_by=tensors,model=llama3-8B", &job);
	for (uint32_t i = 0; i < job.schedule.n_calls; i++)
		if (job.schedule.calls[i].collective == WEFT_BROADCAST) {
			call = &job.schedule.calls[i];
			n++;
		}
	assert_int_equal(n, 1);
	assert_int_equal(call->n, 8);
	assert_close(call->count, 32 * (4 + 3 + 2) + 3, 0);
	assert_close(call->count * call->size_bytes,
		     2 * weft_model_parameters(&job.model), 1e-12);
	assert_int_equal(group_size(&job.schedule, &gradients), 16);
	assert_close(bytes_of(&job.schedule, &gradients, 0),
		     2 * 15 / 16.0 * 4 * weft_model_parameters(&job.model),
		     1e-12);
	weft_schedule_free(&job.schedule);
}

/* CV-40: what is sent once a step does not grow with the batch. */
static void accumulation_sends_gradients_once(void **state)
{
	static const char *const zeros[] = {"0", "1", "2", "3"};
	static const double grows[] = {1, 1, (8 * 4 + 2) / 6.0, 8};
	const struct pick all = {DP, -1, ""};

	(void)state;
	for (size_t z = 0; z < 4; z++) {
		struct job one, eight;
		char text[128];

		snprintf(text, sizeof(text),
			 "dp=8,gbs=8,model=llama3-8B,zero=%s", zeros[z]);
		job_build(text, &one);
		snprintf(text, sizeof(text),
			 "dp=8,gbs=64,model=llama3-8B,zero=%s", zeros[z]);
		job_build(text, &eight);
		assert_close(bytes_of(&eight.schedule, &all, 0),
			     grows[z] * bytes_of(&one.schedule, &all, 0),
			     1e-12);
		weft_schedule_free(&one.schedule);
		weft_schedule_free(&eight.schedule);
	}
}

/* Every call is sound: its group exists, its stages too, and the axes are in
 * order. */
static void check_calls(const struct job *job)
{
	const struct weft_schedule *s = &job->schedule;

	for (uint32_t i = 0; i < s->n_calls; i++) {
		const struct weft_call *call = &s->calls[i];
		const struct weft_grid *grid =
			call->expert_grid ? &s->expert : &s->dense;
		uint32_t ranks[4096];
		struct weft_error err = {0};
		uint32_t n = weft_grid_group(grid, call->group, 0, ranks, &err);

		assert_no_error(&err);
		assert_true(call->n == n ||
			    (call->n == 2 && !strcmp(call->group, "pp")));
		assert_true(call->n > 1);
		assert_true(call->first_stage + call->n_stages <= job->spec.pp);
		assert_true(call->count > 0 && isfinite(call->count));
		assert_true(call->size_bytes > 0 && isfinite(call->size_bytes));
		if (i > 0)
			assert_true(call->axis > call[-1].axis ||
				    (call->axis == call[-1].axis &&
				     call->phase >= call[-1].phase));
	}
}

static uint32_t below(uint64_t *seed, uint32_t n)
{
	return test_random_below(seed, n);
}

static void calls_of_random_jobs_are_sound(void **state)
{
	static const char *const orders[] = {"tp-cp-ep-dp-pp", "tp-ep-cp-dp-pp",
					     "pp/dp/cp/ep/tp",
					     "pp/ep/dp/tp/cp"};
	static const char *const models[] = {"deepseek-v3", "grok1-314B",
					     "gpt-18.4B", "llama3-70B"};
	static const char *const recompute[] = {"none", "selective", "full"};
	static const char *const cp_comm[] = {"p2p", "allgather", "a2a"};
	uint64_t seed = test_seed();
	uint32_t built = 0;

	(void)state;
	for (uint32_t i = 0; i < 2000; i++) {
		struct weft_error err = {0};
		struct job job;
		uint32_t pp = 1u << below(&seed, 3), zero = below(&seed, 4);
		bool tensors = zero == 1 && below(&seed, 2);
		char text[512];

		snprintf(text, sizeof(text),
			 "tp=%u,cp=%u,pp=%u,dp=%u,ep=%u,zero=%u,order=%s,"
			 "model=%s,recompute=%s,cp_comm=%s,sp=%s,scatter=%s%s,"
			 "vpp=%u,shard=%u%s",
			 1u << below(&seed, 3), 1u << below(&seed, 3), pp,
			 1u << below(&seed, 4), 1u << below(&seed, 4), zero,
			 orders[below(&seed, 4)], models[below(&seed, 4)],
			 recompute[below(&seed, 3)], cp_comm[below(&seed, 3)],
			 below(&seed, 4) ? "on" : "off",
			 below(&seed, 2) ? "on" : "off",
			 below(&seed, 2) ? ",route_nodes=2,capacity=1.5" : "",
			 pp > 1 ? 1 + below(&seed, 2) : 1,
			 1u << below(&seed, 5),
			 tensors ? ",zero_by=tensors" : "");
		if (weft_spec_parse(text, &job.spec, &err) ||
		    weft_spec_resolve(&job.spec, 0, &err))
			continue;
		weft_model_find(job.spec.model, &job.model, &err);
		if (weft_schedule_build(&job.spec, &job.model, &job.schedule,
					&err) == 0) {
			check_calls(&job);
			built++;
		} else {
			assert_int_equal(err.code, WEFT_EINVAL);
		}
		weft_schedule_free(&job.schedule);
	}
	assert_true(built > 300);
}

static void what_does_not_fit_the_model_is_refused(void **state)
{
	static const struct {
		const char *text, *says;
	} cases[] = {
		{"pp=64,vpp=2,model=llama3-8B",
		 "pp*vpp = 64*2 parts, but model llama3-8B has only 32"},
		{"dp=8,ep=8,model=llama3-8B", "llama3-8B has no experts"},
		{"dp=16,ep=16,model=grok1-314B",
		 "ep = 16 does not divide the 8 experts"},
		{"tp=8,cp=8,cp_comm=a2a,model=llama3-8B",
		 "tp*cp = 8*8 does not divide the 32 heads"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_error err = {0};
		struct job job;

		weft_spec_parse(cases[i].text, &job.spec, &err);
		weft_spec_resolve(&job.spec, 0, &err);
		weft_model_find(job.spec.model, &job.model, &err);
		assert_no_error(&err);
		assert_int_equal(weft_schedule_build(&job.spec, &job.model,
						     &job.schedule, &err),
				 -1);
		assert_error_says(&err, cases[i].says);
		weft_schedule_free(&job.schedule);
		weft_schedule_free(NULL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_volumes_come_out),
		cmocka_unit_test(routed_tokens_cross_the_network_once_per_node),
		cmocka_unit_test(gradients_are_reduced_over_their_own_ranks),
		cmocka_unit_test(whole_tensors_are_broadcast_one_by_one),
		cmocka_unit_test(accumulation_sends_gradients_once),
		cmocka_unit_test(calls_of_random_jobs_are_sound),
		cmocka_unit_test(what_does_not_fit_the_model_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
