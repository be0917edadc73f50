#!/usr/bin/env python3
"""Do the MPI probes report what a plain MPI program measures, and what does thread support cost?

mpi_bench.py BUILD_DIR [--seconds 540]

Starts job after job of mpi_bench, since where memory fell when a job started can make one side 4 %
faster for as long as it lives. A figure's ratio is the geometric mean over jobs of the job's median
of probe / plain; its control is the same of the second plain run / the first. Jobs are added until
all controls hold; then the ratios are judged. Exit code: 0 the probes are within RATIO, 2 they are
not, 3 the control never held.

After that the plain program runs by turns under MPI_THREAD_SINGLE and MPI_THREAD_MULTIPLE: the price
of measuring in a thread beside the one that listens. That part is printed and never fails.
"""

import argparse
import collections
import json
import os
import pathlib
import statistics
import subprocess
import sys
import time

RATIO = 0.03
CONTROL = 0.02
FEWEST_JOBS = 5
FEWEST_TURNS = 6  # of a job that counts: a figure it has fewer of is left out
JOB_S = 60
JOBS_OF_EACH_LEVEL = 6


def mpirun(program: pathlib.Path, *arguments: str) -> str:
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    # Within one machine Open MPI copies with process_vm_readv, and that is 4 % faster (32 KiB) from
    # any thread but a process's first, plain program or not. Between nodes there is no such call.
    copy = ["--mca", "btl_vader_single_copy_mechanism", "none"]
    command = ["mpirun", *root, "--oversubscribe", *copy, "-np", "2", str(program), *arguments]
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout


class Figure:
    """Medians of one figure, one of each job."""

    def __init__(self):
        self.probe, self.plain, self.ratios, self.controls = [], [], [], []

    def add(self, turns: list[dict]) -> None:
        if len(turns) < FEWEST_TURNS:
            return
        plain = [statistics.geometric_mean(turn["plain"]) for turn in turns]
        self.probe.append(statistics.median(turn["probe"] for turn in turns))
        self.plain.append(statistics.median(plain))
        self.ratios.append(statistics.median(t["probe"] / p for t, p in zip(turns, plain)))
        self.controls.append(statistics.median(t["plain"][1] / t["plain"][0] for t in turns))

    def control_holds(self) -> bool:
        return len(self.controls) >= FEWEST_JOBS and is_within(self.controls, CONTROL)

    def row(self, name: str) -> str:
        if not self.ratios:
            return f"{name:<28}{'never undisturbed':>24}"
        probe, plain, ratio, control = (
            statistics.geometric_mean(values)
            for values in (self.probe, self.plain, self.ratios, self.controls))
        return f"{name:<28}{probe:>12.4g}{plain:>12.4g}{ratio:>8.3f}{control:>9.3f}" \
               f"{len(self.ratios):>6}"


def is_within(ratios: list[float], limit: float) -> bool:
    return abs(statistics.geometric_mean(ratios) - 1) <= limit


def add_job(figures: dict[str, Figure], output: str) -> None:
    turns = collections.defaultdict(list)
    for line in output.splitlines():
        turn = json.loads(line)
        turns[turn["what"]].append(turn)
    for what, of_figure in turns.items():
        figures[what].add(of_figure)


def compare(build: pathlib.Path, seconds: float) -> int:
    end = time.monotonic() + seconds
    figures = collections.defaultdict(Figure)
    held = False
    while not held and time.monotonic() + JOB_S < end:
        add_job(figures, mpirun(build / "mpi_bench", str(JOB_S)))
        held = bool(figures) and all(figure.control_holds() for figure in figures.values())
    print(f"{'what':<28}{'probe':>12}{'plain':>12}{'ratio':>8}{'control':>9}{'jobs':>6}")
    for what, figure in figures.items():
        print(figure.row(what))
    if not held:
        print("the control does not hold: this machine is too busy to compare anything on it")
        return 3
    same = all(is_within(figure.ratios, RATIO) for figure in figures.values())
    print("the probes report what the plain program measures" if same else
          "the probes differ from the plain program")
    return 0 if same else 2


def plain_medians(build: pathlib.Path, level: str) -> dict[str, float]:
    values = collections.defaultdict(list)
    for line in mpirun(build / "mpi_plain", level).splitlines():
        what, value = line.split()
        values[what].append(float(value))
    return {what: statistics.median(of_what) for what, of_what in values.items()}


def print_thread_cost(build: pathlib.Path) -> None:
    by_level = {level: collections.defaultdict(list) for level in ("single", "multiple")}
    for job in range(JOBS_OF_EACH_LEVEL):
        for level in sorted(by_level, reverse=job % 2 == 0):
            for what, median in plain_medians(build, level).items():
                by_level[level][what].append(median)
    print(f"\n{'cost of thread support':<28}{'multiple':>12}{'single':>12}{'ratio':>8}")
    for what, values in by_level["multiple"].items():
        multiple, single = statistics.median(values), statistics.median(by_level["single"][what])
        print(f"{what:<28}{multiple:>12.4g}{single:>12.4g}{multiple / single:>8.3f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=540)
    arguments = parser.parse_args()
    code = compare(arguments.build, arguments.seconds)
    print_thread_cost(arguments.build)
    return code


if __name__ == "__main__":
    sys.exit(main())
