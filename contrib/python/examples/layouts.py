# SPDX-License-Identifier: GPL-3.0-or-later
# %% [markdown]
# Which layout of 32 GPUs trains fastest, and what its place is worth.
#
# The nodes of each plan are compared with the same ranks dealt over all leafs in
# turn, as a scheduler might that knows no topology. All layouts are tried; "weft
# advise" leaves out those for which the memory does not do.

# %%
import itertools

import pandas
import weft

fabric = weft.Fabric.synth("pod:2 leaf:4 node:4 gpu:8")
# node 0 of every leaf, then node 1 of every leaf, ...
dealt_nodes = [fabric.nodes[i] for k in range(4) for i in range(k, 32, 4)][:4]
dealt_gpus = [n.first_gpu + g for n in dealt_nodes for g in range(n.gpus)]

# %% every layout: a row with the parts of its step
rows = []
for tp, pp, cp in itertools.product((1, 2, 4, 8), (1, 2, 4), (1, 2)):
    if tp * pp * cp > 32:
        continue
    job = weft.Job(
        "gpus=32,model=llama3-8B,gbs=128,zero=1,tp=%d,pp=%d,cp=%d" % (tp, pp, cp),
        fabric,
    )
    planned = weft.step(weft.plan(fabric, job), "H100")
    dealt = weft.step(weft.score(fabric, job, dealt_gpus), "H100")
    rows.append(job.axes | planned | {"dealt_s": dealt.step_s})
sweep = pandas.DataFrame(rows).sort_values("step_s")

# %% the fastest, and what the links add to each
axes = ["tp", "pp", "cp", "dp"]
sweep["links_s"] = sweep.filter(like="exposed_").sum(axis=1)
sweep["worth_percent"] = 100 * (sweep["dealt_s"] / sweep["step_s"] - 1)
columns = axes + ["step_s", "mfu", "bubble_s", "links_s", "worth_percent"]
print(sweep[columns].head(8).round(3).to_string(index=False))

# %% the best step by tensor and pipeline parallelism
print("\nbest step by tp and pp, seconds\n")
print(sweep.pivot_table(index="tp", columns="pp", values="step_s",
                        aggfunc="min").round(2))
