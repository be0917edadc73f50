"""A worker in a control group with hardly any memory. Version 1 or 2, whichever has the controller."""
import contextlib
import os
from pathlib import Path

ROOT = Path("/sys/fs/cgroup")
ROOM_BYTES = 1 << 20


def group_of_memory(name):
    """A new group, and the name of its limit's file."""
    if (ROOT / "memory" / "cgroup.procs").exists():
        tree, limit = ROOT / "memory", "memory.limit_in_bytes"
    else:
        tree, limit = ROOT, "memory.max"
        controllers = ROOT / "cgroup.subtree_control"
        if "memory" not in controllers.read_text().split():
            controllers.write_text("+memory")
    group = tree / name
    group.mkdir()
    return group, limit


def remove(group):
    with contextlib.suppress(OSError):
        group.rmdir()


# What the worker has already stays with its old group; what it asks for from now on is limited.
def limit_worker_memory(stage):
    group, limit = group_of_memory(f"fleetbench-faults-{stage.fleet.name}")
    stage.undo(remove, group)
    (group / limit).write_text(str(ROOM_BYTES))
    for pid in stage.fleet.running(stage.victim, "fleetbench-worker"):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 0)
            (group / "cgroup.procs").write_text(str(pid))
