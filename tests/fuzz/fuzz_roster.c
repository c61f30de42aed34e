/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_rank_map.c - any text as an order of ranks: refused, or the same order
 * after writing and reading it again */
#include "tests/fuzz/fuzz.h"
#include "topology/rank_map.h"

#include <stdlib.h>
#include <string.h>

static void check_round_trip(const struct weft_rank_map *r)
{
	struct weft_error err = {0};
	struct weft_rank_map again;
	char *text = weft_rank_map_encode(r, &err);

	/* names that do not fold may be too long to write back */
	if (!text) {
		require(err.code == WEFT_ENOSYS);
		return;
	}
	require(strlen(text) <= WEFT_RANK_MAP_MAX_BYTES);
	require(weft_rank_map_decode(text, &again, &err) == 0);
	require(again.job_id == r->job_id && again.env == r->env);
	require(again.n_nodes == r->n_nodes && again.n_ranks == r->n_ranks);
	for (uint32_t i = 0; i < r->n_nodes; i++)
		require(strcmp(again.nodes[i], r->nodes[i]) == 0);
	for (uint32_t i = 0; i < r->n_ranks; i++)
		require(again.node[i] == r->node[i] &&
			again.gpu[i] == r->gpu[i]);
	free(text);
	weft_rank_map_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weft_error err = {0};
	struct weft_rank_map r;
	char *text = calloc(size + 1, 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	if (weft_rank_map_decode(text, &r, &err) == 0) {
		require(r.n_ranks <= WEFT_RANK_MAP_MAX_RANKS);
		for (uint32_t i = 0; i < r.n_ranks; i++)
			require(r.node[i] < r.n_nodes &&
				r.gpu[i] < WEFT_MAX_GPUS_PER_NODE);
		check_round_trip(&r);
		weft_rank_map_free(&r);
	} else {
		require(err.code && err.text[0]);
	}
	free(text);
	return 0;
}
