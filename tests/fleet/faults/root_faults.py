"""The root, the launcher and the gate that are told to stop, die, or stop to answer."""
import os
import signal
import time
from dataclasses import replace

from .expectation import COMPLETE, Expectation, broken_off
from .kind import ROOT, Kind, always, at
from .process_faults import RANK, UNREACHABLE_S, sends

LAUNCHER = "mpirun"
INTERRUPTED = broken_off("interrupted")
# Its phase is that of the last thing that is known of it.
ROOT_IS_GONE = Expectation(("FAIL",), lost=(ROOT,), phases=("measure",), complete=False, left_s=UNREACHABLE_S)


def or_done(expected):
    """At its end the run may be over, and whole, before it notices."""
    return replace(expected, or_else=replace(COMPLETE, left_s=expected.left_s))


# Ending the launcher wakes it, and it says so itself.
ROOT_STOOD_STILL = at(*(replace(ROOT_IS_GONE, phases=(phase,)) for phase in ("prepare", "measure", "measure")))
LAUNCHER_IS_GONE = broken_off(r"launcher|mpirun|interrupted", left_s=UNREACHABLE_S)
WITHOUT_LAUNCHER = at(LAUNCHER_IS_GONE, LAUNCHER_IS_GONE, or_done(LAUNCHER_IS_GONE))


LONG_PAUSE_S = 13  # longer than others may be silent


def pauses(stage):
    sends(signal.SIGSTOP)(stage)
    time.sleep(LONG_PAUSE_S)
    sends(signal.SIGCONT)(stage)


def on_head(number):
    return lambda stage: stage.fleet.signal("head", number, LAUNCHER)


def on_gate(number):
    return lambda stage: os.kill(stage.launched.process.pid, number)


# Nobody is left to say anything: what remains must end by itself, and with its own report.
ORPHANED = Expectation(COMPLETE.verdicts, code=-signal.SIGKILL, left_s=60)

KINDS = [
    Kind("root_sigint", "the root gets SIGINT", sends(signal.SIGINT, RANK), always(INTERRUPTED), victim=ROOT),
    Kind("root_sigterm", "the root gets SIGTERM", sends(signal.SIGTERM, RANK), always(INTERRUPTED), victim=ROOT),
    Kind("root_killed", "the root is killed", sends(signal.SIGKILL, RANK), always(ROOT_IS_GONE), victim=ROOT),
    Kind("root_frozen", "the root is stopped", sends(signal.SIGSTOP, RANK), ROOT_STOOD_STILL, victim=ROOT),
    Kind("root_pauses", f"the node of the root is stopped for {LONG_PAUSE_S} s", pauses, always(COMPLETE), victim=ROOT),
    Kind("launcher_killed", "mpirun is killed", on_head(signal.SIGKILL), WITHOUT_LAUNCHER),
    Kind("launcher_frozen", "mpirun is stopped", on_head(signal.SIGSTOP), always(COMPLETE)),
    Kind("gate_sigterm", "the gate gets SIGTERM", on_gate(signal.SIGTERM), at(INTERRUPTED, INTERRUPTED, or_done(INTERRUPTED))),
    Kind("gate_killed", "the gate is killed", on_gate(signal.SIGKILL), always(ORPHANED)),
]  # fmt: skip
