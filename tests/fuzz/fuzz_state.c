/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_state.c - any bytes as a state file: refused, or GPUs that exist, each
 * of at most one job
 */
#include "placement/capacity/running.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

#define N_GPUS 24

static const char fabric_text[] =
	"weft: fabric/1\nname: f\nnodes: {n[0-3]: 4, m: 8}\n";

static void check_jobs(const struct weft_occupancy *o,
		       const struct weft_running_list *list)
{
	bool taken[N_GPUS] = {false};

	for (uint32_t i = 0; i < list->n; i++) {
		const struct weft_running *job = &list->jobs[i];

		require(job->id && job->n_gpus > 0 && job->remaining_s >= 0);
		require(!job->known || job->job.n_gpus == job->n_gpus);
		for (uint32_t r = 0; r < job->n_gpus; r++) {
			uint32_t gpu = job->gpu[r];
			uint32_t node;

			require(gpu < N_GPUS && !taken[gpu]);
			taken[gpu] = true;
			node = o->fabric->gpu_node[gpu];
			gpu -= o->fabric->nodes[node].first_gpu;
			require(!(o->free[node] >> gpu & 1));
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weft_error err = {0};
	struct weft_fabric *f = weft_fabric_parse(
		fabric_text, strlen(fabric_text), "fabric", NULL);
	struct weft_running_list list = {0};
	struct weft_occupancy o = {0};

	if (!f || weft_occupancy_build(f, &o, NULL))
		goto out;
	if (weft_running_parse(&o, (const char *)data, size, "input", &list,
			       &err))
		require_message(&err);
	else
		check_jobs(&o, &list);
out:
	weft_running_free(&list);
	weft_occupancy_free(&o);
	weft_fabric_free(f);
	return 0;
}
