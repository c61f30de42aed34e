#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The package gives libweft's answers, and its refusals as exceptions."""
import json
import os
import subprocess
import tempfile
import unittest

import weft

WEFT = os.path.join(os.environ["WEFT_BUILDDIR"], "weft")
SPEC = "gpus=16,tp=4,pp=2,model=llama3-8B"


def weft_json(*words):
    done = subprocess.run(
        [WEFT, *words], stdout=subprocess.PIPE, check=True, text=True
    )
    return json.loads(done.stdout)


class Package(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.path = os.path.join(self.folder.name, "fabric.yaml")
        text = subprocess.run(
            [WEFT, "synth", "--profile", "dgx-h100-superpod", "pod:2", "leaf:2",
             "node:4", "gpu:8"],
            stdout=subprocess.PIPE, check=True, text=True,
        ).stdout
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text)
        self.fabric = weft.Fabric.load(self.path)

    def tearDown(self):
        self.folder.cleanup()

    def test_a_fabric_is_what_weft_fabric_says(self):
        said = weft_json("fabric", "--json", self.path)
        self.assertEqual(self.fabric.gpus, said["gpus"])
        self.assertEqual(len(self.fabric.nodes), said["nodes"])
        self.assertEqual(
            [level.name for level in self.fabric.levels],
            [level["name"] for level in said["levels"]],
        )

    def test_gpus_meet_where_they_share_a_domain(self):
        f = self.fabric
        self.assertEqual(f.hops(0, 0), 0)
        self.assertLess(f.hops(0, 1), f.hops(0, 8))
        self.assertLess(f.hops(0, 8), f.hops(0, f.gpus - 1))
        self.assertEqual(f.domain_of(0, "leaf"), f.domain_of(31, "leaf"))
        self.assertNotEqual(f.domain_of(0, "leaf"), f.domain_of(32, "leaf"))
        with self.assertRaises(IndexError):
            f.hops(0, f.gpus)

    def test_a_plan_is_that_of_weft_plan(self):
        busy = "n[00-01],n04:0-3"
        said = weft_json(
            "plan", "--json", "-f", self.path, "-j", SPEC, "--busy", busy
        )
        placement = weft.plan(self.fabric, SPEC, busy=busy)
        self.assertTrue(placement)
        self.assertEqual(
            [(r.rank, r.node, r.gpu) for r in placement.ranks],
            [(r["rank"], r["node"], r["gpu"]) for r in said["ranks"]],
        )
        self.assertEqual(placement.metric, said["metric"])

    def test_a_score_is_that_of_weft_score(self):
        said = weft_json(
            "score", "--json", "-f", self.path, "-j", SPEC, "--nodes",
            "n[00,08]",
        )
        nodes = {node.name: node for node in self.fabric.nodes}
        gpus = [
            nodes[name].first_gpu + g for name in ("n00", "n08") for g in range(8)
        ]
        placement = weft.score(self.fabric, SPEC, gpus)
        self.assertEqual(placement.nodes, ("n00", "n08"))
        self.assertAlmostEqual(
            placement.cost, said["cost"][said["metric"]], delta=1e-9
        )

    def test_a_step_adds_up(self):
        step = weft.step(weft.plan(self.fabric, SPEC))
        parts = (
            "products attention memory recompute logits bubble exposed_tp "
            "exposed_cp exposed_ep exposed_pp exposed_dp optimizer straggler host"
        )
        self.assertAlmostEqual(
            step.step_s, sum(step[part + "_s"] for part in parts.split()),
            delta=1e-6 * step.step_s,
        )
        self.assertTrue(0 < step.mfu < 1)
        with self.assertRaises(AttributeError):
            step.luck_s

    def test_no_room_is_an_answer(self):
        placement = weft.plan(self.fabric, "gpus=1024")
        self.assertFalse(placement)
        self.assertEqual(placement.ranks, ())
        self.assertTrue(placement.why)

    def test_axes_are_those_of_the_spec(self):
        job = weft.Job("dp=8,ep=4,tp=2,model=mixtral-8x7B")
        self.assertEqual(job.gpus, 16)
        self.assertEqual(
            job.axes, {"tp": 2, "cp": 1, "ep": 4, "dp": 8, "pp": 1}
        )

    def test_refusals_are_exceptions(self):
        f = self.fabric
        cases = (
            (lambda: weft.Job("tq=8"), "tq"),
            (lambda: weft.Fabric.synth("node:2 gpu:8", "dgx"), "dgx"),
            (lambda: weft.Fabric.load("/nowhere"), "/nowhere"),
            (lambda: weft.Fabric.parse("weft: 1\nnodes: ["), "fabric"),
            (lambda: weft.plan(f, SPEC, busy="x[1-2]"), "x1"),
            (lambda: weft.plan(f, SPEC, method="magic"), "magic"),
            (lambda: weft.score(f, SPEC, [0, 1]), "16 ranks"),
            (lambda: weft.score(f, SPEC, [0] * 16), "two ranks on GPU 0"),
            (lambda: weft.score(f, SPEC, range(9990, 10006)), "GPUs 0 to"),
            (lambda: weft.step(weft.plan(f, "gpus=1024")), "not placed"),
            (lambda: weft.step(weft.plan(f, SPEC), gpu="Z80"), "Z80"),
            (lambda: weft.replay(self.path, "/nowhere", weft=WEFT), "/nowhere"),
        )
        for ask, says in cases:
            with self.assertRaises(weft.Error) as caught:
                ask()
            self.assertIn(says, str(caught.exception))

    def test_an_error_says_where(self):
        with self.assertRaises(weft.Error) as caught:
            weft.Fabric.parse("weft: 1\nnodes: [", name="f.yaml")
        self.assertEqual(caught.exception.source, "f.yaml")
        self.assertGreaterEqual(caught.exception.line, 2)

    def test_handles_outlive_what_made_them(self):
        placement = weft.plan(weft.Fabric.synth("node:2 gpu:4"), "gpus=4")
        self.assertEqual(placement.fabric.name, placement.fabric.name)
        self.assertEqual(len(placement.ranks), 4)

    def test_frames_have_a_row_for_each(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("pandas is missing")
        job = weft.Job(SPEC)
        placement = weft.plan(self.fabric, job)
        self.assertEqual(len(placement.frame()), 16)
        self.assertEqual(len(self.fabric.frame()["leaf"].unique()), 4)
        self.assertIn("step_s", set(weft.step(placement).frame()["part"]))
        ranks = job.frame()
        self.assertEqual(list(ranks["tp"][:6]), [0, 1, 2, 3, 0, 1])
        self.assertEqual(list(ranks["dp"][:6]), [0, 0, 0, 0, 1, 1])
        self.assertEqual(list(ranks["pp"]), [0] * 8 + [1] * 8)

    def test_experts_ranks_are_numbered(self):
        job = weft.Job("dp=8,ep=4,tp=2,model=mixtral-8x7B")
        at = [
            weft._abi.lib.weft_abi_job_index(job._handle, rank, b"ep")
            for rank in (0, 1, 2, 3, 4, 16)
        ]
        self.assertEqual(at, [0, 1, 2, 3, 0, 0])


if __name__ == "__main__":
    unittest.main()
