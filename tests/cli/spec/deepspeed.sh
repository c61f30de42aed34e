#!/bin/bash
STAGE=3
cat > ds.json << END
{
  "train_micro_batch_size_per_gpu": 2,
  "gradient_accumulation_steps": 4,
  "zero_optimization": { "stage": $STAGE },
  "bf16": { "enabled": true }
}
END
CMD="finetune.py --model_name_or_path meta-llama/Llama-3.1-8B \
	--deepspeed ds.json"
deepspeed --num_nodes 4 --num_gpus 8 $CMD
