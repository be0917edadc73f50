"""Ranks, workers, whole nodes and launch daemons that die, stop, or pause."""
import signal
import time
from dataclasses import replace

from . import scenarios
from .expectation import COMPLETE, NO_RESULT, lost
from .kind import Kind, always, at
from .memory_limit import limit_worker_memory

UNREACHABLE_S = 75  # who hears nothing of the root for a minute ends itself
PAUSE_S = 3
FOLLOWS_S = 10

RANK, WORKER, DAEMON = "fleetbench", "fleetbench-worker", "orted"


def lost_at_each(left_s=10):
    return at(lost("prepare", left_s), lost("measure", left_s), lost("bye", left_s))


# Its rank follows later, when the slot may have gone on.
LOST_WITH_DAEMON = at(
    replace(lost("prepare", UNREACHABLE_S), or_else=lost("measure", UNREACHABLE_S)),
    replace(lost("measure", UNREACHABLE_S), or_else=lost("prepare", UNREACHABLE_S)),
    lost("bye", UNREACHABLE_S),
)


def sends(number, comm=None):
    return lambda stage: stage.fleet.signal(stage.victim, number, comm)


def kills_daemon(stage):
    """The rank of a node follows its daemon, sooner or later."""
    pids = stage.fleet.signal(stage.victim, signal.SIGKILL, DAEMON)
    end = time.monotonic() + FOLLOWS_S
    while stage.fleet.running(stage.victim, RANK) and time.monotonic() < end:
        time.sleep(0.02)
    return pids


def pauses(stage):
    pids = stage.fleet.signal(stage.victim, signal.SIGSTOP)
    time.sleep(PAUSE_S)
    stage.fleet.signal(stage.victim, signal.SIGCONT)
    return pids


WITHOUT_WORKER = at(NO_RESULT, NO_RESULT, COMPLETE)

KINDS = [
    Kind("rank_killed", "the rank of a node is killed", sends(signal.SIGKILL, RANK), lost_at_each()),
    Kind("rank_frozen", "the rank of a node is stopped", sends(signal.SIGSTOP, RANK), lost_at_each()),
    Kind("node_frozen", "all processes of a node are stopped", sends(signal.SIGSTOP), lost_at_each(UNREACHABLE_S)),
    Kind("node_pauses", f"all processes of a node are stopped for {PAUSE_S} s", pauses, always(COMPLETE)),
    Kind("worker_killed", "the worker of a node is killed", sends(signal.SIGKILL, WORKER), WITHOUT_WORKER),
    Kind("worker_frozen", "the worker of a node is stopped", sends(signal.SIGSTOP, WORKER), WITHOUT_WORKER),
    Kind("worker_oom", "the worker of a node runs out of memory", limit_worker_memory, WITHOUT_WORKER,
         scenario=scenarios.HUNGRY),
    Kind("daemon_killed", "the launch daemon of a node is killed", kills_daemon, LOST_WITH_DAEMON),
    Kind("daemon_frozen", "the launch daemon of a node is stopped", sends(signal.SIGSTOP, DAEMON), always(COMPLETE)),
]  # fmt: skip
