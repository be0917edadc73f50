#!/usr/bin/env python3
"""Strikes runs on a virtual fleet with every kind of fault at every moment, and says what came of it.
Needs root; exits 77 (skipped) without. FLEETBENCH_BUILD names the build folder."""
import argparse
import fnmatch
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from faults import catalogue, table
from faults.cell import play
from faults.keeper import keeper
from faults.launched import FLEETBENCH

SKIPPED = 77


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", metavar="GLOB", default="*", help="cells KIND.MOMENT that match")
    parser.add_argument("--quarter", action="store_true", help="a fixed quarter of the cells")
    parser.add_argument("--jobs", metavar="N", type=int, default=1, help="cells at a time, each on a fleet of its own")
    parser.add_argument("--table", metavar="FILE", type=Path, help="write the table there; where there is one already, in its place, with --only in that of those rows")
    parser.add_argument("--again", action="store_true",
                        help="play cells again that were not as they must; only those that are so twice fail")  # fmt: skip
    parser.add_argument("--keep", metavar="FOLDER", type=Path, help="keep what failed cells wrote")
    parser.add_argument("--list", action="store_true", help="say which cells there are, and do nothing")
    return parser.parse_args()


def chosen(arguments):
    cells = catalogue.quarter() if arguments.quarter else catalogue.cells()
    return [(kind, moment) for kind, moment in cells if fnmatch.fnmatch(f"{kind.name}.{moment}", arguments.only)]


def play_all(cells, arguments):
    start = time.monotonic()

    def play_one(number, kind, moment):
        name = f"{kind.name}.{moment}"
        fleet = f"m{os.getpid() % 100000}-{number}"
        outcome = play(kind, moment, fleet, keep=keeper(arguments.keep, name))
        if outcome.missed:  # the run did not come to that moment: nothing was shown, neither way
            print(f"{time.monotonic() - start:6.0f} s  {name}: once more: {outcome.missed}", flush=True)
            outcome = play(kind, moment, fleet, keep=keeper(arguments.keep, name))
        print(f"{time.monotonic() - start:6.0f} s  {name}: {outcome.in_a_line()}", flush=True)
        if outcome.complaints and arguments.again:
            outcome = play(kind, moment, fleet, keep=keeper(arguments.keep, name))
            print(f"{time.monotonic() - start:6.0f} s  {name}, again: {outcome.in_a_line()}", flush=True)
        return outcome

    with ThreadPoolExecutor(arguments.jobs) as pool:
        return list(pool.map(play_one, range(len(cells)), *zip(*cells, strict=True)))


def main():
    arguments = options()
    cells = chosen(arguments)
    if arguments.list:
        print("\n".join(f"{kind.name}.{moment}" for kind, moment in cells))
        return 0
    if os.geteuid() != 0:
        print("skipped: a virtual fleet needs root")
        return SKIPPED
    if not Path(FLEETBENCH).exists():
        print(f"no {FLEETBENCH}: set FLEETBENCH_BUILD to the folder that it was built in")
        return 1
    outcomes = play_all(cells, arguments)
    written = table.markdown(outcomes)
    print("\n" + written)
    if arguments.table:
        table.put(written, arguments.table, some=arguments.only != "*")
    failed = sum(bool(outcome.complaints) for outcome in outcomes)
    print(f"{len(outcomes)} cells, {failed} not as they must")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
