"""Real faults on a virtual fleet of four nodes: namespaces, a bridge, and what `tc`, cgroups and
signals do to them. Needs root; exits 77 (skipped) without."""
import json
import os
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "e2e"))
from fleetbench_process import FLEETBENCH, LONG, FleetbenchTest, Started, execute  # noqa: E402

SOURCE = Path(__file__).resolve().parent.parent.parent
TESTFLEET = str(SOURCE / "scripts" / "testfleet")
SKIPPED = 77


class Fleet(FleetbenchTest):
    nodes = 4

    def setUp(self):
        super().setUp()
        self.name = f"t{os.getpid() % 100000}"
        self.fleet("up", str(self.nodes))
        self.addCleanup(lambda: execute([TESTFLEET, "--name", self.name, "down"]))

    def fleet(self, *arguments):
        result = execute([TESTFLEET, "--name", self.name, *arguments])
        self.assertEqual(result.code, 0, result.err)
        return result

    def command(self, run, *options, suite="quick"):
        return [
            TESTFLEET, "--name", self.name, "run", "--",
            FLEETBENCH, "--suite", suite, "--schedule", "alone", "--out", str(run), *options,
        ]  # fmt: skip

    def measure(self, *options):
        run = self.directory / f"run{len(list(self.directory.iterdir()))}"
        result = execute(self.command(run, *options), timeout=300)
        self.assertTrue((run / "report.json").exists(), result.out + result.err)
        return self.report(run), result

    # What was not there any more when it was measured again was a disturbance of this machine.
    def standing(self, report):
        return [finding for finding in report["findings"] if finding["status"] != "not_reproduced"]

    def assert_first_is(self, report, node, layer, text):
        findings = self.standing(report)
        self.assertTrue(findings, "nothing was found\n" + text)
        self.assertEqual((findings[0]["subject"].get("node"), findings[0]["layer"]), (node, layer), text)
        self.assertEqual({finding["subject"].get("node") for finding in findings}, {node}, text)


    def assert_confirmed(self, report, result):
        self.assertEqual(report["findings"][0]["status"], "confirmed", result.out)
        self.assertEqual((report["verdict"], result.code), ("FAIL", 2), result.out)

    # What follows from the fault counts too: it is the same node's.
    def assert_only_one_is_blamed(self, report, node, layer, text):
        findings = self.standing(report)
        self.assertTrue(findings, "nothing was found\n" + text)
        self.assertEqual({finding["subject"].get("node") for finding in findings}, {node}, text)
        self.assertIn(layer, {finding["layer"] for finding in findings}, text)

    def slow_metrics(self, report, prefix):
        names = {m["metric"] for f in self.standing(report) if f["direction"] == "slow" for m in f["metrics"]}
        return {name for name in names if name.startswith(prefix)}


class OneFault(Fleet):
    def test_a_slow_link_is_the_nodes_network(self):
        self.fleet("fault", "link", "node2", "400mbit", "both")
        report, result = self.measure()
        self.assert_first_is(report, "node2", "network", result.out)
        self.assert_confirmed(report, result)

    # A queue that holds little throws away what TCP then sends again.
    def test_what_was_sent_again_is_told_of_a_slow_link(self):
        shape = "tc qdisc replace dev eth0 root tbf rate 200mbit burst 16kb limit 32kb"
        self.fleet("exec", "node2", "--", *shape.split())
        report, result = self.measure("--only", "mpi_pairs")
        finding = self.standing(report)[0]
        self.assertEqual((finding["subject"].get("node"), finding["layer"]), ("node2", "network"), result.out)
        told = [item["reading"]["what"] for item in finding["evidence"] if "reading" in item]
        self.assertIn("evidence.rises.tcp_retransmits", told, result.out)
        self.assertIn("mpi_pairs.bandwidth: speed in % of the median pair", result.out)

    def test_a_cpu_quota_is_the_nodes_host(self):
        self.fleet("fault", "cpu", "node1", "50")
        report, result = self.measure("--only", "cpu_gemm")
        self.assert_first_is(report, "node1", "host", result.out)
        self.assert_confirmed(report, result)

    def test_without_confirmation_a_slow_node_stays_tentative(self):
        self.fleet("fault", "cpu", "node1", "50")
        report, result = self.measure("--only", "cpu_gemm", "--no-confirm")
        self.assert_first_is(report, "node1", "host", result.out)
        self.assertEqual(report["findings"][0]["status"], "tentative")
        self.assertEqual((report["verdict"], result.code), ("WARN", 0), result.out)

    def test_a_slow_disk_is_the_nodes_storage_and_not_its_host(self):
        disk = execute([TESTFLEET, "--name", self.name, "fault", "disk", "node2", "20MiB"])
        if disk.code != 0:
            self.skipTest(disk.err.strip())
        report, result = self.measure()
        self.assert_only_one_is_blamed(report, "node2", "storage", result.out)
        self.assertEqual(self.slow_metrics(report, "cpu_gemm."), set(), result.out)

    def test_a_tight_cpu_quota_leaves_direct_reads_alone(self):
        self.fleet("fault", "cpu", "node1", "15")
        report, result = self.measure()
        self.assert_only_one_is_blamed(report, "node1", "host", result.out)
        self.assertEqual(self.slow_metrics(report, "storage.sequential."), set(), result.out)

    def test_a_frozen_rank_is_named_and_the_run_ends(self):
        run = self.directory / "run"
        started = Started(self.command(run, suite=self.scenario(LONG)))
        self.addCleanup(started.end)
        started.wait_for(lambda: self.measuring(run))
        self.fleet("fault", "freeze", "node3", "fleetbench")
        started.finish(timeout=120)
        report = self.report(run)
        self.assertEqual(report["fleet"]["lost"], ["node3"])
        self.assertEqual(report["findings"][0]["subject"]["node"], "node3")
        self.assertEqual(report["findings"][0]["direction"], "missing")
        self.assertEqual((run / "verdict").read_text().strip(), "FAIL")
        self.assertEqual(started.code, 2, started.err)

    def test_a_killed_worker_is_named_and_the_run_ends(self):
        run = self.directory / "run"
        started = Started(self.command(run, suite=self.scenario(LONG)))
        self.addCleanup(started.end)
        started.wait_for(lambda: self.measuring(run))
        killed = started.wait_for(
            lambda: execute([TESTFLEET, "--name", self.name, "fault", "kill", "node1", "fleetbench-work"]).code == 0
        )
        self.assertTrue(killed)
        started.finish(timeout=120)
        report = self.report(run)
        self.assertEqual([f["subject"]["node"] for f in report["findings"] if f["direction"] == "missing"], ["node1"])
        self.assertEqual(started.code, 2, started.err)

    def measuring(self, run):
        journal = run / "journal.jsonl"
        return journal.exists() and journal.read_text().count('"t":"sample"') > self.nodes


class Healthy(Fleet):
    """How often a fleet without a fault is accused. FLEETBENCH_HEALTHY_RUNS says how many runs."""

    def test_a_healthy_fleet_is_left_alone(self):
        runs = int(os.environ.get("FLEETBENCH_HEALTHY_RUNS", "2"))
        accused = []
        for number in range(runs):
            report, result = self.measure()
            self.assertNotEqual(report["verdict"], "FAIL", result.out)
            standing = self.standing(report)
            print(f"run {number + 1} of {runs}: {report['verdict']}, {len(standing)} findings", flush=True)
            if standing:
                accused.append(result.out)
        self.assertLessEqual(len(accused), max(1, runs // 20), "\n\n".join(accused))


if __name__ == "__main__":
    if os.geteuid() != 0:
        print("skipped: a virtual fleet needs root")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
