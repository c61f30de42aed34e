/* SPDX-License-Identifier: GPL-3.0-or-later */
/* mix.h - what a job of a trace that says only its GPUs is taken to train
 *
 * Traces say how many GPUs a job had, not how it was split.  The rule here
 * fills that in from the number and kind of GPUs and a random number alone, so
 * that every policy sees the same jobs: documented in weft-replay(1).
 */
#ifndef WEFT_LAB_REPLAY_MIX_H
#define WEFT_LAB_REPLAY_MIX_H

#include "costmodel/job/gpu.h"

#include <stddef.h>
#include <stdint.h>

/* How a job lies on nodes: the same number of GPUs on each. */
struct weft_mix_shape {
	uint32_t n_nodes, per_node;
};

/* gpus > 0 on nodes of node_gpus: one node where they fit on it; else as many
 * on each as divide `gpus`, if those are at least half a node; else whole
 * nodes, rounded up. */
struct weft_mix_shape weft_mix_shape(uint32_t gpus, uint32_t node_gpus);

/* Writes the spec (weft-spec(7)) of a job of that shape.  axes: what the trace
 * says of it, instead of the rule's; "" where it says nothing.  gpu: whose
 * memory it has to fit in; NULL: not known, the first rule drawn counts. */
void weft_mix_spec(const struct weft_mix_shape *shape, const char *axes,
		   uint64_t random, const struct weft_gpu *gpu, char *text,
		   size_t size);

#endif
