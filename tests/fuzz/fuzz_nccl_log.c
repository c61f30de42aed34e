/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_nccl_log.c - any bytes as a log of nccl-tests: runs, rows and flaws that
 * keep every promise of nccl_log.h, and a calibration that is finite */
#include "lab/calibrate/calibrate.h"
#include "tests/fuzz/fuzz.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void check_log(const struct weft_nccl_log *log)
{
	uint32_t rows = 0;

	for (uint32_t r = 0; r < log->n_runs; r++) {
		const struct weft_nccl_run *run = &log->runs[r];

		require(run->first_row == rows);
		require(run->collective <= WEFT_N_COLLECTIVES);
		require(run->n_nodes <= run->n_ranks || !run->n_ranks);
		require(run->line >= 1 && run->line <= log->n_lines);
		require(memchr(run->label, 0, sizeof(run->label)) != NULL);
		require(memchr(run->program, 0, sizeof(run->program)) != NULL);
		rows += run->n_rows;
	}
	require(rows == log->n_rows);
	for (uint32_t i = 0; i < rows; i++) {
		const struct weft_nccl_row *row = &log->rows[i];

		require(row->size_bytes > 0);
		require(row->time_s >= 0 && isfinite(row->time_s));
		require(row->time_in_place_s >= 0 &&
			isfinite(row->time_in_place_s));
		require(row->time_s > 0 || row->time_in_place_s > 0);
		require(row->line >= 1 && row->line <= log->n_lines);
	}
	for (uint32_t i = 0; i < log->n_flaws; i++) {
		require(log->flaws[i].why[0] != '\0');
		require(log->flaws[i].line <= log->n_lines);
	}
}

static void check_calibration(const struct weft_calibration *c)
{
	for (uint32_t i = 0; i < c->n_entries; i++) {
		const struct weft_calibration_entry *e = &c->entries[i];
		const struct weft_curve *curve = &e->curve;

		require(e->fitted == !e->refusal[0]);
		if (!e->fitted)
			continue;
		require(curve->latency_s >= 0 && isfinite(curve->latency_s));
		require(curve->fill_s >= 0 && isfinite(curve->fill_s));
		require(curve->rate_bytes_per_s > 0);
		require(weft_curve_time(curve, 1) > 0);
		require(weft_curve_time(curve, 1e9) > 0);
	}
	for (uint32_t i = 0; i < c->n_links; i++)
		require(c->links[i].rate_bytes_per_s > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct weft_calibrate_options options = {
		.collective = WEFT_ALL_REDUCE, .n_ranks = 16, .n_nodes = 2};
	struct weft_calibration calibration;
	struct weft_error err = {0};
	struct weft_nccl_log log;
	/* libFuzzer's buffer has no NUL behind it: neither has this. */
	char *text = malloc(size ? size : 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	require(weft_nccl_log_parse(text, size, "fuzz", &log, &err) == 0);
	free(text);
	check_log(&log);
	require(weft_calibrate(&log, 1, &options, &calibration, &err) == 0);
	check_calibration(&calibration);
	weft_calibration_free(&calibration);
	weft_nccl_log_free(&log);
	return 0;
}
