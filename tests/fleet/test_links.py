"""A virtual fleet of eight nodes below two leaf switches: a slow path, a slow NIC, a slow switch, each told
apart from the others by the pairs that it slows. Needs root; exits 77 (skipped) without."""
import os
import sys
import unittest

from test_fleet import FLEETBENCH, SKIPPED, TESTFLEET, Fleet

from fleetbench_process import execute  # noqa: E402

PAIRS = {
    "schema": "fleetbench-scenario/1.1",
    "name": "pairs",
    "description": "every node with every other one, for tests",
    "passes": 5,
    "steps": [{"probe": "mpi_pairs", "params": {"bytes": 16 << 20, "max_s": 2}, "pairs": "all_pairs"}],
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

    def first(self, *fault):
        if fault:
            self.fleet("fault", *fault)
        run = self.directory / f"run{len(list(self.directory.iterdir()))}"
        options = ["--schedule", "alone", "--no-confirm", "--topology", str(self.topology), "--out", str(run)]
        command = [FLEETBENCH, "--suite", self.scenario(PAIRS), *options]
        result = execute([TESTFLEET, "--name", self.name, "run", "--", *command], timeout=300)
        self.fleet("heal", "all")
        report = self.report(run)
        return [f for f in report["findings"] if f["direction"] == "slow" and f["explained_by"] is None], result.out

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


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("skipped: it needs root")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
