/* SPDX-License-Identifier: GPL-3.0-or-later */
/* overlap_text.c - the answer of weft model overlap for people */
#include "base/compare.h"
#include "base/size.h"
#include "cli/in_unit.h"
#include "lab/model/overlap.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BAR_WIDTH 60
/* Beyond this many ranks their lines are those of the worst. */
#define MAX_RANK_LINES 16

/* A row of the table that a qsort orders. */
struct row {
	double key;
	uint32_t rank, call;
};

WEFT_COMPARATOR(by_key, struct row, WEFT_DOWN(key) WEFT_UP(rank) WEFT_UP(call));

static void print_head(const struct overlap_answer *a)
{
	uint32_t n_calls = 0;

	for (uint32_t i = 0; i < a->n_files; i++)
		n_calls += a->traces[i].n_collectives;
	printf("%u trace%s of a job of %u rank%s, %u step%s, %u collectives\n",
	       a->n_files, a->n_files > 1 ? "s" : "", a->traces[0].world_size,
	       a->traces[0].world_size > 1 ? "s" : "", a->n_steps,
	       a->n_steps > 1 ? "s" : "", n_calls);
	for (uint32_t i = 0; i < a->n_files; i++) {
		const struct weft_trace *t = &a->traces[i];

		if (t->n_devices > 1)
			printf("  %s has %u GPUs, taken as one\n",
			       a->files[t->file], t->n_devices);
		if (t->n_skipped)
			printf("  %s: %u records without time or duration left "
			       "out\n",
			       a->files[t->file], t->n_skipped);
	}
}

/* ---- where the time went ---- */

static void bar_print(const struct weft_overlap *o)
{
	const struct {
		char mark;
		double s;
	} parts[] = {
		{'#', o->compute_s - o->overlap_s},
		{'=', o->overlap_s},
		{'!', o->exposed_s},
		{'-', o->copy_s},
		{'.', o->idle_s},
	};
	double sum = 0;
	int at = 0;

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		sum += parts[i].s;
		for (; at < (int)lround(BAR_WIDTH * sum / o->span_s); at++)
			putchar(parts[i].mark);
	}
}

static void rank_print(const struct overlap_answer *a, uint32_t r)
{
	const struct weft_overlap *o = &a->overlaps[r];
	bool seed = a->options.convention == WEFT_SEED;
	double eta = seed ? overlap_eta_seed(o) : o->eta_overlap;

	printf("%6u %9s %9s %9s %9s %6.1f %% %9s %9s\n", a->traces[r].rank,
	       IN_UNIT(o->span_s, "s"), IN_UNIT(o->compute_s, "s"),
	       IN_UNIT(o->comm_s, "s"), IN_UNIT(o->overlap_s, "s"), 100 * eta,
	       IN_UNIT(o->exposed_s, "s"), IN_UNIT(o->idle_s, "s"));
}

static void print_ranks(const struct overlap_answer *a)
{
	uint32_t shown =
		a->n_files < MAX_RANK_LINES ? a->n_files : MAX_RANK_LINES;

	printf("\n  rank      span  tau_comp  tau_comm  tau_over      eta   "
	       "exposed      idle\n");
	for (uint32_t r = 0; r < shown; r++)
		rank_print(a, r);
	if (shown < a->n_files)
		printf("  ... and %u more (--json has all)\n",
		       a->n_files - shown);
	printf(a->options.convention == WEFT_SEED
		       ? "  eta: hidden share of the shorter of computing and "
			 "communication\n"
		       : "  eta: hidden share of communication\n");
	putchar('\n');
	for (uint32_t r = 0; r < shown; r++) {
		if (!(a->overlaps[r].span_s > 0))
			continue;
		printf("%6u |", a->traces[r].rank);
		bar_print(&a->overlaps[r]);
		printf("|\n");
	}
	printf("       # computing  = hiding communication  ! exposed "
	       "communication\n       - copies  . idle\n");
}

/* ---- by kind ---- */

static void kind_print(const struct overlap_answer *a, enum weft_trace_op op)
{
	struct weft_overlap_kind sum = {0};
	double model = 0, measured = 0;

	for (uint32_t r = 0; r < a->n_files; r++) {
		const struct weft_overlap_kind *kind =
			&a->overlaps[r].kinds[op];
		double some;

		sum.n += kind->n;
		sum.bytes += kind->bytes;
		sum.time_s += kind->time_s;
		sum.exposed_s += kind->exposed_s;
		model += overlap_model_kind_s(a, r, op, &some);
		measured += some;
	}
	if (!sum.n)
		return;
	printf("  %-14s %6u %9s", weft_trace_op_names[op], sum.n,
	       sum.bytes > 0 ? IN_UNIT(sum.bytes, "B") : "?");
	if (a->has_times)
		printf(" %9s %9s", IN_UNIT(sum.time_s, "s"),
		       IN_UNIT(sum.exposed_s, "s"));
	if (model > 0 && a->has_times)
		printf(" %9s %9s   x%.2f", IN_UNIT(measured, "s"),
		       IN_UNIT(model, "s"), measured / model);
	else if (model > 0)
		printf(" %9s", IN_UNIT(model, "s"));
	putchar('\n');
}

static void print_kinds(const struct overlap_answer *a)
{
	bool model = a->link_bytes_per_s > 0;

	printf("\n  collective      calls     bytes%s%s%s\n",
	       a->has_times ? "      time   exposed" : "",
	       model && a->has_times ? "  no waits" : "",
	       model ? "     model" : "");
	for (int op = 0; op < WEFT_N_OPS; op++)
		kind_print(a, op);
}

/* ---- single calls ---- */

static void call_print(const struct overlap_answer *a, const struct row *row)
{
	const struct weft_trace *t = &a->traces[row->rank];
	const struct weft_trace_collective *c = &t->collectives[row->call];
	double wait = a->waits.wait_s[row->rank][row->call];
	double model = overlap_model_s(a, t, c);

	printf("  %4u  %-14s %9s %9s %9s", t->rank, weft_trace_op_names[c->op],
	       c->size_bytes > 0 ? IN_UNIT(c->size_bytes, "B") : "?",
	       IN_UNIT(weft_trace_collective_s(c), "s"),
	       IN_UNIT(row->key, "s"));
	if (wait >= 0)
		printf("  waited %s", IN_UNIT(wait, "s"));
	if (model > 0)
		printf("  model %s", IN_UNIT(model, "s"));
	putchar('\n');
}

static void print_calls(const struct overlap_answer *a)
{
	struct row *rows = NULL;
	size_t n = 0;

	for (uint32_t r = 0; r < a->n_files; r++)
		n += a->traces[r].n_collectives;
	rows = calloc(n ? n : 1, sizeof(*rows));
	if (!rows || !a->top)
		goto out;
	n = 0;
	for (uint32_t r = 0; r < a->n_files; r++) {
		for (uint32_t i = 0; i < a->traces[r].n_collectives; i++) {
			if (a->overlaps[r].exposed_each_s[i] > 0)
				rows[n++] = (struct row){
					a->overlaps[r].exposed_each_s[i], r, i};
		}
	}
	if (!n)
		goto out;
	qsort(rows, n, sizeof(*rows), by_key);
	printf("\n  longest exposed\n  rank  collective         bytes      "
	       "time   exposed\n");
	for (size_t i = 0; i < n && i < a->top; i++)
		call_print(a, &rows[i]);
out:
	free(rows);
}

/* ---- who waited ---- */

static void print_wait_pairs(const struct overlap_answer *a)
{
	const struct weft_waits *w = &a->waits;

	if (!w->n_pairs)
		return;
	printf("\n  who waited for whom\n");
	for (size_t i = 0; i < w->n_pairs && i < a->top; i++)
		printf("  rank %u waited %s for rank %u in %u collectives\n",
		       a->traces[w->pairs[i].waiter].rank,
		       IN_UNIT(w->pairs[i].wait_s, "s"),
		       a->traces[w->pairs[i].last].rank, w->pairs[i].n);
}

static void print_wait_ranks(const struct overlap_answer *a,
			     const struct row *rows)
{
	const struct weft_waits *w = &a->waits;

	printf("\n  waits in %u collectives found in several traces (of %u of "
	       "%u ranks)\n  rank  began last  others waited  waited itself\n",
	       w->n_matches, a->n_files, a->traces[0].world_size);
	for (uint32_t k = 0; k < w->n_traces && k < MAX_RANK_LINES; k++) {
		const struct weft_wait_rank *rank = &w->ranks[rows[k].rank];
		char last[32];

		snprintf(last, sizeof(last), "%u of %u", rank->n_last,
			 rank->n_matched);
		printf("  %4u %11s %14s %14s\n", rank->rank, last,
		       IN_UNIT(rank->caused_s, "s"),
		       IN_UNIT(rank->waited_s, "s"));
	}
}

static void print_waits(const struct overlap_answer *a)
{
	const struct weft_waits *w = &a->waits;
	struct row *rows;

	if (a->n_files < 2 || !a->has_times)
		return;
	if (!w->n_matches) {
		printf("\n  No collective was found in more than one trace: "
		       "who "
		       "waited for whom\n  is not known.\n");
		return;
	}
	rows = calloc(w->n_traces, sizeof(*rows));
	if (!rows)
		return;
	for (uint32_t r = 0; r < w->n_traces; r++)
		rows[r] = (struct row){w->ranks[r].caused_s, r, 0};
	qsort(rows, w->n_traces, sizeof(*rows), by_key);
	print_wait_ranks(a, rows);
	print_wait_pairs(a);
	free(rows);
}

/* ---- bytes, advice ---- */

static void print_matrix(const struct overlap_answer *a)
{
	const struct weft_exchange *x = &a->exchange;

	if (x->n_pairs)
		printf("\n  %s a step between %zu pairs of ranks\n",
		       IN_UNIT(x->placed_bytes, "B"), x->n_pairs);
	for (int i = 0; i < WEFT_N_AXES; i++) {
		if (x->axis_bytes[i] > 0)
			printf("    %s of these for %s\n",
			       IN_UNIT(x->axis_bytes[i], "B"),
			       weft_axis_names[i]);
	}
	if (x->n_unplaced)
		printf("%s  %u collectives (%s) not between known ranks\n",
		       x->n_pairs ? "" : "\n", x->n_unplaced,
		       IN_UNIT(x->unplaced_bytes, "B"));
}

static void print_advice(const struct overlap_answer *a)
{
	double span = 0;

	for (uint32_t r = 0; r < a->n_files; r++)
		span += a->overlaps[r].span_s / a->n_files;
	printf("\n  what would shorten a step, each alone\n");
	for (int k = 0; k < WEFT_N_ADVICES; k++) {
		const struct weft_advice *advice = &a->advice[k];

		if (advice->has_basis)
			printf("%10s  %s\n%8.1f %%  ",
			       IN_UNIT(advice->gain_s / a->n_steps, "s"),
			       advice->what, 100 * advice->gain_s / span);
		else
			printf("%10s  %s\n%12s", "?",
			       weft_advice_names[advice->kind], "");
		model_print_wrapped(advice->basis, 12, 12, 78);
	}
}

void overlap_print_text(const struct overlap_answer *a)
{
	print_head(a);
	if (a->has_times)
		print_ranks(a);
	else
		printf("\n  These traces have no times: only bytes are "
		       "known.\n");
	print_kinds(a);
	if (a->has_times)
		print_calls(a);
	print_waits(a);
	print_matrix(a);
	if (a->has_times)
		print_advice(a);
}
