# SPDX-License-Identifier: GPL-3.0-or-later
"""The functions of libweft that the package calls: placement/abi/abi.h.

tests/python/abi.py compares this table with the header.
"""
import ctypes
import os
from ctypes import POINTER, c_bool, c_char_p, c_double, c_int
from ctypes import c_size_t, c_uint32, c_uint64, c_void_p

SONAME = "libweft.so.0"

# Name: what it returns, what it takes.
FUNCTIONS = {
    "weft_abi_error_build": (c_void_p,),
    "weft_abi_error_free": (None, c_void_p),
    "weft_abi_error_code": (c_int, c_void_p),
    "weft_abi_error_line": (c_int, c_void_p),
    "weft_abi_error_column": (c_int, c_void_p),
    "weft_abi_error_source": (c_char_p, c_void_p),
    "weft_abi_error_text": (c_char_p, c_void_p),
    "weft_abi_fabric_synth": (c_void_p, c_char_p, c_char_p, c_void_p),
    "weft_abi_fabric_name": (c_char_p, c_void_p),
    "weft_abi_fabric_profile": (c_char_p, c_void_p),
    "weft_abi_fabric_gpus": (c_uint32, c_void_p),
    "weft_abi_fabric_nodes": (c_uint32, c_void_p),
    "weft_abi_fabric_levels": (c_uint32, c_void_p),
    "weft_abi_fabric_rails": (c_uint32, c_void_p),
    "weft_abi_node_name": (c_char_p, c_void_p, c_uint32),
    "weft_abi_node_first_gpu": (c_uint32, c_void_p, c_uint32),
    "weft_abi_node_gpus": (c_uint32, c_void_p, c_uint32),
    "weft_abi_gpu_node": (c_uint32, c_void_p, c_uint32),
    "weft_abi_gpu_number": (c_uint32, c_void_p, c_uint32),
    "weft_abi_level_name": (c_char_p, c_void_p, c_uint32),
    "weft_abi_level_domains": (c_uint32, c_void_p, c_uint32),
    "weft_abi_level_rate": (c_double, c_void_p, c_uint32),
    "weft_abi_level_latency_s": (c_double, c_void_p, c_uint32),
    "weft_abi_level_oversubscription": (c_double, c_void_p, c_uint32),
    "weft_abi_gpu_domain": (c_char_p, c_void_p, c_uint32, c_uint32),
    "weft_abi_hops": (c_uint32, c_void_p, c_uint32, c_uint32),
    "weft_abi_job_build": (c_void_p, c_void_p, c_char_p, c_uint32, c_void_p),
    "weft_abi_job_free": (None, c_void_p),
    "weft_abi_job_gpus": (c_uint32, c_void_p),
    "weft_abi_job_axis": (c_uint32, c_void_p, c_char_p),
    "weft_abi_job_index": (c_uint32, c_void_p, c_uint32, c_char_p),
    "weft_abi_occupancy_build": (c_void_p, c_void_p, c_void_p),
    "weft_abi_occupancy_free": (None, c_void_p),
    "weft_abi_occupancy_usable": (c_uint32, c_void_p),
    "weft_abi_plan": (
        c_void_p, c_void_p, c_void_p, c_void_p, c_char_p, c_uint64, c_double,
        c_void_p,
    ),
    "weft_abi_score": (
        c_void_p, c_void_p, c_void_p, c_void_p, POINTER(c_uint32), c_uint32,
        c_void_p,
    ),
    "weft_abi_placement_free": (None, c_void_p),
    "weft_abi_placement_placed": (c_bool, c_void_p),
    "weft_abi_placement_ranks": (c_uint32, c_void_p),
    "weft_abi_placement_gpu": (c_uint32, c_void_p, c_uint32),
    "weft_abi_placement_method": (c_char_p, c_void_p),
    "weft_abi_placement_metric": (c_char_p, c_void_p),
    "weft_abi_placement_cost": (c_double, c_void_p),
    "weft_abi_placement_bound": (c_double, c_void_p),
    "weft_abi_placement_gap": (c_double, c_void_p),
    "weft_abi_placement_why": (c_char_p, c_void_p, c_uint32),
    "weft_abi_step": (
        c_void_p, c_void_p, c_void_p, c_void_p, c_char_p, c_void_p,
    ),
    "weft_abi_step_free": (None, c_void_p),
    "weft_abi_step_name": (c_char_p, c_uint32),
    "weft_abi_step_value": (c_double, c_void_p, c_uint32),
    # of other headers, which abi.h names
    "weft_fabric_load": (c_void_p, c_char_p, c_void_p),
    "weft_fabric_parse": (
        c_void_p, c_char_p, c_size_t, c_char_p, c_void_p,
    ),
    "weft_fabric_free": (None, c_void_p),
    "weft_occupancy_busy": (c_int, c_void_p, c_char_p, c_void_p),
    "weft_occupancy_load": (c_int, c_void_p, c_char_p, c_void_p),
}


def _load():
    # WEFT_LIBRARY: another one than the system's, as of a build folder.
    library = ctypes.CDLL(os.environ.get("WEFT_LIBRARY", SONAME))
    for name, (result, *arguments) in FUNCTIONS.items():
        function = getattr(library, name)
        function.restype = result
        function.argtypes = arguments
    return library


lib = _load()


class Error(Exception):
    """What libweft refuses: its text, and where it stands, if anywhere."""

    def __init__(self, text, code=1, source="", line=0, column=0):
        self.text = text
        self.code = code
        self.source = source
        self.line = line
        self.column = column
        place = ":".join(str(part) for part in (source, line, column) if part)
        super().__init__("%s: %s" % (place, text) if place else text)


def call(name, *arguments):
    """Calls a function whose last argument is an error; raises Error."""
    err = lib.weft_abi_error_build()
    if not err:
        raise MemoryError
    try:
        result = getattr(lib, name)(*arguments, err)
        if lib.weft_abi_error_code(err):
            raise Error(
                lib.weft_abi_error_text(err).decode(errors="replace"),
                lib.weft_abi_error_code(err),
                lib.weft_abi_error_source(err).decode(errors="replace"),
                lib.weft_abi_error_line(err),
                lib.weft_abi_error_column(err),
            )
        return result
    finally:
        lib.weft_abi_error_free(err)


def text(value):
    """A text of C, or None."""
    return None if value is None else value.decode(errors="replace")


class Handle:
    """Something of libweft's, freed with this object."""

    _free = None  # name of the function

    def __init__(self, handle):
        self._handle = handle

    def __del__(self):
        handle = getattr(self, "_handle", None)
        if handle and lib is not None:
            getattr(lib, self._free)(handle)
            self._handle = None


def frame(rows):
    """Rows of dicts as a pandas frame; an object inside is columns "a.b"."""
    import pandas

    return pandas.json_normalize(rows)
