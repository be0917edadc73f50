"""Suspects are measured again in the same run. What is measured is a script that says how slow its
node is, so that figures are certain: ranks are nodes."""
import json
import os
import signal
import sys
import unittest

from fleetbench_process import FLEETBENCH, FleetbenchTest, execute, mpirun

PASSES = 5
PAIRS = 8
SLOW = "2"  # which node

# Calls are counted by node: it is slow in the first so many of them, and may die in one.
SCRIPT = """
import json, os, pathlib, random, signal, sys, time
time.sleep(float(sys.argv[5]))
folder, percent, slow_calls, fatal_call = sys.argv[1], float(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
node = os.environ["FLEETBENCH_NODE_INDEX"]
counter = pathlib.Path(folder, node)
calls = int(counter.read_text()) if counter.exists() else 0
counter.write_text(str(calls + 1))
if node == "%s":
    if calls == fatal_call:
        os.kill(os.getppid(), signal.SIGSTOP)
    percent = percent if calls < slow_calls else 0
else:
    percent = 0
print(json.dumps({"step_s": (1 + percent / 100) * random.uniform(1, 1.005)}))
""" % SLOW
NEVER = -1
ALWAYS = 1000


class Confirmation(FleetbenchTest):
    ranks = 4

    def command(self, *options, percent=60, slow_calls=ALWAYS, fatal_call=NEVER, seconds=0, limit_s=30):
        self.run_folder = self.directory / "run"
        calls = self.directory / "calls"
        calls.mkdir()
        argv = [sys.executable, "-c", SCRIPT, *map(str, (calls, percent, slow_calls, fatal_call, seconds))]
        step = {"probe": "fleet_command", "params": {"argv": argv, "metrics": [{"name": "step_s"}]}, "limit_s": limit_s}
        suite = {"schema": "fleetbench-scenario/1.1", "name": "own", "passes": PASSES, "steps": [step]}
        command = [FLEETBENCH, "--suite", self.scenario(suite), "--out", str(self.run_folder), "--nodes-by", "rank"]
        return mpirun(self.ranks) + command + list(options)

    def measure(self, *options, **how):
        result = execute(self.command(*options, **how))
        self.assert_follows_schemas(self.run_folder)
        again = execute([FLEETBENCH, "analyze", str(self.run_folder), "--json"])
        self.assertEqual(json.loads(again.out), self.report(self.run_folder))
        return self.report(self.run_folder), result

    def records(self, kind):
        return [record for record in self.journal(self.run_folder) if record.get("t") == kind]

    def samples_again(self):
        return [sample for sample in self.records("sample") if "confirms" in sample]

    def name(self, node):
        return json.loads((self.run_folder / "run.json").read_text())["nodes"][int(node)]["name"]

    def first(self, report):
        self.assertTrue(report["findings"])
        return report["findings"][0]

    def evidence(self, finding):
        return "\n".join(item["text"] for item in finding["evidence"])

    def test_a_slow_node_is_confirmed_and_fails_the_run(self):
        report, result = self.measure()
        finding = self.first(report)
        self.assertEqual((finding["subject"]["node"], finding["status"]), (self.name(SLOW), "confirmed"), result.out)
        self.assertEqual((report["verdict"], result.code), ("FAIL", 2))
        self.assertIn(f"slower in {PAIRS} of {PAIRS} pairs", self.evidence(finding))
        self.assertIn("measuring 1 suspect again", result.err)
        [record] = self.records("confirm")
        self.assertEqual(record["pairs"], PAIRS)
        self.assertEqual(str(record["compared"][0]["node"]), SLOW)
        # The step ran on all nodes at once, and so it does again.
        self.assertEqual(len(self.samples_again()), PAIRS * self.ranks)
        self.assertGreater(report["time"]["measurement_s"], sum(s["measure_s"] for s in self.samples_again()) / self.ranks)

    def test_a_disturbance_that_is_over_is_not_reproduced(self):
        report, result = self.measure(slow_calls=PASSES)
        finding = self.first(report)
        self.assertEqual((finding["subject"]["node"], finding["status"]), (self.name(SLOW), "not_reproduced"))
        self.assertNotIn(report["verdict"], ("FAIL", "WARN"), result.out)
        self.assertIn("not when it was measured again", "\n".join(report["notes"]))

    def test_without_confirmation_it_stays_a_suspect(self):
        report, result = self.measure("--no-confirm")
        self.assertEqual(self.first(report)["status"], "tentative")
        self.assertEqual((report["verdict"], result.code), ("WARN", 0))
        self.assertEqual(self.records("confirm") + self.samples_again(), [])

    def test_nobody_is_measured_again_where_nobody_is_slow(self):
        report, result = self.measure(percent=0)
        self.assertEqual(report["findings"], [], result.out)
        self.assertEqual(self.records("confirm") + self.samples_again(), [])

    def test_what_takes_longer_than_the_limit_is_left_out(self):
        report, result = self.measure("--confirm-limit", "1", seconds=0.3)
        self.assertEqual((report["verdict"], result.code), ("WARN", 0), result.err)
        self.assertIn("of the limit of 1 s", self.evidence(self.first(report)))
        self.assertIn("is not measured again", result.err)
        [record] = self.records("confirm")
        self.assertEqual(record["pairs"], 0)
        self.assertEqual(self.samples_again(), [])

    def test_a_worker_that_hangs_meanwhile_is_told_of(self):
        report, result = self.measure(fatal_call=PASSES + 3, limit_s=10)
        missing = [finding for finding in report["findings"] if finding["direction"] == "missing"]
        self.assertEqual([finding["subject"].get("node") for finding in missing], [self.name(SLOW)], result.out)
        self.assertEqual(report["verdict"], "FAIL")

    def test_sigterm_meanwhile_leaves_a_readable_run(self):
        started = self.start(self.command(seconds=0.2))
        started.wait_for(lambda: (self.run_folder / "journal.jsonl").exists() and self.whole_samples_again())
        started.process.terminate()
        started.finish()
        self.assertEqual(execute([FLEETBENCH, "verdict", str(self.run_folder)]).code, 3)
        again = execute([FLEETBENCH, "analyze", str(self.run_folder), "--json"])
        report = json.loads(again.out)
        self.assertEqual(self.first(report)["status"], "tentative")
        self.assertIn("too few to tell", self.evidence(self.first(report)))

    def whole_samples_again(self):
        return '"confirms"' in (self.run_folder / "journal.jsonl").read_text()

    def test_a_rank_that_is_frozen_meanwhile_is_lost(self):
        started = self.start(self.command(limit_s=5))
        started.wait_for(lambda: (self.run_folder / "journal.jsonl").exists() and self.whole_samples_again())
        os.kill(started.named("fleetbench")[3], signal.SIGSTOP)
        started.finish()
        report = self.report(self.run_folder)
        self.assertEqual(report["fleet"]["lost"], [self.name(3)], started.err)
        self.assertEqual((report["verdict"], started.code), ("FAIL", 2))
        self.assertEqual(self.records("end")[0]["interrupted"], False)


if __name__ == "__main__":
    unittest.main(verbosity=2)
