"""All kinds of fault, and the cells that they make with the moments."""
from . import disk_faults, launch_faults, network_faults, process_faults, root_faults
from .kind import by_itself

GATED = [
    kind
    for faults in (process_faults, network_faults, root_faults, disk_faults, launch_faults)
    for kind in faults.KINDS
]  # fmt: skip
# What a run has to stand by itself; the rest is mpirun's.
WITHOUT_GATE = ("rank_frozen", "worker_killed", "root_sigint", "root_sigterm")
PLAIN = [by_itself(kind) for kind in GATED if kind.name in WITHOUT_GATE]
KINDS = GATED + PLAIN


def cells():
    return [(kind, moment) for kind in KINDS for moment in kind.expect]


# Every fourth, so that kinds and moments alternate.
def quarter():
    return cells()[::4]
