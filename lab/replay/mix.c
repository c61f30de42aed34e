/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mix.c - what a job of a trace that says only its GPUs is taken to train */
#include "lab/replay/mix.h"

#include "costmodel/job/software.h"

#include <stdio.h>

/* Of jobs of up to max_gpus, `weight` parts train this; where it does not fit
 * in the GPUs' memory, the job trains the next of them that does.  tp, pp and
 * ep are limits: an axis gets the greatest power of two of them that divides
 * what the axes before it left, tp of a node's GPUs; dp is the rest. */
struct recipe {
	uint32_t max_gpus, weight;
	const char *model; /* and what else its spec says */
	uint32_t tp, pp, ep, zero;
	uint32_t micro_batches; /* of each replica, of one sequence */
};

static const struct recipe recipes[] = {
	{1, 1, "gpt-1.7B", 1, 1, 1, 0, 8},
	{8, 2, "nemotron4-15B", 8, 1, 1, 1, 8},
	{8, 3, "llama3-8B", 1, 1, 1, 3, 8},
	{8, 0, "gpt-3.6B", 1, 1, 1, 1, 8},
	{32, 1, "gpt-39.1B", 8, 2, 1, 1, 8},
	{32, 2, "megatron-22B", 8, 1, 1, 1, 8},
	{32, 2, "llama3-8B", 1, 1, 1, 3, 2},
	{128, 3, "llama3-70B", 8, 4, 1, 1, 16},
	{128, 1, "qwen3-30B-a3B", 1, 1, 16, 1, 8},
	{128, 2, "llama3-8B", 1, 1, 1, 3, 2},
	{UINT32_MAX, 1, "deepseek-v3,recompute=full", 1, 8, 32, 1, 16},
	{UINT32_MAX, 2, "gpt3-175B", 8, 8, 1, 1, 16},
	{UINT32_MAX, 3, "llama3-70B", 8, 4, 1, 1, 8},
	{UINT32_MAX, 0, "llama3-8B", 1, 1, 1, 3, 2},
};
#define N_RECIPES (sizeof(recipes) / sizeof(recipes[0]))

struct weft_mix_shape weft_mix_shape(uint32_t gpus, uint32_t node_gpus)
{
	if (gpus <= node_gpus)
		return (struct weft_mix_shape){1, gpus};
	for (uint32_t d = node_gpus; 2 * d >= node_gpus && d > 0; d--) {
		if (gpus % d == 0)
			return (struct weft_mix_shape){gpus / d, d};
	}
	return (struct weft_mix_shape){gpus / node_gpus + 1, node_gpus};
}

static const struct recipe *recipe_choose(uint32_t gpus, uint64_t random)
{
	size_t first = 0, last;
	uint64_t sum = 0;

	while (recipes[first].max_gpus < gpus)
		first++;
	for (last = first; last < N_RECIPES &&
			   recipes[last].max_gpus == recipes[first].max_gpus;
	     last++)
		sum += recipes[last].weight;
	random %= sum;
	while (random >= recipes[first].weight)
		random -= recipes[first++].weight;
	return &recipes[first];
}

/* The greatest power of two up to `limit`, itself one, that divides n. */
static uint32_t axis_fit(uint32_t limit, uint32_t n)
{
	while (n % limit)
		limit /= 2;
	return limit;
}

static void axes_write(const struct recipe *r,
		       const struct weft_mix_shape *shape, char *text,
		       size_t size)
{
	uint32_t gpus = shape->n_nodes * shape->per_node;
	uint32_t tp = axis_fit(r->tp, shape->per_node);
	uint32_t pp = axis_fit(r->pp, gpus / tp);
	uint32_t dp = gpus / tp / pp, ep = axis_fit(r->ep, dp);

	snprintf(text, size, "tp=%u,pp=%u,ep=%u,zero=%u,gbs=%u,model=%s", tp,
		 pp, ep, r->zero, dp * r->micro_batches, r->model);
}

static bool fits(const char *text, const struct weft_gpu *gpu)
{
	struct weft_memory_options options;
	struct weft_memory memory;
	struct weft_model model;
	struct weft_spec spec;

	if (weft_spec_parse(text, &spec, NULL) ||
	    weft_spec_resolve(&spec, 0, NULL) ||
	    weft_model_find(spec.model, &model, NULL) ||
	    weft_spec_shape(&spec, &model, NULL))
		return false;
	options = weft_software_memory(&spec, gpu);
	return weft_memory_worst(&spec, &model, &options, &memory, NULL) == 0 &&
	       weft_memory_fits(&memory, gpu->usable_bytes);
}

void weft_mix_spec(const struct weft_mix_shape *shape, const char *axes,
		   uint64_t random, const struct weft_gpu *gpu, char *text,
		   size_t size)
{
	uint32_t gpus = shape->n_nodes * shape->per_node;
	const struct recipe *end = recipes + N_RECIPES;
	const struct recipe *r = recipe_choose(gpus, random);
	int n = snprintf(text, size, "gpus=%u,nodes=%u,gpus_per_node=%u,", gpus,
			 shape->n_nodes, shape->per_node);
	char *rest = text + n;
	bool fit = false;

	if (n < 0 || (size_t)n >= size)
		return;
	size -= (size_t)n;
	if (*axes) {
		snprintf(rest, size, "%s", axes);
		return;
	}
	for (uint32_t max = r->max_gpus; !fit; r++) {
		axes_write(r, shape, rest, size);
		fit = !gpu || fits(text, gpu) || r + 1 == end ||
		      r[1].max_gpus != max;
	}
}
