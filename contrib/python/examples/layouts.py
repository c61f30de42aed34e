# SPDX-License-Identifier: GPL-3.0-or-later
"""Which layout of 32 GPUs trains fastest, and what its place is worth.

The nodes of each plan are compared with the same ranks dealt over all nodes in
turn, as a scheduler might that knows no topology.
"""
import weft

LAYOUTS = ("tp=8,pp=2", "tp=8,pp=4", "tp=4,pp=4", "tp=2,pp=8", "tp=8,cp=2,pp=2")

fabric = weft.Fabric.synth("pod:2 leaf:4 node:4 gpu:8")
rows = []
for layout in LAYOUTS:
    job = weft.Job("gpus=32,model=llama3-8B,gbs=128," + layout, fabric)
    planned = weft.plan(fabric, job)
    # node 0 of every leaf, then node 1 of every leaf, ...
    nodes = [fabric.nodes[i] for k in range(4) for i in range(k, 32, 4)][:4]
    dealt = weft.score(
        fabric, job,
        [node.first_gpu + g for node in nodes for g in range(node.gpus)],
    )
    rows.append(
        (
            weft.step(planned, "H100").step_s,
            weft.step(dealt, "H100").step_s,
            layout,
            job.axes["dp"],
        )
    )

print("layout          dp  planned s  dealt s")
for planned_s, dealt_s, layout, dp in sorted(rows):
    print("%-15s %2d  %9.3f  %7.3f" % (layout, dp, planned_s, dealt_s))
