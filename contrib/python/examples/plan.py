# SPDX-License-Identifier: GPL-3.0-or-later
import weft

fabric = weft.Fabric.synth("pod:2 leaf:2 node:4 gpu:8")  # or Fabric.load(PATH)
job = weft.Job("gpus=32,tp=8,pp=2,model=llama3-8B", fabric)
placement = weft.plan(fabric, job, busy="n[00-02]")
print(placement.nodes, "gap %.0f %%" % (100 * placement.gap))
for rank in placement.ranks[::8]:
    print("rank %d: %s GPU %d" % (rank.rank, rank.node, rank.gpu))
step = weft.step(placement, gpu="H100")
print("step %.2f s, MFU %.0f %%" % (step.step_s, 100 * step.mfu))
