"""A whole run over nodes of simulated GPUs: a healthy fleet, then each fault by itself."""
import os
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
    ],
}
# Each rank is a node, and has that node's GPUs.
AS_NODE = "export FLEETBENCH_GPU_SIM_NODE=node$OMPI_COMM_WORLD_RANK; exec \"$@\""
# Each rank sees one GPU only, as a scheduler's GPU binding does.
BOUND = "export CUDA_VISIBLE_DEVICES=$OMPI_COMM_WORLD_RANK; exec \"$@\""


class GpuFleetTest(FleetbenchTest):
    def setUp(self):
        super().setUp()
        if not (BUILD / "gpu_sim").is_dir():
            self.skipTest("built without a CUDA toolkit")

    def on_gpus(self, command, faults="", ranks=NODES, shell=AS_NODE, **settings):
        env = dict(os.environ, LD_LIBRARY_PATH=str(BUILD / "gpu_sim"))
        env.update({"FLEETBENCH_GPU_SIM_GPUS": str(GPUS), "FLEETBENCH_GPU_SIM_FAULTS": faults, "FLEETBENCH_GPU_SIM_LATENCY": "0"})
        env.update(settings)
        return execute([*mpirun(ranks), "sh", "-c", shell, "sh", FLEETBENCH, *command], env=env, timeout=300)

    def measure(self, faults="", *options, nodes_by="rank", **how):
        run = self.directory / "run"
        command = ["--suite", self.scenario(SCENARIO), "--out", str(run), "--nodes-by", nodes_by]
        command += ["--schedule", "together", *options]
        result = self.on_gpus(command, faults, **how)
        self.assertIn(result.code, (0, 2, 3), result.err)
        self.assert_follows_schemas(run)
        return self.report(run)

    def samples(self):
        """Those of GPUs."""
        return [r for r in self.journal(self.directory / "run") if r.get("t") == "sample" and r.get("device")]

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
        for metric in ("gpu_gemm.fp16", "gpu_memory.triad", "gpu_copy.host_to_device_memcpy_ce", "gpu_copy@one.host_to_device_memcpy_ce"):
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
                self.directory.joinpath("run").exists() and self.directory.joinpath("run").rename(self.directory / f"run{ranks}")
                self.measure(ranks=ranks, shell=shell, nodes_by="host")
                samples = self.samples()
                self.assertEqual({s["device"] for s in samples}, {f"gpu{i}" for i in range(GPUS)})
                self.assertEqual({s["status"] for s in samples}, {"ok"})


class Faulty(GpuFleetTest):
    def test_each_is_found(self):
        for faults, expected in (
            ("node1:2:sm_clock=0.7,throttle=hw_thermal", ("1", "gpu2", "compute", "slow")),
            ("node2:0:pcie_width=8", ("2", "gpu0", "copy", "slow")),
            ("node2:*:pcie_width=8", ("2", "", "copy", "slow")),
            ("node0:1:memory=0.7", ("0", "gpu1", "compute", "slow")),
            ("node3:3:wrong_bit=gemm", ("3", "gpu3", "compute", "wrong")),
            # A product that is copied to be checked is damaged, too, and that is said.
            ("node3:3:wrong_bit=copy", ("3", "gpu3", "compute", "wrong")),
            ("node1:3:gone", ("1", "gpu3", "copy", "missing")),
            ("node1:1:sticky=launch@40", ("1", "gpu1", "compute", "missing")),
            ("node0:2:oom=1000000", ("0", "gpu2", "compute", "missing")),
        ):
            with self.subTest(faults=faults):
                run = self.directory / "run"
                if run.exists():
                    run.rename(self.directory / f"run-{len(list(self.directory.iterdir()))}")
                report = self.measure(faults, "--no-confirm")
                self.assertEqual(self.first(report), expected, report["findings"])
                self.assertNotEqual(report["verdict"], "PASS")

    def test_a_hang_costs_its_own_gpu_only(self):
        report = self.measure("node1:0:hang=copy@9", "--no-confirm")
        self.assertEqual(self.first(report), ("1", "gpu0", "compute", "missing"))
        samples = self.samples()
        bad = {(s["node"], s["device"]) for s in samples if s["status"] != "ok"}
        self.assertEqual(bad, {(1, "gpu0")})

    def test_below_the_minimum_effect_nothing_is_reported(self):
        for fault in ("sm_clock=0.99", "h2d=0.98", "memory=0.99"):
            with self.subTest(fault=fault):
                run = self.directory / "run"
                if run.exists():
                    run.rename(self.directory / f"run-{len(list(self.directory.iterdir()))}")
                report = self.measure(f"node1:2:{fault}")
                self.assertEqual([f for f in report["findings"] if f["status"] != "tentative"], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
