# SPDX-License-Identifier: GPL-3.0-or-later
# %% [markdown]
# What weft's nodes are worth beside the first free ones.
#
# The links between the pods of the cluster are thin, and four nodes are busy. weft
# plans a job on what is free; the other placement is what a scheduler takes that
# goes by node names.
# Cells begin with "# %%", so that a notebook opens this file.

# %%
import pandas
import weft

BUSY = "n[00-02],n09"
fabric = weft.Fabric.synth("pod:2 leaf:2 node:4 gpu:8", "roce-llama3")
job = weft.Job("gpus=64,tp=8,pp=2,zero=1,model=llama3-70B", fabric)
planned = weft.plan(fabric, job, busy=BUSY)

# %% the first free nodes, in the order of their names
taken = {"n00", "n01", "n02", "n09"}
free = [node for node in fabric.nodes if node.name not in taken][: job.gpus // 8]
first = weft.score(
    fabric, job, [node.first_gpu + g for node in free for g in range(node.gpus)],
    busy=BUSY,
)

# %% where the stages of the pipeline are: ranks, their axes, their leafs
places = (
    job.frame()
    .merge(planned.frame(), on="rank")
    .merge(fabric.frame(), left_on="fabric_gpu", right_on="gpu",
           suffixes=("", "_of_fabric"))
)
print("weft's nodes: GPUs of each stage by leaf\n")
print(places.pivot_table(index="leaf", columns="pp", values="rank",
                         aggfunc="count", fill_value=0), "\n")

# %% the parts of a step that differ, in seconds
steps = pandas.DataFrame(
    {"weft": weft.step(planned, "H100"), "first": weft.step(first, "H100")}
)
steps["difference"] = steps["first"] - steps["weft"]
print(steps[steps["difference"].abs() > 1e-6].round(4), "\n")
print("cost: %.3g and %.3g %s" % (planned.cost, first.cost, planned.metric))
