"""The GPU worker on simulated GPUs: what it measures, and what it says of each thing that may be wrong with one."""
import json
import os
import select
import subprocess
import unittest
from pathlib import Path

from fleetbench_process import BUILD, TIME_SCALE, FleetbenchTest

SMALL = {
    "gpu_gemm": {"precisions": ["fp32", "tf32", "fp16", "bf16", "fp8"], "n": 192, "seconds": 0.0001, "sustained_s": 0},
    "gpu_memory": {"times_l2": 0, "min_bytes": 1 << 20, "seconds": 0.0001},
    "gpu_copy": {"bytes": 1 << 20, "copies": 16, "warm_up": 1, "samples": 3},
    "gpu_peer_copy": {"bytes": 1 << 20, "copies": 16, "warm_up": 1, "samples": 3, "longest_s": 10},
    "gpu_inventory": {},
}
LONGEST_S = 60 * TIME_SCALE


class GpuWorker:
    """One worker on one node of simulated GPUs, spoken to as a rank does."""

    def __init__(self, node="node0", gpus=2, faults="", uuid=None, leaks=None, **settings):
        env = dict(os.environ, LD_LIBRARY_PATH=str(BUILD / "gpu_sim"))
        env.update({"FLEETBENCH_GPU_SIM_NODE": node, "FLEETBENCH_GPU_SIM_GPUS": str(gpus), "FLEETBENCH_GPU_SIM_FAULTS": faults})
        if leaks is not None:
            env["FLEETBENCH_GPU_SIM_LEAKS"] = str(leaks)
        env.update(settings)
        command = [str(BUILD / "fleetbench-gpu-worker"), "--serve", str(os.getpid())] + ([uuid] if uuid else [])
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(10 * TIME_SCALE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def ask(self, limit_s=LONGEST_S, **command):
        self.process.stdin.write(json.dumps(command).encode() + b"\n")
        self.process.stdin.flush()
        if not select.select([self.process.stdout], [], [], limit_s)[0]:
            return None
        line = self.process.stdout.readline()
        return json.loads(line) if line else {"status": "died", "reason": self.process.stderr.read().decode()}

    def metrics(self, probe, **params):
        return [metric["name"] for metric in self.ask(cmd="metrics", probe=probe, params={**SMALL[probe], **params})["metrics"]]

    def calibrate(self, probe, **params):
        return self.ask(cmd="calibrate", probe=probe, params={**SMALL[probe], **params})

    def prepare(self, probe, work, **params):
        return self.ask(cmd="prepare", probe=probe, params={**SMALL[probe], **params}, work=work)

    def measure(self, limit_s=LONGEST_S):
        return self.ask(limit_s, cmd="measure")


def work_for(probe, **params):
    """What a healthy first GPU finds, as the whole fleet does it."""
    with GpuWorker(gpus=1) as worker:
        return worker.calibrate(probe, **params).get("work", {})


class GpuWorkerTest(FleetbenchTest):
    def setUp(self):
        super().setUp()
        if not (BUILD / "gpu_sim").is_dir():
            self.skipTest("built without a CUDA toolkit")

    def measured(self, probe, work=None, params=None, **settings):
        """Name → value, and the detail, of one measurement; or the answer that is not ok."""
        params = params or {}
        work = work_for(probe, **params) if work is None else work
        with GpuWorker(**settings) as worker:
            names = worker.metrics(probe, **params)
            prepared = worker.prepare(probe, work, **params)
            if prepared["status"] != "ok":
                return prepared
            answer = worker.measure()
            if answer["status"] != "ok":
                return answer
            return {**dict(zip(names, answer["values"])), "detail": answer["detail"]}

    def assert_ratio(self, value, healthy, ratio, within=0.05):
        self.assertGreater(value / healthy, ratio - within)
        self.assertLess(value / healthy, ratio + within)


class Healthy(GpuWorkerTest):
    def test_every_probe_measures_and_frees_what_it_took(self):
        leaks = self.directory / "leaks"
        with GpuWorker(leaks=leaks) as worker:
            for probe in ("gpu_gemm", "gpu_memory", "gpu_copy"):
                work = worker.calibrate(probe).get("work")
                self.assertEqual(worker.prepare(probe, work)["status"], "ok")
                for _ in range(2):
                    answer = worker.measure()
                    self.assertEqual(answer["status"], "ok", answer)
                    names = worker.metrics(probe)
                    self.assertEqual(len(names), len(answer["values"]))
                    for name, value in zip(names, answer["values"]):
                        if not name.endswith(".far"):
                            self.assertGreater(value, 0, name)
                self.assertEqual(worker.ask(cmd="release")["status"], "ok")
        self.assertEqual(leaks.read_text() if leaks.exists() else "", "")

    def test_rates_are_those_of_the_chip(self):
        copy = self.measured("gpu_copy", params={"bytes": 32 << 20})
        self.assert_ratio(copy["host_to_device_memcpy_ce"], 55e9, 1)
        self.assert_ratio(copy["device_to_host_memcpy_ce"], 55e9, 1)
        memory = self.measured("gpu_memory", params={"min_bytes": 64 << 20})
        self.assert_ratio(memory["copy"], 3.35e12 * 0.92, 1, within=0.1)

    def test_telemetry_comes_with_each_measurement(self):
        measured = self.measured("gpu_gemm")
        for covariate in ("sm_clock", "memory_clock", "temperature", "power"):
            self.assertGreater(measured[covariate], 0)
        gpu = measured["detail"]["gpu"]
        self.assertEqual(gpu["pcie_width"]["median"], 16)
        self.assertEqual(gpu["pcie_generation"]["median"], 5)
        self.assertNotIn("rises", gpu)

    def test_multiprocessors_tell_how_busy_they_are(self):
        with GpuWorker(gpus=1) as worker:
            worker.prepare("gpu_copy", {}, bytes=64 << 20)
            gpu = worker.measure()["detail"]["gpu"]
        self.assertGreater(gpu["sm_active"], 0.5)
        self.assertLessEqual(gpu["sm_active"], 1)
        self.assertLess(gpu["sm_occupancy"], gpu["sm_active"])

    def test_the_inventory_says_what_is_there(self):
        with GpuWorker(gpus=2) as worker:
            worker.prepare("gpu_inventory", {})
            facts = worker.measure()["detail"]
        self.assertRegex(facts["driver"], r"^\d+\.\d+")
        self.assertEqual(facts["cuda_runtime"], "13.0")
        self.assertNotIn("not_measured", facts)
        for gpu in facts["gpus"]:
            self.assertEqual(gpu["power_limit_w"], 700)
            self.assertEqual(gpu["max_pcie_width"], 16)
            self.assertEqual(gpu["compute_mode"], "default")
            self.assertEqual((gpu["ecc"], gpu["mig"]), (True, False))
            self.assertTrue(gpu["vbios"])

    def test_without_nvml_all_but_telemetry_is_measured(self):
        bare = self.directory / "bare"
        bare.mkdir()
        for library in ("libcudart.so.13", "libcublasLt.so.13", "libfleetbench_gpu_model.so"):
            (bare / library).symlink_to(BUILD / "gpu_sim" / library)
        measured = self.measured("gpu_memory", LD_LIBRARY_PATH=str(bare))
        self.assertGreater(measured["copy"], 0)
        self.assertIsNone(measured["sm_clock"])
        self.assertIn("libnvidia-ml.so.1 cannot be opened", measured["detail"]["not_measured"][0]["reason"])

    def test_each_worker_has_its_own_gpu(self):
        with GpuWorker(gpus=4) as worker:
            worker.prepare("gpu_inventory", {})
            gpus = worker.measure()["detail"]["gpus"]
        self.assertEqual(len({gpu["uuid"] for gpu in gpus}), 4)
        self.assertEqual(len({gpu["address"] for gpu in gpus}), 4)
        slow = {"gpus": 4, "faults": "node0:2:h2d=0.5"}
        rates = [self.measured("gpu_copy", uuid=gpu["uuid"], **slow)["host_to_device_memcpy_ce"] for gpu in gpus]
        self.assertEqual(rates.index(min(rates)), 2)
        self.assert_ratio(rates[2], rates[0], 0.5)

    def test_a_launcher_may_show_one_gpu_only(self):
        with GpuWorker(gpus=4) as worker:
            worker.prepare("gpu_inventory", {})
            third = worker.measure()["detail"]["gpus"][2]["uuid"]
        with GpuWorker(gpus=4, CUDA_VISIBLE_DEVICES=third) as worker:
            worker.prepare("gpu_inventory", {})
            self.assertEqual([gpu["uuid"] for gpu in worker.measure()["detail"]["gpus"]], [third])

    def test_a_long_load_has_a_rate_of_its_own(self):
        measured = self.measured("gpu_gemm", params={"precisions": ["fp16"], "sustained_s": 0.001})
        self.assert_ratio(measured["fp16.sustained"], measured["fp16"], 1)


class Slow(GpuWorkerTest):
    def both(self, probe, faults, **params):
        work = work_for(probe, **params)
        return (self.measured(probe, work, params), self.measured(probe, work, params, faults=faults))

    def test_a_slow_clock_slows_arithmetic_and_says_why(self):
        healthy, slow = self.both("gpu_gemm", "node0:0:sm_clock=0.7,throttle=hw_thermal", n=512)
        self.assert_ratio(slow["fp32"], healthy["fp32"], 0.7, within=0.15)
        for precision in ("tf32", "fp16"):  # what is left is the launch, so small are the matrices
            self.assertLess(slow[precision] / healthy[precision], 0.98, precision)
        self.assert_ratio(slow["sm_clock"], healthy["sm_clock"], 0.7)
        self.assertIn("hw_thermal_slowdown", slow["detail"]["gpu"]["clock_event_reasons"])
        healthy, slow = self.both("gpu_copy", "node0:0:sm_clock=0.7", bytes=16 << 20)
        self.assert_ratio(slow["host_to_device_memcpy_ce"], healthy["host_to_device_memcpy_ce"], 1)

    def test_a_narrow_link_slows_copies_and_is_seen(self):
        healthy, slow = self.both("gpu_copy", "node0:0:pcie_width=8", bytes=16 << 20)
        for name in ("host_to_device_memcpy_ce", "device_to_host_memcpy_ce"):
            self.assert_ratio(slow[name], healthy[name], 0.5)
        self.assert_ratio(slow["device_local_copy"], healthy["device_local_copy"], 1)
        self.assertEqual(slow["detail"]["gpu"]["pcie_width"]["median"], 8)

    def test_one_direction_alone(self):
        healthy, slow = self.both("gpu_copy", "node0:0:d2h=0.6", bytes=16 << 20)
        self.assert_ratio(slow["device_to_host_memcpy_ce"], healthy["device_to_host_memcpy_ce"], 0.6)
        self.assert_ratio(slow["host_to_device_memcpy_ce"], healthy["host_to_device_memcpy_ce"], 1)
        self.assert_ratio(slow["device_to_host_bidirectional_memcpy_ce"], healthy["device_to_host_bidirectional_memcpy_ce"], 0.6)

    def test_slow_memory_slows_its_kernels(self):
        healthy, slow = self.both("gpu_memory", "node0:0:memory=0.8", min_bytes=64 << 20)
        for name in ("read", "copy", "triad"):
            self.assert_ratio(slow[name], healthy[name], 0.8)


class Wrong(GpuWorkerTest):
    def test_a_false_bit_is_wrong_and_no_slow_value(self):
        for fault in ("wrong_bit=gemm", "wrong_bit=gemm@40"):
            with self.subTest(fault=fault):
                answer = self.measured("gpu_gemm", faults=f"node0:0:{fault}")
                self.assertEqual(answer["status"], "wrong")
                self.assertIn("GPU 0 (", answer["reason"])
                self.assertIn("wrong results", answer["reason"])

    def test_a_damaged_copy_is_wrong(self):
        answer = self.measured("gpu_copy", faults="node0:0:wrong_bit=copy")
        self.assertEqual(answer["status"], "wrong")
        self.assertIn("after a copy", answer["reason"])


class Peers(GpuWorkerTest):
    """One worker for all GPUs of the node."""

    READ, WRITE, LOWEST = range(3)
    NO_LATENCY = {"FLEETBENCH_GPU_SIM_LATENCY": "0"}

    def inventory(self, gpus=4, **settings):
        with GpuWorker(gpus=gpus, **settings) as worker:
            worker.prepare("gpu_inventory", {})
            return worker.measure()["detail"]

    def uuids(self, gpus=4):
        return [gpu["uuid"] for gpu in self.inventory(gpus)["gpus"]]

    def measured_peers(self, uuids=None, params=None, gpus=4, **settings):
        """The outcome of each GPU, in the order of their numbers; or the answer that is not ok."""
        work = {"gpus": [{"label": f"gpu{i}", "uuid": uuid} for i, uuid in enumerate(uuids)]} if uuids else {}
        with GpuWorker(gpus=gpus, **{**self.NO_LATENCY, **settings}) as worker:
            answer = worker.prepare("gpu_peer_copy", work, **(params or {}))
            answer = worker.measure() if answer["status"] == "ok" else answer
            if answer["status"] == "ok" and not params:
                self.assertEqual(worker.ask(cmd="release")["status"], "ok")
            elif params:
                worker.process.kill()  # what hangs can be freed by nobody
        if answer["status"] != "ok":
            return answer
        self.assertEqual(answer["values"], [])
        return answer["detail"]["devices"]

    def statuses(self, devices):
        return [device["status"] for device in devices]

    def test_every_path_is_measured_and_freed(self):
        leaks = self.directory / "leaks"
        devices = self.measured_peers(self.uuids(), leaks=leaks)
        self.assertEqual(self.statuses(devices), ["ok"] * 4)
        self.assertEqual([device["uuid"] for device in devices], self.uuids())
        addresses = {device["detail"]["address"] for device in devices}
        for device in devices:
            detail = device["detail"]
            for way in ("read_from", "write_to"):
                self.assertEqual(set(detail[way]), addresses - {detail["address"]})
                for rate in detail[way].values():
                    self.assert_ratio(rate, 370e9, 1)
            read, write, lowest = device["values"]
            self.assertEqual(read, sorted(detail["read_from"].values())[1])
            self.assertEqual(write, sorted(detail["write_to"].values())[1])
            self.assert_ratio(lowest, min([*detail["read_from"].values(), *detail["write_to"].values()]), 1)
            self.assertIn("sm_clock_hz", detail["gpu"])
            self.assertNotIn("not_measured", detail)
        self.assertEqual(leaks.read_text() if leaks.exists() else "", "")

    def test_a_slow_path_shows_at_both_ends_and_is_named(self):
        devices = self.measured_peers(faults="node0:2:peer=0:0.5")
        addresses = [device["detail"]["address"] for device in devices]
        lowest = [device["values"][self.LOWEST] for device in devices]
        for slow in (0, 2):
            self.assert_ratio(lowest[slow], lowest[1], 0.5)
            for median in (self.READ, self.WRITE):
                self.assert_ratio(devices[slow]["values"][median], devices[1]["values"][median], 1)
        self.assert_ratio(lowest[3], lowest[1], 1)
        self.assertEqual((devices[0]["detail"]["lowest"]["way"], devices[0]["detail"]["lowest"]["address"]), ("read_from", addresses[2]))
        self.assertEqual((devices[2]["detail"]["lowest"]["way"], devices[2]["detail"]["lowest"]["address"]), ("write_to", addresses[0]))
        self.assertGreater(devices[2]["detail"]["gpu"]["rises"]["nvlink_replay"], 0)
        self.assertNotIn("rises", devices[1]["detail"]["gpu"])

    def test_a_slow_gpu_is_the_lowest_of_no_other(self):
        devices = self.measured_peers(faults="node0:1:nvlinks_down=9")
        healthy = self.measured_peers()
        for i, device in enumerate(devices):
            for metric in (self.READ, self.WRITE, self.LOWEST):
                self.assert_ratio(device["values"][metric], healthy[i]["values"][metric], 0.5 if i == 1 else 1)

    def test_with_latency_small_copies_are_slower(self):
        [fast, *_] = self.measured_peers(gpus=2)
        [slow, *_] = self.measured_peers(gpus=2, FLEETBENCH_GPU_SIM_LATENCY="1")
        self.assertLess(slow["values"][self.READ], 0.9 * fast["values"][self.READ])

    def test_only_those_that_are_named(self):
        first, _, third, _ = self.uuids()
        devices = self.measured_peers([third, first])
        self.assertEqual([device["uuid"] for device in devices], [third, first])
        self.assertEqual([len(device["detail"]["read_from"]) for device in devices], [1, 1])

    def test_hidden_gpus_are_no_fault_and_the_launch_line_is_said(self):
        answer = self.measured_peers(self.uuids(), CUDA_VISIBLE_DEVICES="2")
        self.assertEqual(answer["status"], "skipped")
        for text in ("1 of the 4 GPUs", "CUDA_VISIBLE_DEVICES=2", "--gpus-per-node=4", "--gpu-bind=none"):
            self.assertIn(text, answer["reason"])
        answer = self.measured_peers(gpus=1)
        self.assertEqual((answer["status"], answer["reason"]), ("skipped", "there is one GPU: it takes two to copy between them"))

    def test_who_is_no_peer_is_listed(self):
        devices = self.measured_peers(gpus=3, faults="node0:1:no_peers")
        self.assertEqual(self.statuses(devices), ["ok"] * 3)
        self.assertEqual(devices[1]["values"], [None] * 3)
        self.assertEqual(len(devices[0]["detail"]["read_from"]), 1)
        self.assertEqual(devices[0]["detail"]["no_peers"], [devices[1]["detail"]["address"]])
        [missing] = devices[0]["detail"]["not_measured"]
        self.assertIn("not peers: copies go through the host", missing["reason"])
        answer = self.measured_peers(faults="node0:*:no_peers")
        self.assertEqual(answer["status"], "skipped")
        self.assertIn("none of the 4 GPUs is a peer", answer["reason"])

    def test_a_false_bit_is_blamed_on_who_sends_it(self):
        devices = self.measured_peers(faults="node0:3:wrong_bit=copy")
        self.assertEqual(self.statuses(devices), ["ok", "ok", "ok", "wrong"])
        self.assertRegex(devices[3]["reason"], r"words are false after GPU 0 \(.*\) reads from GPU 3 \(.*\): data are damaged")
        self.assertEqual(len(devices[0]["detail"]["read_from"]), 2)
        self.assertIn("reads from GPU 3", devices[0]["detail"]["false"][0])

    def test_of_two_gpus_both_may_be_to_blame(self):
        devices = self.measured_peers(gpus=2, faults="node0:1:wrong_bit=copy")
        self.assertEqual(self.statuses(devices), ["wrong", "wrong"])

    def test_a_path_that_hangs_costs_its_ends_only(self):
        devices = self.measured_peers(params={"longest_s": 1}, faults="node0:3:hang=copy@9")
        self.assertEqual(self.statuses(devices), ["timeout", "ok", "ok", "timeout"])
        self.assertRegex(devices[3]["reason"], r"GPU 0 \(.*\) reads from GPU 3 \(.*\): copies do not end within 1")
        self.assertEqual(len(devices[1]["detail"]["write_to"]), 1)

    def test_a_sticky_error_names_its_path(self):
        devices = self.measured_peers(faults="node0:1:sticky=launch@3")
        self.assertEqual(sorted(set(self.statuses(devices))), ["failed", "skipped"])
        self.assertIn("GPU 1 (", devices[1]["reason"])
        self.assertIn("for another GPU's sake", [d for d in devices if d["status"] == "skipped"][0]["reason"])

    def test_one_without_memory_costs_itself_only(self):
        devices = self.measured_peers(faults="node0:2:oom=1000000")
        self.assertEqual(self.statuses(devices), ["ok", "ok", "failed", "ok"])
        self.assertIn("MiB are free", devices[2]["reason"])

    def test_without_nvlink_copies_go_by_pcie(self):
        devices = self.measured_peers(FLEETBENCH_GPU_SIM_NVLINK="none")
        self.assert_ratio(devices[0]["values"][self.READ], 42e9, 1)


class Topology(GpuWorkerTest):
    def inventory(self, gpus=4, **settings):
        with GpuWorker(gpus=gpus, **settings) as worker:
            worker.prepare("gpu_inventory", {})
            return worker.measure()["detail"]

    def test_switches_join_all(self):
        facts = self.inventory(FLEETBENCH_GPU_SIM_NUMA_NODES="2")
        self.assertEqual(facts["topology"], "NV18")
        first, second, third, fourth = [gpu["address"] for gpu in facts["gpus"]]
        self.assertEqual(facts["gpus"][0]["paths_by_address"], f"{second} NV18, {third} NV18, {fourth} NV18")
        self.assertEqual([gpu["numa_node"] for gpu in facts["gpus"]], ["0", "0", "1", "1"])
        self.assertTrue(all(gpu["cpus"] for gpu in facts["gpus"]))

    def test_a_link_that_is_down_is_seen(self):
        self.assertEqual(self.inventory(3, faults="node0:1:nvlinks_down=2")["topology"], "NV18 gpu0-gpu2, else NV16")

    def test_bridges_and_pcie(self):
        for nvlink, text in (("bridges", "NV18 gpu0-gpu1 gpu2-gpu3, else SYS"), ("none", "PIX gpu0-gpu1 gpu2-gpu3, else SYS")):
            with self.subTest(nvlink=nvlink):
                facts = self.inventory(FLEETBENCH_GPU_SIM_NVLINK=nvlink, FLEETBENCH_GPU_SIM_NUMA_NODES="2")
                self.assertEqual(facts["topology"], text)

    def test_cuda_may_hide_what_nvml_shows(self):
        facts = self.inventory(CUDA_VISIBLE_DEVICES="2")
        self.assertEqual((len(facts["gpus"]), facts["topology"]), (1, "NV18"))
        self.assertEqual(facts["gpus"][0]["paths_by_address"].count("NV18"), 3)

    def test_who_is_lost_keeps_the_numbers_of_the_others(self):
        facts = self.inventory(4, faults="node0:0:gone;node0:3:nvlinks_down=1")
        self.assertEqual(facts["topology"], "NV18 gpu1-gpu2, else NV17")


class Broken(GpuWorkerTest):
    def test_a_sticky_error_ends_the_worker_and_another_starts_afresh(self):
        with GpuWorker(faults="node0:0:sticky=launch@3") as worker:
            answer = worker.calibrate("gpu_memory")
            self.assertEqual(answer["status"], "failed")
            self.assertTrue(answer["spent"])
            self.assertIn("cudaErrorLaunchFailure", answer["reason"])
            self.assertIn("GPU 0 (", answer["reason"])
            self.assertEqual(worker.process.wait(10 * TIME_SCALE), 0)

    def test_a_full_memory_says_how_much_is_free(self):
        answer = self.measured("gpu_copy", work={}, params={"bytes": 64 << 20}, faults="node0:0:oom=100000000")
        self.assertEqual(answer["status"], "failed")
        self.assertIn("MiB are free", answer["reason"])
        self.assertNotIn("spent", answer)

    def test_a_copy_that_hangs_is_ended_from_outside(self):
        with GpuWorker(faults="node0:0:hang=copy@6") as worker:
            answer = worker.prepare("gpu_copy", {}) and worker.measure(limit_s=2)
            self.assertIsNone(answer)
            worker.process.terminate()
            self.assertNotEqual(worker.process.wait(10 * TIME_SCALE), 0)

    def test_errors_of_memory_and_xids_are_seen(self):
        measured = self.measured("gpu_memory", faults="node0:0:ecc=3,xid=79")
        self.assertEqual(measured["detail"]["gpu"]["xid"], [79])
        self.assertGreater(measured["detail"]["gpu"]["remapped_rows"]["uncorrectable"], 0)

    def test_one_that_fell_off_the_bus_is_not_there(self):
        with GpuWorker(gpus=2) as worker:
            worker.prepare("gpu_inventory", {})
            second = worker.measure()["detail"]["gpus"][1]["uuid"]
        answer = self.measured("gpu_memory", gpus=2, faults="node0:1:gone", uuid=second)
        self.assertEqual(answer["status"], "skipped")
        self.assertIn(f"CUDA does not see {second} any more", answer["reason"])

    def test_no_driver_and_an_old_one_are_told_apart(self):
        for fault, text in (("no_driver", "no GPU here"), ("driver=12.2", "good for CUDA 12.2")):
            with self.subTest(fault=fault):
                answer = self.measured("gpu_memory", work={"launches": {}}, faults=f"node0:*:{fault}")
                self.assertEqual(answer["status"], "skipped")
                self.assertIn(text, answer["reason"])

    def test_a_prohibited_gpu_says_how_to_look(self):
        answer = self.measured("gpu_memory", work={"launches": {}}, faults="node0:0:compute_mode=prohibited")
        self.assertEqual(answer["status"], "failed")
        self.assertIn("nvidia-smi -q -d COMPUTE", answer["reason"])

    def test_another_cublaslt_is_not_compared(self):
        work = work_for("gpu_gemm")
        work["cublaslt"] += 1
        answer = self.measured("gpu_gemm", work)
        self.assertEqual(answer["status"], "skipped")
        self.assertIn("cuBLASLt", answer["reason"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
