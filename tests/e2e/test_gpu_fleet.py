"""A whole run over nodes of simulated GPUs: a healthy fleet, then each fault by itself."""
import json
import os
import re
import shlex
import unittest

from fleetbench_process import BUILD, FLEETBENCH, FleetbenchTest, execute, mpirun

NODES = 4
GPUS = 4
SCENARIO = {
    "schema": "fleetbench-scenario/1.0",
    "name": "gpus",
    "passes": 3,
    "steps": [
        {"probe": "gpu_gemm", "params": {"precisions": ["fp32", "fp16"], "n": 128, "seconds": 0.000001}, "limit_s": 8},
        {"probe": "gpu_memory", "params": {"times_l2": 0, "min_bytes": 1 << 20, "seconds": 0.000001}, "limit_s": 8},
        {"probe": "gpu_copy", "params": {"bytes": 1 << 20, "warm_up": 1}, "devices": "both", "limit_s": 8},
        {"probe": "gpu_peer_copy", "params": {"bytes": 1 << 20, "warm_up": 1, "samples": 1, "longest_s": 2}, "limit_s": 8},
    ],
}
ECC = "2 uncorrected ECC errors of gpu2 since its driver was loaded (others none)"
# Each rank is a node, and has that node's GPUs.
AS_NODE = "export FLEETBENCH_GPU_SIM_NODE=node$OMPI_COMM_WORLD_RANK; exec \"$@\""
# Each rank sees one GPU only, as a scheduler's GPU binding does.
BOUND = "export CUDA_VISIBLE_DEVICES=$OMPI_COMM_WORLD_RANK; exec \"$@\""


class GpuFleetTest(FleetbenchTest):
    plan = SCENARIO

    def setUp(self):
        super().setUp()
        if not (BUILD / "gpu_sim").is_dir():
            self.skipTest("built without a CUDA toolkit")

    def on_gpus(self, command, faults="", ranks=NODES, shell=AS_NODE, **settings):
        env = dict(os.environ, LD_LIBRARY_PATH=str(BUILD / "gpu_sim"))
        env.update({"FLEETBENCH_GPU_SIM_GPUS": str(GPUS), "FLEETBENCH_GPU_SIM_FAULTS": faults, "FLEETBENCH_GPU_SIM_LATENCY": "0"})
        env.update(settings)
        return self.launch([*mpirun(ranks), "sh", "-c", shell, "sh", FLEETBENCH, *command], env=env, timeout=300)

    def launch(self, command, **options):
        return execute(command, **options)

    def measure(self, faults="", *options, nodes_by="rank", **how):
        self.run_directory = run = self.directory / f"run{len(list(self.directory.iterdir()))}"
        command = ["--suite", self.scenario(self.plan), "--out", str(run), "--nodes-by", nodes_by]
        command += ["--schedule", "together", *options]
        result = self.on_gpus(command, faults, **how)
        self.assertIn(result.code, (0, 2, 3), result.err)
        self.assert_follows_schemas(run)
        return self.report(run)

    def samples(self):
        """Those of GPUs."""
        return [r for r in self.journal(self.run_directory) if r.get("t") == "sample" and r.get("device")]

    def assert_analyze_tells_the_same(self, report):
        again = execute([FLEETBENCH, "analyze", str(self.run_directory), "--json"])
        self.assertEqual(json.loads(again.out)["findings"], report["findings"], again.err)

    def step_of(self, probe):
        [step] = [r["step"] for r in self.journal(self.run_directory) if r.get("t") == "step" and r["probe"] == probe]
        return step

    def first(self, report):
        """Name, device, layer and direction of the first finding."""
        self.assertTrue(report["findings"], report["verdict"])
        finding = report["findings"][0]
        subject = finding["subject"]
        return subject["node"].split(":")[-1], subject.get("device", ""), finding["layer"], finding["direction"]


class Healthy(GpuFleetTest):
    def test_all_is_measured_and_nothing_found(self):
        report = self.measure()
        self.assertEqual(report["findings"], [])
        self.assertEqual(report["verdict"], "PASS", report)
        self.assertEqual(report["fleet"]["gpus"], {"NVIDIA H100 80GB HBM3 (simulated)": NODES * GPUS})
        for metric in ("gpu_gemm.fp16", "gpu_memory.triad", "gpu_copy.host_to_device_memcpy_ce", "gpu_copy@one.host_to_device_memcpy_ce", "gpu_peer_copy.device_to_device_memcpy_read_ce"):
            [shown] = [m for m in report["metrics"] if m["metric"] == metric]
            self.assertEqual(shown["subjects"], NODES * GPUS)

    def test_nobody_has_a_gpu(self):
        report = self.measure("*:*:no_driver")
        self.assertEqual(report["findings"], [])
        self.assertEqual({n["reason"] for n in report["not_measured"]}, {"no node has a GPU"})
        self.assertLessEqual({step["probe"] for step in SCENARIO["steps"]}, {n["what"] for n in report["not_measured"]})
        self.assertNotEqual(report["verdict"], "PASS")

    def test_ownership_does_not_depend_on_what_ranks_see(self):
        for shell, ranks in ((AS_NODE.replace("node$OMPI_COMM_WORLD_RANK", "node0"), 2), (BOUND, GPUS)):
            with self.subTest(ranks=ranks):
                self.measure(ranks=ranks, shell=shell, nodes_by="host")
                samples = self.samples()
                self.assertEqual({s["device"] for s in samples}, {f"gpu{i}" for i in range(GPUS)})
                peers = [s for s in samples if s["step"] == self.step_of("gpu_peer_copy")]
                self.assertEqual({(s["status"], s.get("reason")) for s in samples if s not in peers}, {("ok", None)})
                # It takes all of them in one process: a rank that sees one says how to start it.
                self.assertEqual({s["status"] for s in peers}, {"skipped" if shell == BOUND else "ok"})
                if shell == BOUND:
                    self.assertIn(f"1 of the {GPUS} GPUs of the node (CUDA_VISIBLE_DEVICES=0)", peers[0]["reason"])


class Faulty(GpuFleetTest):
    def test_each_is_found(self):
        for faults, expected, evidence in (
            # What is told of a finding besides its figures is the last part.
            (
                "node1:2:sm_clock=0.7,throttle=hw_thermal",
                ("1", "gpu2", "compute", "slow"),
                ["clock of gpu2 held back by hw_thermal_slowdown in 100 % of readings (others 0 %)"],
            ),
            ("node1:2:sm_clock=0.7,ecc=2,xid=63", ("1", "gpu2", "compute", "wrong"), ["Xid 63 of gpu2 (others none)", ECC]),
            ("node2:0:pcie_width=8", ("2", "gpu0", "copy", "slow"), ["PCIe link of gpu0 under load: 8 lanes (others 16)"]),
            ("node2:*:pcie_width=8", ("2", "", "copy", "slow"), ["PCIe link of all 4 devices under load: 8 lanes (others 16)"]),
            ("node2:1:pcie_gen=4", ("2", "gpu1", "copy", "slow"), ["PCIe link of gpu1 under load: generation 4 (others 5)"]),
            ("node0:1:memory=0.7", ("0", "gpu1", "compute", "slow"), []),
            ("node0:2:ecc=2", ("0", "gpu2", "compute", "wrong"), [ECC]),
            ("node3:3:wrong_bit=gemm", ("3", "gpu3", "compute", "wrong"), []),
            # A product that is copied to be checked is damaged, too, and that is said.
            ("node3:3:wrong_bit=copy", ("3", "gpu3", "compute", "wrong"), []),
            ("node1:3:gone", ("1", "gpu3", "copy", "missing"), []),
            ("node1:1:sticky=launch@40", ("1", "gpu1", "compute", "missing"), []),
            ("node0:2:oom=1000000", ("0", "gpu2", "compute", "missing"), []),
            ("node3:1:peer=0:0.5,peer=2:0.5,peer=3:0.5", ("3", "gpu1", "copy", "slow"), []),
            ("node0:2:nvlinks_down=9", ("0", "gpu2", "copy", "slow"), []),
        ):
            with self.subTest(faults=faults):
                report = self.measure(faults, "--no-confirm")
                self.assertEqual(self.first(report), expected, report["findings"])
                self.assertNotEqual(report["verdict"], "PASS")
                told = [item["text"] for item in report["findings"][0]["evidence"] if item["source"] == "telemetry"]
                self.assertLessEqual(set(evidence), set(told))
                self.assert_analyze_tells_the_same(report)

    def test_the_next_check_runs(self):
        """That of a device, typed as it is but for the profiler: just its step, on just that device."""
        report = self.measure("node1:2:sm_clock=0.7", "--no-confirm")
        check = report["findings"][0]["next_check"]
        command = shlex.split(re.search(r"`(CUDA_VISIBLE_DEVICES=[^`]* ncu [^`]*)`", check).group(1))
        line = [command[0], *command[command.index("fleetbench") :]]
        env = dict(os.environ, LD_LIBRARY_PATH=str(BUILD / "gpu_sim"), FLEETBENCH_GPU_SIM_NODE="node1", FLEETBENCH_GPU_SIM_GPUS=str(GPUS))
        env["PATH"] = f"{BUILD}:{env['PATH']}"
        out = self.directory / "by-itself"
        root = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        result = execute(["env", *line, "--out", str(out)], env={**env, **root}, timeout=120)
        self.assertIn(result.code, (0, 2, 3), result.err)
        samples = [r for r in self.journal(out) if r.get("t") == "sample" and r.get("device")]
        self.assertEqual([(s["step"], s["status"]) for s in samples], [(1, "ok")], result.err)
        [gpu] = json.loads((out / "run.json").read_text())["nodes"][0]["inventory"]["cuda"]["gpus"]
        self.assertEqual(f"CUDA_VISIBLE_DEVICES={gpu['uuid']}", line[0])

    def test_another_driver_is_told(self):
        shell = AS_NODE.replace("exec", '[ "$OMPI_COMM_WORLD_RANK" != 2 ] || export FLEETBENCH_GPU_SIM_DRIVER_VERSION=570.1; exec')
        report = self.measure(shell=shell)
        [difference] = report["configuration"]
        self.assertIn("cuda.driver is 570.1, 3 of 4 nodes have 580.65.06", difference["text"])
        self.assertEqual(report["verdict"], "WARN")

    def test_a_slow_path_is_found_at_its_ends_and_named(self):
        report = self.measure("node1:2:peer=0:0.5", "--no-confirm")
        node, device, layer, direction = self.first(report)
        self.assertEqual((node, layer, direction), ("1", "copy", "slow"))
        self.assertIn(device, ("gpu0", "gpu2"))
        self.assertEqual([m["metric"] for m in report["findings"][0]["metrics"]][:1], ["gpu_peer_copy.device_to_device_memcpy_ce.lowest"])
        found = {f["subject"].get("device") for f in report["findings"] if f["subject"]["node"] == report["findings"][0]["subject"]["node"]}
        self.assertEqual(found, {"gpu0", "gpu2"})
        self.assertEqual({f["subject"]["node"] for f in report["findings"]}, {report["findings"][0]["subject"]["node"]})
        ends = {s["device"]: s["detail"] for s in self.journal(self.run_directory) if s.get("t") == "sample" and s["node"] == 1 and "lowest" in (s.get("detail") or {})}
        self.assertEqual((ends["gpu2"]["lowest"]["way"], ends["gpu2"]["lowest"]["address"]), ("write_to", ends["gpu0"]["address"]))
        self.assertEqual((ends["gpu0"]["lowest"]["way"], ends["gpu0"]["lowest"]["address"]), ("read_from", ends["gpu2"]["address"]))

    def test_a_node_that_is_joined_otherwise_is_one_outlier(self):
        report = self.measure("node2:1:nvlinks_down=1", "--no-confirm", "--only", "gpu_memory")
        [outlier] = report["configuration"]
        self.assertIn("cuda.topology is NV17 gpu0-gpu1 gpu1-gpu2 gpu1-gpu3, else NV18, 3 of 4 nodes have NV18", outlier["text"])

    def test_a_hang_costs_its_own_gpu_only(self):
        report = self.measure("node1:0:hang=copy@9", "--no-confirm")
        self.assertEqual(self.first(report), ("1", "gpu0", "compute", "missing"))
        samples = self.samples()
        peers = self.step_of("gpu_peer_copy")
        bad = {(s["node"], s["device"]) for s in samples if s["status"] != "ok" and s["step"] != peers}
        self.assertEqual(bad, {(1, "gpu0")})
        # Of a path that hangs both ends are named, and nobody else.
        bad = {(s["node"], s["device"]) for s in samples if s["status"] != "ok" and s["step"] == peers}
        self.assertIn((1, "gpu0"), bad)
        self.assertEqual(len(bad), 2)

    def test_below_the_minimum_effect_nothing_is_reported(self):
        for fault in ("sm_clock=0.99", "h2d=0.98", "memory=0.99", "peer=0:0.98"):
            with self.subTest(fault=fault):
                report = self.measure(f"node1:2:{fault}")
                self.assertEqual([f for f in report["findings"] if f["status"] != "tentative"], [])


# As the simulation has them, and one more.
BUSES = ("1b", "43", "52", "61")
MORE = (*BUSES, "9d")


class PciTree(GpuFleetTest):
    """Where the PCI tree shows more GPUs than CUDA, in a mount namespace with a tree of its own."""

    def measure_with_tree(self, buses, driver, faults="", **settings):
        tree = self.directory / "pci"
        for bus in buses:
            folder = tree / f"0000:{bus}:00.0"
            folder.mkdir(parents=True)
            for name, text in (("class", "0x030200"), ("vendor", "0x10de"), ("device", "0x2330")):
                (folder / name).write_text(text + "\n")
            if driver:
                (folder / "driver").symlink_to(f"../../../bus/pci/drivers/{driver}")
        unshare = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-Urm"]
        self.within = [*unshare, "sh", "-c", 'mount --bind "$0" /sys/bus/pci/devices && exec "$@"', str(tree)]
        if execute([*self.within, "true"]).code != 0:
            self.skipTest("no mount namespace can be made here")
        return self.measure(faults, "--only", "gpu_copy", "--no-confirm", **settings)

    def launch(self, command, **options):
        return execute([*self.within, *command], **options)

    def missing(self, report):
        return [f["subject"] for f in report["findings"] if f["direction"] == "missing"]

    def test_one_that_all_nodes_lack_is_missing_on_all(self):
        report = self.measure_with_tree(MORE, "nvidia")
        self.assertEqual([s.get("device") for s in self.missing(report)], ["0000:9d:00.0"] * NODES)
        self.assertEqual(report["verdict"], "FAIL")

    def test_of_one_node_alone_too(self):
        report = self.measure_with_tree(BUSES, "nvidia", "node0:3:gone", ranks=1)
        self.assertEqual([s.get("device") for s in self.missing(report)], ["0000:61:00.0"])
        self.assertEqual(report["verdict"], "FAIL")

    def test_without_a_driver_it_never_passes(self):
        report = self.measure_with_tree(BUSES, "", "*:*:no_driver")
        self.assertEqual([s["kind"] for s in self.missing(report)], ["node"] * NODES)
        self.assertIn("the PCI tree shows 4 GPUs", report["verdict_reasons"][0])
        self.assertEqual(report["verdict"], "FAIL")

    def test_what_a_launcher_hides_is_no_fault(self):
        report = self.measure_with_tree(BUSES, "nvidia", CUDA_VISIBLE_DEVICES="0,1,2")
        self.assertEqual(self.missing(report), [])
        hidden = [n for n in report["not_measured"] if n["what"].startswith("1 of 4 GPUs on ")]
        self.assertEqual({n["reason"] for n in hidden}, {"hidden from this run: CUDA_VISIBLE_DEVICES=0,1,2"})
        self.assertEqual(len(hidden), NODES)
        self.assertEqual(report["verdict"], "PASS")

    def test_what_it_promises_and_cuda_lacks_is_missing(self):
        report = self.measure_with_tree(BUSES, "nvidia", "node1:3:gone", CUDA_VISIBLE_DEVICES="0,1,2,3")
        [subject] = self.missing(report)
        self.assertEqual((subject["node"].split(":")[-1], subject["device"]), ("1", "gpu3"))


if __name__ == "__main__":
    unittest.main(verbosity=2)
