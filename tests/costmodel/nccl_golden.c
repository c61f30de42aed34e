/* SPDX-License-Identifier: GPL-3.0-or-later */
/* nccl_golden.c - the selector against NCCL's own tables and people's logs */
#include "base/suggest.h"
#include "lab/nccl/nccl.h"

#include "tests/costmodel/nccl_choice.h"
#include "tests/costmodel/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define GB 1e9
#define US 1e-6

static int name_index(const char *const *names, int n, const char *name)
{
	for (int k = 0; k < n; k++)
		if (strcmp(names[k], name) == 0)
			return k;
	fail_msg("unknown name \"%s\"", name);
	return 0;
}

static enum weft_nccl_algorithm algorithm_of(const char *name)
{
	return (enum weft_nccl_algorithm)name_index(
		weft_nccl_algorithm_names, WEFT_N_NCCL_ALGORITHMS, name);
}

static enum weft_nccl_protocol protocol_of(const char *name)
{
	return (enum weft_nccl_protocol)name_index(weft_nccl_protocol_names,
						   WEFT_N_NCCL_PROTOCOLS, name);
}

/* The reference tables write NCCL's names of the collectives. */
static enum weft_collective collective_of(const char *name)
{
	static const char *const names[] = {
		[WEFT_ALL_REDUCE] = "AllReduce",
		[WEFT_ALL_GATHER] = "AllGather",
		[WEFT_REDUCE_SCATTER] = "ReduceScatter",
	};

	return (enum weft_collective)name_index(names, 3, name);
}

static struct weft_nccl_channels channels_of(const struct csv *csv,
					     uint32_t row, const char *family)
{
	static const char *const what[] = {"ch", "bwIntra", "bwInter"};
	double value[3];
	char column[32];

	for (int k = 0; k < 3; k++) {
		snprintf(column, sizeof(column), "%s_%s", family, what[k]);
		value[k] = table_number(csv, row, column);
	}
	return (struct weft_nccl_channels){(uint32_t)value[0], value[1] * GB,
					   value[2] * GB};
}

static struct weft_nccl_graph graph_of(const struct csv *csv, uint32_t row)
{
	/* By NCCL's codes of architecture (1 x86, 3 Arm) and vendor. */
	static const enum weft_nccl_cpu x86[] = {WEFT_CPU_X86, WEFT_CPU_INTEL,
						 WEFT_CPU_AMD};
	int arch = (int)table_number(csv, row, "cpu_arch");
	int vendor = (int)table_number(csv, row, "cpu_vendor");
	uint32_t n_nodes = (uint32_t)table_number(csv, row, "nNodes");

	return (struct weft_nccl_graph){
		.version = 23007,
		.n_nodes = n_nodes,
		.n_ranks = n_nodes *
			   (uint32_t)table_number(csv, row, "ranks_per_node"),
		.compute_capability =
			(uint32_t)table_number(csv, row, "comp_cap"),
		.cpu = arch == 1 ? x86[vendor] : WEFT_CPU_ARM,
		.ring = channels_of(csv, row, "ring"),
		.tree = channels_of(csv, row, "tree"),
		.nvls = channels_of(csv, row, "nvls"),
		.net_latency_s = table_number(csv, row, "latencyInter_us") * US,
		.tree_on_one_gpu = table_number(csv, row, "tree_pattern") > 2,
		/* beyond several PCIe switches */
		.torn_stores = table_number(csv, row, "typeInter_path") > 5,
	};
}

/* Graph inputs by the name of their configuration. */
static struct weft_nccl_graph graph_named(const struct csv *inputs,
					  const char *name)
{
	for (uint32_t row = 0; row < inputs->n_rows; row++)
		if (strcmp(table_cell(inputs, row, "config"), name) == 0)
			return graph_of(inputs, row);
	fail_msg("no inputs for %s", name);
	return (struct weft_nccl_graph){0};
}

static void every_latency_and_bandwidth_is_nccls_own(void **state)
{
	struct csv inputs = table_open("data/costmodel/nccl_golden_inputs.csv");
	struct csv table = table_open("data/costmodel/nccl_golden_table.csv");
	size_t usable = 0;

	(void)state;
	for (uint32_t row = 0; row < table.n_rows; row++) {
		struct weft_nccl_graph graph =
			graph_named(&inputs, table_cell(&table, row, "config"));
		struct weft_nccl_tuning tuning = tune(&graph);
		const struct weft_nccl_line *line =
			&tuning.line[collective_of(
				table_cell(&table, row, "coll"))]
				    [algorithm_of(
					    table_cell(&table, row, "algo"))]
				    [protocol_of(
					    table_cell(&table, row, "proto"))];

		if (fabs(line->latency_s / US -
			 table_number(&table, row, "lat_us")) > 0.0051 ||
		    fabs(line->rate_bytes_per_s / GB -
			 table_number(&table, row, "algbw_GBps")) > 0.0101)
			fail_msg("line %d: %s %s %s %s gives %.3f us %.3f GB/s",
				 table.line[row],
				 table_cell(&table, row, "config"),
				 table_cell(&table, row, "coll"),
				 table_cell(&table, row, "algo"),
				 table_cell(&table, row, "proto"),
				 line->latency_s / US,
				 line->rate_bytes_per_s / GB);
	}
	/* And no pair is offered that the table does not have. */
	for (uint32_t row = 0; row < inputs.n_rows; row++) {
		struct weft_nccl_graph graph = graph_of(&inputs, row);
		struct weft_nccl_tuning tuning = tune(&graph);

		for (int c = WEFT_ALL_REDUCE; c <= WEFT_REDUCE_SCATTER; c++)
			for (int a = 0; a < WEFT_N_NCCL_ALGORITHMS; a++)
				for (int p = 0; p < WEFT_N_NCCL_PROTOCOLS; p++)
					usable += tuning.line[c][a][p]
							  .rate_bytes_per_s > 0;
	}
	assert_int_equal(usable, table.n_rows);
	csv_free(&inputs);
	csv_free(&table);
}

static void every_choice_is_nccls_own(void **state)
{
	struct csv inputs = table_open("data/costmodel/nccl_golden_inputs.csv");
	struct csv table =
		table_open("data/costmodel/nccl_golden_selection.csv");

	(void)state;
	assert_true(table.n_rows > 0);
	for (uint32_t row = 0; row < table.n_rows; row++) {
		struct weft_nccl_graph graph =
			graph_named(&inputs, table_cell(&table, row, "config"));
		struct weft_nccl_choice choice = choose(
			&graph, collective_of(table_cell(&table, row, "coll")),
			strtoull(table_cell(&table, row, "bytes"), NULL, 10));

		if (choice.algorithm !=
			    algorithm_of(table_cell(&table, row, "algo")) ||
		    choice.protocol !=
			    protocol_of(table_cell(&table, row, "proto")) ||
		    fabs(choice.time_s / US -
			 table_number(&table, row, "pred_us")) > 0.0101)
			fail_msg("line %d: %s %s %s bytes gives %s %s %.3f us, "
				 "expected %s %s %s us",
				 table.line[row],
				 table_cell(&table, row, "config"),
				 table_cell(&table, row, "coll"),
				 table_cell(&table, row, "bytes"),
				 weft_nccl_algorithm_names[choice.algorithm],
				 weft_nccl_protocol_names[choice.protocol],
				 choice.time_s / US,
				 table_cell(&table, row, "algo"),
				 table_cell(&table, row, "proto"),
				 table_cell(&table, row, "pred_us"));
	}
	csv_free(&inputs);
	csv_free(&table);
}

/* Machines of which the reference has the graphs. */
static const struct {
	const char *system, *config, *version;
	bool without_nvls;
} published[] = {
	{"1x8xH100 (and 8xH200), NCCL 2.30.7", "H100x8_n1", "2.30.7", false},
	{"8xH200, NCCL 2.27.7 (stas)", "H100x8_n1", "2.27.7", false},
	{"8xH200, NCCL 2.30, NVLS off", "H100x8_n1", "2.30", true},
	{"Hopper 2 GPUs, 2.29.2", "H100x2_n1", "2.29.2", false},
	{"Hopper 4 GPUs, 2.29.2", "H100x4_n1", "2.29.2", false},
	{"Hopper 6 GPUs, 2.29.2", "H100x6_n1", "2.29.2", false},
	{"2x8xH200 EFA, 2.30.7", "H200x8_n2_fit", "2.30.7", false},
	{"4x8xH200 EFA, 2.30.7", "H200x8_n4_fit", "2.30.7", false},
};

/* Sizes of one published row, and those of them chosen as logged. */
static void count_agreement(const struct csv *table, uint32_t row,
			    const struct weft_nccl_graph *graph,
			    uint32_t *n_sizes, uint32_t *n_equal)
{
	uint64_t size =
		strtoull(table_cell(table, row, "bytes_from"), NULL, 10);
	uint64_t last = strtoull(table_cell(table, row, "bytes_to"), NULL, 10);

	for (; size <= last; size *= 2) {
		struct weft_nccl_choice choice =
			choose(graph, WEFT_ALL_REDUCE, size);

		(*n_sizes)++;
		if (choice.algorithm ==
			    algorithm_of(table_cell(table, row, "algo")) &&
		    choice.protocol ==
			    protocol_of(table_cell(table, row, "proto")))
			(*n_equal)++;
		else
			print_message(
				"%s, %llu bytes: %s %s\n",
				table_cell(table, row, "system"),
				(unsigned long long)size,
				weft_nccl_algorithm_names[choice.algorithm],
				weft_nccl_protocol_names[choice.protocol]);
	}
}

static void published_choices_come_out_but_one(void **state)
{
	struct csv inputs = table_open("data/costmodel/nccl_golden_inputs.csv");
	struct csv table =
		table_open("data/costmodel/nccl_published_selection.csv");
	uint32_t n_sizes = 0, n_equal = 0;

	(void)state;
	for (uint32_t row = 0; row < table.n_rows; row++) {
		for (size_t k = 0; k < sizeof(published) / sizeof(published[0]);
		     k++) {
			struct weft_nccl_graph graph;

			if (strcmp(table_cell(&table, row, "system"),
				   published[k].system) != 0)
				continue;
			graph = graph_named(&inputs, published[k].config);
			graph.version =
				weft_nccl_version(published[k].version, NULL);
			if (published[k].without_nvls)
				graph.nvls.n_channels = 0;
			count_agreement(&table, row, &graph, &n_sizes,
					&n_equal);
		}
	}
	print_message("%u of %u published choices\n", n_equal, n_sizes);
	assert_true(n_sizes > 80);
	assert_true(n_equal + 1 >= n_sizes);
	csv_free(&inputs);
	csv_free(&table);
}

static void known_machines_have_the_graphs_of_the_tables(void **state)
{
	static const struct {
		const char *config, *machine;
	} same[] = {
		{"H100x8_n1", "dgx-h100-superpod"},
		{"H100x8_n1", "aws-p5en"},
		{"H100x8_n2_ndr", "dgx-h100-superpod"},
		{"H100x8_n512_ndr", "dgx-h100-superpod"},
		{"H200x8_n2_fit", "aws-p5en"},
		{"H200x8_n4_fit", "aws-p5en"},
		{"A100x8_n1", "selene-a100"},
		{"A100x8_n140_hdr", "selene-a100"},
		{"B200x8_n1", "dgx-b200"},
		{"GB200x72_mnnvl", "gb200-nvl72"},
	};
	struct csv inputs = table_open("data/costmodel/nccl_golden_inputs.csv");

	(void)state;
	for (size_t k = 0; k < sizeof(same) / sizeof(same[0]); k++) {
		struct weft_nccl_graph table =
			graph_named(&inputs, same[k].config);
		struct weft_nccl_graph graph;
		struct weft_nccl_tuning a, b;
		struct weft_error err = {0};

		weft_nccl_machine_graph(
			WEFT_ROW(same[k].machine, weft_nccl_machines,
				 weft_n_nccl_machines),
			table.n_nodes, table.n_ranks / table.n_nodes, &graph,
			&err);
		assert_no_error(&err);
		a = tune(&table);
		b = tune(&graph);
		for (int c = 0; c < WEFT_N_NCCL_COLLECTIVES; c++)
			assert_memory_equal(a.line[c], b.line[c],
					    sizeof(a.line[c]));
	}
	csv_free(&inputs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_latency_and_bandwidth_is_nccls_own),
		cmocka_unit_test(every_choice_is_nccls_own),
		cmocka_unit_test(known_machines_have_the_graphs_of_the_tables),
		cmocka_unit_test(published_choices_come_out_but_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
