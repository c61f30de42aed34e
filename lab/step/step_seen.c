/* SPDX-License-Identifier: GPL-3.0-or-later */
/* step_seen.c - what the runs of a table span, by GPU and kind */
#include "lab/step/step_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void seen_add(struct weft_seen *all, const struct weft_seen *run)
{
	all->n_runs += run->n_runs;
	if (run->n_gpus > all->n_gpus)
		all->n_gpus = run->n_gpus;
	if (run->tokens > all->tokens)
		all->tokens = run->tokens;
	all->widths |= run->widths;
	all->between |= run->between;
}

static int seen_compare(const void *left, const void *right)
{
	const struct weft_seen *a = left, *b = right;
	int by_name = strcmp(a->gpu, b->gpu);

	if (by_name)
		return by_name;
	return (a->experts - b->experts) * 2 + a->sharded - b->sharded;
}

struct weft_seen *step_table_seen(const struct step_table *table, uint32_t *n,
				  struct weft_error *err)
{
	struct weft_seen *seen =
		weft_calloc(table->n + (size_t)1, sizeof(*seen), err);

	*n = 0;
	for (uint32_t i = 0; seen && i < table->n; i++) {
		const struct step_answer *a = &table->answers[i];
		uint32_t k = 0;

		if (!a->predicted || isnan(a->err))
			continue;
		while (k < *n && !weft_seen_alike(&seen[k], &a->run))
			k++;
		if (k == *n)
			seen[(*n)++] = a->run;
		else
			seen_add(&seen[k], &a->run);
	}
	if (seen)
		qsort(seen, *n, sizeof(*seen), seen_compare);
	return seen;
}
