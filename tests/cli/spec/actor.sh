#!/bin/sh
# One of three models is trained; the one that generates has a tp of its own.
#SBATCH --nodes=4 --gpus-per-node=8
python3 -m verl.trainer.main_ppo \
	data.max_prompt_length=1024 data.max_response_length=3072 \
	data.train_batch_size=512 \
	actor_rollout_ref.model.path=meta-llama/Meta-Llama-3-8B \
	actor_rollout_ref.model.enable_gradient_checkpointing=True \
	actor_rollout_ref.actor.ppo_mini_batch_size=64 \
	actor_rollout_ref.actor.ppo_micro_batch_size_per_gpu=2 \
	actor_rollout_ref.actor.ulysses_sequence_parallel_size=2 \
	+actor_rollout_ref.actor.fsdp_config.fsdp_size=8 \
	actor_rollout_ref.ref.fsdp_config.fsdp_size=-1 \
	actor_rollout_ref.rollout.tensor_model_parallel_size=4 \
	actor_rollout_ref.rollout.n=8 \
	critic.ppo_micro_batch_size_per_gpu=16 \
	trainer.n_gpus_per_node=8 trainer.nnodes=4
