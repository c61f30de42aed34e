#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The table of the package has the prototypes of placement/abi/abi.h: abi.py
HEADER..."""
import ctypes
import re
import sys

from weft import _abi

TYPES = {
    "void": None,
    "bool": ctypes.c_bool,
    "int": ctypes.c_int,
    "double": ctypes.c_double,
    "size_t": ctypes.c_size_t,
    "uint32_t": ctypes.c_uint32,
    "uint64_t": ctypes.c_uint64,
    "char *": ctypes.c_char_p,
    "uint32_t *": ctypes.POINTER(ctypes.c_uint32),
}


def of_c(words):
    """The type of "const char *name" and the like, as ctypes has it."""
    words = re.sub(r"\bconst\b", "", words).strip()
    if re.match(r"struct \w+ \*", words):
        return ctypes.c_void_p
    pointer = re.match(r"(\w+) \*", words)
    return TYPES[pointer.group(0) if pointer else words.split()[0]]


def prototypes(path):
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    for found in re.finditer(
        r"^((?:const )?(?:struct )?\w+ \*?)(weft_\w+)\(([^)]*)\);", text, re.M
    ):
        result, name, arguments = found.groups()
        if not name.startswith("weft_abi_") and name not in _abi.FUNCTIONS:
            continue
        arguments = " ".join(arguments.split())
        yield name, tuple(
            of_c(words)
            for words in [result]
            + ([] if arguments == "void" else arguments.split(","))
        )


def main():
    known = {}
    for path in sys.argv[1:]:
        known.update(prototypes(path))
    wrong = [
        "%s: %s, but the header has %s" % (name, types, known.get(name))
        for name, types in _abi.FUNCTIONS.items()
        if known.get(name) != types
    ]
    wrong += [
        "%s: not in the package" % name
        for name in known
        if name.startswith("weft_abi_") and name not in _abi.FUNCTIONS
    ]
    print("\n".join(wrong) or "%d functions" % len(_abi.FUNCTIONS))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
