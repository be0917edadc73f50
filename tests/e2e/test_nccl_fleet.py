"""A whole run in which simulated GPUs measure with each other: a healthy fleet, then each fault by itself."""
import json
import os
import signal
import statistics
import threading
import time
import unittest
from pathlib import Path

from fleetbench_process import BUILD, FLEETBENCH, execute
from test_gpu_fleet import AS_NODE, GPUS, NODES, GpuFleetTest

LIMITS = {"init_limit_s": 4, "wait_limit_s": 3}
SWEEP = {"begin_bytes": 65536, "end_bytes": 1 << 20, "factor": 16, "iterations": 3, "warmup": 1, **LIMITS}
SCENARIO = {
    "schema": "fleetbench-scenario/1.2",
    "name": "nccl",
    "passes": 2,
    "steps": [
        {"probe": "nccl_collectives", "id": "within", "across": "node", "params": {"collectives": ["all_reduce", "all_to_all"], **SWEEP}, "limit_s": 40},
        {"probe": "nccl_collectives", "id": "fleet", "params": {"collectives": ["all_reduce", "broadcast"], **SWEEP}, "limit_s": 40},
        {"probe": "nccl_collectives", "id": "rails", "across": "rails", "params": {"collectives": ["all_reduce"], **SWEEP}, "limit_s": 40},
        {"probe": "nccl_collectives", "id": "one_rail", "across": "rails", "devices": "one", "params": {"collectives": ["all_reduce"], **SWEEP}, "limit_s": 40},
        {"probe": "nccl_collectives", "id": "groups", "groups": {"size": 2, "rounds": 2}, "params": {"collectives": ["all_reduce"], **SWEEP}, "limit_s": 40},
        {"probe": "nccl_pairs", "id": "pairs", "cross_rails": 2, "params": {"message_bytes": 1 << 20, "bytes": 1 << 21, "warmup": 1, "latency_iterations": 20, **LIMITS}, "limit_s": 40},
    ],
}
PAIRS = NODES * (NODES - 1) // 2
# The GPU that is sick where one is.
SICK = (1, "gpu2")


class NcclFleetTest(GpuFleetTest):
    plan = SCENARIO

    def setUp(self):
        super().setUp()
        probes = execute([FLEETBENCH, "list", "probes"], env=dict(os.environ, LD_LIBRARY_PATH=str(BUILD / "gpu_sim"))).out
        if "\nnccl_pairs: " not in probes:
            self.skipTest("built without NCCL")

    def samples_of(self, step):
        """Those of a step, by its id."""
        records = self.journal(self.run_directory)
        [number] = [r["step"] for r in records if r.get("t") == "step" and r["id"] == step]
        return [r for r in records if r.get("t") == "sample" and r["step"] == number]

    def bad(self, *steps):
        """Who has a sample that is not ok."""
        return {(s["node"], s["device"]) for step in steps for s in self.samples_of(step) if s["status"] != "ok"}

    def assert_others_are_measured(self, step, passes=2):
        """In every pass everybody but the sick one."""
        good = {(s["node"], s["device"], s["pass"]) for s in self.samples_of(step) if s["status"] == "ok"}
        everybody = {(n, f"gpu{g}", p) for n in range(NODES) for g in range(GPUS) for p in range(passes)}
        self.assertLessEqual(everybody - {(*SICK, p) for p in range(passes)}, good)

    def bandwidth(self, a, b, rail):
        """Median from a to b on a rail."""
        return statistics.median(s["values"][0] for s in self.samples_of("pairs") if s["ends"] == [[a, rail], [b, rail]])


class Healthy(NcclFleetTest):
    def test_all_is_measured_and_nothing_found(self):
        report = self.measure("", "--no-confirm")
        self.assertEqual(report["findings"], [])
        self.assertEqual({s["status"] for s in self.samples()}, {"ok"})
        for step, slots in (("within", 1), ("fleet", 1), ("rails", 1), ("one_rail", 1), ("groups", 2)):
            self.assertEqual(len(self.samples_of(step)), 2 * slots * NODES * GPUS, step)
        shown = {m["metric"]: m for m in report["metrics"]}
        self.assertEqual(shown["within.all_reduce.busbw.1M"]["layer"], "fabric")
        self.assertEqual(shown["within.all_reduce.busbw.1M"]["subjects"], NODES)
        self.assertEqual(shown["fleet.all_reduce.busbw.1M"]["layer"], "network")

    def test_samples_say_who_measured_together(self):
        self.measure("", "--no-confirm", "--passes", "1")
        for sample in self.samples_of("fleet") + self.samples_of("within"):
            self.assertNotIn("ends", sample)
        for step in ("rails", "one_rail"):
            for sample in self.samples_of(step):
                self.assertEqual(sample["ends"], [[node, sample["device"]] for node in range(NODES)])
        self.assertEqual({len(s["group"]) for s in self.samples_of("groups")}, {2})

    def test_pairs_meet_on_every_rail_and_some_across(self):
        self.measure("", "--no-confirm", "--only", "pairs")
        for number in range(2):
            links = [tuple(map(tuple, s["ends"])) for s in self.samples_of("pairs") if s["pass"] == number]
            self.assertEqual(len(links), len(set(links)))
            same = [link for link in links if link[0][1] == link[1][1]]
            self.assertEqual(len(same), 2 * PAIRS * GPUS)
            self.assertEqual(len(links) - len(same), 2 * 2 * NODES // 2)
        for sample in self.samples_of("pairs"):
            self.assertEqual(sample["ends"][0], [sample["node"], sample["device"]])
            self.assertEqual(sample["ends"][1][0], sample["peer"])

    def test_nothing_is_left_to_measure_when_it_is_over(self):
        self.measure("", "--no-confirm", "--only", "pairs", "--only", "groups")
        result = self.on_gpus(["resume", str(self.run_directory)])
        self.assertIn("0 of ", result.err)
        self.assertIn("slots are missing", result.err)

    def test_a_node_whose_nccl_says_otherwise_is_set_up_differently(self):
        shell = 'test "$OMPI_COMM_WORLD_RANK" = 2 && export FLEETBENCH_GPU_SIM_NCCL_NETWORK=Socket; ' + AS_NODE
        report = self.measure("", "--no-confirm", "--only", "within", shell=shell)
        [different] = [c["text"] for c in report["configuration"] if "nccl" in c["text"]]
        self.assertRegex(different, r"^\S+:2: .*nccl_network is Socket, 3 of 4 nodes have IB")
        self.assertEqual(report["findings"], [])

    def test_without_the_library_the_report_says_what_to_do(self):
        report = self.measure("", "--no-confirm", "--only", "within", "--only", "pairs", FLEETBENCH_NCCL="/none/libnccl.so.2")
        self.assertEqual(report["metrics"], [])
        self.assertIn("install libnccl2", json.dumps(report["not_measured"]))


class BadScenario(NcclFleetTest):
    def test_each_fault_is_named(self):
        for step, fault in (
            ({"probe": "gpu_copy", "across": "rails"}, "across: has no meaning for gpu_copy"),
            ({"probe": "gpu_copy", "cross_rails": 1}, "cross_rails: has no meaning for gpu_copy"),
            ({"probe": "nccl_pairs", "across": "node"}, 'across: nccl_pairs measures two nodes, so "rails" or "nodes"'),
            ({"probe": "nccl_pairs", "across": "nodes", "cross_rails": 1}, "cross_rails: has no meaning but for pairs across rails"),
            ({"probe": "nccl_collectives", "cross_rails": 1}, "cross_rails: has no meaning but for pairs across rails"),
            ({"probe": "nccl_collectives", "devices": "one"}, "devices: has no meaning where all GPUs measure with each other"),
            ({"probe": "nccl_collectives", "across": "node", "groups": {}}, "groups: has no meaning within a node"),
        ):
            with self.subTest(step=step):
                scenario = self.scenario({**SCENARIO, "steps": [step]})
                result = self.on_gpus(["--suite", scenario, "--out", str(self.directory / "bad")], ranks=1)
                self.assertEqual(result.code, 64, result.err)
                self.assertIn(fault, result.err)


class Slow(NcclFleetTest):
    """What the samples show; who is blamed for it is for tests of the detector."""

    def test_one_rail_of_a_node(self):
        self.measure("node1:2:nic=0.5", "--no-confirm", "--only", "pairs", "--only", "rails")
        for rail, share in (("gpu2", 0.5), ("gpu1", 1.0)):
            self.assertAlmostEqual(self.bandwidth(1, 3, rail) / self.bandwidth(0, 3, rail), share, delta=0.1)
            self.assertAlmostEqual(self.bandwidth(3, 1, rail) / self.bandwidth(3, 0, rail), share, delta=0.1)

    def test_one_direction_of_a_link(self):
        self.measure("node1:*:link=node2:0.5", "--no-confirm", "--only", "pairs")
        for rail in ("gpu0", "gpu3"):
            self.assertAlmostEqual(self.bandwidth(1, 2, rail) / self.bandwidth(2, 1, rail), 0.5, delta=0.05)
            self.assertAlmostEqual(self.bandwidth(1, 0, rail) / self.bandwidth(0, 1, rail), 1, delta=0.05)

    def test_a_rank_that_comes_late(self):
        late_s = 0.005
        self.measure(f"node1:2:nccl_late={late_s}", "--no-confirm", "--only", "fleet")
        entered = {(s["node"], s["device"]): s["detail"]["enter_s"][0] for s in self.samples_of("fleet") if s["pass"] == 0}
        others = [at for who, at in entered.items() if who != SICK]
        self.assertGreater(entered[SICK] - statistics.median(others), late_s / 2)


class Broken(NcclFleetTest):
    STEPS = ("within", "fleet", "rails", "groups")

    def test_one_that_cannot_initialise(self):
        report = self.measure("node1:2:nccl_init=fail", "--no-confirm", "--skip", "one_rail", "--passes", "1")
        for step in self.STEPS:
            self.assertEqual(self.bad(step), {SICK}, step)
            self.assert_others_are_measured(step, passes=1)
        self.assertIn("Call to ibv_modify_qp failed", self.reason("within"))
        self.assertEqual(self.bad("pairs"), {SICK})
        self.assertEqual(self.first(report)[:2], ("1", "gpu2"))
        self.assertEqual(report["verdict"], "FAIL")

    def test_one_that_never_initialises_is_found_in_every_group(self):
        report = self.measure("node1:2:nccl_init=hang", "--no-confirm", "--skip", "one_rail", "--skip", "groups", "--skip", "pairs", "--passes", "1")
        for step in ("within", "fleet", "rails"):
            self.assertEqual(self.bad(step), {SICK}, step)
            self.assert_others_are_measured(step, passes=1)
        self.assertRegex(self.reason("fleet"), r"rank 6 of 16 \(.* gpu2\) waited .* in the initialisation of the communicator; measured in parts")
        self.assertEqual(self.first(report)[:2], ("1", "gpu2"))

    def test_a_collective_that_hangs_names_ranks_and_phase_and_the_rest_goes_on(self):
        report = self.measure("node1:2:nccl_hang=all_reduce@9", "--no-confirm", "--only", "within", "--only", "fleet")
        # It hangs once: its parts do not, so that all of its node are alike.
        self.assertEqual(self.bad("within"), {(1, f"gpu{g}") for g in range(GPUS)})
        self.assertRegex(self.reason("within"), r"rank \d of 4 \(.* gpu\d\) waited .* in .*all_reduce")
        [failed] = {s["pass"] for s in self.samples_of("within") if s["status"] != "ok"}
        self.assertEqual({s["status"] for s in self.samples_of("within") if s["pass"] != failed}, {"ok"})
        self.assertEqual(self.bad("fleet"), set())
        self.assertNotEqual(report["verdict"], "PASS")

    def test_false_elements(self):
        report = self.measure("node1:2:nccl_wrong=broadcast@1,nccl_wrong=send@1", "--no-confirm", "--only", "within", "--only", "fleet", "--only", "pairs")
        self.assertEqual({s["node"] for s in self.samples_of("within") if s["status"] == "wrong"}, {1})
        self.assertEqual({s["status"] for s in self.samples_of("fleet")}, {"wrong"})
        self.assertIn(" gpu2) is ", self.reason("fleet"))
        wrong = [s for s in self.samples_of("pairs") if s["status"] == "wrong"]
        self.assertEqual({SICK in map(tuple, s["ends"]) for s in wrong}, {True})
        self.assertEqual(report["findings"][0]["direction"], "wrong")
        self.assertEqual(report["findings"][0]["subject"]["node"].split(":")[-1], "1")

    def test_a_worker_that_is_killed(self):
        def kill_one(run):
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline and not self.kill_worker(run):
                time.sleep(0.05)

        run = self.directory / f"run{len(list(self.directory.iterdir()))}"
        killer = threading.Thread(target=kill_one, args=(run,))
        killer.start()
        self.measure("", "--no-confirm", "--only", "fleet", "--passes", "8")
        killer.join()
        failed = [s for s in self.samples_of("fleet") if s["status"] != "ok"]
        self.assertEqual([(s["node"], s["device"]) for s in failed], [SICK], failed)
        self.assertIn("signal 9", failed[0]["reason"])
        self.assert_others_are_measured("fleet", passes=8)

    def kill_worker(self, run):
        """The sick one's, once GPUs have samples. False where that is still to come."""
        try:
            if '"device"' not in (run / "journal.jsonl").read_text():
                return False
            nodes = json.loads((run / "run.json").read_text())["nodes"]
        except (OSError, ValueError):
            return False
        gpus = ((nodes[SICK[0]]["inventory"] or {}).get("cuda") or {}).get("gpus", [])
        uuids = [gpu["uuid"] for gpu in gpus if gpu["label"] == SICK[1]]
        for process in Path("/proc").glob("[0-9]*"):
            try:
                command = (process / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if uuids and uuids[0].encode() in command and b"--serve" in command:
                os.kill(int(process.name), signal.SIGKILL)
                return True
        return False

    def reason(self, step):
        return next(s["reason"] for s in self.samples_of(step) if s["status"] != "ok")


if __name__ == "__main__":
    unittest.main(verbosity=2)
