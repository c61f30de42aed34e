/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_spec.c - any text as a job spec: refused with a message, or consistent
 */
#include "costmodel/spec.h"

#include "topology/fabric.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* A message is there and safe to print. */
static void check_error(const struct weft_error *err)
{
	require(err->code >= 1 && err->code <= 125 && err->text[0]);
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
	require(weft_spec_grid(spec, &grid, &err) == 0);
	require(grid.n_ranks == spec->gpus);
	require(weft_spec_resolve(&again, spec->gpus, &err) == 0);
	require(memcmp(&again, spec, sizeof(again)) == 0);
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
	free(text);
	return 0;
}
