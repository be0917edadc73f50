"""A kind of fault: how it is made, on what, and what must come of it at each moment."""
import contextlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from . import moments, scenarios

ROOT = "node0"
CHOSEN = "node2"  # the victim where nobody draws another


GRACE_S = 10
FLEET_S = 10  # to make a fleet and to take it down


class Stage:
    """Where a fault plays: a fleet, a folder, and what is to be undone when it is over."""

    def __init__(self, fleet, stack, victim):
        self.fleet = fleet
        self.victim = victim
        self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fleetbench-faults-")))
        self.out = self.folder  # parent of the run directory
        self.launched = None
        self._stack = stack
        self._fault = stack.enter_context(contextlib.ExitStack())

    def undo(self, function, *arguments):
        """When the fault is healed, after the run."""
        self._fault.callback(function, *arguments)

    def undo_last(self, function, *arguments):
        """When everything has been looked at."""
        self._stack.callback(function, *arguments)

    @property
    def straggler(self):
        """A node that is neither the root's nor the victim."""
        return next(node for node in reversed(self.fleet.nodes) if node not in (ROOT, self.victim))

    def heal(self):
        self._fault.close()
        self.fleet.heal()


@dataclass(frozen=True)
class Kind:
    name: str
    what: str
    strike: Callable  # of a Stage, at the moment
    expect: dict  # moment → Expectation
    scenario: dict = field(default_factory=lambda: scenarios.STEADY)
    victim: str = CHOSEN
    moments: dict = field(default_factory=dict)  # where they differ from those of moments.py
    before: Callable | None = None  # of a Stage, before the run starts
    gate: bool = True
    program: Callable | None = None  # of a Stage: what stands in for fleetbench
    env: Callable | None = None  # of a Stage: environment of the launcher
    budget_s: int = 60
    launch_s: int = 20

    @property
    def deadline_s(self):
        """From the start to the end of the command, whatever happens."""
        return self.budget_s + self.launch_s + GRACE_S

    def longest_s(self, moment):
        """Of all of it, from the making of the fleet to its end."""
        return self.deadline_s + self.expect[moment].left_s + FLEET_S

    def moment(self, name):
        return self.moments.get(name) or moments.of(name)


def by_itself(kind):
    """The same without the gate. A run that was interrupted leaves its report to `fleetbench analyze`."""
    expect = {moment: replace(expected, reported=expected.complete) for moment, expected in kind.expect.items()}
    return replace(kind, name=f"plain_{kind.name}", what=f"{kind.what}; no gate", gate=False, expect=expect)


def at(preparation, measurement, gathering):
    return {"preparation": preparation, "measurement": measurement, "gathering": gathering}


def always(expectation):
    return at(expectation, expectation, expectation)
