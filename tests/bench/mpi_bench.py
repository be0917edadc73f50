#!/usr/bin/env python3
"""Do the MPI probes report what a plain MPI program measures, and what does thread support cost?

mpi_bench.py BUILD_DIR [--seconds 540] [--jobs 6]

Runs mpi_bench (see there for the table and the exit code, which is this program's too), then the
plain program by turns under MPI_THREAD_SINGLE and MPI_THREAD_MULTIPLE: the price, in figures, of
measuring in a thread beside the one that listens. That part is printed and never fails.
"""

import argparse
import collections
import os
import pathlib
import statistics
import subprocess
import sys


def mpirun(program: pathlib.Path, *arguments: str) -> list[str]:
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    # Within one machine Open MPI copies with process_vm_readv, and that is 4 % faster (32 KiB) from
    # any thread but a process's first, plain program or not. Between nodes there is no such call.
    copy = ["--mca", "btl_vader_single_copy_mechanism", "none"]
    return ["mpirun", *root, "--oversubscribe", *copy, "-np", "2", str(program), *arguments]


def plain_figures(build: pathlib.Path, level: str) -> dict[str, list[float]]:
    done = subprocess.run(mpirun(build / "mpi_plain", level), check=True, text=True,
                          stdout=subprocess.PIPE)
    figures = collections.defaultdict(list)
    for line in done.stdout.splitlines():
        name, value = line.split()
        figures[name].append(float(value))
    return figures


def print_thread_cost(build: pathlib.Path, jobs: int) -> None:
    by_level = {level: collections.defaultdict(list) for level in ("single", "multiple")}
    for job in range(jobs):
        for level in sorted(by_level, reverse=job % 2 == 0):
            for name, values in plain_figures(build, level).items():
                by_level[level][name].append(statistics.median(values))
    print(f"\n{'cost of thread support':<28}{'multiple':>12}{'single':>12}{'ratio':>8}")
    for name, values in by_level["multiple"].items():
        multiple, single = statistics.median(values), statistics.median(by_level["single"][name])
        print(f"{name:<28}{multiple:>12.4g}{single:>12.4g}{multiple / single:>8.3f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--seconds", default="540")
    parser.add_argument("--jobs", type=int, default=6)
    arguments = parser.parse_args()
    code = subprocess.run(mpirun(arguments.build / "mpi_bench", arguments.seconds),
                          check=False).returncode
    print_thread_cost(arguments.build, arguments.jobs)
    return code


if __name__ == "__main__":
    sys.exit(main())
