"""Commands of the user's own as probes, in whole runs: ranks are nodes."""
import sys
import time
import unittest

from fleetbench_process import FLEETBENCH, TIME_SCALE, FleetbenchTest, execute, mpirun

METRICS = [{"name": "step_s"}]


def suite(*steps):
    return {"schema": "fleetbench-scenario/1.0", "name": "own", "passes": 2, "steps": list(steps)}


def python(script):
    return [sys.executable, "-c", script]


class Commands(FleetbenchTest):
    def run_suite(self, *steps, ranks=3):
        run = self.directory / "run"
        command = [FLEETBENCH, "--suite", self.scenario(suite(*steps)), "--out", str(run), "--nodes-by", "rank"]
        command.append("--no-confirm")
        result = execute(mpirun(ranks) + command)
        return run, result

    def samples(self, run, probe):
        records = self.journal(run)
        steps = {record["step"]: record for record in records if record.get("t") == "step"}
        return [r for r in records if r.get("t") == "sample" and steps[r["step"]]["probe"] == probe]

    def test_a_script_is_measured_like_any_probe(self):
        script = "import json\nfor i in range(5): print(json.dumps({'step_s': 0.5 + i / 8, 'data_s': 0.0625}))"
        metrics = [*METRICS, {"name": "data_s"}]
        run, result = self.run_suite({"probe": "command", "params": {"argv": python(script), "metrics": metrics}})
        self.assertIn(result.code, (0, 3), result.err)
        self.assert_follows_schemas(run)
        samples = self.samples(run, "command")
        self.assertEqual([sample["values"] for sample in samples], [[0.75, 0.0625]] * 6)
        self.assertIn("evidence", samples[0]["detail"])
        metric = {m["metric"]: m for m in self.report(run)["metrics"]}["command.step_s"]
        self.assertEqual((metric["layer"], metric["subjects"]), ("step", 3))

    def test_a_script_on_all_nodes_knows_the_others(self):
        script = (
            "import os, json\n"
            "assert len(os.environ['FLEETBENCH_NODES'].split(',')) == int(os.environ['FLEETBENCH_NODE_COUNT']) == 3\n"
            "print(json.dumps({'step_s': 1 + int(os.environ['FLEETBENCH_NODE_INDEX'])}))"
        )
        run, _ = self.run_suite({"probe": "fleet_command", "params": {"argv": python(script), "metrics": METRICS}})
        values = sorted(sample["values"][0] for sample in self.samples(run, "fleet_command"))
        self.assertEqual(values, [1, 1, 2, 2, 3, 3])

    def test_one_that_hangs_is_ended_with_all_it_started(self):
        marker = f"{self.directory}/started"
        script = f"import subprocess; open({marker!r}, 'w'); subprocess.run(['sleep', '61.25'])"
        step = {"probe": "command", "params": {"argv": python(script), "metrics": METRICS}, "limit_s": 1}
        start = time.monotonic()
        run, result = self.run_suite(step, ranks=2)
        self.assertLess(time.monotonic() - start, 40 * TIME_SCALE, result.err)
        samples = self.samples(run, "command")
        self.assertEqual({sample["status"] for sample in samples}, {"timeout"})
        self.assertIn("its last words: running", samples[0]["reason"])
        self.assertNotIn("sleep 61.25", execute(["ps", "-eo", "args"]).out)

    def test_one_that_fails_is_told_of_in_its_own_words(self):
        script = "import sys; sys.exit('no GPU here')"
        run, _ = self.run_suite({"probe": "command", "params": {"argv": python(script), "metrics": METRICS}})
        for sample in self.samples(run, "command"):
            self.assertEqual(sample["status"], "failed")
            self.assertIn("exited with code 1: no GPU here", sample["reason"])

    def test_metrics_without_a_direction_are_a_usage_error(self):
        step = {"probe": "command", "params": {"argv": ["true"], "metrics": [{"name": "loss"}]}}
        run, result = self.run_suite(step)
        self.assertEqual(result.code, 64, result.err)
        self.assertIn('suite own: step "command": metric "loss": its name does not end in _s', result.err)
        self.assertFalse(run.exists())


if __name__ == "__main__":
    unittest.main(verbosity=2)
