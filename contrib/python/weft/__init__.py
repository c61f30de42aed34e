# SPDX-License-Identifier: GPL-3.0-or-later
"""weft - topology-aware placement of GPU training jobs.

    fabric = weft.Fabric.load("fabric.yaml")
    job = weft.Job("gpus=64,tp=8,pp=2,model=llama3-70B", fabric)
    placement = weft.plan(fabric, job)
    print(placement.nodes, weft.step(placement).step_s)

Times are in seconds, sizes in bytes, rates in bytes per second. What libweft
refuses raises weft.Error. Frames need pandas; nothing else does.
"""
from weft._abi import Error
from weft.fabric import Fabric, Level, Node
from weft.job import Job
from weft.placement import Placement, Rank, Step, plan, score, step
from weft.replay import Replay, replay

__all__ = [
    "Error", "Fabric", "Job", "Level", "Node", "Placement", "Rank", "Replay",
    "Step", "plan", "replay", "score", "step",
]
