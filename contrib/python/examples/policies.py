# SPDX-License-Identifier: GPL-3.0-or-later
# %% [markdown]
# A trace of jobs under several policies: policies.py FABRIC TRACE.
#
# FABRIC is a fabric file, TRACE a file as weft-replay(1) reads it; the program
# weft runs the replay.

# %%
import sys

import weft

fabric, trace = sys.argv[1:3]
replay = weft.replay(fabric, trace, "--policy", "weft,slurm-tree,random")
print("%d jobs on %d GPUs" % (replay["jobs"], replay["gpus"]))

# %% waiting, and how much longer a step of a job on several nodes takes
policies = replay.frame().set_index("policy")
shown = policies[["mean_wait_s", "p95_wait_s", "utilisation",
                  "multi_node.mean_step_ratio"]]
print(shown.round(3).to_string(), "\n")

# %% the steps against the first policy's
step_s = policies["multi_node.mean_step_s"]
for policy, ratio in (step_s / step_s.iloc[0]).items():
    print("%-12s steps take %.2f of weft's time" % (policy, ratio))
