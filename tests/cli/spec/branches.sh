#!/bin/sh
# which of the two sizes runs is the caller's to say
if [ "$SIZE" = large ]; then
	TP=8
else
	TP=2
fi
torchrun --nnodes 2 --nproc_per_node 8 pretrain_gpt.py --bf16 \
	--tensor-model-parallel-size $TP --micro-batch-size 1
