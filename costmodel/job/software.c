/* SPDX-License-Identifier: GPL-3.0-or-later */
/* software.c - what a training framework fuses, and what it overlaps
 *
 * From the frameworks' manuals and defaults: Megatron-LM before 2023 (arXiv:
 * 2104.04473, 2205.05198) stores the scores of attention and overlaps nothing;
 * until 2022 it added the gradients of a micro-batch to those before in a
 * kernel of its own (main_grad.add_, in fp32 for bf16).  PyTorch's do, too, but
 * sweeps of micro-batches (arXiv:2311.05610) do not show it.  Megatron-Core
 * overlaps gradients, parameters and sends of interleaved stages; NeMo adds
 * user buffers, which overlap tensor-parallel collectives, as XLA does for
 * MaxText.  PyTorch's FSDP and DeepSpeed gather and reduce behind the layers;
 * their models are eager unless compiled, which torchtitan does.
 */
#include "costmodel/job/software.h"

static const struct weft_software frameworks[WEFT_N_FRAMEWORKS] = {
	[WEFT_MEGATRON_2021] = {.attention = WEFT_ATTENTION_PLAIN,
				.fused = true,
				.adds_apart = true,
				.fused_loss = true},
	[WEFT_MEGATRON_CORE] = {.attention = WEFT_ATTENTION_FLASH3,
				.overlaps_replicas = true,
				.fused = true,
				.fused_loss = true},
	[WEFT_NEMO] = {.attention = WEFT_ATTENTION_FLASH3,
		       .overlaps_tp = true,
		       .overlaps_replicas = true,
		       .fused = true,
		       .fused_loss = true},
	[WEFT_FSDP] = {.attention = WEFT_ATTENTION_FLASH2,
		       .overlaps_replicas = true,
		       .fused_loss = true},
	[WEFT_DEEPSPEED] = {.attention = WEFT_ATTENTION_FLASH2,
			    .overlaps_replicas = true},
	[WEFT_TORCHTITAN] = {.attention = WEFT_ATTENTION_FLASH2,
			     .overlaps_replicas = true,
			     .fused = true,
			     .fused_loss = true},
	[WEFT_MAXTEXT] = {.attention = WEFT_ATTENTION_FLASH3,
			  .overlaps_tp = true,
			  .overlaps_replicas = true,
			  .fused = true,
			  .fused_loss = true},
};

struct weft_software weft_software(const struct weft_spec *spec,
				   const struct weft_gpu *gpu)
{
	enum weft_framework framework = spec->software;
	struct weft_software software;

	if (framework == WEFT_FRAMEWORK_USUAL)
		framework = gpu->framework;
	software = frameworks[framework];
	if (weft_spec_given(spec, "attention"))
		software.attention = spec->attention;
	if (weft_spec_given(spec, "fused"))
		software.fused = spec->fused;
	/* Sequence parallelism and selective recomputation came after kernels
	 * that add what they compute (Megatron-LM 2.7 and 3.0). */
	if (spec->sequence_parallel ||
	    spec->recompute == WEFT_RECOMPUTE_SELECTIVE)
		software.adds_apart = false;
	software.expert_kernels = spec->expert_kernels;
	software.eager = framework != WEFT_MAXTEXT &&
			 software.expert_kernels != WEFT_EXPERTS_FUSED;
	return software;
}

struct weft_memory_options weft_software_memory(const struct weft_spec *spec,
						const struct weft_gpu *gpu)
{
	struct weft_software software = weft_software(spec, gpu);

	return (struct weft_memory_options){
		.stored_attention =
			software.attention == WEFT_ATTENTION_PLAIN ||
			software.attention == WEFT_ATTENTION_EAGER,
		.eager_norms = !software.fused,
		.eager = !software.fused_loss,
	};
}
