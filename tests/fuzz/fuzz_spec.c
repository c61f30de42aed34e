/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_spec.c - any text as a job spec: refused with a message, or consistent
 */
#include "costmodel/traffic/schedule.h"
#include "costmodel/traffic/traffic.h"

#include "tests/fuzz/fuzz.h"
#include "tests/lib/traffic.h"
#include "topology/fabric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Jobs up to this size are turned into traffic as well. */
#define MAX_RANKS 512

/* A message is there, and in ASCII. */
static void check_error(const struct weft_error *err)
{
	require_message(err);
	for (const char *c = err->text; *c; c++)
		require(*c >= 0x20 && *c <= 0x7e);
}

static void check_resolved(const struct weft_spec *spec)
{
	struct weft_error err = {0};
	struct weft_spec again = *spec;
	struct weft_grid grid;

	require(spec->gpus >= 1 && spec->gpus <= WEFT_MAX_GPUS);
	require((uint64_t)spec->tp * spec->cp * spec->pp * spec->dp ==
		spec->gpus);
	require((uint64_t)weft_spec_micro_batches(spec) * spec->mbs *
			spec->dp ==
		spec->gbs);
	require(!spec->gpus_per_node ||
		(uint64_t)spec->gpus_per_node * spec->nodes == spec->gpus);
	require(spec->shard >= 1 &&
		(uint64_t)spec->dp * spec->cp % spec->shard == 0);
	require(spec->bucket_bytes >= 1 && spec->compress >= 1 &&
		spec->sync_every >= 1);
	require(weft_spec_grid(spec, &grid, &err) == 0);
	require(grid.n_ranks == spec->gpus);
	require(weft_spec_resolve(&again, spec->gpus, &err) == 0);
	require(memcmp(&again, spec, sizeof(again)) == 0);
}

/* What a small job sends is finite, and all in the schedule. */
static void check_traffic(const struct weft_spec *spec)
{
	struct weft_schedule schedule = {0};
	struct weft_traffic traffic = {0};
	struct weft_error err = {0};
	struct weft_model model;
	struct weft_grid grid;
	double bytes;

	if (spec->gpus > MAX_RANKS ||
	    weft_model_find(spec->model, &model, NULL))
		return;
	require(weft_spec_grid(spec, &grid, &err) == 0);
	if (weft_schedule_build(spec, &model, &schedule, &err) ||
	    traffic_of_spec(spec, &model, &traffic, &err)) {
		check_error(&err);
	} else {
		bytes = weft_traffic_bytes(&traffic);
		require(isfinite(bytes) && bytes >= 0);
		require((bytes > 0) == (schedule.n_calls > 0));
	}
	weft_traffic_free(&traffic);
	weft_schedule_free(&schedule);
}

/* The last byte picks how many GPUs the job asks for, where it is not text. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weft_error err = {0};
	struct weft_spec spec;
	uint32_t gpus = 0;
	char *text;

	if (size > 0 && data[size - 1] >= 0x80)
		gpus = 1u << (data[--size] & 15);
	text = malloc(size + 1);
	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	if (weft_spec_parse(text, &spec, &err) ||
	    weft_spec_resolve(&spec, gpus, &err))
		check_error(&err);
	else
		check_resolved(&spec);
	if (!err.code)
		check_traffic(&spec);
	free(text);
	return 0;
}
