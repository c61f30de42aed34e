/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fuzz_metis.c - any bytes as a graph: refused, or sound rows */
#include "lab/map/metis.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

static double weight_of(const struct graph *g, uint32_t a, uint32_t b)
{
	double weight = 0;

	for (uint32_t k = g->row[a]; k < g->row[a + 1]; k++)
		weight += g->peer[k] == b ? g->weight[k] : 0;
	return weight;
}

static void check_graph(const struct graph *g)
{
	require(g->n > 0 && g->row[0] == 0 && g->row[g->n] == g->n_edges);
	for (uint32_t v = 0; v < g->n; v++) {
		for (uint32_t k = g->row[v]; k < g->row[v + 1]; k++) {
			require(g->peer[k] < g->n && g->peer[k] != v);
			require(g->weight[k] > 0 && g->weight[k] <= 1e30);
			require(weight_of(g, g->peer[k], v) == g->weight[k]);
		}
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct weft_error err = {0};
	struct graph g = {0};
	struct scan s;
	char *text = calloc(size + 1, 1);

	if (!text)
		return 0;
	memcpy(text, data, size);
	if (scan_text(&s, "input", text, size, &err) || metis_read(&s, &g))
		require_message(&err);
	else
		check_graph(&g);
	graph_free(&g);
	free(text);
	return 0;
}
