# SPDX-License-Identifier: GPL-3.0-or-later
"""A stream of jobs under several policies.

libweft has no replay; this runs weft replay --json.
"""
import json
import os
import subprocess

from weft._abi import Error, frame


class Replay(dict):
    """The object that weft replay --json prints, weft-replay(1)."""

    def frame(self):
        """A pandas frame with a row for each policy."""
        return frame(self["policies"])


def replay(fabric, trace, *options, weft=None):
    """Replays the file `trace` on the file `fabric`.

    options are those of weft replay, such as "--policy=weft"; weft is the
    program (default: WEFT, or "weft").
    """
    program = weft or os.environ.get("WEFT", "weft")
    done = subprocess.run(
        [program, "replay", "--json", "--fabric", os.fspath(fabric), "--trace",
         os.fspath(trace), *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
    )
    answer = json.loads(done.stdout) if done.stdout else {}
    why = answer.get("error")
    if why:
        raise Error(
            why["message"], done.returncode, why["file"] or "",
            why["line"] or 0, why["column"] or 0,
        )
    if done.returncode:
        raise Error(done.stderr.strip(), done.returncode)
    return Replay(answer)
