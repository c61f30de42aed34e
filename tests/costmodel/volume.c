/* SPDX-License-Identifier: GPL-3.0-or-later */
/* volume.c - closed forms against worked examples */
#include "costmodel/traffic/volume.h"

#include "tests/costmodel/table.h"
#include "tests/lib/check.h"

#include <math.h>
#include <string.h>

/* Shapes of the examples: A is GPT-3 on 1,536 GPUs, B a long context of Llama-3
 * 405B, Z seven billion parameters over 64 GPUs. */
enum { A_B = 1, A_S = 2048, A_H = 12288, A_T = 8, A_VOCAB = 51200, E = 2 };
enum { B_S = 131072, B_KV = 1024 / 8, B_C = 16 };
#define Z_PSI 7e9
#define Z_D   64

static void worked_examples_come_out(void **state)
{
	struct csv csv = table_open("data/costmodel/comm_volumes.csv");
	const double tp = weft_volume_tp_layer(A_T, A_B, A_S, A_H, E);
	const double pp = weft_volume_pp_send(A_T, A_B, A_S, A_H, E);
	const double cp = weft_volume_cp_layer(B_C, 1, B_S, B_KV, E);
	const struct {
		const char *id;
		double bytes;
	} cases[] = {
		{"CV-01", tp / 2},
		{"CV-02", tp / 2},
		{"CV-03", tp / 2},
		{"CV-04", tp},
		{"CV-09",
		 weft_volume_all_reduce(A_T, (double)A_B * A_S * A_H * E)},
		{"CV-13", pp},
		{"CV-14", pp},
		{"CV-15", 2 * 96 * pp},
		{"CV-16",
		 weft_volume_all_reduce(2, (double)A_VOCAB * A_H / A_T * 4)},
		{"CV-17", cp / 3},
		{"CV-18", cp / 3 * 2},
		{"CV-32", weft_volume_dp_step(Z_D, Z_PSI, 0, 1, 2, 2)},
		{"CV-33", weft_volume_dp_step(Z_D, Z_PSI, 1, 1, 4, 2)},
		{"CV-34", weft_volume_dp_step(Z_D, Z_PSI, 1, 1, 2, 2)},
		{"CV-35", weft_volume_dp_step(Z_D, Z_PSI, 2, 1, 2, 2)},
		{"CV-36", weft_volume_dp_step(Z_D, Z_PSI, 3, 1, 2, 2)},
		{"CV-39",
		 weft_volume_dp_step(16, 175e9 / (8 * 12), 0, 1, 2, 2)},
	};
	size_t found = 0;

	(void)state;
	for (uint32_t row = 0; row < csv.n_rows; row++) {
		for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
			if (strcmp(cases[i].id, table_cell(&csv, row, "id")) !=
			    0)
				continue;
			found++;
			/* The table has four decimals. */
			assert_true(
				fabs(cases[i].bytes / 1e6 -
				     table_number(&csv, row, "example_value")) <
				0.000051);
		}
	}
	assert_int_equal(found, sizeof(cases) / sizeof(cases[0]));
	csv_free(&csv);
}

static void a_single_gpu_sends_nothing(void **state)
{
	(void)state;
	assert_true(weft_volume_all_reduce(1, 1e9) == 0);
	assert_true(weft_volume_all_gather(1, 1e9) == 0);
	assert_true(weft_volume_reduce_scatter(1, 1e9) == 0);
	assert_true(weft_volume_tp_layer(1, 1, 2048, 4096, 2) == 0);
	assert_true(weft_volume_cp_layer(1, 1, 2048, 4096, 2) == 0);
	for (uint32_t zero = 0; zero <= 3; zero++)
		assert_true(weft_volume_dp_step(1, 1e9, zero, 8, 4, 2) == 0);
}

static void sharding_more_costs_more_when_accumulating(void **state)
{
	double before = 0;

	(void)state;
	for (uint32_t zero = 1; zero <= 3; zero++) {
		double bytes = weft_volume_dp_step(8, 1e9, zero, 4, 4, 2);

		assert_true(bytes > before);
		before = bytes;
	}
	/* (d-1)/d Psi (M e_g + 2 M e_p) */
	assert_close(before, 7.0 / 8 * 1e9 * (4 * 4 + 2 * 4 * 2), 1e-12);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(worked_examples_come_out),
		cmocka_unit_test(a_single_gpu_sends_nothing),
		cmocka_unit_test(sharding_more_costs_more_when_accumulating),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
