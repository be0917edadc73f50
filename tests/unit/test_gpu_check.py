"""The parts of scripts/gpu-check that need no GPU: limits, and what it makes of a worker's answers."""
import sys
import tempfile
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "scripts"))
from gpu_check import checks, limits, show  # noqa: E402
from gpu_check.deadline import Deadline  # noqa: E402

H100 = {
    "model": "NVIDIA H100 80GB HBM3", "compute_capability": "9.0", "multiprocessors": 132, "max_sm_clock_hz": 1.83e9,
    "max_memory_clock_hz": 2.619e9, "memory_bus_bits": 5120, "max_pcie_generation": 5, "max_pcie_width": 16,
}


class Limits(unittest.TestCase):
    def test_multiplication_is_that_of_the_data_sheets(self):
        # Compute capability, SMs, clock in MHz of NVIDIA's figure, precision, TFLOP/s.
        for chip, model, sms, mhz, precision, expected in (
            ("8.0", "NVIDIA A100-SXM4-80GB", 108, 1410, "fp32", 19.5),
            ("8.0", "NVIDIA A100-SXM4-80GB", 108, 1410, "tf32", 156),
            ("8.0", "NVIDIA A100-SXM4-80GB", 108, 1410, "bf16", 312),
            ("9.0", "NVIDIA H100 80GB HBM3", 132, 1980, "fp32", 66.9),
            ("9.0", "NVIDIA H100 80GB HBM3", 132, 1830, "tf32", 494.7),
            ("9.0", "NVIDIA H100 80GB HBM3", 132, 1830, "fp16", 989.4),
            ("9.0", "NVIDIA H100 80GB HBM3", 132, 1830, "fp8", 1978.9),
            ("12.0", "NVIDIA RTX PRO 6000 Blackwell Server Edition", 188, 2617, "tf32", 251.9),
            ("12.0", "NVIDIA RTX PRO 6000 Blackwell Server Edition", 188, 2617, "fp16", 503.8),
            ("12.0", "NVIDIA GeForce RTX 5090", 170, 2407, "fp32", 104.8),
            ("12.0", "NVIDIA GeForce RTX 5090", 170, 2407, "fp16", 209.5),
            ("12.0", "NVIDIA GeForce RTX 5090", 170, 2407, "fp8", 419),
        ):
            with self.subTest(model=model, precision=precision):
                gpu = {"compute_capability": chip, "model": model, "multiprocessors": sms, "max_sm_clock_hz": mhz * 1e6}
                self.assertAlmostEqual(limits.limit_of("gpu_gemm", precision, gpu) / 1e12 / expected, 1, delta=0.003)

    def test_blackwell_of_data_centers_has_twice_hoppers_rate(self):
        for precision in ("tf32", "fp16", "bf16", "fp8"):
            blackwell = limits.limit_of("gpu_gemm", precision, {**H100, "compute_capability": "10.0"})
            self.assertEqual(blackwell, 2 * limits.limit_of("gpu_gemm", precision, H100))

    def test_a_long_load_has_the_limit_of_a_short_one(self):
        of = limits.limit_of
        self.assertEqual(of("gpu_gemm", "fp16.sustained", H100), of("gpu_gemm", "fp16", H100))

    def test_memory_is_that_of_the_data_sheets(self):
        for model, mhz, bits, gb_per_s in (
            ("A100 80 GB", 1593, 5120, 2039), ("H100", 2619, 5120, 3352), ("H200", 3201, 6144, 4917),
            ("L40S", 9001, 384, 864), ("RTX 5090", 14001, 512, 1792),
        ):
            with self.subTest(model=model):
                gpu = {"max_memory_clock_hz": mhz * 1e6, "memory_bus_bits": bits}
                limit = limits.limit_of("gpu_memory", "triad", gpu)
                self.assertAlmostEqual(limit / 1e9 / gb_per_s, 1, delta=0.001)
                self.assertEqual(limits.limit_of("gpu_copy", "device_local_copy", gpu), limit / 2)

    def test_pcie_follows_generation_and_width(self):
        for generation, width, gb_per_s in (
            (1, 16, 4.0), (2, 8, 4.0), (3, 16, 15.754), (4, 16, 31.508), (5, 16, 63.015), (5, 8, 31.508), (6, 16, 118.0),
        ):
            with self.subTest(generation=generation, width=width):
                gpu = {"max_pcie_generation": generation, "max_pcie_width": width}
                for metric in ("host_to_device_memcpy_ce", "device_to_host_bidirectional_memcpy_ce"):
                    self.assertAlmostEqual(limits.limit_of("gpu_copy", metric, gpu) / 1e9, gb_per_s, places=2)

    def test_what_is_not_known_is_no_guess(self):
        for probe, metric, gpu in (
            ("gpu_gemm", "fp16", {**H100, "compute_capability": "10.3"}),
            ("gpu_gemm", "fp8", {**H100, "compute_capability": "8.0"}),
            ("gpu_gemm", "fp4", H100),
            ("gpu_gemm", "fp16", {key: value for key, value in H100.items() if key != "max_sm_clock_hz"}),
            ("gpu_memory", "read", {**H100, "memory_bus_bits": 0}),
            ("gpu_copy", "host_to_device_memcpy_ce", {**H100, "max_pcie_generation": 7}),
            ("gpu_copy", "something_else", H100),
            ("gpu_something", "read", H100),
        ):
            with self.subTest(probe=probe, metric=metric):
                with self.assertRaises(limits.Unknown):
                    limits.limit_of(probe, metric, gpu)

    def test_an_unknown_limit_is_shown_as_such(self):
        metric = {"name": "fp16", "unit": "FLOP/s", "covariate": False}
        shown = show.of_rate(checks.rate("gpu_gemm", metric, 5e12, {**H100, "compute_capability": "10.3"}))
        self.assertIn("limit unknown: no table has fp16 of compute capability 10.3", shown)


# Answers as fleetbench-gpu-worker does; MEASURED stands for the answer to `measure`.
WORKER = """#!/usr/bin/env python3
import json, sys, time
for line in sys.stdin:
    command = json.loads(line)
    answer = {"status": "ok"}
    if command["cmd"] == "metrics":
        answer["metrics"] = [{"name": "write", "unit": "B/s", "covariate": False}]
    elif command["cmd"] == "calibrate":
        answer["work"] = {"copies": 3}
    elif command["cmd"] == "prepare":
        work = command["work"]
    elif command["cmd"] == "measure":
        answer.update(MEASURED)
    print(json.dumps(answer), flush=True)
"""


class Answers(unittest.TestCase):
    def setUp(self):
        self.program = Path(self.enterContext(tempfile.TemporaryDirectory())) / "worker"
        self.gpus = [{"index": i, "facts": {**H100, "uuid": f"GPU-{i}"}, "checks": []} for i in range(3)]

    def check(self, measured, **probe):
        self.program.write_text(WORKER.replace("MEASURED", measured), encoding="utf-8")
        self.program.chmod(0o755)
        probe = {"name": "gpu_some", "params": {}, "facts_only": False, **probe}
        checks.check_probe(str(self.program), probe, self.gpus, Deadline(60))
        return [gpu["checks"][0] for gpu in self.gpus]

    def test_a_probe_of_all_gpus_at_once_has_an_outcome_for_each(self):
        # Of two of the three; it is told of all, and of the work that was calibrated.
        found = self.check(
            """{"values": [], "detail": {"devices": [
                {"uuid": gpu["uuid"], "status": "ok", "values": [5e9 * work["copies"]]} if gpu["label"] == "gpu0"
                else {"uuid": gpu["uuid"], "status": "wrong", "reason": "a bit"}
                for gpu in work["gpus"][:2]]}}""",
            all_gpus=True,
        )
        self.assertEqual([check["status"] for check in found], ["ok", "wrong", "failed"])
        self.assertEqual(found[0]["rates"][0]["value"], 15e9)
        self.assertEqual(found[0]["rates"][0]["why_no_limit"], "no formula")
        self.assertEqual(found[1]["reason"], "a bit")
        self.assertIn("says nothing of this GPU", found[2]["reason"])

    def test_a_skipped_probe_of_all_gpus_is_skipped_on_each(self):
        found = self.check('{"status": "skipped", "reason": "there is one GPU only"}', all_gpus=True)
        self.assertEqual([(check["status"], check["reason"]) for check in found], [("skipped", "there is one GPU only")] * 3)

    def test_probes_of_gpus_with_each_other_are_left_to_runs(self):
        probes = [{"name": "gpu_some", "joins_workers": False}, {"name": "nccl_some", "joins_workers": True}, {"name": "older"}]
        self.assertEqual([probe["name"] for probe in checks.of_one_gpu_or_node(probes)], ["gpu_some", "older"])

    def test_too_few_values_are_a_failure(self):
        found = self.check('{"values": []}')
        self.assertEqual({check["status"] for check in found}, {"failed"})
        self.assertEqual(found[0]["reason"], "0 values for 1 metrics")

    def test_a_worker_that_dies_leaves_its_last_words(self):
        found = self.check('sys.exit("the end")')
        self.assertEqual(found[0]["status"], "failed")
        self.assertEqual(found[0]["reason"], "measure: it died (exit code 1): the end")

    def test_a_worker_that_hangs_is_ended(self):
        self.gpus = self.gpus[:1]
        self.program.write_text(WORKER.replace("MEASURED", "time.sleep(100)"), encoding="utf-8")
        self.program.chmod(0o755)
        probe = {"name": "gpu_some", "params": {}, "facts_only": False}
        checks.check_probe(str(self.program), probe, self.gpus, Deadline(2))
        self.assertEqual(self.gpus[0]["checks"][0]["status"], "timeout")
        self.assertRegex(self.gpus[0]["checks"][0]["reason"], "did not end within .* process .* was ended")


class Products(unittest.TestCase):
    def test_the_worst_of_them_counts(self):
        ok, skipped = {"status": "ok"}, {"status": "skipped", "reason": "too small"}
        failed = {"status": "failed", "reason": "CUDA", "precision": "tf32"}
        wrong = {"status": "wrong", "reason": "a bit", "precision": "fp8"}
        for products, expected in (
            ([ok, skipped], {"status": "ok"}),
            ([ok, failed], {"status": "failed", "reason": "tf32: CUDA"}),
            ([failed, wrong, ok], {"status": "wrong", "reason": "fp8: a bit"}),
            ([skipped], {"status": "skipped", "reason": "too small"}),
            ([], {"status": "skipped", "reason": "the chip has none of the precisions"}),
        ):
            self.assertEqual(checks.worst(products), expected)


if __name__ == "__main__":
    unittest.main(verbosity=2)
