"""Scenarios made to be disturbed: their figures mean nothing, their slots last long enough to hit.

Each ends with a slot of cpu_gemm, which tests hold open to strike while samples come back."""

GEMM = {"probe": "cpu_gemm", "params": {"n": 256, "seconds": 0.8, "precisions": ["fp32"]}, "limit_s": 60}
# Trains a tokeniser when it is first prepared, so that a preparation takes seconds.
PACK = {
    "probe": "token_pack",
    "params": {"documents": 1, "seconds": 0.01, "pieces": 600, "training_bytes": 1500000, "workers": 1},
    "passes": 1,
    "limit_s": 60,
}
# Over links that the fault matrix slows, a window each way lasts seconds, and so does the rest.
PAIRS = {
    "probe": "mpi_pairs",
    "params": {"bytes": 33554432, "max_s": 3, "latency_iterations": 20},
    "pairs": "matchings",
    "matchings": 1,
    "passes": 1,
    "limit_s": 90,
}
COLLECTIVES = {
    "probe": "mpi_collectives",
    "params": {"collectives": ["all_reduce"], "begin_bytes": 4194304, "end_bytes": 4194304, "iterations": 20, "max_s": 6},
    "passes": 1,
    "limit_s": 90,
}
STORAGE = {
    "probe": "storage",
    "params": {"profiles": ["sequential"], "sequential_bytes": 4194304, "repetitions": 1, "fio_limit_s": 20},
    "passes": 2,
    "limit_s": 60,
}
# Large enough that its buffers are asked of the kernel anew for each slot.
LARGE_GEMM = {**GEMM, "params": {**GEMM["params"], "n": 1024}}


def scenario(name, *steps, passes=3):
    return {"schema": "fleetbench-scenario/1.1", "name": name, "passes": passes, "steps": list(steps)}


STEADY = scenario("steady", GEMM, PACK)
PAIRED = scenario("paired", PAIRS, GEMM, passes=2)
GATHERED = scenario("gathered", COLLECTIVES, GEMM, passes=2)
STORED = scenario("stored", GEMM, PACK, STORAGE)
HUNGRY = scenario("hungry", LARGE_GEMM, PACK)
