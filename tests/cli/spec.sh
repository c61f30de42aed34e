#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
# weft spec: a job spec out of scripts, commands and configurations, or what it
# must be asked.
. "${WEFT_SRCDIR:-.}/tests/cli/lib.sh"
here=$(cd "${WEFT_SRCDIR:-.}/tests/cli/spec" && pwd)

# key KEY VALUE LINE: of the last run.
key() {
	jq -e --arg k "$1" --arg v "$2" --argjson l "$3" \
		'.keys[] | select(.key == $k) | .value == $v and .line == $l' \
		"$work/out"
}

run spec --json "$here/megatron.sbatch"
check "a Megatron-LM script is read" exits 0
check "json: schema comes first" schema_first spec
check "nodes are those that srun gives" key nodes 16 2
check "GPUs are those that torchrun starts" key gpus_per_node 8 27
check "a variable is its assignment's line" key tp 8 5
check "a default is taken" key pp 4 6
check "and said" json '.assumed[] | test("pp=4: the script.s default")'
check "an array is its own lines" key layers 80 17
check "a test that is decided is followed" key sp on 8
check "layers a virtual stage make vpp" key vpp 4 25
check "arithmetic is done" key gbs 512 30
check "the distributed optimizer shards" key zero 1 25
"$weft" synth leaf:4 node:4 gpu:8 >"$work/f.yaml"
run plan -f "$work/f.yaml" -j "$(jq -r .spec "$work/out")" --json
check "weft plan takes the spec" json .placed
PP=8 run spec --set PP=8 "$here/megatron.sbatch"
check "a variable of the caller's is given by --set" out "pp=8"

run spec --json "$here/unknown.sbatch"
check "what only the caller knows is asked back" exits 3
check "with its line" json '.missing[] | test("^tp: .*unknown.sbatch:4")'
check "without a spec" json '.spec == null'
run spec "$here/unknown.sbatch" 8
check "arguments answer it" exits 0
check "as the script takes them" out "tp=8"
run spec "$here/branches.sh"
check "a branch that is not decided is asked back" exits 3
check "for what hangs on it" out "tp: "
run spec --set SIZE=large "$here/branches.sh"
check "and followed once it is" out "tp=8"

run spec --json "$here/deepspeed.sh"
check "a configuration that the script writes is read" exits 0
check "zero is its stage" json '.keys[] | select(.key == "zero") | .value == "3"'
check "steps of accumulation make the batch" \
	json '.keys[] | select(.key == "gbs") | .value == "256"'
check "a name of a hub is a model" json '.spec | test("model=llama3-8B")'
run spec --json "$here/train.sh"
check "Accelerate's file lies beside the script" exits 0
check "GPUs are its processes" json '.spec | test("^nodes=2|^gpus=16")'
check "each key has its file" json \
	'.keys[] | select(.key == "zero") | .file == "accelerate.yaml"'
run spec --json "$here/titan.toml"
check "a configuration alone asks for the size" exits 3
check "and gives the rest" json '[.keys[].key] | contains(["tp", "model"])'
run spec torchrun --nnodes 8 --nproc-per-node 8 -m torchtitan.train \
	--job.config_file "$here/titan.toml" --parallelism.tensor_parallel_degree 4
check "a command is read" exits 0
check "its arguments go before the file" out "nodes=8,gpus_per_node=8,tp=4"
check "torchtitan's model is found" out "model=llama3-70B"
run spec --json "$here/nemo.yaml"
check "NeMo's YAML is read" exits 0
check "FSDP that is off is off" key zero 1 22
check "what a line refers to is said elsewhere" key seq 4096 11
run spec "$here/two.yaml"
check "two lines that disagree are asked back" exits 3
check "both" out "two.yaml:3 says 4"

# shellcheck disable=SC1003,SC2016 # the script's own
printf '%s\n' '. ./sizes.sh' 'torchrun --nnodes 1 --nproc-per-node 8 pretrain_gpt.py \' \
	'"${SIZES[@]}" --tensor-model-parallel-size 8 --bf16' >"$work/lacks.sh"
run spec "$work/lacks.sh"
check "an array of a file that is not here is said" out \
	"or a file that is not here, gives are left out"
echo 'SIZES=(--pipeline-model-parallel-size 1)' >"$work/sizes.sh"
run spec "$work/lacks.sh"
check "and taken where it is" out "tp=8,pp=1"

# shellcheck disable=SC1003,SC2016 # the script's own
printf '%s\n' "read -r -d '' COMMANDS <<EOF" 'openrlhf.cli.train_sft \' \
	' --ds.zero_stage 3 --ds.param_dtype fp16 --train.batch_size 64 \' \
	' --train.micro_batch_size 2' EOF \
	'deepspeed --num_nodes 2 --num_gpus 8 --module $COMMANDS' >"$work/read.sh"
run spec "$work/read.sh"
check "read takes a here-document into a variable" out \
	"nodes=2,gpus_per_node=8,zero=3,mbs=2,gbs=64,dtype=fp16"

# uneven ARG...: 27 layers on four stages.
uneven() {
	run spec torchrun --nnodes 4 --nproc-per-node 8 pretrain_gpt.py --bf16 \
		--num-layers 27 --hidden-size 1024 --num-attention-heads 8 \
		--pipeline-model-parallel-size 4 --micro-batch-size 1 \
		--global-batch-size 64 "$@"
}
uneven --decoder-first-pipeline-num-layers 5 \
	--decoder-last-pipeline-num-layers 6
check "stages whose ends have fewer layers are said" out "stages=5+8x2+6"
run plan -f "$work/f.yaml" -j "$(head -n 1 "$work/out")" --json
check "and planned" json .placed
uneven --decoder-last-pipeline-num-layers 6
check "one end alone, too" out "stages=7x3+6"
uneven --account-for-embedding-in-pipeline-split
check "the embedding counts as a layer" out "stages=6+7x3"
uneven --decoder-first-pipeline-num-layers 5
check "layers that stages cannot share are asked back" exits 3
check "with the line" out "stages: command:1: 3 stages cannot share"
uneven --pipeline-model-parallel-layout 'Et*7|t*7|t*7|t*6L'
check "a pattern is asked back" out "stages: command:1 deals out the layers"
uneven
check "what is shared out as evenly as can be is said" out \
	"27 layers on 4 stages: as evenly"

run spec "$here/actor.sh"
check "verl's actor is read, and not what generates" out \
	"nodes=4,gpus_per_node=8,cp=2,zero=3,shard=8,mbs=2,gbs=512,seq=4096,cp_comm=a2a,recompute=full,dtype=bf16,model=llama3-8B,software=fsdp"
check "which is said" out "the update of the actor alone"
run spec python3 -m verl.trainer.main_ppo trainer.nnodes=2 \
	trainer.n_gpus_per_node=8 actor_rollout_ref.actor.strategy=megatron \
	actor_rollout_ref.actor.megatron.tensor_model_parallel_size=4 \
	actor_rollout_ref.actor.megatron.pipeline_model_parallel_size=2 \
	actor_rollout_ref.rollout.tensor_model_parallel_size=8 \
	actor_rollout_ref.actor.ppo_mini_batch_size=64 \
	actor_rollout_ref.model.lora_rank=32
check "its Megatron-LM has the actor's sizes" out \
	"tp=4,pp=2,zero=1,mbs=1,gbs=64,sp=on"
check "an adapter is said" out "an adapter (lora_rank, command:1)"
run spec torchrun --nnodes 8 --nproc-per-node 8 run_train.py \
	--config-file "$here/nanotron.yaml"
check "nanotron's YAML is read" out "tp=4,pp=2,dp=8,zero=1,mbs=2,gbs=128"
check "it is not taken for DeepSpeed" not out "software=deepspeed"
run spec torchrun --nnodes 2 --nproc-per-node 8 run_train.py \
	--config-file "$here/nanotron.yaml"
check "ranks that the GPUs do not make are asked back" out \
	"says 8, and the GPUs make 2"
run spec torchrun --nnodes 1 --nproc-per-node 8 train.py --zero_stage 1
check "a stage of ZeRO alone is no DeepSpeed" exits 3
run spec torchrun --nnodes 1 --nproc-per-node 8 tools/text_generation.py \
	--tensor-model-parallel-size 8 --bf16
check "a program that does not train is asked back" out \
	"training: line 1 starts tools/text_generation.py"
printf 'hardware: gpu\nici_fsdp_parallelism: 8\nnum_inference_steps: 30\n' \
	>"$work/diffusion.yaml"
run spec "$work/diffusion.yaml"
check "a model of images is not taken for a language model" out \
	"no framework that is known"

run spec 'srun python3 -m MaxText.train base.yml hardware=gpu model_name=llama3-70b dcn_fsdp_parallelism=4 ici_fsdp_parallelism=8 per_device_batch_size=2'
check "MaxText's mesh is read" out "gpus=32,zero=3"
run spec mpirun -np 64 python train.py --fsdp full_shard
check "mpirun says how many" out "gpus=64,zero=3"
run spec torchrun --nproc_per_node 8 train.py
check "a program of no framework is asked back" exits 3
run spec python3 train.py --actor-num-nodes 2 --actor-num-gpus-per-node 8 \
	--tensor-model-parallel-size 4 --rollout-num-gpus-per-engine 2 \
	--global-batch-size 64
check "an actor's own counts of nodes and GPUs are read" out \
	"nodes=2,gpus_per_node=8,tp=4"
run spec deepspeed --num_nodes 2 --num_gpus 8 pretrain_gpt.py --bf16 \
	--num-layers 8 --hidden-size 1024 --num-attention-heads 8 \
	--micro-batch-size 1 --ds-sequence-parallel-size 4 --zero-stage 1
check "Ulysses under Megatron-DeepSpeed is cp" out "cp=4"
run spec swift sft --deepspeed zero3
check "a command that hides its ranks is named" err \
	"command:1: swift starts the ranks itself"
run spec echo hello
check "a command that starts nothing is an error" exits 1
check "with what was expected" err "expected torchrun, deepspeed"
run spec "$work/none.sh"
check "a missing file says so" err "none.sh: No such file"
run spec
check "nothing is a usage error" exits 2
run spec --readers
check "the frameworks are listed" out "torchtitan"
touch_it="touch $work/touched"
# shellcheck disable=SC2016 # the script's own
printf 'X=$(%s)\n`%s`\n%s\ntorchrun --nnodes 1 --nproc_per_node 8 a.py\n' \
	"$touch_it" "$touch_it" "$touch_it" >"$work/evil.sh"
run spec "$work/evil.sh"
check "nothing is executed" not test -e "$work/touched"
# shellcheck disable=SC2016
{
	echo 'A=aaaaaaaaaaaaaaaa'
	for _ in 1 2 3 4 5 6 7 8 9 10; do echo 'A=$A$A$A$A'; done
} >"$work/grow.sh"
run spec "$work/grow.sh"
check "a script that grows without end is refused" err "too large"
# shellcheck disable=SC2016
printf 'X=${}${:}"${!}"${X:\ntorchrun --nnodes 1 --nproc_per_node 8 a.py $X' \
	>"$work/broken.sh"
run spec "$work/broken.sh"
check "substitutions that are none are no harm" exits 1

# What slurmctld reads, too, must not end it: numbers that make a division by
# zero, or one without a result, and more negations than a stack holds.
cat >"$work/wraps.sh" <<'END'
#SBATCH --nodes=2 --gpus-per-node=8
torchrun --nnodes=2 --nproc-per-node=8 pretrain_gpt.py --bf16 \
	--num-layers 32 --hidden-size 1024 --num-attention-heads 8 \
	--pipeline-model-parallel-size 2 --micro-batch-size 1 \
	--num-layers-per-virtual-pipeline-stage 2147483648
END
run spec "$work/wraps.sh"
check "stages that do not divide the layers are asked back" exits 3
cat >"$work/wraps.sh" <<'END'
#SBATCH --nodes=2 --gpus-per-node=8
deepspeed --num_nodes 2 --num_gpus 8 train.py --zero_stage 3 \
	--autotp_size 65536 --sequence_parallel_size 65536 \
	--train_micro_batch_size_per_gpu 1 --gradient_accumulation_steps 2
END
run spec "$work/wraps.sh"
check "axes whose product is no number are asked back" exits 3
cat >"$work/least.sh" <<'END'
LEAST=-9223372036854775808
MINUS=-1
echo $((LEAST / MINUS))
END
{
	cat "$work/least.sh"
	printf '[ '
	printf '! %.0s' $(seq 100000)
	echo 'x ]'
	tail -n 4 "$work/wraps.sh"
} >"$work/most.sh"
run spec "$work/most.sh"
check "the least number and negations are read" exits 3

# Time grows with the script's length, and no faster.
{
	printf 'srun '
	printf -- '--a srun %.0s' $(seq 25000)
	echo
} >"$work/sruns.sh"
timeout 10 "$weft" spec "$work/sruns.sh" >"$work/out" 2>&1
check "a command of many sruns is read in time" test $? -lt 124
finish
