# SPDX-License-Identifier: GPL-3.0-or-later
"""Where the ranks of a job run, what that costs, and how long a step takes."""
import ctypes
import os
from collections import namedtuple

from weft._abi import Handle, call, frame, lib, text
from weft.job import Job

Rank = namedtuple("Rank", "rank node gpu fabric_gpu")


class _Free(Handle):
    """What is free."""

    _free = "weft_abi_occupancy_free"

    def __init__(self, fabric, busy, state):
        super().__init__(call("weft_abi_occupancy_build", fabric._handle))
        if busy:
            call("weft_occupancy_busy", self._handle, busy.encode())
        if state:
            call("weft_occupancy_load", self._handle, os.fsencode(state))


class Placement(Handle):
    """The answer of plan and score; false where there is no room.

    ranks: a Rank for each, its GPU counted in the node and in the fabric.
    nodes: names, in the order of their lowest ranks. cost, bound and gap (the
    share of the cost that is not proven necessary) are in `metric`.
    """

    _free = "weft_abi_placement_free"

    def __init__(self, handle, fabric, job):
        super().__init__(handle)
        self.fabric = fabric
        self.job = job
        self.placed = lib.weft_abi_placement_placed(handle)
        self.method = text(lib.weft_abi_placement_method(handle))
        self.metric = text(lib.weft_abi_placement_metric(handle))
        self.cost = lib.weft_abi_placement_cost(handle)
        self.bound = lib.weft_abi_placement_bound(handle)
        self.gap = lib.weft_abi_placement_gap(handle)
        self.ranks = tuple(
            self._rank(i) for i in range(lib.weft_abi_placement_ranks(handle))
        )
        self.nodes = tuple(dict.fromkeys(rank.node for rank in self.ranks))
        self.why = tuple(self._reasons())

    def _rank(self, i):
        gpu = lib.weft_abi_placement_gpu(self._handle, i)
        node = self.fabric.node_of(gpu)
        local = lib.weft_abi_gpu_number(self.fabric._handle, gpu)
        return Rank(i, node.name, local, gpu)

    def _reasons(self):
        i = 0
        while reason := lib.weft_abi_placement_why(self._handle, i):
            yield text(reason)
            i += 1

    def frame(self):
        """A pandas frame with a row for each rank."""
        return frame([rank._asdict() for rank in self.ranks])

    def __bool__(self):
        return self.placed

    def __repr__(self):
        if not self:
            return "<weft.Placement: none>"
        return "<weft.Placement of %d ranks on %s>" % (
            len(self.ranks), ",".join(self.nodes),
        )


def _job(fabric, job):
    return Job(job, fabric) if isinstance(job, str) else job


def plan(fabric, job, busy=None, state=None, method=None, seed=0, budget_s=0):
    """Where job would run: job is a Job or a spec, busy a hostlist.

    state is a file, weft-state(5). Without budget_s the answer is the same
    everywhere.
    """
    job = _job(fabric, job)
    free = _Free(fabric, busy, state)
    handle = call(
        "weft_abi_plan", fabric._handle, job._handle, free._handle,
        method.encode() if method else None, seed, budget_s,
    )
    return Placement(handle, fabric, job)


def score(fabric, job, gpus, busy=None, state=None):
    """What it costs to run rank r on gpus[r], numbers of the fabric."""
    job = _job(fabric, job)
    free = _Free(fabric, busy, state)
    where = (ctypes.c_uint32 * len(gpus))(*gpus)
    handle = call(
        "weft_abi_score", fabric._handle, job._handle, free._handle, where,
        len(gpus),
    )
    return Placement(handle, fabric, job)


class Step(dict):
    """A predicted training step: its parts by name, also as attributes."""

    def __getattr__(self, name):
        try:
            return self[name]
        except KeyError:
            raise AttributeError(name) from None

    def frame(self):
        """A pandas frame with a row for each part."""
        return frame([{"part": k, "value": v} for k, v in self.items()])


def step(placement, gpu=None):
    """The step of a placement; gpu "H100", ... (default: the fabric's)."""
    handle = call(
        "weft_abi_step", placement.fabric._handle, placement.job._handle,
        placement._handle, gpu.encode() if gpu else None,
    )
    parts = Step()
    while name := lib.weft_abi_step_name(len(parts)):
        parts[text(name)] = lib.weft_abi_step_value(handle, len(parts))
    lib.weft_abi_step_free(handle)
    return parts
