/* SPDX-License-Identifier: GPL-3.0-or-later */
/* collective.c - errors of predicted collective times, per system, on sizes
 * that the calibration has not seen, beside those of NCCL's own model; one JSON
 * object per line
 */
#include "tests/costmodel/measured.h"

static void print_median(const char *key, const struct measured_row *rows,
			 size_t n, enum measured_kind kind, bool large)
{
	size_t count;
	double median = measured_median(rows, n, kind, large, false, &count);

	printf(", \"%s_rows\": %zu, \"%s_median_pct\": ", key, count, key);
	if (isnan(median))
		printf("null");
	else
		printf("%.1f", median);
}

static void print_line(const char *name, const struct measured_row *rows,
		       size_t n)
{
	printf("{\"system\": \"%s\", \"rows\": %zu", name, n);
	print_median("weft_small", rows, n, MEASURED_WEFT, false);
	print_median("nccl_small", rows, n, MEASURED_NCCL, false);
	print_median("weft_large", rows, n, MEASURED_WEFT, true);
	print_median("nccl_large", rows, n, MEASURED_NCCL, true);
	printf("}\n");
}

static void print_systems(const struct measured *m, const char *all)
{
	for (size_t i = 0, end; i < m->n; i = end) {
		size_t count = 0;

		end = measured_end(m, i);
		for (size_t k = i; k < end; k++)
			count += !isnan(m->rows[k].error_pct);
		if (count)
			print_line(m->rows[i].system, &m->rows[i], end - i);
	}
	print_line(all, m->rows, m->n);
}

int main(void)
{
	struct measured *m = measured_open();

	if (!m) {
		fprintf(stderr,
			"bench: no reference data beside the checkout\n");
		return 0;
	}
	print_systems(m, "all, other sizes");
	measured_predict_across(m, MEASURED_OTHERS);
	print_systems(m, "all, two other numbers of nodes");
	measured_predict_across(m, MEASURED_NEAREST);
	print_systems(m, "all, one other number of nodes");
	free(m);
	return 0;
}
