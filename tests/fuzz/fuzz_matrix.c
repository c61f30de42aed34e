/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_matrix.c - any bytes as a measured matrix: refused, or sound rows */
#include "costmodel/traffic/matrix.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>

#define RANKS 16

static void check_rows(const struct weft_traffic *t)
{
	require(t->n_ranks == RANKS && t->row[RANKS] == t->n_edges);
	for (uint32_t r = 0; r < RANKS; r++) {
		for (uint32_t k = t->row[r]; k < t->row[r + 1]; k++) {
			require(t->peer[k] < RANKS && t->peer[k] != r);
			require(t->bytes[k] > 0 && t->axis[k] < WEFT_N_AXES);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weft_error err = {0};
	struct weft_traffic traffic;
	FILE *file = tmpfile();

	if (!file)
		return 0;
	if (fwrite(data, 1, size, file) == size) {
		rewind(file);
		if (weft_matrix_read(file, "input", RANKS, &traffic, &err))
			require_message(&err);
		else
			check_rows(&traffic);
		weft_traffic_free(&traffic);
	}
	fclose(file);
	return 0;
}
