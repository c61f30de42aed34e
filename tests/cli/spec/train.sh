srun accelerate launch --config_file accelerate.yaml --num_machines 2 train.py
