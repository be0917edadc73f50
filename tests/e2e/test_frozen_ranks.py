"""Sixty-four ranks on this machine, three of which stop at drawn moments: the run is completed with
the others, and names all three. FLEETBENCH_SEED repeats a draw."""
import contextlib
import os
import random
import resource
import signal
import time
import unittest
from pathlib import Path

from fleetbench_process import FLEETBENCH, TIME_SCALE, FleetbenchTest, mpirun

RANKS = 64
PASSES = 3
FROZEN = 3
OPEN_FILES = 2048
LIMIT_S = 120  # from the last freeze to the end: silence, and the good-bye of the others
SHORT = {
    "schema": "fleetbench-scenario/1.0",
    "name": "short",
    "passes": PASSES,
    "steps": [{"probe": "cpu_gemm", "params": {"n": 64, "seconds": 0.01, "precisions": ["fp32"]}, "limit_s": 30}],
}


def rank_of(pid):
    with contextlib.suppress(OSError):
        for entry in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            name, _, value = entry.partition(b"=")
            if name == b"OMPI_COMM_WORLD_RANK":
                return int(value)
    return None


class FrozenRanks(FleetbenchTest):
    def setUp(self):
        super().setUp()
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft < OPEN_FILES:
            if hard < OPEN_FILES:
                self.skipTest(f"{RANKS} ranks need {OPEN_FILES} open files, ulimit -Hn is {hard}")
            resource.setrlimit(resource.RLIMIT_NOFILE, (OPEN_FILES, hard))
        self.run_directory = self.directory / "run"

    def draw(self):
        seed = int(os.environ.get("FLEETBENCH_SEED") or random.SystemRandom().randrange(1 << 31))
        print(f"FLEETBENCH_SEED={seed}", flush=True)
        generator = random.Random(seed)
        ranks = generator.sample(range(1, RANKS), FROZEN)
        # Not after the last slot: who is told to end may be gone by then.
        moments = sorted(generator.sample(range(1, RANKS * PASSES - 8), FROZEN))
        return list(zip(ranks, moments, strict=True))

    def samples(self):
        with contextlib.suppress(OSError):
            return (self.run_directory / "journal.jsonl").read_text().count('"t":"sample"') - RANKS  # the inventories
        return 0

    def test_three_frozen_ranks_are_named_and_the_others_measured(self):
        command = [FLEETBENCH, "--suite", self.scenario(SHORT), "--nodes-by", "rank", "--no-confirm"]
        command += ["--launch-limit", f"{120 * TIME_SCALE}s"]
        started = self.start(mpirun(RANKS) + command + ["--out", str(self.run_directory)])
        drawn = self.draw()
        started.wait_for(lambda: self.samples() >= 0 and len(started.named("fleetbench")) == RANKS, timeout=120 * TIME_SCALE)
        pids = {rank_of(pid): pid for pid in started.named("fleetbench")}
        for rank, moment in drawn:
            started.wait_for(lambda moment=moment: self.samples() >= moment, timeout=240 * TIME_SCALE)
            os.kill(pids[rank], signal.SIGSTOP)
        frozen = time.monotonic()
        started.finish(timeout=LIMIT_S * TIME_SCALE)
        print(f"ended {time.monotonic() - frozen:.0f} s after the last of {drawn}", flush=True)

        report = self.report(self.run_directory)
        lost = {rank for rank, _ in drawn}
        self.assertEqual({int(name.rpartition(":")[2]) for name in report["fleet"]["lost"]}, lost, started.err)
        missing = {f["subject"]["node"] for f in report["findings"] if f["direction"] == "missing"}
        self.assertEqual({int(name.rpartition(":")[2]) for name in missing}, lost)
        self.assertEqual((report["verdict"], started.code), ("FAIL", 2), started.err)
        self.assert_all_others_are_measured(lost)

    def assert_all_others_are_measured(self, lost):
        records = self.journal(self.run_directory)
        step = next(r["step"] for r in records if r["t"] == "step" and r["id"] == "cpu_gemm")
        good = {
            (r["node"], r["pass"])
            for r in records
            if r["t"] == "sample" and r["step"] == step and r["status"] == "ok" and r["node"] not in lost
        }
        expected = {(node, number) for node in range(RANKS) if node not in lost for number in range(PASSES)}
        self.assertEqual(expected - good, set())


if __name__ == "__main__":
    unittest.main(verbosity=2)
