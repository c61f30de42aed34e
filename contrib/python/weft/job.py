# SPDX-License-Identifier: GPL-3.0-or-later
"""A job: its spec, and how many ranks each axis has."""
from weft._abi import Handle, call, frame, lib


class Job(Handle):
    """What a spec says, weft-spec(7). Levels that it names are the fabric's."""

    _free = "weft_abi_job_free"
    AXES = ("tp", "cp", "ep", "dp", "pp")

    def __init__(self, spec, fabric=None, gpus=0):
        super().__init__(None)
        self.spec = spec
        self._handle = call(
            "weft_abi_job_build",
            fabric._handle if fabric else None, spec.encode(), gpus,
        )

    @property
    def gpus(self):
        return lib.weft_abi_job_gpus(self._handle)

    @property
    def axes(self):
        """Size of each axis of parallelism, by name."""
        return {
            axis: lib.weft_abi_job_axis(self._handle, axis.encode())
            for axis in self.AXES
        }

    def frame(self):
        """A pandas frame with a row for each rank and a column for each axis."""
        return frame(
            [
                {"rank": rank}
                | {
                    axis: lib.weft_abi_job_index(
                        self._handle, rank, axis.encode()
                    )
                    for axis in self.AXES
                }
                for rank in range(self.gpus)
            ]
        )

    def __repr__(self):
        return "<weft.Job %s: %d GPUs>" % (self.spec, self.gpus)
