"""Runs over simulated GPUs that break off, run out of time, or begin with a GPU that is sick."""
import json
import unittest

from test_gpu_fleet import BOUND, GPUS, NODES, GpuFleetTest, SCENARIO


class Trouble(GpuFleetTest):
    def test_what_one_gpu_lacks_is_measured_when_the_run_goes_on(self):
        self.measure()
        journal = self.run_directory / "journal.jsonl"
        whole = self.samples()
        kept, taken = [], 0
        for line in journal.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            of_gpu = record.get("t") == "sample" and record["node"] == 2 and record.get("device") == "gpu1"
            if record.get("t") == "end" or (of_gpu and record["pass"] == 1):
                taken += of_gpu
                continue
            kept.append(line)
        self.assertEqual(taken, len(SCENARIO["steps"]) + 1)  # copies all at once and one at a time
        journal.write_text("\n".join(kept) + "\n", encoding="utf-8")
        result = self.on_gpus(["resume", str(self.run_directory)])
        self.assertIn(result.code, (0, 2, 3), result.err)
        # Who shares a slot with it is measured again.
        again = self.samples()
        key = lambda s: (s["step"], s["pass"], s["node"], s["device"])
        self.assertEqual({key(s) for s in again}, {key(s) for s in whole})
        self.assertEqual(len(again), len(whole) + len(SCENARIO["steps"]) * (GPUS - 1))
        self.assert_follows_schemas(self.run_directory)

    def test_a_sick_first_gpu_keeps_no_other_from_being_measured(self):
        report = self.measure("node0:0:sticky=launch@1", "--no-confirm")
        self.assertEqual(self.first(report)[:2], ("0", "gpu0"))
        good = {(s["node"], s["device"]) for s in self.samples() if s["status"] == "ok"}
        self.assertEqual(len(good), NODES * GPUS - 1)

    def test_of_ranks_with_one_gpu_each_only_the_one_that_fails_is_missing(self):
        self.measure("*:2:sticky=launch@40", "--no-confirm", ranks=GPUS, shell=BOUND, nodes_by="host")
        of_device = {}
        peers = self.step_of("gpu_peer_copy")  # takes all of them in one process
        for sample in [s for s in self.samples() if s["step"] != peers]:
            of_device.setdefault(sample["device"], set()).add(sample["status"])
        self.assertIn("failed", of_device.pop("gpu2"))
        self.assertEqual(set(map(frozenset, of_device.values())), {frozenset({"ok"})})

    def test_who_hangs_as_the_time_runs_out_is_not_to_blame_and_the_rest_stands(self):
        # Most GPUs of each node, so that nobody can tell who is late; not the one on which work is found.
        hang = ";".join(f"*:{gpu}:hang=launch@20" for gpu in range(1, GPUS))
        report = self.measure(hang, "--no-confirm", "--budget", "8s")
        self.assertEqual([f for f in report["findings"] if f["direction"] == "missing"], [])
        self.assertNotEqual(report["verdict"], "PASS")
        self.assertEqual({(s["device"], s["status"]) for s in self.samples()}, {("gpu0", "ok")})



if __name__ == "__main__":
    unittest.main(verbosity=2)
