"""An installation that was built without a CUDA toolkit says everywhere why GPUs are not measured."""
import os
import re
import shutil
import unittest

from fleetbench_process import BUILD, FleetbenchTest, execute, mpirun

REASON = "this installation has no fleetbench-gpu-worker: it was built without a CUDA toolkit"
MIXED = {
    "schema": "fleetbench-scenario/1.0",
    "name": "mixed",
    "passes": 1,
    "steps": [{"probe": "gpu_memory"}, {"probe": "cpu_gemm", "params": {"n": 64, "seconds": 0.01}}],
}


class WithoutGpuWorker(FleetbenchTest):
    def setUp(self):
        super().setUp()
        self.installed = self.directory / "bin"
        self.installed.mkdir()
        for name in ("fleetbench", "fleetbench-worker"):
            shutil.copy2(BUILD / name, self.installed / name)
        self.fleetbench = str(self.installed / "fleetbench")

    def test_doctor_and_lists_say_why(self):
        for arguments in (["doctor"], ["list", "probes"], ["list", "metrics"]):
            with self.subTest(arguments=arguments):
                result = execute([self.fleetbench, *arguments])
                self.assertEqual(result.code, 0, result.err)
                self.assertTrue(REASON in result.out, result.out[-300:])

    def test_a_suite_of_gpus_alone_is_refused(self):
        result = execute([*mpirun(1), self.fleetbench, "--suite", "gpu", "--out", str(self.directory / "run")])
        self.assertEqual(result.code, 64, result.err)
        self.assertIn(f"suite gpu: nothing of it can be measured: {REASON}", result.err)

    def test_the_rest_of_a_suite_is_measured(self):
        run = self.directory / "run"
        suite = self.scenario(MIXED)
        result = execute([*mpirun(2), self.fleetbench, "--suite", suite, "--nodes-by", "rank", "--out", str(run)])
        self.assertIn(result.code, (0, 2, 3), result.err)
        report = self.report(run)
        self.assertEqual([metric["metric"] for metric in report["metrics"]], ["cpu_gemm.fp32", "cpu_gemm.fp64"])
        self.assertIn(REASON, result.out)


class WithGpuWorker(FleetbenchTest):
    def test_all_that_it_has_is_known_where_there_is_none(self):
        """Else one of its probes would be called unknown there."""
        if not (BUILD / "gpu_sim").is_dir():
            self.skipTest("built without a CUDA toolkit")
        shutil.copy2(BUILD / "fleetbench", self.directory)
        shutil.copy2(BUILD / "fleetbench-worker", self.directory)
        env = dict(os.environ, LD_LIBRARY_PATH=str(BUILD / "gpu_sim"))
        listed = execute([str(BUILD / "fleetbench"), "list", "probes"], env=env).out
        probes = re.findall(r"^((?:gpu|nccl)_\w+)", listed, re.MULTILINE)
        self.assertIn("gpu_gemm", probes)
        for probe in probes:
            suite = self.scenario({**MIXED, "steps": [{"probe": probe}, MIXED["steps"][1]]})
            result = execute([*mpirun(1), str(self.directory / "fleetbench"), "--suite", suite, "--out", str(self.directory / probe)])
            self.assertIn(REASON, " ".join(result.out.split()), result.err)  # lines are wrapped

    def test_nobody_says_so_where_there_is_one(self):
        if not (BUILD / "gpu_sim").is_dir():
            self.skipTest("built without a CUDA toolkit")
        env = dict(os.environ, LD_LIBRARY_PATH=str(BUILD / "gpu_sim"))
        for arguments in (["doctor"], ["list", "probes"]):
            result = execute([str(BUILD / "fleetbench"), *arguments], env=env)
            self.assertEqual(result.code, 0, result.err)
            self.assertNotIn("GPUs are not measured", result.out)
            self.assertIn("gpu_gemm", result.out)


if __name__ == "__main__":
    unittest.main(verbosity=2)
