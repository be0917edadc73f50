"""A virtual fleet of four nodes with eight simulated GPUs each: a healthy run, then each fault of a GPU
by itself. Needs root; exits 77 (skipped) without, and where there was no CUDA toolkit to build with."""
import os
import shlex
import sys
import unittest

from test_fleet import FLEETBENCH, SKIPPED, TESTFLEET, Fleet

from fleetbench_process import BUILD, execute  # noqa: E402
from test_gpu_fleet import SCENARIO  # noqa: E402

GPUS = 8
SIMULATION = BUILD / "gpu_sim"


class Gpus(Fleet):
    def measure_with(self, faults, *options):
        run = self.directory / f"run{len(list(self.directory.iterdir()))}"
        settings = {
            "LD_LIBRARY_PATH": SIMULATION,
            "FLEETBENCH_GPU_SIM_GPUS": GPUS,
            "FLEETBENCH_GPU_SIM_FAULTS": faults,
            "FLEETBENCH_GPU_SIM_LATENCY": 0,
        }
        exports = " ".join(f"export {name}={shlex.quote(str(value))};" for name, value in settings.items())
        command = [FLEETBENCH, "--suite", self.scenario(SCENARIO), "--schedule", "together", "--out", str(run), *options]
        fleet = [TESTFLEET, "--name", self.name, "run", "--"]
        result = execute([*fleet, "sh", "-c", exports + ' exec "$@"', "sh", *command], timeout=300)
        self.assertTrue((run / "report.json").exists(), result.out + result.err)
        return self.report(run), result

    def test_a_healthy_fleet_passes(self):
        report, result = self.measure_with("")
        self.assertEqual(self.standing(report), [], result.out)
        self.assertEqual((report["verdict"], result.code), ("PASS", 0), result.out)
        [copies] = [m for m in report["metrics"] if m["metric"] == "gpu_copy.host_to_device_memcpy_ce"]
        self.assertEqual(copies["subjects"], self.nodes * GPUS)

    def test_each_fault_is_the_first_finding(self):
        for faults, expected in (
            ("node1:6:sm_clock=0.7,throttle=hw_thermal", ("node1", "gpu6", "compute", "slow")),
            ("node2:*:sm_clock=0.7,throttle=sw_power", ("node2", None, "compute", "slow")),
            ("node2:7:pcie_width=8", ("node2", "gpu7", "copy", "slow")),
            ("node0:1:memory=0.7", ("node0", "gpu1", "compute", "slow")),
            ("node0:3:peer=5:0.5", ("node0", ("gpu3", "gpu5"), "copy", "slow")),
            ("node2:2:ecc=2", ("node2", "gpu2", "compute", "wrong")),
            ("node3:3:wrong_bit=gemm", ("node3", "gpu3", "compute", "wrong")),
            ("node1:5:sticky=launch@40", ("node1", "gpu5", "compute", "missing")),
            ("node0:2:oom=1000000", ("node0", "gpu2", "compute", "missing")),
            ("node3:4:hang=copy@9", ("node3", "gpu4", "compute", "missing")),
            ("node1:3:gone", ("node1", "gpu3", "copy", "missing")),
        ):
            with self.subTest(faults=faults):
                report, result = self.measure_with(faults, "--no-confirm")
                self.assertTrue(report["findings"], result.out)
                first = report["findings"][0]
                subject = first["subject"]
                node, devices, layer, direction = expected
                self.assertEqual((subject["node"], first["layer"], first["direction"]), (node, layer, direction), result.out)
                # Of a path either end may come first.
                self.assertIn(subject.get("device"), devices if isinstance(devices, tuple) else (devices,), result.out)
                self.assertNotEqual(report["verdict"], "PASS")

    def test_below_the_minimum_effect_nothing_is_reported(self):
        for fault in ("sm_clock=0.99", "h2d=0.98", "memory=0.99", "peer=0:0.98"):
            with self.subTest(fault=fault):
                report, result = self.measure_with(f"node1:2:{fault}")
                self.assertEqual([f for f in self.standing(report) if f["status"] != "tentative"], [], result.out)


if __name__ == "__main__":
    if os.geteuid() != 0 or not SIMULATION.is_dir():
        print("skipped: it needs root and a build with a CUDA toolkit of version 13")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
