"""Simulated fleets as files: the CSV holds the fleet that the truth beside it tells of."""
import csv
import json
import statistics
import unittest

from fleetbench_process import FLEETBENCH, FleetbenchTest, execute

COLUMNS = ["node", "device", "metric", "unit", "better", "layer", "cohort", "pass", "value", "status"]


class Simulate(FleetbenchTest):
    def simulate(self, *options, name="fleet"):
        samples, truth = self.directory / f"{name}.csv", self.directory / f"{name}.json"
        result = execute([FLEETBENCH, "simulate", "-o", str(samples), "--truth", str(truth), *options])
        self.assertEqual(result.code, 0, result.err)
        with samples.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(list(rows[0]), COLUMNS)
        return rows, json.loads(truth.read_text(encoding="utf-8")), result

    def slowdown(self, rows, metric, subject):
        """How much longer the subject takes than the median of the others, in per cent."""
        own, others = [], []
        for row in rows:
            if row["metric"] == metric:
                value = float(row["value"])
                slowness = value if row["better"] == "lower" else 1 / value
                (own if (row["node"], row["device"]) == subject else others).append(slowness)
        return 100 * (statistics.median(own) / statistics.median(others) - 1)

    def test_a_healthy_fleet_has_every_value_once(self):
        rows, truth, result = self.simulate("--nodes", "5", "--metrics", "7", "--passes", "3", "--seed", "1")
        self.assertIn("5 nodes, 7 metrics, 3 passes, seed 1", result.out)
        self.assertEqual(truth["faults"], [])
        keys = {(row["node"], row["metric"], row["pass"]) for row in rows}
        self.assertEqual(len(keys), len(rows))
        self.assertEqual(len(rows), 5 * 7 * 3)
        self.assertEqual({row["status"] for row in rows}, {"ok"})
        self.assertTrue(all(float(row["value"]) > 0 for row in rows))

    def test_the_faulty_device_is_slow_in_just_its_metrics(self):
        options = ["--devices", "4", "--nodes", "8", "--spread", "0.1", "--noise", "0.1,1"]
        rows, truth, _ = self.simulate("--fault", "device", "--effect", "50", "--seed", "2", *options)
        fault = truth["faults"][0]
        subject = (fault["subject"]["node"], fault["subject"]["device"])
        of_devices = {row["metric"] for row in rows if row["device"]}
        self.assertLess(set(fault["metrics"]), of_devices)
        for metric in of_devices:
            expected = 50 if metric in fault["metrics"] else 0
            self.assertAlmostEqual(self.slowdown(rows, metric, subject), expected, delta=2)

    def test_another_run_of_a_seed_is_the_same_fleet_measured_again(self):
        quiet = ["--spread", "2", "--noise", "0.001,0.001", "--nodes", "6"]
        before, _, _ = self.simulate("--seed", "3", *quiet, name="before")
        after, truth, _ = self.simulate("--seed", "3", "--run", "1", "--fault", "fleet", "--effect", "20", *quiet)
        slow = truth["faults"][0]["metrics"]
        self.assertEqual(truth["faults"][0]["subject"], {"kind": "fleet"})
        for old, new in zip(before, after):
            ratio = float(new["value"]) / float(old["value"])
            expected = 1 if new["metric"] not in slow else 1.2 if new["better"] == "lower" else 1 / 1.2
            self.assertAlmostEqual(ratio, expected, delta=0.001)
            self.assertNotEqual(new["value"], old["value"])
        again, _, _ = self.simulate("--seed", "3", *quiet, name="again")
        self.assertEqual(again, before)

    def test_broken_parts_have_no_value(self):
        for fault in ("wrong", "failed"):
            rows, truth, _ = self.simulate("--fault", fault, "--faulty", "10%", "--seed", "4")
            broken = [row for row in rows if row["status"] == fault]
            self.assertEqual({row["node"] for row in broken}, {f["subject"]["node"] for f in truth["faults"]})
            self.assertEqual(len(truth["faults"]), 3)
            self.assertEqual({row["value"] for row in broken}, {""})

    def test_without_a_seed_fleets_differ(self):
        first, truth, result = self.simulate(name="first")
        second, _, _ = self.simulate(name="second")
        self.assertNotEqual(first, second)
        self.assertIn(f"seed {truth['seed']}", result.out)


if __name__ == "__main__":
    unittest.main(verbosity=2)
