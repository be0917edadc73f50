"""Hosts that do not come up, or late. These faults have one moment: the launch."""
import contextlib

from .expectation import COMPLETE, VICTIM, Expectation, broken_off
from .kind import Kind
from .launched import FLEETBENCH
from .process_faults import UNREACHABLE_S
from .virtual_fleet import SOURCE

LATE_S = 5
LIMIT_S = 30  # of the launch: time for all other hosts to come up


def script(stage, name, text):
    path = stage.folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def agent_for_victim(stage, first):
    """An agent that does something else before it starts the daemon of the victim."""
    address = stage.fleet.address(stage.victim)
    agent = SOURCE / "scripts" / "testfleet-agent"
    text = f'if [ "$1" = {address} ]; then {first}; fi\nexec {agent} "$@"'
    return {"FLEETBENCH_TESTFLEET_AGENT": script(stage, "agent", text)}


def rank_of_victim(first):
    return lambda stage: script(
        stage, "fleetbench", f'if [ "$(hostname)" = {stage.victim} ]; then {first}; fi\nexec {FLEETBENCH} "$@"'
    )


@contextlib.contextmanager
def launch(_stage):
    yield


def nothing(_stage):
    pass


def stops_daemon(stage):
    stage.fleet.stop_on_sight(stage.victim, "orted")


def stops_rank_after_its_mark(stage):
    mark = stage.launched.run / "hello"
    stage.launched.wait_for(lambda: mark.exists() and any(mark.glob(f"{stage.victim}.*")))
    stage.fleet.stop_on_sight(stage.victim, "fleetbench")


NEVER_UP = Expectation(("FAIL",), lost=(VICTIM,), phases=("launch",), complete=False, left_s=UNREACHABLE_S)


def kind(name, what, strike, expectation, **more):
    return Kind(name, what, strike, {"launch": expectation}, moments={"launch": launch}, launch_s=LIMIT_S, **more)


# mpirun starts no rank before all daemons are there, so no host says anything, and nobody can be told
# apart.
NOBODY_UP = broken_off("not all ranks came up in time", left_s=UNREACHABLE_S)


KINDS = [
    kind("agent_hangs", "a host does not let the launcher in", nothing, NOBODY_UP,
         env=lambda stage: agent_for_victim(stage, "sleep 1000")),
    kind("daemon_hangs", "a launch daemon stops as it starts", stops_daemon, NOBODY_UP),
    kind("rank_hangs", "a rank stops before it says anything", nothing, NEVER_UP, program=rank_of_victim("kill -STOP $$")),
    kind("rank_hangs_in_init", "a rank stops in MPI_Init", stops_rank_after_its_mark, NEVER_UP),
    kind("host_is_late", f"a host takes {LATE_S} s longer to start", nothing, COMPLETE,
         env=lambda stage: agent_for_victim(stage, f"sleep {LATE_S}")),
]  # fmt: skip
