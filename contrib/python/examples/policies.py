# SPDX-License-Identifier: GPL-3.0-or-later
"""A day of jobs under two policies: policies.py FABRIC TRACE.

FABRIC is a fabric file, TRACE as weft-replay(1) reads it.
"""
import sys

import weft

answer = weft.replay(sys.argv[1], sys.argv[2], "--policy", "weft,random")
print("%d jobs on %d GPUs" % (answer["jobs"], answer["gpus"]))
for policy in answer["policies"]:
    print(
        "%-8s waits %6.1f s, steps %.2f of the best"
        % (
            policy["policy"],
            policy["mean_wait_s"],
            policy["multi_node"]["mean_step_ratio"],
        )
    )
