/* SPDX-License-Identifier: GPL-3.0-or-later */
/* range.c - between which factors of its prediction a measured step lies
 *
 * Tenth and ninetieth percentile of measured over predicted steps, where each
 * publisher's runs are predicted with the constants of all others' runs, and
 * each publisher (of models with experts, each model) counts as much as
 * another, since the next run is another's: weft model step --leave-out prints
 * them, and tests/cli/step.sh holds this table against it.
 */
#include "costmodel/time/range.h"

#include "base/append.h"
#include "costmodel/job/compute.h"

#include <stdio.h>
#include <string.h>

#define LONG_TOKENS 16384

const char *const weft_run_names[WEFT_N_RUNS] = {
	[WEFT_RUN_DENSE] = "dense",
	[WEFT_RUN_LONG] = "dense, over 16k tokens",
	[WEFT_RUN_EXPERTS] = "experts",
};

const struct weft_range weft_ranges[WEFT_N_RUNS] = {
	[WEFT_RUN_DENSE] = {0.86, 1.14},
	[WEFT_RUN_LONG] = {0.85, 1.73},
	[WEFT_RUN_EXPERTS] = {0.86, 1.30},
};

enum weft_run weft_run_kind(const struct weft_spec *spec,
			    const struct weft_model *model)
{
	if (model->experts)
		return WEFT_RUN_EXPERTS;
	if ((spec->seq ? spec->seq : model->seq) > LONG_TOKENS)
		return WEFT_RUN_LONG;
	return WEFT_RUN_DENSE;
}

#define BITS_16 (1u << WEFT_BITS_16)
#define BITS_8	(1u << WEFT_BITS_8)
#define BITS_4	(1u << WEFT_BITS_4)

/* What the runs of weft model step --leave-out span; tests/cli/step.sh holds
 * this table against it, too. */
const struct weft_seen weft_seen[] = {
	{"A100", false, false, 172, 11200, 2048, BITS_16, false},
	{"A100", false, true, 75, 2240, 32768, BITS_16, false},
	{"B200", false, false, 6, 256, 262144, BITS_8, false},
	{"B200", true, false, 13, 256, 8192, BITS_16 | BITS_8 | BITS_4, true},
	{"B300", true, false, 20, 256, 8192, BITS_16 | BITS_8 | BITS_4, true},
	{"GB200", false, false, 24, 512, 8192, BITS_16 | BITS_8 | BITS_4,
	 false},
	{"GB200", false, true, 4, 64, 8192, BITS_8, false},
	{"GB200", true, false, 35, 512, 8192, BITS_16 | BITS_8 | BITS_4, false},
	{"GB300", false, false, 16, 256, 8192, BITS_8 | BITS_4, false},
	{"GB300", false, true, 2, 64, 8192, BITS_8, false},
	{"GB300", true, false, 35, 256, 8192, BITS_16 | BITS_8 | BITS_4, false},
	{"H100", false, false, 117, 16384, 1048576, BITS_16 | BITS_8, false},
	{"H100", false, true, 66, 2048, 32768, BITS_16 | BITS_8, false},
	{"H100", true, false, 22, 1024, 8192, BITS_16 | BITS_8, true},
	{"H800", true, false, 1, 2048, 4096, BITS_8, true},
};
const uint32_t weft_n_seen = sizeof(weft_seen) / sizeof(weft_seen[0]);

struct weft_seen weft_run_of(const struct weft_gpu *gpu,
			     const struct weft_spec *spec,
			     const struct weft_model *model,
			     const struct weft_fabric *fabric)
{
	uint32_t inside = fabric->n_gpus / fabric->levels[0].n_domains;

	return (struct weft_seen){
		.gpu = gpu->name,
		.experts = model->experts > 0,
		.sharded = spec->zero > 2,
		.n_runs = 1,
		.n_gpus = spec->gpus,
		.tokens = spec->seq ? spec->seq : model->seq,
		.widths = 1u << weft_compute_precision(spec->dtype),
		.between = model->experts && spec->ep * spec->etp > inside,
	};
}

bool weft_seen_alike(const struct weft_seen *a, const struct weft_seen *b)
{
	return strcmp(a->gpu, b->gpu) == 0 && a->experts == b->experts &&
	       a->sharded == b->sharded;
}

static const char *kind_of(const struct weft_seen *run)
{
	static const char *const kinds[2][2] = {
		{"dense models", "dense models with zero=3"},
		{"models with experts", "models with experts and zero=3"},
	};

	return kinds[run->experts][run->sharded];
}

/* Appends what no run alike has; false: they have all. */
static bool beyond(const struct weft_seen *run, const struct weft_seen *seen,
		   char *text, size_t size)
{
	size_t begin = strlen(text);

	if (run->n_gpus > seen->n_gpus)
		weft_append(text, size, ", %u GPUs (%u at most)", run->n_gpus,
			    seen->n_gpus);
	if (run->tokens > seen->tokens)
		weft_append(text, size, ", %u tokens (%u at most)", run->tokens,
			    seen->tokens);
	for (int p = 0; p < WEFT_N_PRECISIONS; p++) {
		if ((run->widths & ~seen->widths) & 1u << p)
			weft_append(text, size, ", %s products",
				    weft_precision_names[p]);
	}
	if (run->between && !seen->between)
		weft_append(text, size, ", experts beyond an NVLink domain");
	if (!text[begin])
		return false;
	memmove(text + begin, text + begin + 1, strlen(text + begin));
	return true;
}

bool weft_unseen(const struct weft_seen *run, char *text, size_t size)
{
	const struct weft_seen *seen = NULL;

	for (uint32_t i = 0; i < weft_n_seen && !seen; i++) {
		if (weft_seen_alike(&weft_seen[i], run))
			seen = &weft_seen[i];
	}
	snprintf(text, size, "no published run of %s on %s", kind_of(run),
		 run->gpu);
	if (!seen)
		return true;
	weft_append(text, size, " has");
	if (beyond(run, seen, text, size))
		return true;
	*text = '\0';
	return false;
}
