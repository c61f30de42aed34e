/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fit.c - a job's memory against its GPUs', for plan and score */
#include "cli/plan/fit.h"

#include "cli/in_unit.h"
#include "cli/json.h"
#include "costmodel/job/software.h"

#include <stdio.h>

/* Parts below this share of the whole are left to --json. */
#define SMALL_SHARE 0.02

struct fit fit_find(const struct weft_job *job, const struct weft_gpu *gpu)
{
	struct fit fit = {.gpu_bytes = gpu ? gpu->usable_bytes : 0};
	struct weft_memory_options options = {.stored_attention = false};
	char name[64] = "";

	if (gpu) {
		snprintf(name, sizeof(name), "one of these GPUs (%s)",
			 gpu->name);
		options = weft_software_memory(&job->spec, gpu);
	}
	fit.known = weft_memory_worst(&job->spec, &job->model, &options,
				      &fit.memory, NULL) == 0;
	fit.named = weft_spec_given(&job->spec, "model") ||
		    weft_spec_has_shape(&job->spec);
	if (fit.known && fit.named)
		weft_memory_warning(&fit.memory, fit.gpu_bytes, name,
				    fit.warning, sizeof(fit.warning));
	return fit;
}

json_t *fit_json(const struct fit *fit)
{
	json_t *object;

	if (!fit->known)
		return json_null();
	object = json_pack("{s:f}", "total", fit->memory.total_bytes);
	for (int k = 0; k < WEFT_N_MEMORY_PARTS; k++)
		JSON_PUT(object, weft_memory_part_names[k],
			 fit->memory.part_bytes[k]);
	JSON_PUT(object, "capacity",
		 fit->gpu_bytes > 0 ? json_real(fit->gpu_bytes) : json_null());
	JSON_PUT(object, "stage", fit->memory.stage);
	return object;
}

void fit_print(const struct fit *fit)
{
	const struct weft_memory *memory = &fit->memory;

	if (!fit->known || !fit->named)
		return;
	printf("  memory     %s on each GPU of stage %u, the fullest\n"
	       "  of that    ",
	       IN_UNIT(memory->total_bytes, "B"), memory->stage);
	for (int k = 0; k < WEFT_N_MEMORY_PARTS; k++) {
		double share = memory->part_bytes[k] / memory->total_bytes;

		if (share >= SMALL_SHARE)
			printf("  %s %.0f %%", weft_memory_part_names[k],
			       100 * share);
	}
	putchar('\n');
}
