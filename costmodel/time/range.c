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

#define LONG_TOKENS 16384

const char *const weft_run_names[WEFT_N_RUNS] = {
	[WEFT_RUN_DENSE] = "dense",
	[WEFT_RUN_LONG] = "dense, over 16k tokens",
	[WEFT_RUN_EXPERTS] = "experts",
};

const struct weft_range weft_ranges[WEFT_N_RUNS] = {
	[WEFT_RUN_DENSE] = {0.86, 1.21},
	[WEFT_RUN_LONG] = {0.84, 1.72},
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
