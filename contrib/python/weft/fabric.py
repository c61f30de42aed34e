# SPDX-License-Identifier: GPL-3.0-or-later
"""The cluster: GPUs, nodes, and the levels at which they meet."""
from collections import namedtuple

from weft._abi import Handle, call, frame, lib, text

Node = namedtuple("Node", "index name first_gpu gpus")
Level = namedtuple(
    "Level", "name domains rate_bytes_per_s latency_s oversubscription"
)

NOT_CONNECTED = 2**32 - 1


class Fabric(Handle):
    """A fabric, which does not change. load, parse and synth make one."""

    _free = "weft_fabric_free"

    def __init__(self, handle):
        super().__init__(handle)
        self.nodes = tuple(
            Node(
                i,
                text(lib.weft_abi_node_name(handle, i)),
                lib.weft_abi_node_first_gpu(handle, i),
                lib.weft_abi_node_gpus(handle, i),
            )
            for i in range(lib.weft_abi_fabric_nodes(handle))
        )
        # innermost first
        self.levels = tuple(
            Level(
                text(lib.weft_abi_level_name(handle, i)),
                lib.weft_abi_level_domains(handle, i),
                lib.weft_abi_level_rate(handle, i),
                lib.weft_abi_level_latency_s(handle, i),
                lib.weft_abi_level_oversubscription(handle, i),
            )
            for i in range(lib.weft_abi_fabric_levels(handle))
        )

    @classmethod
    def load(cls, path):
        """From a fabric file, weft-fabric(5)."""
        return cls(call("weft_fabric_load", str(path).encode()))

    @classmethod
    def parse(cls, source, name="fabric"):
        """From the text of such a file; name stands in messages."""
        data = source.encode()
        return cls(call("weft_fabric_parse", data, len(data), name.encode()))

    @classmethod
    def synth(cls, shape, profile=None):
        """Of a shape as weft synth takes it: "leaf:2 node:4 gpu:8"."""
        return cls(
            call(
                "weft_abi_fabric_synth", shape.encode(),
                profile.encode() if profile else None,
            )
        )

    @property
    def name(self):
        return text(lib.weft_abi_fabric_name(self._handle))

    @property
    def profile(self):
        return text(lib.weft_abi_fabric_profile(self._handle))

    @property
    def gpus(self):
        return lib.weft_abi_fabric_gpus(self._handle)

    @property
    def rails(self):
        return lib.weft_abi_fabric_rails(self._handle)

    def node_of(self, gpu):
        """The node of a GPU."""
        self._check(gpu)
        return self.nodes[lib.weft_abi_gpu_node(self._handle, gpu)]

    def domain_of(self, gpu, level):
        """Name of the domain of a GPU; level by name or index, 0 innermost."""
        self._check(gpu)
        if isinstance(level, str):
            level = [known.name for known in self.levels].index(level)
        return text(lib.weft_abi_gpu_domain(self._handle, gpu, level))

    def hops(self, a, b):
        """Links crossed between two GPUs; None: not connected."""
        self._check(a)
        self._check(b)
        n = lib.weft_abi_hops(self._handle, a, b)
        return None if n == NOT_CONNECTED else n

    def _check(self, gpu):
        if not 0 <= gpu < self.gpus:
            raise IndexError("the fabric has GPUs 0 to %d" % (self.gpus - 1))

    def frame(self):
        """A pandas frame with a row for each GPU and a column for each level."""
        rows = []
        for node in self.nodes:
            for gpu in range(node.first_gpu, node.first_gpu + node.gpus):
                local = lib.weft_abi_gpu_number(self._handle, gpu)
                row = {"gpu": gpu, "node": node.name, "local_gpu": local}
                for i, level in enumerate(self.levels):
                    row[level.name] = self.domain_of(gpu, i)
                rows.append(row)
        return frame(rows)

    def __repr__(self):
        return "<weft.Fabric %s: %d GPUs on %d nodes>" % (
            self.name, self.gpus, len(self.nodes),
        )
