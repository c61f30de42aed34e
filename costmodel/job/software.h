/* SPDX-License-Identifier: GPL-3.0-or-later */
/* software.h - what a training framework fuses, and what it overlaps */
#ifndef WEFT_COSTMODEL_JOB_SOFTWARE_H
#define WEFT_COSTMODEL_JOB_SOFTWARE_H

#include "costmodel/job/gpu.h"
#include "costmodel/job/memory.h"
#include "costmodel/job/spec.h"

struct weft_software {
	/* Kernel of attention; a GPU without it uses the one before. */
	enum weft_attention attention;
	/* Tensor-parallel collectives run in chunks behind the products that
	 * they belong to. */
	bool overlaps_tp;
	/* Sends between stages, gradients and gathered weights run behind the
	 * computation of other layers. */
	bool overlaps_replicas;
	/* Norms, rotary positions and gates are one kernel each; otherwise
	 * each of their operations reads and writes memory. */
	bool fused;
	/* Each micro-batch's gradients of weights are added to those of the
	 * ones before in a kernel of its own, not by the product. */
	bool adds_apart;
	/* The loss is one kernel, too, over the part of the vocabulary that a
	 * rank has; where it is not, no kernel keeps less than it takes. */
	bool fused_loss;
	enum weft_expert_kernels expert_kernels;
	/* The host launches each kernel of a layer, step by step. */
	bool eager;
};

/* The software of a resolved spec on `gpu`: that of software=, or what most
 * jobs of that kind run on that GPU, with attention=, fused= and
 * expert_kernels= applied. */
struct weft_software weft_software(const struct weft_spec *spec,
				   const struct weft_gpu *gpu);

/* What it keeps in memory beside what any software would. */
struct weft_memory_options weft_software_memory(const struct weft_spec *spec,
						const struct weft_gpu *gpu);

#endif
