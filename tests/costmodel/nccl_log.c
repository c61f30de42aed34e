/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "costmodel/measured/nccl_log.h"
#include "tests/lib/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER                                                                 \
	"#       size         count      type   redop    root     time   "     \
	"algbw   busbw #wrong     time   algbw   busbw #wrong\n"               \
	"#        (B)    (elements)                               (us)  "      \
	"(GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)\n"

static struct weft_nccl_log parse_as(const char *source, const char *text)
{
	struct weft_error err = {0};
	struct weft_nccl_log log;

	weft_nccl_log_parse(text, strlen(text), source, &log, &err);
	assert_no_error(&err);
	return log;
}

static struct weft_nccl_log parse(const char *text)
{
	return parse_as("log", text);
}

static void newest_columns_are_read(void **state)
{
	struct weft_nccl_log log = parse(
		"# nccl-tests version 2.17.9 nccl-library=22903\n"
		"# Collective test starting: all_reduce_perf\n"
		"# Using devices\n"
		"#  Rank  0 Group  0 Pid 10 on a device  0 [0000:0f:00] G\n"
		"#  Rank  1 Group  0 Pid 11 on a device  1 [0000:1f:00] G\n"
		"#  Rank  2 Group  0 Pid 12 on b device  0 [0000:0f:00] G\n"
		"#  Rank  3 Group  0 Pid 13 on b device  1 [0000:1f:00] G\n"
		"#\n" HEADER
		"  1048576  262144  float  sum  -1  50.5  20.76  31.1  0"
		"  48.25  21.7  32.6  0\n"
		"  2097152  524288  float  sum  -1  1e+03  2.1  3.1  N/A"
		"  990.0  2.1  3.2  N/A\n"
		"# Out of bounds values : 0 OK\n"
		"# Avg bus bandwidth    : 12.5\n"
		"# Collective test concluded: all_reduce_perf\n");

	(void)state;
	assert_int_equal(log.n_runs, 1);
	assert_int_equal(log.n_rows, 2);
	assert_int_equal(log.n_flaws, 0);
	assert_int_equal(log.runs[0].collective, WEFT_ALL_REDUCE);
	assert_int_equal(log.runs[0].n_ranks, 4);
	assert_int_equal(log.runs[0].n_nodes, 2);
	assert_true(log.runs[0].complete);
	assert_false(log.runs[0].failed);
	assert_int_equal(log.rows[0].size_bytes, 1048576);
	assert_close(log.rows[0].time_s, 50.5e-6, 1e-12);
	assert_close(log.rows[0].time_in_place_s, 48.25e-6, 1e-12);
	assert_close(log.rows[0].busbw_bytes_per_s, 31.1e9, 1e-12);
	assert_int_equal(log.rows[0].line, 11);
	assert_close(log.rows[1].time_s, 1e-3, 1e-12);
	weft_nccl_log_free(&log);
}

static void old_columns_are_read(void **state)
{
	struct weft_nccl_log log = parse_as(
		"logs/nccl-AllGather.txt",
		"#   Rank  0 Pid 22 on    node7 device  0 [0x4f] V100\n"
		"#   Rank  1 Pid 22 on    node7 device  1 [0x50] V100\n"
		"#       size         count    type     time   algbw   busbw  "
		"error     time   algbw   busbw  error\n"
		"        1024           128   float    34.27    0.03    0.02  "
		"2e-07    33.57    0.03    0.02    N/A\n"
		"        2048           256   float    35.00    0.06    0.05  "
		"1e+00    33.57    0.03    0.02    N/A\n"
		" Out of bounds values : 2 FAILED\n");

	(void)state;
	assert_int_equal(log.n_rows, 1);
	assert_int_equal(log.runs[0].collective, WEFT_ALL_GATHER);
	assert_string_equal(log.runs[0].collective_from, "name of the file");
	assert_int_equal(log.runs[0].n_ranks, 2);
	assert_int_equal(log.runs[0].n_nodes, 1);
	assert_int_equal(log.runs[0].n_wrong, 1);
	assert_true(log.runs[0].failed);
	assert_close(log.rows[0].time_in_place_s, 33.57e-6, 1e-12);
	assert_int_equal(log.n_flaws, 1);
	assert_int_equal(log.flaws[0].line, 5);
	assert_string_equal(log.flaws[0].why, "its results were wrong");
	weft_nccl_log_free(&log);
}

static void a_blank_redop_shifts_nothing(void **state)
{
	struct weft_nccl_log log = parse_as(
		"alltoall.log",
		"#  size  count  type  redop  time  algbw  busbw  error  time "
		" algbw  busbw  error\n"
		"  4096  128  float         86.75  0.05  0.04  N/A  86.68  0.05"
		"  0.04  N/A\n");

	(void)state;
	assert_int_equal(log.n_rows, 1);
	assert_int_equal(log.runs[0].collective, WEFT_ALL_TO_ALL);
	assert_close(log.rows[0].time_s, 86.75e-6, 1e-12);
	assert_close(log.rows[0].time_in_place_s, 86.68e-6, 1e-12);
	weft_nccl_log_free(&log);
}

/* Row formats met in the wild, all with 12.5 us out of place. */
static const struct {
	const char *desc, *header, *row;
	double in_place_us;
} rows[] = {
	{"srun -l", NULL,
	 " 0:  64  16  float  sum  -1  12.5  0.1  0.1  0  13"
	 "  0.1  0.1  0\n",
	 13},
	{"mpirun --tag-output", NULL,
	 "[1,0]<stdout>:64  16  float  sum  -1  12.5  0.1  0.1  0  13  0.1  "
	 "0.1  0\n",
	 13},
	{"a pod's name", NULL,
	 "worker-0 | 64 16 half sum -1 12.5 0.1 0.1 0 13 0.1 0.1 0\n", 13},
	{"out of place only", NULL,
	 "  64  16  float  sum  -1  12.5  0.1  0.1  N/A\n", 0},
	{"carriage returns", NULL,
	 "  64  16  float  sum  -1  12.5  0.1  0.1  0  13  0.1  0.1  0\r\n",
	 13},
	{"a time stamp behind", NULL,
	 "  64  16  float  sum  -1  12.5  0.1  0.1  0  13  0.1  0.1  0  "
	 "2026-01-01 00:00:00\n",
	 13},
	{"a message behind", NULL,
	 "  64  16  float  sum  -1  12.5  0.1  0.1  0 n1:7:7 [3] NCCL INFO 5 "
	 "x\n",
	 0},
	{"a message in the middle", NULL,
	 "  64  16  float  sum  -1n1:7:7 [3] NCCL INFO Launch mode 3\n"
	 "n1:8:8 [4] NCCL INFO comm 0x1 rank 3\n"
	 "  64  16  float  sum  -1\n",
	 -1},
	{"per-iteration columns",
	 "# size count type redop root time algbw busbw #wrong i_min i_max "
	 "i_p99 i_cv% time algbw busbw #wrong i_min i_max i_p99 i_cv%\n",
	 "  64  16  float  sum  -1  12.5  0.1  0.1  0  9 20 19 3.5  13  0.1  "
	 "0.1  0  9 20 19 3.5\n",
	 13},
	{"a message between the words", NULL,
	 "  64  16  float  sum  -1  n1:7:7 [3] NCCL INFO Launch mode 3\n"
	 "n1:8:8 [4] NCCL INFO comm 0x1 rank 3\n"
	 "  12.5  0.1  0.1  0  13  0.1  0.1  0\n",
	 13},
};

static void rows_are_found_in_any_company(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct weft_nccl_log log;
		char text[2048];

		snprintf(text, sizeof(text), "%s%s",
			 rows[i].header ? rows[i].header : HEADER, rows[i].row);
		log = parse(text);
		print_message("%s\n", rows[i].desc);
		assert_int_equal(log.n_runs, 1);
		assert_int_equal(log.n_rows, rows[i].in_place_us >= 0);
		assert_int_equal(log.n_flaws > 0, rows[i].in_place_us < 0);
		if (log.n_rows) {
			assert_int_equal(log.rows[0].size_bytes, 64);
			assert_close(log.rows[0].time_s, 12.5e-6, 1e-12);
			assert_close(log.rows[0].time_in_place_s,
				     rows[i].in_place_us * 1e-6, 1e-12);
		}
		weft_nccl_log_free(&log);
	}
}

static const struct {
	const char *why, *row;
} flaws[] = {
	{"its size is zero",
	 "  0  0  float  sum  -1  12.5  0.1  0.1  0  13  0.1  0.1  0\n"},
	{"it has no time",
	 "  64  16  float  sum  -1  N/A  N/A  N/A  0  N/A  0.1  0.1  0\n"},
	{"it is cut off", "  64  16  float  sum  -1  12.\n"},
	{"it is cut off", "  64  16  float  sum  -1  12.5  0.1  0.\n"},
	{"it is cut off", "  64  16  float  sum  -1  n1:1 NCCL INFO bye\n"},
	{"another message stands in it",
	 "  64  16  float  sum  -1  12.n1:1:1 [0] NCCL INFO bye\n"},
	{"its results were wrong",
	 "  64  16  float  sum  -1  12.5  0.1  0.1  0  13  0.1  0.1  7\n"},
};

static void unusable_rows_are_named_by_line(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(flaws) / sizeof(flaws[0]); i++) {
		struct weft_nccl_log log;
		char text[2048];

		snprintf(text, sizeof(text), HEADER "%s", flaws[i].row);
		log = parse(text);
		assert_int_equal(log.n_rows, 0);
		assert_int_equal(log.n_flaws, 1);
		assert_string_equal(log.flaws[0].why, flaws[i].why);
		assert_int_equal(log.flaws[0].line, 3);
		weft_nccl_log_free(&log);
	}
}

static void a_row_without_column_names_is_a_flaw(void **state)
{
	struct weft_nccl_log log =
		parse("  64  16  float  sum  -1  12.5  0.1  0.1  0\n");

	(void)state;
	assert_int_equal(log.n_runs, 0);
	assert_int_equal(log.n_flaws, 1);
	weft_nccl_log_free(&log);
}

static void runs_of_one_file_stay_apart(void **state)
{
	struct weft_nccl_log log = parse(
		"+ srun build/all_gather_perf -b 8\n" HEADER
		"  64  16  float  none  -1  12.5  0.1  0.1  0\n"
		"# Out of bounds values : 0 OK\n"
		"+ srun build/reduce_scatter_perf -b 8\n" HEADER
		"  64  16  float  sum  -1  14.5  0.1  0.1  0\n"
		"  128  32  float  sum  -1  15.5  0.1  0.1  0\n"
		"+ srun build/alltoallv_perf -b 8\n" HEADER
		"  128  32  float  sum  -1  15.5  0.1  0.1  0\n"
		"slurmstepd: error: *** JOB 7 CANCELLED DUE TO TIME LIMIT\n");

	(void)state;
	assert_int_equal(log.n_runs, 3);
	assert_int_equal(log.runs[0].collective, WEFT_ALL_GATHER);
	assert_int_equal(log.runs[1].collective, WEFT_REDUCE_SCATTER);
	assert_int_equal(log.runs[2].collective, WEFT_N_COLLECTIVES);
	assert_string_equal(log.runs[2].program, "alltoallv_perf");
	assert_true(log.runs[0].complete);
	assert_false(log.runs[1].complete);
	assert_int_equal(log.runs[1].first_row, 1);
	assert_int_equal(log.runs[1].n_rows, 2);
	assert_int_equal(log.runs[1].n_ranks, 0);
	weft_nccl_log_free(&log);
}

static void bandwidths_tell_the_ranks(void **state)
{
	/* 16 ranks: 2 * 15/16 = 1.875 */
	struct weft_nccl_log log = parse(
		HEADER "1073741824 1 float sum -1 10887.4 98.62 184.92 0\n"
		       "2147483648 1 float sum -1 21511.7 99.83 187.18 0\n"
		       "4294967296 1 float sum -1 42747.7 100.47 188.39 0\n");

	(void)state;
	assert_int_equal(log.runs[0].collective, WEFT_ALL_REDUCE);
	assert_int_equal(log.runs[0].n_ranks, 16);
	assert_int_equal(log.runs[0].n_nodes, 0);
	weft_nccl_log_free(&log);
}

static void a_cut_rank_list_still_tells_the_nodes(void **state)
{
	struct weft_nccl_log log =
		parse("#  Rank  0 Group  0 Pid 1 on a device  0 [0f] G\n"
		      "#  Rank 31 Group  0 Pid 1 on d device  7 [da] G\n" HEADER
		      "  64  16  float  sum  -1  12.5  0.1  0.1  0\n");

	(void)state;
	assert_int_equal(log.runs[0].n_ranks, 32);
	assert_int_equal(log.runs[0].n_nodes, 4);
	weft_nccl_log_free(&log);
}

#define JSON                                                                   \
	"{\"version\":2,\"args\":[\"\\/opt\\/all_reduce_perf\",\"-b\"],"       \
	"\"env\":[\"A=\\\"{[\"],\"nccl_version\":22903,"                       \
	"\"config\":{\"nthreads\":1},"                                         \
	"\"ranks\":[{\"rank\":0,\"hostname\":\"a\",\"device\":0},"             \
	"{\"rank\":1,\"hostname\":\"b\",\"device\":0}],\n"                     \
	"\"results\":[{\"size\":1024,\"count\":256,\"type\":\"float\","        \
	"\"out_of_place\":{\"time\":12.5,\"alg_bw\":0.1,\"bus_bw\":20.5,"      \
	"\"nwrong\":0.0},\"out_of_place_per_iter\":{\"times_us\":[1.5,2.5]},"  \
	"\"in_place\":{\"time\":13.0,\"bus_bw\":0.1,\"nwrong\":null}},\n"      \
	"{\"size\":2048,\"out_of_place\":{\"time\":14.0,\"bus_bw\":0.1,"       \
	"\"nwrong\":3.0}},\n"                                                  \
	"{\"size\":4096,\"out_of_place\":null,"                                \
	"\"in_place\":{\"time\":15.0,\"bus_bw\":0.1,\"nwrong\":0.0}}],"        \
	"\"average_bus_bandwidth\":{\"bandwidth\":1.5}}\n"

static void json_is_read(void **state)
{
	struct weft_nccl_log log = parse(JSON);

	(void)state;
	assert_int_equal(log.n_runs, 1);
	assert_int_equal(log.n_rows, 2);
	assert_int_equal(log.runs[0].collective, WEFT_ALL_REDUCE);
	assert_int_equal(log.runs[0].n_ranks, 2);
	assert_int_equal(log.runs[0].n_nodes, 2);
	assert_int_equal(log.runs[0].n_wrong, 1);
	assert_true(log.runs[0].complete);
	assert_close(log.rows[0].time_s, 12.5e-6, 1e-12);
	assert_close(log.rows[0].time_in_place_s, 13e-6, 1e-12);
	assert_close(log.rows[0].busbw_bytes_per_s, 20.5e9, 1e-12);
	assert_close(log.rows[1].time_in_place_s, 15e-6, 1e-12);
	assert_true(log.rows[1].time_s == 0);
	assert_int_equal(log.n_flaws, 1);
	assert_int_equal(log.flaws[0].line, 3);
	weft_nccl_log_free(&log);
}

static void json_cut_anywhere_keeps_whole_results(void **state)
{
	static const char text[] = JSON;

	(void)state;
	for (size_t size = 0; size + 2 < sizeof(text); size++) {
		struct weft_error err = {0};
		struct weft_nccl_log log;

		weft_nccl_log_parse(text, size, "log.json", &log, &err);
		assert_no_error(&err);
		assert_true(log.n_rows <= 2);
		/* Every cut but the one before the first byte is told. */
		assert_true(size == 0 || log.n_flaws >= 1);
		for (uint32_t i = 0; i < log.n_rows; i++)
			assert_int_equal(log.rows[i].size_bytes,
					 i ? 4096 : 1024);
		weft_nccl_log_free(&log);
	}
}

static void tables_are_read_by_their_names(void **state)
{
	struct weft_nccl_log log =
		parse("system,nodes,ranks,collective,bytes,time_us,note\n"
		      "\"x, y\",1,8,all_reduce,1024,12.5,\n"
		      "\"x, y\",1,8,all_reduce,2048,13.5,\n"
		      "z,2,16,AllGather,2048,,no time\n"
		      "z,2,16,AllGather,4096,14.5,\n"
		      "z,2,16\n");

	(void)state;
	assert_int_equal(log.n_runs, 2);
	assert_int_equal(log.n_rows, 3);
	assert_int_equal(log.n_flaws, 2);
	assert_int_equal(log.flaws[0].line, 4);
	assert_string_equal(log.runs[0].label, "x, y");
	assert_int_equal(log.runs[0].n_ranks, 8);
	assert_int_equal(log.runs[1].collective, WEFT_ALL_GATHER);
	assert_int_equal(log.runs[1].n_nodes, 2);
	assert_close(log.rows[2].time_s, 14.5e-6, 1e-12);
	weft_nccl_log_free(&log);
}

static void text_without_results_is_empty(void **state)
{
	struct weft_nccl_log log = parse("nothing, 12 13 here\n\n");

	(void)state;
	assert_int_equal(log.n_runs + log.n_rows + log.n_flaws, 0);
	weft_nccl_log_free(&log);
}

static void names_of_collectives_are_known(void **state)
{
	(void)state;
	assert_int_equal(weft_nccl_collective("AllReduce"), WEFT_ALL_REDUCE);
	assert_int_equal(weft_nccl_collective("all-to-all"), WEFT_ALL_TO_ALL);
	assert_int_equal(weft_nccl_collective("reduce_perf"), WEFT_REDUCE);
	assert_int_equal(weft_nccl_collective("gather"), WEFT_N_COLLECTIVES);
	for (int i = 0; i < WEFT_N_COLLECTIVES; i++)
		assert_int_equal(weft_nccl_collective(weft_collective_names[i]),
				 i);
}

/* Real logs: what each must yield, from reading them by eye. */
static const struct {
	const char *path;
	uint32_t runs, rows, ranks, nodes; /* of the first run */
	enum weft_collective collective;
} real[] = {
	{"aks-ndv4-sharp-16gpu.txt", 1, 16, 16, 0, WEFT_ALL_REDUCE},
	{"aws-p4d-16gpu-efa.txt", 1, 30, 16, 2, WEFT_ALL_REDUCE},
	{"coreweave-gb200-72gpu.txt", 1, 5, 72, 18, WEFT_ALL_REDUCE},
	{"coreweave-gb200-144gpu.txt", 1, 6, 128, 36, WEFT_ALL_REDUCE},
	{"deepops-16gpu-ib.txt", 1, 13, 32, 0, WEFT_ALL_REDUCE},
	{"deepops-roce-k8s.txt", 1, 29, 16, 0, WEFT_ALL_REDUCE},
	{"gcp-a3mega-16gpu.txt", 1, 31, 16, 2, WEFT_ALL_REDUCE},
	{"issue37-v100-8gpu-all_gather.txt", 1, 0, 0, 0, WEFT_ALL_GATHER},
	{"nvidia-h100-8gpu.txt", 1, 32, 8, 1, WEFT_ALL_REDUCE},
	{"oke-a100-16gpu.txt", 1, 4, 16, 2, WEFT_ALL_REDUCE},
	{"superbench-a100-8/allgather.log", 1, 29, 8, 1, WEFT_ALL_GATHER},
	{"superbench-a100-8/allreduce.log", 1, 32, 8, 1, WEFT_ALL_REDUCE},
	{"superbench-a100-8/alltoall.log", 1, 29, 8, 1, WEFT_ALL_TO_ALL},
	{"vtrain-lut-a100/AR_GPU8.csv", 1, 1024, 8, 0, WEFT_ALL_REDUCE},
	{"xxrjun-cluster01-multinode/nccl_N10_G2.log", 5, 50, 20, 10,
	 WEFT_ALL_REDUCE},
	{"xxrjun-cluster01-multinode/nccl_N10_G8.log", 5, 50, 80, 10,
	 WEFT_ALL_REDUCE},
	{"alps-gh200/aws-ofi-1.13.0/n00016-N0004.out.gz", 1, 30, 16, 4,
	 WEFT_ALL_REDUCE},
	{"alps-gh200/aws-ofi-1.13.0/n02048-N0512.out.gz", 1, 29, 2048, 512,
	 WEFT_ALL_REDUCE},
	{"alcf-sophia/n2.g8-2024-10-15-11-21-15/alltoall-env1.txt", 1, 25, 16,
	 2, WEFT_ALL_TO_ALL},
	{"panlichen-a100_8card/broadcast.txt.gz", 22, 22, 8, 1, WEFT_BROADCAST},
	{"sugarlxn-4x4090/all_reduce.log", 0, 0, 0, 0, WEFT_N_COLLECTIVES},
};

static char *read_maybe_packed(const char *path, size_t *size)
{
	size_t length = strlen(path);
	char command[4200];
	char *text;
	FILE *in;

	if (length < 3 || strcmp(path + length - 3, ".gz") != 0)
		return test_read_file(path, size);
	snprintf(command, sizeof(command), "gzip -dc '%s'", path);
	in = popen(command, "r");
	assert_non_null(in);
	text = calloc(1, 1 << 22);
	assert_non_null(text);
	*size = fread(text, 1, 1 << 22, in);
	assert_int_equal(pclose(in), 0);
	return text;
}

static void real_logs_are_read(void **state)
{
	(void)state;
	if (!test_shared("data/real/nccl-tests")) {
		print_message("no reference data beside the checkout\n");
		skip();
	}
	for (size_t i = 0; i < sizeof(real) / sizeof(real[0]); i++) {
		struct weft_nccl_log log;
		struct weft_error err = {0};
		const char *path;
		char name[512], *text;
		size_t size = 0;

		snprintf(name, sizeof(name), "data/real/nccl-tests/%s",
			 real[i].path);
		path = test_shared(name);
		if (!path)
			continue;
		print_message("%s\n", real[i].path);
		text = read_maybe_packed(path, &size);
		assert_non_null(text);
		weft_nccl_log_parse(text, size, path, &log, &err);
		assert_no_error(&err);
		assert_int_equal(log.n_runs, real[i].runs);
		assert_int_equal(log.n_rows, real[i].rows);
		if (log.n_runs) {
			assert_int_equal(log.runs[0].n_ranks, real[i].ranks);
			assert_int_equal(log.runs[0].n_nodes, real[i].nodes);
			assert_int_equal(log.runs[0].collective,
					 real[i].collective);
		}
		weft_nccl_log_free(&log);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(newest_columns_are_read),
		cmocka_unit_test(old_columns_are_read),
		cmocka_unit_test(a_blank_redop_shifts_nothing),
		cmocka_unit_test(rows_are_found_in_any_company),
		cmocka_unit_test(unusable_rows_are_named_by_line),
		cmocka_unit_test(a_row_without_column_names_is_a_flaw),
		cmocka_unit_test(runs_of_one_file_stay_apart),
		cmocka_unit_test(bandwidths_tell_the_ranks),
		cmocka_unit_test(a_cut_rank_list_still_tells_the_nodes),
		cmocka_unit_test(json_is_read),
		cmocka_unit_test(json_cut_anywhere_keeps_whole_results),
		cmocka_unit_test(tables_are_read_by_their_names),
		cmocka_unit_test(text_without_results_is_empty),
		cmocka_unit_test(names_of_collectives_are_known),
		cmocka_unit_test(real_logs_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
