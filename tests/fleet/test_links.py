"""A virtual fleet of eight nodes below two leaf switches: a slow path, a slow NIC, a slow switch, each told
apart from the others by the pairs that it slows. Needs root; exits 77 (skipped) without."""
import os
import shlex
import sys
import unittest

from test_fleet import FLEETBENCH, SKIPPED, TESTFLEET, Fleet

from fleetbench_process import BUILD, execute  # noqa: E402

PAIRS = {
    "schema": "fleetbench-scenario/1.1",
    "name": "pairs",
    "description": "every node with every other one, for tests",
    "passes": 5,
    "steps": [{"probe": "mpi_pairs", "params": {"bytes": 16 << 20, "max_s": 2}, "pairs": "all_pairs"}],
}
NCCL_PAIRS = {
    "schema": "fleetbench-scenario/1.2",
    "name": "nccl",
    "passes": 3,
    "steps": [
        {
            "probe": "nccl_pairs",
            "params": {"message_bytes": 1 << 20, "bytes": 1 << 22, "warmup": 1, "latency_iterations": 20},
            "pairs": "all_pairs",
            "limit_s": 60,
        }
    ],
}
SLOW = "1500mbit"  # about a fifth of what a link of this fleet carries


class Links(Fleet):
    nodes = 8

    def setUp(self):
        super().setUp()
        self.fleet("down")
        self.fleet("up", str(self.nodes), "0", "--leaves", "2")
        self.topology = self.directory / "topology.conf"
        self.topology.write_text(self.fleet("topology").out, encoding="utf-8")

    def slow(self, scenario, *options, under=()):
        """Findings that no other one explains."""
        run = self.directory / f"run{len(list(self.directory.iterdir()))}"
        fixed = ["--topology", str(self.topology), "--out", str(run)]
        command = [*under, FLEETBENCH, "--suite", self.scenario(scenario), *fixed, *options]
        result = execute([TESTFLEET, "--name", self.name, "run", "--", *command], timeout=300)
        report = self.report(run)
        return [f for f in report["findings"] if f["direction"] == "slow" and f["explained_by"] is None], result.out

    def first(self, *fault):
        if fault:
            self.fleet("fault", *fault)
        found = self.slow(PAIRS, "--schedule", "alone", "--no-confirm")
        self.fleet("heal", "all")
        return found

    def test_each_is_named_as_what_it_is(self):
        findings, text = self.first()
        self.assertEqual(findings, [], text)
        with self.subTest("a path, one way"):
            findings, text = self.first("path", "node1", "node6", SLOW)
            [subject] = [finding["subject"] for finding in findings]
            self.assertEqual((subject["kind"], subject["a"], subject["b"]), ("link", "node1", "node6"), text)
            self.assertTrue(subject["directed"], text)
        with self.subTest("a NIC"):
            findings, text = self.first("link", "node2", SLOW, "both")
            self.assertEqual({(f["subject"]["kind"], f["subject"].get("node")) for f in findings}, {("node", "node2")}, text)
        with self.subTest("a leaf switch"):
            findings, text = self.first("switch", "leaf1", SLOW)
            [subject] = [finding["subject"] for finding in findings]
            self.assertEqual((subject["kind"], subject["switch"]), ("switch", "leaf1"), text)
            self.assertEqual(findings[0]["counts"]["slow_others"], 0, text)


class NcclLinks(Links):
    """The same between simulated GPUs, two a node, over NCCL: each with its own NIC."""

    def first(self, faults="", switches="", confirm="--no-confirm"):
        leaves = "leaf0=node0,node1,node2,node3;leaf1=node4,node5,node6,node7"
        settings = {
            "LD_LIBRARY_PATH": BUILD / "gpu_sim",
            "FLEETBENCH_GPU_SIM_GPUS": 2,
            "FLEETBENCH_GPU_SIM_FAULTS": faults,
            "FLEETBENCH_GPU_SIM_SWITCHES": leaves,
            "FLEETBENCH_GPU_SIM_SWITCH_FAULTS": switches,
        }
        exports = " ".join(f"export {name}={shlex.quote(str(value))};" for name, value in settings.items() if value)
        return self.slow(NCCL_PAIRS, *filter(None, [confirm]), under=["sh", "-c", exports + ' exec "$@"', "sh"])

    def setUp(self):
        if not (BUILD / "gpu_sim" / "libnccl.so.2").exists():
            self.skipTest("built without NCCL")
        super().setUp()

    def test_each_is_named_as_what_it_is(self):
        findings, text = self.first()
        self.assertEqual(findings, [], text)
        for faults, switches, expected in (
            ("node1:1:link=node6:0.5", "", {"kind": "link", "a": "node1", "b": "node6", "rail": "gpu1", "directed": True}),
            ("node3:1:nic=0.5", "", {"kind": "rail", "node": "node3", "rail": "gpu1"}),
            ("node2:*:nic=0.5", "", {"kind": "node", "node": "node2"}),
            ("", "leaf1=0.5", {"kind": "switch", "switch": "leaf1"}),
        ):
            with self.subTest(faults=faults, switches=switches):
                findings, text = self.first(faults, switches)
                self.assertTrue(findings, text)
                for finding in findings:
                    self.assertEqual({key: finding["subject"].get(key) for key in expected}, expected, text)

    def test_a_slow_rail_is_measured_again(self):
        findings, text = self.first("node3:1:nic=0.5", confirm=None)
        [finding] = findings
        self.assertEqual((finding["subject"]["kind"], finding["status"]), ("rail", "confirmed"), text)
        self.assertIn("FAIL", text)

    def test_a_slow_link_is_measured_by_itself_as_well(self):
        findings, text = self.first("node1:1:link=node6:0.5", confirm=None)
        [finding] = findings
        self.assertEqual((finding["subject"]["kind"], finding["status"]), ("link", "confirmed"), text)
        [alone] = [e["text"] for e in finding["evidence"] if "with the fleet quiet" in e["text"]]
        self.assertIn("slow by itself, so not for congestion", alone)


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("skipped: it needs root")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
