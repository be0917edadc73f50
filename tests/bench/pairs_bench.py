#!/usr/bin/env python3
"""What does fleetbench add to the time that all pairs of a fleet take?

pairs_bench.py BUILD_DIR [--nodes 16] [--mib 64] [--passes 1] [--seconds 580]

On a virtual fleet (scripts/testfleet, needs root) a plain MPI program and `mpi_pairs` of fleetbench send
the same messages in the same rounds, by turns: plain, fleetbench, plain. Time of fleetbench is from the
first round's preparation to the last answer, as its journal has it: control, checks and records
included, start-up and analysis not. The ratio is the geometric mean over turns of fleetbench / plain,
the control that of the second plain run / the first. Turns are added until the control holds. Exit
code: 0 the ratio is at most LIMIT, 2 it is more, 3 the control never held.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

LIMIT = 1.05
CONTROL = 0.02
FEWEST_TURNS = 3
TESTFLEET = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "testfleet"


def output_of(fleet: str, *command: str) -> str:
    run = [str(TESTFLEET), "--name", fleet, "run", "--", *command]
    return subprocess.run(run, check=True, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE).stdout


def plain_s(fleet: str, arguments: argparse.Namespace) -> float:
    program = arguments.build / "pairs_plain"
    return float(output_of(fleet, str(program), str(arguments.mib), str(arguments.passes)))


def scenario(arguments: argparse.Namespace) -> dict:
    params = {"bytes": arguments.mib << 20, "max_s": 600}
    step = {"probe": "mpi_pairs", "params": params, "pairs": "all_pairs", "limit_s": 600}
    return {
        "schema": "fleetbench-scenario/1.1",
        "name": "pairs",
        "description": "all pairs, for a bench",
        "passes": arguments.passes,
        "steps": [step],
    }


def fleetbench_s(fleet: str, arguments: argparse.Namespace) -> float:
    with tempfile.TemporaryDirectory() as folder:
        suite = pathlib.Path(folder) / "pairs.json"
        suite.write_text(json.dumps(scenario(arguments)), encoding="utf-8")
        run = pathlib.Path(folder) / "run"
        command = [arguments.build / "fleetbench", "--suite", suite, "--no-confirm", "--out", run]
        subprocess.run(
            [str(TESTFLEET), "--name", fleet, "run", "--", *map(str, command)],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        lines = (run / "journal.jsonl").read_text(encoding="utf-8").splitlines()
    samples = [record for record in map(json.loads, lines) if "peer" in record]
    expected = arguments.nodes * (arguments.nodes - 1) * arguments.passes
    if len(samples) != expected or any(sample["status"] != "ok" for sample in samples):
        raise RuntimeError(f"{len(samples)} samples of {expected}, or not all of them are ok")
    begin = min(sample["start_s"] - sample["prepare_s"] for sample in samples)
    return max(sample["start_s"] + sample["measure_s"] for sample in samples) - begin


def compare(fleet: str, arguments: argparse.Namespace) -> int:
    end = time.monotonic() + arguments.seconds
    ratios, controls = [], []
    longest = 0.0
    while time.monotonic() + longest < end:
        begin = time.monotonic()
        first, ours, second = plain_s(fleet, arguments), fleetbench_s(fleet, arguments), plain_s(fleet, arguments)
        longest = max(longest, time.monotonic() - begin)
        ratios.append(ours / statistics.geometric_mean([first, second]))
        controls.append(second / first)
        print(f"plain {first:.2f} s, fleetbench {ours:.2f} s, plain {second:.2f} s", flush=True)
        control = statistics.geometric_mean(controls)
        if len(controls) >= FEWEST_TURNS and abs(control - 1) <= CONTROL:
            ratio = statistics.geometric_mean(ratios)
            print(f"{len(ratios)} turns: ratio {ratio:.3f}, control {control:.3f}")
            return 0 if ratio <= LIMIT else 2
    print("the control does not hold: this machine is too busy to compare anything on it")
    return 3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=lambda text: pathlib.Path(text).resolve())
    parser.add_argument("--nodes", type=int, default=16)
    parser.add_argument("--mib", type=int, default=64, help="that each node of a pair sends")
    parser.add_argument("--passes", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=580)
    arguments = parser.parse_args()
    fleet = f"bench{os.getpid() % 100000}"
    subprocess.run([str(TESTFLEET), "--name", fleet, "up", str(arguments.nodes), "0"], check=True)
    try:
        return compare(fleet, arguments)
    finally:
        subprocess.run([str(TESTFLEET), "--name", fleet, "down"], check=True)


if __name__ == "__main__":
    sys.exit(main())
