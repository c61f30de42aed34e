/* SPDX-License-Identifier: GPL-3.0-or-later */
/* measured.h - calibrations held against published measurements they have not
 * seen; for the test that asserts the errors and the program that prints them
 */
#ifndef WEFT_TESTS_COSTMODEL_MEASURED_H
#define WEFT_TESTS_COSTMODEL_MEASURED_H

#include "base/compare.h"
#include "base/suggest.h"
#include "lab/calibrate/calibrate.h"
#include "lab/nccl/nccl.h"
#include "tests/costmodel/calibration.h"
#include "tests/costmodel/table.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MEASURED_MAX_ROWS    512
#define MEASURED_MAX_SYSTEMS 64
#define MEASURED_LARGE	     0x1p20

/* Rows of one system: name, collective, ranks and nodes are the same. */
struct measured_row {
	char id[16], system[96];
	enum weft_collective collective;
	uint32_t ranks, nodes;
	struct weft_curve_point point;
	double error_pct; /* of the prediction; NAN: none was made */
	double nccl_pct;  /* of NCCL's own model; NAN: not in its table */
};

struct measured {
	struct measured_row rows[MEASURED_MAX_ROWS];
	size_t n;
};

/* Measurements with a setting that NCCL would not have chosen itself. */
static inline bool measured_forced(const char *algorithm)
{
	return strstr(algorithm, "pinned") || strstr(algorithm, "forced") ||
	       strstr(algorithm, "off)");
}

static inline int measured_compare(const void *pa, const void *pb)
{
	const struct measured_row *a = pa, *b = pb;
	int order = strcmp(a->system, b->system);

	if (!order)
		order = (a->collective > b->collective) -
			(a->collective < b->collective);
	if (!order)
		order = (a->ranks > b->ranks) - (a->ranks < b->ranks);
	if (!order)
		order = (a->point.size_bytes > b->point.size_bytes) -
			(a->point.size_bytes < b->point.size_bytes);
	return order ? order : strcmp(a->id, b->id);
}

static inline double measured_nccl_error(const struct csv *baseline,
					 const char *id)
{
	for (uint32_t i = 0; i < baseline->n_rows; i++) {
		if (strcmp(table_cell(baseline, i, "measured_row_id"), id) == 0)
			return fabs(table_number(baseline, i, "err_pct"));
	}
	return (double)NAN;
}

/* The rows that have a size, a time and ranks, sorted into systems. */
static inline void measured_load(struct measured *m, const struct csv *csv,
				 const struct csv *baseline)
{
	m->n = 0;
	for (uint32_t i = 0; i < csv->n_rows; i++) {
		struct measured_row *row = &m->rows[m->n];

		*row = (struct measured_row){
			.collective = weft_nccl_collective(
				table_cell(csv, i, "collective")),
			.ranks = (uint32_t)table_number(csv, i, "ranks"),
			.nodes = (uint32_t)table_number(csv, i, "nodes"),
			.point = {table_number(csv, i, "bytes"),
				  table_number(csv, i, "time_us") * 1e-6},
			.error_pct = (double)NAN,
		};
		if (row->collective == WEFT_N_COLLECTIVES || !row->ranks ||
		    !(row->point.size_bytes > 0 && row->point.time_s > 0) ||
		    measured_forced(table_cell(csv, i, "algo")))
			continue;
		snprintf(row->id, sizeof(row->id), "%.15s",
			 table_cell(csv, i, "row_id"));
		snprintf(row->system, sizeof(row->system), "%.95s",
			 table_cell(csv, i, "system"));
		row->nccl_pct = measured_nccl_error(baseline, row->id);
		assert_true(++m->n < MEASURED_MAX_ROWS);
	}
	qsort(m->rows, m->n, sizeof(m->rows[0]), measured_compare);
}

/* End of the system that begins at row `first`. */
static inline size_t measured_end(const struct measured *m, size_t first)
{
	const struct measured_row *a = &m->rows[first];
	size_t end = first + 1;

	while (end < m->n && strcmp(m->rows[end].system, a->system) == 0 &&
	       m->rows[end].collective == a->collective &&
	       m->rows[end].ranks == a->ranks)
		end++;
	return end;
}

/* Fits rows of one parity of sizes, and predicts the others. */
static inline void measured_half(struct measured_row *rows, size_t n,
				 size_t parity)
{
	struct weft_curve_point points[MEASURED_MAX_ROWS] = {0};
	struct weft_error err = {0};
	struct weft_curve curve;
	char refusal[160];
	size_t fitted = 0, size = 0;

	for (size_t i = 0; i < n; i++) {
		size += i && rows[i].point.size_bytes !=
				     rows[i - 1].point.size_bytes;
		if (size % 2 == parity)
			points[fitted++] = rows[i].point;
	}
	weft_curve_fit(points, fitted, &curve, refusal, sizeof(refusal), &err);
	assert_no_error(&err);
	size = 0;
	for (size_t i = 0; i < n && !refusal[0]; i++) {
		size += i && rows[i].point.size_bytes !=
				     rows[i - 1].point.size_bytes;
		if (size % 2 != parity)
			rows[i].error_pct =
				weft_curve_error_pct(&curve, &rows[i].point);
	}
}

/* Predicts every row from a calibration of its system that has every second
 * size, but not this one. */
static inline void measured_predict(struct measured *m)
{
	for (size_t i = 0, end; i < m->n; i = end) {
		end = measured_end(m, i);
		measured_half(&m->rows[i], end - i, 0);
		measured_half(&m->rows[i], end - i, 1);
	}
}

/* What of rows[n] is looked at. */
enum measured_kind { MEASURED_WEFT, MEASURED_NCCL };

/* The median error over large or small sizes, and of how many in *count.  With
 * `common`, only over rows that both weft and NCCL predict. */
static inline double measured_median(const struct measured_row *rows, size_t n,
				     enum measured_kind kind, bool large,
				     bool common, size_t *count)
{
	double errors[MEASURED_MAX_ROWS];
	size_t k = 0;

	for (size_t i = 0; i < n; i++) {
		const struct measured_row *row = &rows[i];
		double e =
			kind == MEASURED_WEFT ? row->error_pct : row->nccl_pct;

		if ((row->point.size_bytes >= MEASURED_LARGE) != large ||
		    isnan(e) ||
		    (common && (isnan(row->error_pct) || isnan(row->nccl_pct))))
			continue;
		errors[k++] = e;
	}
	*count = k;
	if (!k)
		return (double)NAN;
	qsort(errors, k, sizeof(errors[0]), weft_compare_reals);
	return k % 2 ? errors[k / 2] : (errors[k / 2 - 1] + errors[k / 2]) / 2;
}

/* NULL where the reference tables are absent. */
static inline struct measured *measured_open(void)
{
	struct csv csv, baseline;
	struct measured *m;

	if (!test_shared("data/costmodel/nccl_measured.csv"))
		return NULL;
	csv = table_open("data/costmodel/nccl_measured.csv");
	baseline = table_open(
		"data/costmodel/baseline_nccl_model_vs_measured.csv");
	m = calloc(1, sizeof(*m));
	assert_non_null(m);
	measured_load(m, &csv, &baseline);
	measured_predict(m);
	csv_free(&csv);
	csv_free(&baseline);
	return m;
}

/* Systems of which the tables have several numbers of nodes (of GB200: racks,
 * which are one NVLink domain each), and what nccl.h calls the machine. */
static const struct measured_kin {
	const char *system, *family, *machine;
} measured_families[] = {
	{"GB200 NVL72, 1 rack", "GB200 NVL72", "gb200-nvl72"},
	{"GB200 NVL72, 2 racks", "GB200 NVL72", "gb200-nvl72"},
	{"GB200 NVL72, 20 racks", "GB200 NVL72", "gb200-nvl72"},
	{"1x p5en (8xH200)", "p5en", "aws-p5en"},
	{"2x p5en (8xH200)", "p5en", "aws-p5en"},
	{"4x p5en (8xH200)", "p5en", "aws-p5en"},
	{"1x p6-b200", "p6-b200", "dgx-b200"},
	{"4x p6-b200", "p6-b200", "dgx-b200"},
	{"p5.48xlarge (node count unstated; single-node class values)", "p5",
	 "dgx-h100-superpod"},
	{"2x p5.48xlarge", "p5", "dgx-h100-superpod"},
};

static inline const struct measured_kin *
measured_kin(const struct measured_row *row)
{
	size_t n = sizeof(measured_families) / sizeof(measured_families[0]);

	for (size_t i = 0; i < n; i++) {
		if (strcmp(measured_families[i].system, row->system) == 0)
			return &measured_families[i];
	}
	return NULL;
}

/* The error of NCCL's own model where it knows the machine's channels, else
 * NAN. */
static inline double measured_nccl_model_error(const struct measured_row *row,
					       const char *machine)
{
	const struct weft_nccl_machine *m =
		WEFT_ROW(machine, weft_nccl_machines, weft_n_nccl_machines);
	struct weft_nccl_tuning tuning;
	struct weft_nccl_choice choice;
	struct weft_nccl_graph graph;

	assert_non_null(m);
	if (weft_nccl_machine_graph(m, row->nodes, row->ranks / row->nodes,
				    &graph, NULL) ||
	    weft_nccl_tune(&graph, &tuning, NULL) ||
	    weft_nccl_choose(&tuning, row->collective,
			     (uint64_t)row->point.size_bytes, &choice, NULL))
		return (double)NAN;
	return 100 * fabs(choice.time_s / row->point.time_s - 1);
}

static inline bool measured_in(const struct measured_row *row,
			       const char *family)
{
	const struct measured_kin *own = measured_kin(row);

	return own && strcmp(own->family, family) == 0;
}

/* From which numbers of nodes a row is predicted: all others of its family,
 * where these are two and more; or the nearest other alone. */
enum measured_from { MEASURED_OTHERS, MEASURED_NEAREST };

/* The nearest other number of nodes of the family, 0 where there is none; how
 * many others in *n_others. */
static inline uint32_t measured_nearest(const struct measured *m,
					const char *family, uint32_t nodes,
					uint32_t *n_others)
{
	double best = HUGE_VAL;
	uint32_t nearest = 0, last = 0;

	*n_others = 0;
	for (size_t i = 0; i < m->n; i++) {
		uint32_t other = m->rows[i].nodes;
		double distance = fabs(log((double)other / nodes));

		if (!measured_in(&m->rows[i], family) || other == nodes)
			continue;
		*n_others += other != last;
		last = other;
		if (distance < best) {
			best = distance;
			nearest = other;
		}
	}
	return nearest;
}

/* Calibrates with the family's rows on other numbers of nodes than this; with
 * `only` > 0, on that one. */
static inline struct weft_calibration
measured_calibrate_without(const struct measured *m, const char *family,
			   uint32_t nodes, uint32_t only)
{
	const struct weft_calibrate_options options = {
		.collective = WEFT_N_COLLECTIVES};
	struct weft_calibration calibration;
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	assert_non_null(out);
	fprintf(out, "collective,nodes,ranks,bytes,time_us\n");
	for (size_t i = 0; i < m->n; i++) {
		const struct measured_row *row = &m->rows[i];

		if (measured_in(row, family) && row->nodes != nodes &&
		    (!only || row->nodes == only))
			fprintf(out, "%s,%u,%u,%.0f,%.6f\n",
				weft_collective_names[row->collective],
				row->nodes, row->ranks, row->point.size_bytes,
				row->point.time_s * 1e6);
	}
	fclose(out);
	calibration = calibration_of(text, size, &options);
	free(text);
	return calibration;
}

/* Predicts the rows [first..end) of one system of a family. */
static inline void measured_predict_system(struct measured *m, size_t first,
					   size_t end,
					   const struct measured_kin *kin,
					   enum measured_from from)
{
	uint32_t nodes = m->rows[first].nodes, n_others;
	uint32_t nearest = measured_nearest(m, kin->family, nodes, &n_others);
	struct weft_calibration calibration;

	if (n_others < (from == MEASURED_OTHERS ? 2 : 1))
		return;
	calibration = measured_calibrate_without(
		m, kin->family, nodes, from == MEASURED_NEAREST ? nearest : 0);
	for (size_t k = first; k < end; k++) {
		struct measured_row *row = &m->rows[k];
		double time_s = weft_calibration_time(
			&calibration, NULL, row->collective, row->nodes,
			row->point.size_bytes);

		row->error_pct = 100 * fabs(time_s / row->point.time_s - 1);
		row->nccl_pct = measured_nccl_model_error(row, kin->machine);
	}
	weft_calibration_free(&calibration);
}

/* Predicts each row of a family from other numbers of nodes alone; rows of no
 * family get none. */
static inline void measured_predict_across(struct measured *m,
					   enum measured_from from)
{
	for (size_t i = 0, end; i < m->n; i = end) {
		const struct measured_kin *kin = measured_kin(&m->rows[i]);

		end = measured_end(m, i);
		for (size_t k = i; k < end; k++)
			m->rows[k].error_pct = m->rows[k].nccl_pct =
				(double)NAN;
		if (kin)
			measured_predict_system(m, i, end, kin, from);
	}
}

#endif
