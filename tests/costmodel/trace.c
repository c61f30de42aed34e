/* SPDX-License-Identifier: GPL-3.0-or-later */
/* trace.c - traces by hand and by others, whole and damaged */
#include "lab/trace/trace.h"

#include "tests/costmodel/trace_file.h"

#include <zlib.h>

static void load(const char *text, struct weft_trace *t)
{
	struct weft_error err = {0};

	trace_text_load(text, t, &err);
	assert_no_error(&err);
}

static void a_kineto_trace_gives_kernels_copies_and_collectives(void **state)
{
	struct weft_trace t;

	(void)state;
	load(KINETO(RANK(1),
		    KERNEL(7, 10,
			   5, ) ","
				"{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":"
				"\"Memcpy\","
				"\"ts\":20,\"dur\":1,\"args\":{\"stream\":7}}"
				"," NCCL("AllReduce", 12.5, 4,
					 CALL("allreduce", 1000,
					      "[0, 1]")) ",{\"ph\":\"M\","
							 "\"name\":\"process_"
							 "name\"}"),
	     &t);
	assert_string_equal(t.format, "kineto");
	assert_int_equal(t.rank, 1);
	assert_int_equal(t.world_size, 2);
	assert_int_equal(t.n_events, 3);
	assert_int_equal(t.events[0].work, WEFT_WORK_COMPUTE);
	assert_int_equal(t.events[0].start_ns, 10000);
	assert_int_equal(t.events[1].work, WEFT_WORK_COMM);
	assert_int_equal(t.events[1].start_ns, 12500);
	assert_int_equal(t.events[2].work, WEFT_WORK_COPY);
	assert_int_equal(t.n_collectives, 1);
	assert_int_equal(t.collectives[0].op, WEFT_OP_ALL_REDUCE);
	assert_close(t.collectives[0].size_bytes, 4000, 0);
	assert_int_equal(t.collectives[0].n_ranks, 2);
	assert_string_equal(t.collectives[0].how, "RING_LL");
	assert_close(weft_trace_collective_s(&t.collectives[0]), 4e-6, 1e-12);
	assert_int_equal(t.n_groups, 1);
	assert_int_equal(t.groups[0].ranks[1], 1);
	weft_trace_free(&t);
}

/* What older releases leave to be put together: the kernel knows its launch,
 * the launch lies inside the operator, the operator knows the size. */
static void
a_kernel_without_size_gets_it_from_the_operator_around_its_launch(void **state)
{
	struct weft_trace t;

	(void)state;
	load(KINETO("",
		    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":"
		    "\"record_param_comms\",\"tid\":5,\"ts\":1,\"dur\":20,"
		    "\"args\":{\"Input Dims\":[[],[]],\"External id\":9}},"
		    "{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":"
		    "\"nccl:all_reduce\",\"tid\":5,\"ts\":2,\"dur\":10,"
		    "\"args\":"
		    "{\"Input Dims\":[[3,5]],\"Input type\":[\"c10::BFloat16\"]"
		    "}},{\"ph\":\"X\",\"cat\":\"user_annotation\",\"name\":"
		    "\"nccl:broadcast\",\"tid\":6,\"ts\":2,\"dur\":10,\"args\":"
		    "{\"Input Dims\":[[8]],\"Input type\":[\"float\"]}},"
		    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":"
		    "\"cudaLaunchKernel\",\"tid\":5,\"ts\":4,\"dur\":1,"
		    "\"args\":{\"correlation\":77}}," NCCL(
			    "SendRecv", 6, 3,
			    ",\"correlation\":77,"
			    "\"External id\":77")),
	     &t);
	assert_int_equal(t.n_collectives, 1);
	assert_int_equal(t.collectives[0].op, WEFT_OP_ALL_REDUCE);
	assert_close(t.collectives[0].size_bytes, 30, 0);
	assert_int_equal(t.events[0].launch_ns, 4000);
	weft_trace_free(&t);
}

static void a_call_of_several_kernels_is_one_collective(void **state)
{
#define OPERATOR                                                               \
	"{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"record_param_comms\","    \
	"\"tid\":5,\"ts\":1,\"dur\":20,\"args\":{\"External id\":9" CALL(      \
		"all_to_all", 100, "[0, 1]") "}},"
	struct weft_trace t;

	(void)state;
	load(KINETO("",
		    OPERATOR NCCL("SendRecv", 6, 3,
				  ",\"External id\":9") "," NCCL("SendRecv", 10,
								 2,
								 ",\"External "
								 "id\":9")),
	     &t);
	assert_int_equal(t.n_events, 2);
	assert_int_equal(t.n_collectives, 1);
	assert_close(t.collectives[0].size_bytes, 400, 0);
	assert_close(weft_trace_collective_s(&t.collectives[0]), 6e-6, 1e-9);
	weft_trace_free(&t);
}

static void
long_rank_lists_cut_short_are_rebuilt_from_first_and_step(void **state)
{
	struct weft_trace t;

	(void)state;
	load(KINETO("", NCCL("AllGather", 6, 3,
			     ",\"Collective name\":\"_allgather_base\","
			     "\"dtype\":\"Half\",\"In msg nelems\":8,"
			     "\"Out msg nelems\":32,\"Group size\":4,"
			     "\"Process Group Name\":\"dp\","
			     "\"Process Group Ranks\":\"[1, 3, ...]\","
			     "\"Global rank start\":1,"
			     "\"Global rank stride\":2,\"Seq\":12")),
	     &t);
	assert_close(t.collectives[0].size_bytes, 64, 0);
	assert_int_equal(t.collectives[0].sequence, 12);
	assert_int_equal(t.groups[0].n_ranks, 4);
	assert_int_equal(t.groups[0].ranks[3], 7);
	weft_trace_free(&t);
}

static void times_are_whole_nanoseconds_with_the_base_added(void **state)
{
	struct weft_trace t;

	(void)state;
	load(KINETO("\"baseTimeNanoseconds\":1700000000000000000,",
		    KERNEL(7, 4458677009853.422, 0.25, )),
	     &t);
	assert_true(t.events[0].start_ns ==
		    INT64_C(1700000000000000000) + INT64_C(4458677009853422));
	assert_true(t.events[0].end_ns - t.events[0].start_ns == 250);
	weft_trace_free(&t);
}

static void numbers_that_are_none_are_taken_as_zero(void **state)
{
	struct weft_trace t;

	(void)state;
	load(KINETO("", KERNEL(7, 1, 2,
			       ",\"occupancy\":-Infinity,\"x\":NaN,"
			       "\"say\":\"NaN and inf\"")),
	     &t);
	assert_int_equal(t.n_events, 1);
	weft_trace_free(&t);
}

static void records_without_a_duration_are_counted_and_left_out(void **state)
{
	struct weft_trace t;

	(void)state;
	load(KINETO("",
		    KERNEL(7, 1, 2, ) "," KERNEL(
			    7, 5,
			    -1, ) ","
				  "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":"
				  "\"record_param_comms\",\"ts\":7}"),
	     &t);
	assert_int_equal(t.n_events, 1);
	assert_int_equal(t.n_skipped, 2);
	weft_trace_free(&t);
}

static void the_files_name_tells_a_rank_that_is_not_recorded(void **state)
{
	static const struct {
		const char *name;
		uint32_t rank;
	} cases[] = {
		{"rank-12.json", 12},
		{"x_rank3.pt.trace.json", 3},
		{"RANK_7", 7},
		{"ranks.json", WEFT_TRACE_NONE},
		{"trace.json", WEFT_TRACE_NONE},
		{"rank99999999.json", WEFT_TRACE_NONE},
	};
	char folder[] = "/tmp/weft-trace-XXXXXX";

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *path =
			trace_file_write(KINETO("", KERNEL(7, 1, 2, )),
					 strlen(KINETO("", KERNEL(7, 1, 2, ))));
		struct weft_error err = {0};
		struct weft_trace t;
		char named[128];

		snprintf(named, sizeof(named), "%s/%s", folder, cases[i].name);
		assert_int_equal(rename(path, named), 0);
		weft_trace_load(named, NULL, &t, &err);
		assert_no_error(&err);
		assert_int_equal(t.rank, cases[i].rank);
		weft_trace_free(&t);
		unlink(named);
		free(path);
	}
	rmdir(folder);
}

static void an_execution_trace_gives_groups_sizes_and_splits(void **state)
{
	struct weft_trace t;

	(void)state;
	load("{\"schema\":\"1.0.1\",\"nodes\":["
	     "{\"name\":\"aten::add\",\"id\":1,\"inputs\":[\"x\"]},"
	     "{\"name\":\"record_param_comms\",\"id\":2,\"inputs\":"
	     "[141,0,0,\"wait\",[],[]]},"
	     "{\"name\":\"record_param_comms\",\"id\":3,\"inputs\":"
	     "[[7,8,0,30,4,\"cuda:0\"],147,94594108284448,2,\"all_to_allv\","
	     "[1,2],[3,0]],\"outputs\":[[9,8,0,10,4,\"cuda:0\"]]}]}",
	     &t);
	assert_string_equal(t.format, "execution trace");
	assert_int_equal(t.rank, 2);
	assert_int_equal(t.n_collectives, 1);
	assert_int_equal(t.collectives[0].op, WEFT_OP_ALL_TO_ALL);
	assert_close(t.collectives[0].size_bytes, 120, 0);
	assert_int_equal(t.collectives[0].element_bytes, 4);
	assert_int_equal(t.collectives[0].n_ranks, 2);
	assert_int_equal(t.collectives[0].sequence, 147);
	assert_close(t.splits[t.collectives[0].first_split + 1], 2, 0);
	assert_string_equal(t.groups[0].name, "#1");
	weft_trace_free(&t);
}

static void a_newer_execution_trace_gives_the_same(void **state)
{
	struct weft_trace t;

	(void)state;
	load("{\"schema\":\"1.1.0-chakra.0.0.4\",\"nodes\":["
	     "{\"name\":\"## process_group:init ##\",\"inputs\":{\"values\":"
	     "[\"[{\\\"pg_name\\\":\\\"0\\\",\\\"ranks\\\":[],"
	     "\\\"group_size\\\":2}]\"]}},"
	     "{\"name\":\"record_param_comms\",\"inputs\":{\"values\":"
	     "[[[434,435,0,53,8,\"cuda:1\"]],33,[\"0\",\"default_pg\"],1,"
	     "\"allreduce\",[],[],0,1,2]},\"attrs\":["
	     "{\"name\":\"dtype\",\"value\":\"Long\"},"
	     "{\"name\":\"pg_name\",\"value\":\"0\"},"
	     "{\"name\":\"pg_size\",\"value\":2}]}]}",
	     &t);
	assert_int_equal(t.rank, 1);
	assert_int_equal(t.collectives[0].op, WEFT_OP_ALL_REDUCE);
	assert_close(t.collectives[0].size_bytes, 424, 0);
	assert_int_equal(t.groups[0].n_ranks, 2);
	assert_int_equal(t.groups[0].ranks[1], 1);
	weft_trace_free(&t);
}

/* A description ("0.0.4"), a collective of 1 MB, its operator on the CPU (which
 * has no size), a send of 300 bytes to rank 2. */
static const char chakra[] = "\x07\x0a\x05"
			     "0.0.4"
			     "\x28\x08\x01\x12\x02"
			     "ar"
			     "\x18\x07\x52\x0d\x0a\x09"
			     "comm_type"
			     "\x48\x06\x52\x0f\x0a\x09"
			     "comm_size"
			     "\x48\x80\x80\x40"
			     "\x04\x12\x00\x18\x07"
			     "\x23\x12\x01"
			     "s"
			     "\x18\x05\x52\x0e\x0a\x09"
			     "comm_size"
			     "\x48\xac\x02\x52\x0c\x0a\x08"
			     "comm_dst"
			     "\x48\x02";

static void a_chakra_graph_gives_collectives_and_sends(void **state)
{
	char *path = trace_file_write(chakra, sizeof(chakra) - 1);
	char *named = calloc(strlen(path) + 16, 1);
	struct weft_error err = {0};
	struct weft_trace t[2];

	(void)state;
	assert_non_null(named);
	sprintf(named, "%s.7.et", path);
	assert_int_equal(rename(path, named), 0);
	for (int i = 0; i < 2; i++) {
		weft_trace_load(named, NULL, &t[i], &err);
		assert_no_error(&err);
	}
	assert_string_equal(t[0].format, "chakra");
	assert_int_equal(t[0].rank, 7);
	assert_int_equal(t[0].n_collectives, 2);
	assert_int_equal(t[0].collectives[0].op, WEFT_OP_ALL_TO_ALL);
	assert_close(t[0].collectives[0].size_bytes, 1 << 20, 0);
	assert_int_equal(t[0].collectives[1].op, WEFT_OP_SEND);
	assert_int_equal(t[0].collectives[1].peer, 2);
	assert_close(t[0].collectives[1].size_bytes, 300, 0);
	/* No group is the group of all, once it is known how many. */
	t[1].rank = 0;
	weft_trace_set_join(t, 2, &err);
	assert_no_error(&err);
	assert_int_equal(t[1].collectives[0].n_ranks, 8);
	assert_int_equal(t[1].groups[0].ranks[7], 7);
	for (int i = 0; i < 2; i++)
		weft_trace_free(&t[i]);
	unlink(named);
	free(named);
	free(path);
}

/* ---- damage ---- */
static void a_chakra_graph_cut_anywhere_is_refused_or_shorter(void **state)
{
	(void)state;
	for (size_t size = 3; size < sizeof(chakra) - 1; size++) {
		char *path = trace_file_write(chakra, size);
		struct weft_error err = {0};
		struct weft_trace t;

		if (weft_trace_load(path, NULL, &t, &err))
			assert_int_equal(err.code, WEFT_EINVAL);
		else
			assert_int_equal(t.n_collectives, 1);
		weft_trace_free(&t);
		unlink(path);
		free(path);
	}
}

static void what_is_wrong_is_said_with_its_place(void **state)
{
	static const struct {
		const char *text, *says;
		int line;
	} cases[] = {
		{"", "is empty", 1},
		{"plainly not", "expected JSON", 1},
		{"\x10\x0a", "cut short at byte 0", 0},
		{"{}", "expected a member \"traceEvents\"", 0},
		{"{\"traceEvents\":[]}", "no GPU kernel", 0},
		{"{\"traceEvents\":[],\"nodes\":[]}", "both", 0},
		{"{\"traceEvents\":{}}", "found \"{\", expected \"[\"", 1},
		{"{\n\"traceEvents\":[\n{\"ph\":\"X\",", "ends inside", 3},
		{"{\n\"traceEvents\":[\n{\"cat\":\"kernel\",}\n]}",
		 "not valid JSON", 3},
		{"{\n\"traceEvents\":[\n{\"a\":1} {\"a\":1}]}",
		 "found \"{\", expected \",\"", 3},
		{"{\"traceEvents\":[" KERNEL(7, 1, 2, ) "]} x", "behind", 1},
		{"{\"traceEvents\":[" KERNEL(7, 1, -2, ) "]}",
		 "1 records without time", 0},
		{"{\"traceEvents\":[" KERNEL(7, 1e300, 2, ) "]}",
		 "1 records without time", 0},
		{"{\"traceEvents\" [", "expected \":\"", 1},
		{"{7:[]}", "key in quotes", 1},
		{"{\"nodes\":[],\"x\":,}", "expected a value", 1},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct weft_error err = {0};
		struct weft_trace t;

		assert_int_equal(trace_text_load(cases[i].text, &t, &err), -1);
		assert_error_says(&err, cases[i].says);
		assert_int_equal(err.code, WEFT_EINVAL);
		assert_int_equal(err.line, cases[i].line);
		weft_trace_free(&t);
	}
}

static void a_missing_file_and_a_folder_are_told_apart(void **state)
{
	struct weft_error err = {0}, other = {0};
	struct weft_trace t;

	(void)state;
	assert_int_equal(weft_trace_load("/nonexistent.json", NULL, &t, &err),
			 -1);
	assert_int_equal(err.code, WEFT_EIO);
	assert_error_says(&err, "No such file");
	assert_int_equal(weft_trace_load("/", NULL, &t, &other), -1);
	assert_error_says(&other, "folder");
}

/* gzip'ed text in a new buffer. */
static unsigned char *packed(const char *text, size_t *size)
{
	z_stream z = {0};
	unsigned char *out = malloc(4096 + strlen(text));

	assert_non_null(out);
	assert_int_equal(
		deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY),
		Z_OK);
	z.next_in = (unsigned char *)(uintptr_t)text;
	z.avail_in = (unsigned)strlen(text);
	z.next_out = out;
	z.avail_out = 4096;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	*size = z.total_out;
	deflateEnd(&z);
	return out;
}

static void gzipped_traces_are_read_and_damaged_ones_refused(void **state)
{
	const char *text = KINETO(RANK(0), KERNEL(7, 1, 2, ));
	size_t size, whole;
	unsigned char *data = packed(text, &whole);

	(void)state;
	for (size = whole; size > 12; size -= 7) {
		struct weft_error err = {0};
		struct weft_trace t;
		char *path = trace_file_write(data, size);
		int code = weft_trace_load(path, NULL, &t, &err);

		assert_int_equal(code, size == whole ? 0 : -1);
		if (code)
			assert_int_equal(err.code, WEFT_EINVAL);
		weft_trace_free(&t);
		unlink(path);
		free(path);
	}
	free(data);
}

static void ranks_not_recorded_follow_the_files(void **state)
{
	struct weft_error err = {0};
	struct weft_trace t[3];

	(void)state;
	load(KINETO("", KERNEL(7, 1, 2, )), &t[0]);
	load(KINETO(RANK(0), KERNEL(7, 1, 2, )), &t[1]);
	load(KINETO("", KERNEL(8, 1, 2, )), &t[2]);
	weft_trace_set_join(t, 3, &err);
	assert_no_error(&err);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(t[i].rank, i);
		assert_int_equal(t[i].world_size, 3);
	}
	t[2].rank = 1;
	assert_int_equal(weft_trace_set_join(t, 3, &err), -1);
	assert_error_says(&err, "is of rank 1, as is");
	for (uint32_t i = 0; i < 3; i++)
		weft_trace_free(&t[i]);
}

/* ---- real ones ---- */
static bool load_shared(const char *name, struct weft_trace *t)
{
	struct weft_error err = {0};
	const char *path = test_shared(name);

	if (!path) {
		print_message("skipped: ../shared/%s is not here\n", name);
		return false;
	}
	weft_trace_load(path, NULL, t, &err);
	assert_no_error(&err);
	return true;
}

static void the_trace_with_nccl_metadata_is_read_whole(void **state)
{
	struct weft_trace t;
	uint32_t n_broadcasts = 0;

	(void)state;
	if (!load_shared("data/real/comm/hta-nccl-meta-2ranks.json.gz", &t))
		skip();
	assert_int_equal(t.n_events, 3774);
	assert_int_equal(t.n_collectives, 21);
	assert_int_equal(t.n_steps, 3);
	assert_int_equal(t.world_size, 2);
	for (uint32_t i = 0; i < t.n_events; i++)
		assert_true(t.events[i].launch_ns != WEFT_TRACE_NO_TIME);
	for (uint32_t i = 0; i < t.n_collectives; i++)
		n_broadcasts += t.collectives[i].op == WEFT_OP_BROADCAST;
	assert_int_equal(n_broadcasts, 6);
	assert_close(t.collectives[0].size_bytes, 53120 * 4, 0);
	weft_trace_free(&t);
}

static void a_trace_without_metadata_gets_it_from_its_operators(void **state)
{
	struct weft_trace t;
	uint32_t count[WEFT_N_OPS] = {0};

	(void)state;
	if (!load_shared("data/real/comm/hta-rank0-of-128.json.gz", &t))
		skip();
	for (uint32_t i = 0; i < t.n_collectives; i++) {
		count[t.collectives[i].op]++;
		assert_true(t.collectives[i].size_bytes > 0);
	}
	assert_int_equal(count[WEFT_OP_ALL_REDUCE], 4);
	assert_int_equal(count[WEFT_OP_ALL_TO_ALL], 4);
	assert_int_equal(count[WEFT_OP_ALL_GATHER], 2);
	weft_trace_free(&t);
}

static void execution_traces_of_others_are_read(void **state)
{
	struct weft_trace t;

	(void)state;
	if (!load_shared("data/real/comm/dlrm-8rank-et/dlrm_eg_3.json.gz", &t))
		skip();
	assert_int_equal(t.rank, 3);
	assert_int_equal(t.n_collectives, 8);
	assert_int_equal(t.groups[0].n_ranks, 8);
	weft_trace_free(&t);
	if (!load_shared("data/real/comm/resnet-2gpu-et.json.gz", &t))
		skip();
	assert_int_equal(t.n_collectives, 21);
	assert_int_equal(t.groups[0].ranks[1], 1);
	weft_trace_free(&t);
	if (!load_shared("data/real/comm/chakra-feeder/chakra.0.et.gz", &t))
		skip();
	assert_string_equal(t.format, "chakra");
	assert_int_equal(t.rank, 0);
	assert_int_equal(t.n_collectives, 7);
	assert_int_equal(t.collectives[0].op, WEFT_OP_BROADCAST);
	assert_close(t.collectives[0].size_bytes, 53120 * 4, 0);
	weft_trace_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			a_kineto_trace_gives_kernels_copies_and_collectives),
		cmocka_unit_test(
			a_kernel_without_size_gets_it_from_the_operator_around_its_launch),
		cmocka_unit_test(a_call_of_several_kernels_is_one_collective),
		cmocka_unit_test(
			long_rank_lists_cut_short_are_rebuilt_from_first_and_step),
		cmocka_unit_test(
			times_are_whole_nanoseconds_with_the_base_added),
		cmocka_unit_test(numbers_that_are_none_are_taken_as_zero),
		cmocka_unit_test(
			records_without_a_duration_are_counted_and_left_out),
		cmocka_unit_test(
			the_files_name_tells_a_rank_that_is_not_recorded),
		cmocka_unit_test(
			an_execution_trace_gives_groups_sizes_and_splits),
		cmocka_unit_test(a_newer_execution_trace_gives_the_same),
		cmocka_unit_test(a_chakra_graph_gives_collectives_and_sends),
		cmocka_unit_test(
			a_chakra_graph_cut_anywhere_is_refused_or_shorter),
		cmocka_unit_test(what_is_wrong_is_said_with_its_place),
		cmocka_unit_test(a_missing_file_and_a_folder_are_told_apart),
		cmocka_unit_test(
			gzipped_traces_are_read_and_damaged_ones_refused),
		cmocka_unit_test(ranks_not_recorded_follow_the_files),
		cmocka_unit_test(the_trace_with_nccl_metadata_is_read_whole),
		cmocka_unit_test(
			a_trace_without_metadata_gets_it_from_its_operators),
		cmocka_unit_test(execution_traces_of_others_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
