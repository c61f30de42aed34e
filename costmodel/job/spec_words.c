/* SPDX-License-Identifier: GPL-3.0-or-later */
/* spec_words.c - the frameworks' words for keys and values of a job spec */
#include "costmodel/job/spec_words.h"

#include "base/suggest.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

/* Words of a key, separated by blanks: Megatron-LM's and NeMo's first, then
 * DeepSpeed's, torchtitan's, Accelerate's, MaxText's and short forms. */
static const struct {
	const char *key, *words;
} keys[] = {
	{"gpus", "world_size num_gpus n_gpus ngpus total_gpus num_processes"},
	{"nodes", "num_nodes nnodes n_nodes num_machines slurm_nnodes"},
	{"gpus_per_node",
	 "nproc_per_node ntasks_per_node num_gpus_per_node n_gpus_per_node "
	 "devices_per_node local_world_size num_processes_per_node"},
	{"tp",
	 "tensor_model_parallel_size tensor_parallel_size tensor_parallel "
	 "tensor_parallel_degree tensor_model_parallel tensor_parallelism "
	 "model_parallel_size tp_size tp_degree megatron_lm_tp_degree"},
	{"cp", "context_parallel_size context_parallel context_parallel_degree "
	       "context_parallelism cp_size cp_degree"},
	{"pp",
	 "pipeline_model_parallel_size pipeline_parallel_size "
	 "pipeline_parallel pipeline_parallel_degree pipeline_model_parallel "
	 "pipeline_parallelism pipe_parallel_size pp_size pp_degree "
	 "megatron_lm_pp_degree"},
	{"vpp", "virtual_pipeline_model_parallel_size vpp_size "
		"virtual_pipeline_parallel_size virtual_pipeline vp vp_size "
		"num_virtual_stages_per_pipeline_rank"},
	{"dp", "data_parallel_size data_parallel data_parallelism dp_size "
	       "data_parallel_degree"},
	{"ep",
	 "expert_model_parallel_size expert_parallel_size expert_parallel "
	 "expert_parallel_degree expert_parallelism moe_expert_parallel_size "
	 "ep_size ep_degree"},
	{"etp", "expert_tensor_parallel_size expert_tensor_parallel_degree "
		"etp_size"},
	{"zero", "zero_stage deepspeed_stage fsdp fsdp_sharding_strategy "
		 "sharding_strategy "
		 "data_parallel_sharding_strategy"},
	{"shard", "data_parallel_shard_degree fsdp_size hsdp_shard_size"},
	{"mbs", "micro_batch_size microbatch_size micro_batch "
		"train_micro_batch_size_per_gpu per_device_train_batch_size "
		"local_batch_size device_train_microbatch_size"},
	{"gbs", "global_batch_size train_batch_size global_batch "
		"global_train_batch_size"},
	{"seq", "seq_length seq_len sequence_length seqlen max_seq_len "
		"max_seq_length max_sequence_length encoder_seq_length "
		"max_target_length context_length"},
	{"sp", "sequence_parallel sequence_model_parallel"},
	{"cp_comm", "cp_comm_type"},
	{"pipeline", "pipeline_parallel_schedule pipeline_schedule"},
	{"power_cap", "power_limit gpu_power_limit"},
	{"recompute",
	 "recompute_granularity activations_checkpoint_granularity "
	 "activation_checkpointing gradient_checkpointing "
	 "activation_checkpoint"},
	{"dtype", "precision mixed_precision torch_dtype"},
	{"software", "framework"},
	{"capacity", "moe_expert_capacity_factor capacity_factor"},
	{"model", "model_name model_name_or_path arch model_type"},
	{"layers", "num_layers n_layers n_layer num_hidden_layers "
		   "base_num_decoder_layers num_decoder_layers"},
	{"hidden", "hidden_size d_model n_embd emb_dim base_emb_dim"},
	{"ffn", "ffn_hidden_size intermediate_size mlp_dim base_mlp_dim d_ff"},
	{"heads", "num_attention_heads num_heads n_heads n_head "
		  "num_query_heads base_num_query_heads"},
	{"kv_heads", "num_query_groups num_key_value_heads num_kv_heads "
		     "n_kv_heads base_num_kv_heads"},
	{"vocab", "vocab_size padded_vocab_size"},
	{"gated_mlp", "swiglu"},
	{"experts", "num_experts num_moe_experts num_local_experts "
		    "n_routed_experts"},
	{"top_k", "moe_router_topk moe_router_top_k num_experts_per_tok "
		  "num_experts_per_token"},
	{"expert_ffn", "moe_ffn_hidden_size moe_intermediate_size"},
};

static const struct {
	const char *key, *from, *to;
} values[] = {
	/* switched on, or its version: no stage of ZeRO */
	{"fsdp", "1", "3"},
	{"fsdp", "2", "3"},
	{"dtype", "bfloat16", "bf16"},
	{"dtype", "bf16-mixed", "bf16"},
	{"dtype", "bf16-true", "bf16"},
	{"dtype", "torch.bfloat16", "bf16"},
	{"dtype", "float16", "fp16"},
	{"dtype", "16-mixed", "fp16"},
	{"dtype", "half", "fp16"},
	{"dtype", "16", "fp16"},
	{"dtype", "float32", "fp32"},
	{"dtype", "32-true", "fp32"},
	{"dtype", "32", "fp32"},
	{"dtype", "no", "fp32"},
	{"zero", "full", "3"},
	{"zero", "full_shard", "3"},
	{"zero", "fully_shard", "3"},
	{"zero", "optim_grads_params", "3"},
	{"zero", "zero3", "3"},
	{"zero", "stage3", "3"},
	{"zero", "on", "3"},
	{"zero", "true", "3"},
	{"zero", "yes", "3"},
	{"zero", "shard_grad_op", "2"},
	{"zero", "optim_grads", "2"},
	{"zero", "zero2", "2"},
	{"zero", "stage2", "2"},
	{"zero", "optim", "1"},
	{"zero", "zero1", "1"},
	{"zero", "stage1", "1"},
	{"zero", "no_shard", "0"},
	{"zero", "ddp", "0"},
	{"zero", "off", "0"},
	{"recompute", "off", "none"},
	{"recompute", "false", "none"},
	{"recompute", "on", "full"},
	{"recompute", "true", "full"},
	{"recompute", "op", "selective"},
	{"cp_comm", "all_gather", "allgather"},
	{"cp_comm", "all_to_all", "a2a"},
	{"cp_comm", "ulysses", "a2a"},
	{"cp_comm", "ring", "p2p"},
	{"pipeline", "interleaved1f1b", "1f1b"},
	{"pipeline", "zbvzerobubble", "zero-bubble"},
	{"pipeline", "interleavedzerobubble", "zero-bubble"},
	{"pipeline", "dualpipev", "zero-bubble"},
	{"software", "megatron", "megatron-core"},
	{"software", "megatron-lm", "megatron-core"},
	{"software", "mcore", "megatron-core"},
	{"software", "jax", "maxtext"},
	{"software", "pytorch", "fsdp"},
};

/* Words that no key stands for alone. */
static const struct {
	const char *words, *advice;
} advices[] = {
	{"data_parallel_replicate_degree dp_replicate",
	 "replicas follow from the sizes: shard= says how many ranks share "
	 "parameters, and dp= is both together"},
	{"gradient_accumulation_steps grad_accum_steps grad_accum gas "
	 "num_microbatches",
	 "gbs = mbs * dp * steps says it"},
	{"num_layers_per_virtual_pipeline_stage",
	 "vpp = layers / pp / that number"},
	{"ici_tensor_parallelism dcn_tensor_parallelism", "tp is their "
							  "product"},
	{"ici_fsdp_parallelism dcn_fsdp_parallelism ici_data_parallelism "
	 "dcn_data_parallelism",
	 "dp is their product, with zero=3 for fsdp"},
	{"use_distributed_optimizer distributed_optimizer", "zero=1 says it"},
	{"use_fsdp use_torch_fsdp2 use_megatron_fsdp", "zero=3 says it"},
	{"fp8 bf16 fp16 fp32", "dtype= says it"},
	{"interleave interleaved", "vpp= says how many chunks of the model a "
				   "GPU has"},
	{"ntasks", "gpus= says it: a rank has one GPU"},
	{"max_position_embeddings", "seq= says how long sequences are"},
	{"cpu_offload offload_optimizer offload_param",
	 "weft does not model it: leave it out, and expect a longer step"},
	{"overlap_grad_reduce overlap_param_gather tp_comm_overlap",
	 "weft takes overlap as the frameworks have it; leave it out"},
	{"time timelimit qos partition account constraint mem cpus_per_task "
	 "exclusive exclude nodelist gres",
	 "an option of sbatch; the spec does not have it"},
	{"lr learning_rate train_iters max_steps weight_decay dropout",
	 "it does not change what ranks send; leave it out"},
	{"lora lora_r lora_rank lora_alpha peft peft_scheme peft_type adapter",
	 "adapters beside a frozen model are not modelled; without it the step "
	 "is that of full training"},
	{"decoder_first_pipeline_num_layers decoder_last_pipeline_num_layers "
	 "num_layers_in_first_pipeline_stage num_layers_in_last_pipeline_stage",
	 "stages=10+12x6+8 says the layers of each stage"},
	{"cpu_offloading cpu_offloading_num_layers activation_offload "
	 "activation_offloading",
	 "offload= says which share of the kept activations, 0 to 1"},
	{"ulysses ulysses_sequence_parallel_size sequence_parallel_size",
	 "cp= with cp_comm=a2a says it"},
};

int weft_spec_word_fold(const char *word, size_t length,
			char folded[WEFT_SPEC_WORD_SIZE])
{
	size_t n = 0;

	while (length && *word == '-') {
		word++;
		length--;
	}
	if (!length || length >= WEFT_SPEC_WORD_SIZE)
		return -1;
	for (; n < length; n++)
		folded[n] = word[n] == '-'
				    ? '_'
				    : (char)tolower((unsigned char)word[n]);
	folded[n] = '\0';
	return 0;
}

/* `word` is one of the blank-separated words. */
static int among(const char *words, const char *word)
{
	size_t length = strlen(word);

	while (*words) {
		size_t n = strcspn(words, " ");

		if (n == length && memcmp(words, word, n) == 0)
			return 1;
		words += n + (words[n] != '\0');
	}
	return 0;
}

const char *weft_spec_word_key(const char *folded)
{
	for (size_t k = 0; k < N_OF(keys); k++)
		if (among(keys[k].words, folded))
			return keys[k].key;
	return NULL;
}

/* More words than the table has. */
#define MAX_WORDS 256

const char *weft_spec_word_near(const char *folded,
				char word[WEFT_SPEC_WORD_SIZE])
{
	char words[MAX_WORDS][WEFT_SPEC_WORD_SIZE];
	const char *known[MAX_WORDS], *near;
	size_t used = 0;

	for (size_t k = 0; k < N_OF(keys); k++) {
		const char *at = keys[k].words;

		while (*at && used < MAX_WORDS) {
			size_t n = strcspn(at, " ");

			memcpy(words[used], at, n);
			words[used][n] = '\0';
			known[used] = words[used];
			used += n > 5; /* short ones are near to much */
			at += n + (at[n] != '\0');
		}
	}
	near = weft_suggest_near(folded, known, used);
	if (!near)
		return NULL;
	memcpy(word, near, strlen(near) + 1);
	return weft_spec_word_key(word);
}

const char *weft_spec_word_value(const char *key, const char *value,
				 size_t length)
{
	for (size_t v = 0; v < N_OF(values); v++)
		if (strcmp(values[v].key, key) == 0 &&
		    strlen(values[v].from) == length &&
		    strncasecmp(values[v].from, value, length) == 0)
			return values[v].to;
	return NULL;
}

const char *weft_spec_word_advice(const char *folded)
{
	for (size_t a = 0; a < N_OF(advices); a++)
		if (among(advices[a].words, folded))
			return advices[a].advice;
	return NULL;
}
