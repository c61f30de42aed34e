/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scaling.c - hops of collectives against published measurements
 *
 * Nothing is fitted: rates and wires are those of weft's profiles, hops are
 * NCCL's.  So every row is a prediction, and each publisher's errors are shown
 * apart.
 */
#include "costmodel/time/scaling.h"
#include "base/compare.h"

#include "tests/costmodel/table.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define US	 1e-6
#define LARGE	 0x1p24
#define MAX_ROWS 128

static void one_hop_costs_no_less_than_its_wire(void **state)
{
	struct weft_hops hops = {.n_inside = 1, .inside_s = 0.8 * US};

	(void)state;
	assert_close(weft_scaling_ring_s(&hops, 1), 0.8 * US, 1e-12);
	hops.n_between = 1;
	hops.between_s = 2.7 * US;
	assert_close(weft_scaling_ring_s(&hops, 1), 3.5 * US, 1e-12);
	/* one switch more */
	hops.between_s = 3.6 * US;
	assert_close(weft_scaling_ring_s(&hops, 2), 2 * 4.4 * US, 1e-12);
	assert_close(weft_scaling_tree_s(&hops), 2 * (0.8 + 5.9) * US, 1e-12);
}

static void nothing_is_nothing(void **state)
{
	struct weft_hops hops = {0};

	(void)state;
	assert_close(weft_scaling_ring_s(&hops, 2), 0, 0);
	assert_close(weft_scaling_tree_s(&hops), 0, 0);
}

/* Large sizes pay dear hops for the full rate, small ones the other way. */
static void the_protocol_goes_with_the_size(void **state)
{
	struct weft_hops hops = {.n_inside = 28,
				 .n_between = 4,
				 .inside_s = 0.8 * US,
				 .between_s = 2.8 * US};

	(void)state;
	hops.transfer_s = 1 * US;
	assert_close(weft_scaling_ring_s(&hops, 1),
		     (28 * 0.8 + 4 * 2.8 + 2) * US, 1e-9);
	hops.transfer_s = 500 * US;
	assert_close(weft_scaling_ring_s(&hops, 1),
		     (28 * 1.9 + 4 * 4.1 + 500 / 0.92) * US, 1e-9);
	hops.transfer_s = 1;
	assert_close(weft_scaling_ring_s(&hops, 1),
		     1.4 * (28 * 3.4 + 4 * 14.2) * US + 1, 1e-9);
}

static void more_of_anything_takes_longer(void **state)
{
	uint64_t seed = test_seed();

	(void)state;
	for (int i = 0; i < 10000; i++) {
		struct weft_hops a = {
			.n_inside = test_random_below(&seed, 2000),
			.n_between = test_random_below(&seed, 100),
			.inside_s = test_random_below(&seed, 50) * 0.1 * US,
			.between_s = test_random_below(&seed, 50) * 0.5 * US,
			.transfer_s = test_random_below(&seed, 1u << 30) * 1e-9,
		};
		struct weft_hops b = a;

		b.n_inside += test_random_below(&seed, 10);
		b.n_between += test_random_below(&seed, 10);
		b.between_s += test_random_below(&seed, 10) * US;
		b.transfer_s += test_random_below(&seed, 1000) * US;
		assert_true(weft_scaling_ring_s(&a, 1) >= a.transfer_s);
		assert_true(weft_scaling_ring_s(&b, 2) >=
			    weft_scaling_ring_s(&a, 2));
		assert_true(weft_scaling_tree_s(&b) >= weft_scaling_tree_s(&a));
	}
}

/* Rows of nccl_measured.csv that ran as rings; bus bandwidth of the profile:
 * a node's rings, or its NICs' sum where that is less. */
struct system {
	const char *publisher, *source, *name, *algo;
	double bus_bytes_per_s, inside_s, between_s;
};

static const struct system systems[] = {
	{"ml-engineering", "stas00", "8xA100 node", "auto", 235e9, 0.8 * US, 0},
	{"ml-engineering", "stas00", "4x p6-b200", "aws", 8 * 47.7e9, 0.79 * US,
	 18 * US},
	{"AWS blog", "blog", "8xH100", "Ring/LL", 366e9, 0.8 * US, 0},
	{"AWS blog", "blog", "8xH100", "Ring", 366e9, 0.8 * US, 0},
	{"AWS blog", "blog", "4x p5en", "Ring", 366e9, 0.8 * US, 18 * US},
	{"AWS blog", "blog", "2x p5en", "Ring (pinned)", 366e9, 0.8 * US,
	 18 * US},
	{"NCCL's users", "NVIDIA/nccl issue #1368", "5x 8xH100", "Ring",
	 4 * 46e9, 0.8 * US, 3.6 * US},
};

#define N_SYSTEMS (sizeof(systems) / sizeof(systems[0]))

static const struct system *system_of(const struct csv *csv, uint32_t row)
{
	for (size_t i = 0; i < N_SYSTEMS; i++) {
		const struct system *s = &systems[i];
		const char *algo = table_cell(csv, row, "algo");

		if (strstr(table_cell(csv, row, "source"), s->source) &&
		    strncmp(table_cell(csv, row, "system"), s->name,
			    strlen(s->name)) == 0 &&
		    strncmp(algo, s->algo, strlen(s->algo)) == 0 &&
		    !strstr(algo, "forced"))
			return s;
	}
	return NULL;
}

/* Of an all-reduce; wires_only: hops cost their wire, at the full rate. */
static double ring_time(const struct system *s, double ranks, double domains,
			double size, bool wires_only)
{
	struct weft_hops hops = {
		.n_inside = (uint32_t)(ranks - domains),
		.n_between = (uint32_t)(domains > 1 ? domains : 0),
		.inside_s = s->inside_s,
		.between_s = s->between_s,
		.transfer_s =
			2 * (ranks - 1) / ranks * size / s->bus_bytes_per_s,
	};

	if (wires_only)
		return 2 * (hops.n_inside * hops.inside_s +
			    hops.n_between * hops.between_s) +
		       hops.transfer_s;
	return weft_scaling_ring_s(&hops, 2);
}

/* Median of |log error| in per cent. */
struct errors {
	double hops[MAX_ROWS], wires[MAX_ROWS];
	size_t n;
};

static double median_pct(double *errors, size_t n)
{
	qsort(errors, n, sizeof(*errors), weft_compare_reals);
	return 100 * (exp(errors[n / 2]) - 1);
}

static void errors_add(struct errors *e, const struct csv *csv, uint32_t row,
		       const struct system *s)
{
	double size = table_number(csv, row, "bytes");
	double time_s = table_number(csv, row, "time_us") * US;
	double ranks = table_number(csv, row, "ranks");
	double nodes = table_number(csv, row, "nodes");

	if (!(time_s > 0))
		time_s = size / table_number(csv, row, "algbw_GBps") / 1e9;
	e->hops[e->n] =
		fabs(log(ring_time(s, ranks, nodes, size, false) / time_s));
	e->wires[e->n++] =
		fabs(log(ring_time(s, ranks, nodes, size, true) / time_s));
}

static void published_rings_are_predicted(void **state)
{
	struct csv csv = table_open("data/costmodel/nccl_measured.csv");
	struct errors all = {.n = 0};
	double hops, wires;

	(void)state;
	for (size_t k = 0; k < N_SYSTEMS; k++) {
		struct errors some = {.n = 0};

		/* Of a publisher's systems the first stands for all. */
		if (k &&
		    strcmp(systems[k].publisher, systems[k - 1].publisher) == 0)
			continue;
		for (uint32_t row = 0; row < csv.n_rows; row++) {
			const struct system *s = system_of(&csv, row);

			if (!s || strcmp(s->publisher, systems[k].publisher) ||
			    table_number(&csv, row, "bytes") < LARGE)
				continue;
			errors_add(&some, &csv, row, s);
			errors_add(&all, &csv, row, s);
		}
		assert_true(some.n > 0);
		hops = median_pct(some.hops, some.n);
		wires = median_pct(some.wires, some.n);
		printf("rings of %s, %zu rows from 16 MiB: median error %.1f "
		       "%%, with wires alone %.1f %%\n",
		       systems[k].publisher, some.n, hops, wires);
		/* one row tells of its rate as much as of hops */
		assert_true(some.n < 5 || hops < wires);
	}
	hops = median_pct(all.hops, all.n);
	wires = median_pct(all.wires, all.n);
	printf("rings of all, %zu rows: %.1f %%, %.1f %%\n", all.n, hops,
	       wires);
	assert_true(all.n >= 20);
	assert_true(hops < 6 && hops < wires / 2);
	csv_free(&csv);
}

/* One rack adds up in its switches at 1.29 times the rings' rate (span.c);
 * 20 racks go in rings.  The loss over racks at 2 GiB, published 2.6 times. */
static void bus_rate_is_lost_over_racks(void **state)
{
	static const struct system gb200 = {"",	   "",	      "",      "",
					    680e9, 0.79 * US, 3.7 * US};
	const double size = 0x1p31, one_s = 2 * size / (1.29 * 680e9);
	double hops = ring_time(&gb200, 1440, 20, size, false) / one_s;
	double wires = ring_time(&gb200, 1440, 20, size, true) / one_s;

	(void)state;
	printf("GB200, 2 GiB, 20 racks over one: %.2f times longer, with "
	       "wires alone %.2f; published 2.6\n",
	       hops, wires);
	assert_true(fabs(hops / 2.6 - 1) < 0.1);
	assert_true(hops > wires);
}

/* The rates that hops take are those of NCCL's source. */
static void hops_are_nccls(void **state)
{
	struct csv csv = table_open("data/costmodel/nccl_tuner_constants.csv");
	double ll = 0, ll128 = 0, simple = 0;

	(void)state;
	for (uint32_t row = 0; row < csv.n_rows; row++) {
		const char *of = table_cell(&csv, row, "protocol_or_scale");
		double value = table_number(&csv, row, "value");

		if (strcmp(table_cell(&csv, row, "nccl_version"), "2.30.7") ||
		    strcmp(table_cell(&csv, row, "table"), "hwLatency") ||
		    strcmp(table_cell(&csv, row, "row"), "NVLINK") ||
		    strcmp(table_cell(&csv, row, "column"), "Ring"))
			continue;
		ll = strcmp(of, "LL") == 0 ? value : ll;
		ll128 = strcmp(of, "LL128") == 0 ? value : ll128;
		simple = strcmp(of, "Simple") == 0 ? value : simple;
	}
	for (int k = 0; k < 3; k++) {
		const double transfer_s[] = {0, 500 * US, 1};
		const double share[] = {0.5, 0.92, 1};
		const double hop[] = {ll, ll128, simple};
		struct weft_hops hops = {.n_inside = 100,
					 .transfer_s = transfer_s[k]};

		assert_close(weft_scaling_ring_s(&hops, 1),
			     100 * hop[k] * US + transfer_s[k] / share[k],
			     1e-9);
	}
	csv_free(&csv);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_hop_costs_no_less_than_its_wire),
		cmocka_unit_test(nothing_is_nothing),
		cmocka_unit_test(the_protocol_goes_with_the_size),
		cmocka_unit_test(more_of_anything_takes_longer),
		cmocka_unit_test(published_rings_are_predicted),
		cmocka_unit_test(bus_rate_is_lost_over_racks),
		cmocka_unit_test(hops_are_nccls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
