#!/usr/bin/env python3
"""Runs on virtual fleets, each with a fault that is drawn: its kind, its moment, its node. Run K of a
seed is the same whichever runs were made before, so a long soak can be made in parts.
Needs root; exits 77 (skipped) without. FLEETBENCH_BUILD names the build folder."""
import argparse
import os
import random
import sys
import time
from pathlib import Path

from faults import catalogue
from faults.cell import play
from faults.keeper import keeper
from faults.kind import ROOT

SKIPPED = 77
NODES = ("node1", "node2", "node3")  # the root's node has faults of its own


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=None, help="default: drawn, and printed")
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--from", dest="first", metavar="K", type=int, default=0, help="begin with run K")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no run that may end later")
    parser.add_argument("--keep", metavar="FOLDER", type=Path, help="keep what failed runs wrote")
    return parser.parse_args()


def drawn(seed, number):
    generator = random.Random(f"{seed}:{number}")
    kind, moment = generator.choice(catalogue.cells())
    return kind, moment, ROOT if kind.victim == ROOT else generator.choice(NODES)


class Count:
    def __init__(self):
        self.runs = self.hangs = self.records = self.processes = self.scratch = self.namespaces = self.wrong = 0

    def add(self, outcome):
        self.runs += 1
        self.hangs += outcome.hung
        self.records += len(outcome.records_lost)
        self.processes += len(outcome.processes_left)
        self.scratch += len(outcome.scratch_left)
        self.namespaces += len(outcome.machine_left)
        self.wrong += bool(outcome.complaints)

    def __str__(self):
        return (
            f"{self.runs} runs: {self.hangs} hangs, {self.records} records lost, {self.processes} processes left, "
            f"{self.scratch} scratch folders left, {self.namespaces} namespaces or groups left; {self.wrong} runs "
            "not as they must"
        )


def main():
    arguments = options()
    if os.geteuid() != 0:
        print("skipped: a virtual fleet needs root")
        return SKIPPED
    seed = random.SystemRandom().randrange(1 << 31) if arguments.seed is None else arguments.seed
    print(f"seed {seed}", flush=True)
    count = Count()
    start = time.monotonic()
    for number in range(arguments.first, arguments.first + arguments.runs):
        kind, moment, victim = drawn(seed, number)
        if time.monotonic() - start + kind.longest_s(moment) > arguments.seconds:
            print(f"out of time; go on with --seed {seed} --from {number}")
            break
        name = f"{number}-{kind.name}.{moment}"
        outcome = play(kind, moment, f"s{os.getpid() % 100000}-{number}", victim=victim, keep=keeper(arguments.keep, name))
        count.add(outcome)
        print(f"run {number}: {kind.name}, {moment}, {victim}: {outcome.in_a_line()}", flush=True)
    print(count)
    return 1 if count.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
