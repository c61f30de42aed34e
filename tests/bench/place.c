/* SPDX-License-Identifier: GPL-3.0-or-later */
/* place.c - how long one placement takes; one JSON object per line */
#include "placement/place.h"
#include "base/clock.h"
#include "base/compare.h"
#include "topology/synth.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_REPEATS 101

struct scene {
	const char *name, *fabric, *job;
	uint32_t rails, busy_pct; /* nodes wholly or partly in use */
	uint32_t repeats;
};

static const struct scene scenes[] = {
	{"256 GPUs, 4,096 nodes, idle", "pod:8 leaf:16 node:32 gpu:8",
	 "gpus=256,tp=8,pp=4", 0, 0, 101},
	{"256 GPUs, 4,096 nodes, half busy", "pod:8 leaf:16 node:32 gpu:8",
	 "gpus=256,tp=8,pp=4", 0, 50, 101},
	{"256 GPUs, 4,096 nodes, 8 rails, half busy",
	 "pod:8 leaf:16 node:32 gpu:8", "gpus=256,tp=8,pp=4", 8, 50, 101},
	{"256 GPUs, 4,096 nodes, tp=2, half busy",
	 "pod:8 leaf:16 node:32 gpu:8", "gpus=256,tp=2,pp=4", 0, 50, 101},
	{"8 GPUs, 4,096 nodes, half busy", "pod:8 leaf:16 node:32 gpu:8",
	 "gpus=8,tp=8", 0, 50, 101},
	{"1024 GPUs, 2,048 nodes, idle", "pod:4 leaf:16 node:32 gpu:8",
	 "gpus=1024,tp=8,pp=8", 0, 0, 31},
	{"1024 GPUs, 2,048 nodes, half busy", "pod:4 leaf:16 node:32 gpu:8",
	 "gpus=1024,tp=8,pp=8", 0, 50, 31},
	{"1024 GPUs, 2,048 nodes, tp=1, half busy",
	 "pod:4 leaf:16 node:32 gpu:8", "gpus=1024", 0, 50, 31},
	{"256 GPUs, 4,096 nodes, ep=64, half busy",
	 "pod:8 leaf:16 node:32 gpu:8", "gpus=256,ep=64,model=deepseek-v3", 0,
	 50, 31},
	{"1024 GPUs, 2,048 nodes, pp=8, ep=64, half busy",
	 "pod:4 leaf:16 node:32 gpu:8",
	 "gpus=1024,pp=8,ep=64,model=deepseek-v3", 0, 50, 11},
	{"8192 GPUs, 4,096 nodes, half busy", "pod:8 leaf:16 node:32 gpu:8",
	 "gpus=8192,tp=8,pp=8", 0, 50, 5},
};

static uint64_t next_random(uint64_t *state)
{
	uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	return z ^ z >> 27;
}

static void make_busy(struct weft_occupancy *o, uint32_t pct)
{
	uint64_t random = 7;

	for (uint32_t i = 0; i < o->fabric->n_nodes; i++) {
		if (next_random(&random) % 100 >= pct)
			continue;
		weft_occupancy_take(
			o, i, next_random(&random) % 4 ? UINT64_MAX : 0x0f);
	}
}

static int measure(const struct scene *scene, const struct weft_fabric *f,
		   const struct weft_job *job, const struct weft_occupancy *o,
		   struct weft_error *err)
{
	const struct weft_place_options fit = {.method = "first-fit"};
	double time_s[MAX_REPEATS], baseline;
	struct weft_placement p;

	if (weft_place(f, job, o, &fit, &p, err))
		return -1;
	baseline = p.placed ? p.cost.total[p.metric] : 0;
	weft_placement_free(&p);
	for (uint32_t i = 0; i < scene->repeats; i++) {
		double start_s = weft_clock_s();

		if (i)
			weft_placement_free(&p);
		if (weft_place(f, job, o, NULL, &p, err))
			return -1;
		time_s[i] = weft_clock_s() - start_s;
	}
	qsort(time_s, scene->repeats, sizeof(time_s[0]), weft_compare_reals);
	printf("{\"scene\": \"%s\", \"median_s\": %.6f, \"worst_s\": %.6f, "
	       "\"gap\": %.4f, \"cost_over_first_fit\": %.4f}\n",
	       scene->name, time_s[scene->repeats / 2],
	       time_s[scene->repeats - 1], p.gap,
	       baseline > 0 ? p.cost.total[p.metric] / baseline : 0);
	weft_placement_free(&p);
	return 0;
}

static int run(const struct scene *scene, struct weft_error *err)
{
	const struct weft_synth_options options = {.rails = scene->rails};
	char *text = weft_synth(scene->fabric, &options, err);
	struct weft_fabric *f = NULL;
	struct weft_job job = {0};
	struct weft_occupancy o = {0};
	int rc = -1;

	if (!text)
		return -1;
	f = weft_fabric_parse(text, strlen(text), scene->fabric, err);
	if (!f || weft_occupancy_build(f, &o, err) ||
	    weft_job_build(scene->job, 0, false, f, &job, err))
		goto out;
	make_busy(&o, scene->busy_pct);
	rc = measure(scene, f, &job, &o, err);
out:
	weft_job_free(&job);
	weft_occupancy_free(&o);
	weft_fabric_free(f);
	free(text);
	return rc;
}

int main(void)
{
	struct weft_error err = {0};
	char text[512];

	for (size_t i = 0; i < sizeof(scenes) / sizeof(scenes[0]); i++) {
		if (run(&scenes[i], &err)) {
			fprintf(stderr, "bench: %s: %s\n", scenes[i].name,
				weft_error_text(&err, text, sizeof(text)));
			return 1;
		}
	}
	return 0;
}
