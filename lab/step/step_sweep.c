/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_sweep.c - whether the faster of two layouts is predicted to be it
 *
 * A sweep is the runs of one job, as a table has them: same source, model, GPUs
 * and batch, with other layouts, recomputation or kernels.
 */
#include "lab/step/step_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Steps closer than this are the same. */
#define CLOSE 0.05

static bool same_job(const struct step_row *a, const struct step_row *b)
{
	return strcmp(a->source, b->source) == 0 && a->gpu == b->gpu &&
	       a->precision == b->precision &&
	       strcmp(a->model.name, b->model.name) == 0 &&
	       a->spec.gpus == b->spec.gpus && a->spec.gbs == b->spec.gbs &&
	       a->spec.seq == b->spec.seq;
}

static void pair_add(const struct step_answer *a, const struct step_answer *b,
		     struct step_sweeps *sum)
{
	double measured = a->row.measured_s / b->row.measured_s;
	double predicted = a->step.step_s / b->step.step_s;

	if (fmax(measured, 1 / measured) < 1 + CLOSE)
		return;
	sum->n_pairs++;
	sum->right += (measured < 1) == (predicted < 1);
}

/* The sweep that begins with row i: its pairs, and what the pick loses. */
static void sweep_add(const struct step_table *t, uint32_t i, bool *seen,
		      struct step_sweeps *sum)
{
	const struct step_answer *pick = &t->answers[i], *best = pick;
	uint32_t n = 0;

	for (uint32_t k = i; k < t->n; k++) {
		const struct step_answer *a = &t->answers[k];

		if (!step_is_judged(a) ||
		    !same_job(&a->row, &t->answers[i].row))
			continue;
		for (uint32_t l = i; l < k; l++) {
			if (step_is_judged(&t->answers[l]) &&
			    same_job(&t->answers[l].row, &a->row))
				pair_add(a, &t->answers[l], sum);
		}
		seen[k] = true;
		n++;
		if (a->step.step_s < pick->step.step_s)
			pick = a;
		if (a->row.measured_s < best->row.measured_s)
			best = a;
	}
	if (n < 2)
		return;
	sum->n_sweeps++;
	sum->loss += pick->row.measured_s / best->row.measured_s - 1;
}

int step_table_sweeps(const struct step_table *table, struct step_sweeps *sum,
		      struct weft_error *err)
{
	bool *seen = weft_calloc(table->n + (size_t)1, sizeof(*seen), err);

	*sum = (struct step_sweeps){0};
	if (!seen)
		return -1;
	for (uint32_t i = 0; i < table->n; i++) {
		if (step_is_judged(&table->answers[i]) && !seen[i])
			sweep_add(table, i, seen, sum);
	}
	free(seen);
	sum->right /= fmax(1, sum->n_pairs);
	sum->loss /= fmax(1, sum->n_sweeps);
	return 0;
}
