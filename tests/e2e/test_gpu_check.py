"""scripts/gpu-check on simulated GPUs, and the build that it makes; its parts: tests/unit/test_gpu_check.py."""
import json
import os
import subprocess
import sys
import time
import unittest
from pathlib import Path

from fleetbench_process import BUILD, TIME_SCALE, FleetbenchTest, execute, processes_in_session

SOURCE = Path(__file__).resolve().parent.parent.parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(SOURCE / "scripts"))
from gpu_check import checks, show  # noqa: E402

GPU_CHECK = str(SOURCE / "scripts" / "gpu-check")
PROBES = ("gpu_inventory", "gpu_gemm", "gpu_memory", "gpu_copy")  # at least
SMALL = (
    "gpu_gemm.n=192", "gpu_gemm.seconds=0.0001", "gpu_memory.times_l2=0", "gpu_memory.min_bytes=1048576",
    "gpu_memory.seconds=0.0001", "gpu_copy.bytes=1048576", "gpu_copy.warm_up=1", "gpu_copy.samples=3",
    "gpu_peer_copy.bytes=1048576", "gpu_peer_copy.warm_up=1", "gpu_peer_copy.samples=1",
)
DEADLINE_S = 60 * TIME_SCALE


class GpuCheck(FleetbenchTest):
    def setUp(self):
        super().setUp()
        if not (BUILD / "gpu_sim").is_dir():
            self.skipTest("built without a CUDA toolkit")

    def check(self, faults="", gpus=2, deadline=DEADLINE_S, options=()):
        """What the script leaves: exit code, output, and the content of --json where it wrote some."""
        env = dict(os.environ, LD_LIBRARY_PATH=str(BUILD / "gpu_sim"), FLEETBENCH_GPU_SIM_NODE="node0")
        env.update({"FLEETBENCH_GPU_SIM_GPUS": str(gpus), "FLEETBENCH_GPU_SIM_FAULTS": faults})
        written = self.directory / "found.json"
        command = [GPU_CHECK, "--build", str(BUILD), "--deadline", str(deadline), "--json", str(written)]
        command += ["--products", "64"] + [part for param in SMALL for part in ("--param", param)]
        started = self.start([*command, *options], env)
        result = started.finish(deadline + 10)
        self.assertEqual(processes_in_session(started.process.pid), {}, "left behind")
        result.found = json.loads(written.read_text(encoding="utf-8")) if written.exists() else None
        return result

    def statuses(self, result, gpu):
        return {check["what"]: check["status"] for check in result.found["gpus"][gpu]["checks"]}

    def assert_sound_by_itself(self, result, gpu):
        """Of two GPUs both are ends of the path that one of them spoils."""
        statuses = self.statuses(result, gpu)
        statuses.pop("gpu_peer_copy")
        self.assertEqual(set(statuses.values()), {"ok"})


class OnSimulatedGpus(GpuCheck):
    def test_a_healthy_node_is_right_in_everything_that_the_worker_can(self):
        result = self.check()
        self.assertEqual(result.code, 0, result.out + result.err)
        command = [str(BUILD / "fleetbench-gpu-worker"), "--serve", str(os.getpid())]
        catalog = subprocess.run(command, input=b'{"cmd": "catalog"}\n', capture_output=True, timeout=60, check=True)
        probes = [probe["name"] for probe in json.loads(catalog.stdout)["probes"] if not probe["joins_workers"]]
        self.assertLessEqual(set(PROBES), set(probes))
        for gpu in (0, 1):
            self.assertEqual(list(self.statuses(result, gpu)), [*probes, checks.PRODUCTS])
            self.assertEqual(set(self.statuses(result, gpu).values()), {"ok"})
        for name in (*probes, "fp32", "tf32", "fp16", "bf16", "fp8", "triad", "host_to_device_memcpy_ce"):
            self.assertIn(f" {name} ", result.out)
        self.assertEqual(result.out.count("NVIDIA H100 80GB HBM3 (simulated), "), 2)
        self.assertRegex(result.out, r"fp16 +[\d.]+ TFLOP/s +[\d.]+% of 1071 TFLOP/s")
        self.assertRegex(result.out, r"triad +[\d.]+ GB/s +[\d.]+% of 3\.352 TB/s")
        self.assertRegex(result.out, r"host_to_device_memcpy_ce +[\d.]+ GB/s +[\d.]+% of 63\.02 GB/s")

    def test_the_simulation_says_that_it_is_one(self):
        result = self.check(gpus=1)
        self.assertEqual(result.out.splitlines()[0], show.SIMULATED)
        self.assertEqual(result.out.splitlines()[-1], show.SIMULATED)
        self.assertTrue(result.found["simulated"])

    def test_a_false_bit_is_found_by_probe_and_products(self):
        result = self.check("node0:1:wrong_bit=gemm")
        self.assertEqual(result.code, 2, result.out + result.err)
        self.assertEqual(set(self.statuses(result, 0).values()), {"ok"})
        statuses = self.statuses(result, 1)
        self.assertEqual((statuses["gpu_gemm"], statuses[checks.PRODUCTS]), ("wrong", "wrong"))
        self.assertRegex(result.out, r"gpu_gemm +wrong: fp32 product .* on GPU 1 ")
        self.assertRegex(result.out, r"fp8 +64 rows  wrong: ")
        self.assertRegex(result.out, r"NOT RIGHT: GPU 1 gpu_gemm wrong, GPU 1 products wrong")

    def test_a_false_bit_among_random_numbers_is_found(self):
        # The products of small integers, one for each of six algorithms, are right before it.
        result = self.check("node0:0:wrong_bit=gemm@7", gpus=1, options=["--products", "128"])
        [products] = [check for check in result.found["gpus"][0]["checks"] if check["what"] == checks.PRODUCTS]
        first = products["products"][0]
        self.assertEqual((first["precision"], first["status"]), ("fp32", "wrong"))
        self.assertIn("a product of random numbers is", first["reason"])

    def test_a_damaged_copy_is_found(self):
        result = self.check("node0:0:wrong_bit=copy")
        self.assertEqual(result.code, 2)
        self.assertEqual(self.statuses(result, 0)["gpu_copy"], "wrong")
        self.assert_sound_by_itself(result, 1)

    def test_no_driver_and_an_old_one_leave_nothing_to_check(self):
        for fault, reason in (
            ("no_driver", "CUDA finds no GPU here"),
            ("no_libcuda", "no NVIDIA driver"),
            ("driver=12.2", "good for CUDA 12.2"),
        ):
            with self.subTest(fault=fault):
                result = self.check(f"node0:*:{fault}")
                self.assertEqual(result.code, 3, result.out + result.err)
                self.assertIn("nothing was checked", result.err)
                self.assertIn(reason, result.err)
                self.assertIn(reason, result.found["nothing_checked"])

    def test_what_hangs_is_ended_and_the_rest_is_checked(self):
        begin = time.monotonic()
        result = self.check("node0:0:hang=copy@6", deadline=20 * TIME_SCALE)
        self.assertLess(time.monotonic() - begin, 20 * TIME_SCALE + 1)
        self.assertEqual(result.code, 2, result.out + result.err)
        self.assertEqual(self.statuses(result, 0)["gpu_copy"], "timeout")
        self.assertRegex(result.out, r"gpu_copy +timeout: \w+ did not end within [\d.]+ s; process \d+ was ended")
        self.assertEqual(self.statuses(result, 1)["gpu_copy"], "ok")

    def test_all_is_over_by_the_deadline_where_everything_hangs(self):
        begin = time.monotonic()
        result = self.check("node0:*:hang=launch@1", gpus=8, deadline=10)
        self.assertLess(time.monotonic() - begin, 10 + TIME_SCALE)
        self.assertEqual(result.code, 2, result.out + result.err)
        self.assertEqual(len(result.found["gpus"]), 8)
        self.assertRegex(result.out, r"GPU 7 gpu_memory timeout")

    def test_nothing_outlives_it_when_it_is_killed(self):
        env = dict(os.environ, LD_LIBRARY_PATH=str(BUILD / "gpu_sim"), FLEETBENCH_GPU_SIM_FAULTS="*:*:hang=launch@1")
        started = self.start([GPU_CHECK, "--build", str(BUILD)], env)
        started.wait_for(lambda: started.named("fleetbench-gpu-"))
        started.process.kill()
        started.process.wait(10)
        end = time.monotonic() + 10 * TIME_SCALE
        while processes_in_session(started.process.pid) and time.monotonic() < end:
            time.sleep(0.05)
        self.assertEqual(processes_in_session(started.process.pid), {})

    def test_a_sticky_error_is_a_failure_with_its_reason(self):
        result = self.check("node0:0:sticky=launch@3")
        self.assertEqual(result.code, 2)
        self.assertIn("cudaErrorLaunchFailure", result.out)
        self.assert_sound_by_itself(result, 1)

    def test_a_slower_link_is_noted(self):
        result = self.check("node0:0:pcie_width=8", gpus=1)
        self.assertEqual(result.code, 0)
        self.assertIn("pcie_width was 8 at most, of 16", result.out)

    def test_slow_is_not_wrong(self):
        self.assertEqual(self.check("node0:0:sm_clock=0.1,h2d=0.1", gpus=1).code, 0)


class Options(FleetbenchTest):
    def test_wrong_ones_are_told(self):
        for options, text in (
            (["--dedline", "3"], "--dedline"),
            (["--deadline", "9"], '"9" is not a whole number from 10'),
            (["--deadline", "soon"], '"soon"'),
            (["--products", "100"], '"100" is not a list of multiples of 16'),
            (["--param", "gpu_gemm"], '"gpu_gemm" is not PROBE.NAME=X'),
            (["--param", "gpu_gemm.n=big"], '"big" of gpu_gemm.n is no JSON'),
            (["--json", "/proc/none/found.json"], "/proc/none/found.json"),
            (["GPU"], "GPU"),
        ):
            with self.subTest(options=options):
                result = execute([GPU_CHECK, *options])
                self.assertEqual(result.code, 64)
                self.assertIn(text, result.err)
                self.assertIn("--help", result.err)

    def test_unknown_params_are_told(self):
        if not (BUILD / "fleetbench-gpu-worker").exists():
            self.skipTest("built without a CUDA toolkit")
        for param, text in (("gpu_gem.n=1", 'probe "gpu_gem" is none of'), ("gpu_gemm.m=1", 'gpu_gemm has no "m"')):
            result = execute([GPU_CHECK, "--build", str(BUILD), "--param", param])
            self.assertEqual(result.code, 64, result.err)
            self.assertIn(text, result.err)

    def test_a_folder_without_programs_is_told(self):
        result = execute([GPU_CHECK, "--build", str(self.directory)])
        self.assertEqual(result.code, 3)
        self.assertIn("fleetbench-gpu-worker is not there", result.err)

    def test_help(self):
        result = execute([GPU_CHECK, "--help"])
        self.assertEqual(result.code, 0)
        self.assertIn("Usage: scripts/gpu-check", result.out)


class WithoutMpi(FleetbenchTest):
    """What scripts/gpu-check configures needs what the GPU worker needs, and tells what of it is missing."""

    def configure(self, *options):
        command = ["cmake", "--preset", "gpu-check", "-S", str(SOURCE), "-B", str(self.directory / "build"), *options]
        return execute(command, timeout=300, cwd=SOURCE)

    def test_no_other_library_is_looked_for(self):
        if not (BUILD / "gpu_sim").is_dir():
            self.skipTest("built without a CUDA toolkit")
        others = ("MPI", "valijson", "cxxopts", "benchmark", "ZLIB", "simdjson", "GTest")
        result = self.configure(*(f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in others))
        self.assertEqual(result.code, 0, result.out + result.err)
        self.assertIn("fleetbench-gpu-worker", execute(["cmake", "--build", str(self.directory / "build"), "--target", "help"]).out)

    def test_what_is_missing_is_told_by_its_package(self):
        missing = ("fmt", "nlohmann_json", "PkgConfig")
        result = self.configure(
            "-DFLEETBENCH_GPU=OFF", *(f"-DCMAKE_DISABLE_FIND_PACKAGE_{name}=ON" for name in missing)
        )
        self.assertNotEqual(result.code, 0)
        told = " ".join(result.err.split())
        self.assertIn("apt-get install libfmt-dev nlohmann-json3-dev pkg-config libhwloc-dev", told)

    def test_a_toolkit_that_is_missing_is_told(self):
        result = self.configure("-DFLEETBENCH_GPU=OFF")
        self.assertNotEqual(result.code, 0)
        self.assertIn("needs a CUDA toolkit", " ".join(result.err.split()))


if __name__ == "__main__":
    unittest.main(verbosity=2)
