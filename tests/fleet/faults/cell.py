"""One fault at one moment of one run on a fleet of its own, and what came of it."""
import contextlib
import subprocess
import time
from dataclasses import dataclass, field

from .expectation import Expectation
from .judge import judge
from .kind import Kind, Stage
from .launched import FLEETBENCH, Launched, NotReached
from .virtual_fleet import VirtualFleet, processes


@dataclass
class Outcome:
    kind: Kind
    moment: str
    expected: Expectation
    deadline_s: float
    complaints: list = field(default_factory=list)
    struck_at_s: float = 0
    took_s: float = 0
    code: int | None = None
    verdict_code: int | None = None  # of `fleetbench verdict`
    verdict: str = ""
    seen: list = field(default_factory=list)  # lines of the journal when the fault struck
    lines: list = field(default_factory=list)  # at the end
    losses: list = field(default_factory=list)
    names: dict = field(default_factory=dict)  # of the nodes, by index
    report: dict | None = None
    text: str = ""
    processes_left: list = field(default_factory=list)
    scratch_left: list = field(default_factory=list)
    machine_left: list = field(default_factory=list)
    hung: bool = False
    missed: str = ""  # why the fault could not strike

    @property
    def records_lost(self):
        return set(self.seen) - set(self.lines) if self.expected.kept else set()

    def in_a_line(self):
        took = f"{self.verdict or 'no verdict'} {self.took_s - self.struck_at_s:.0f} s after it"
        return f"{took}; {'; '.join(self.complaints) or 'as it must'}"


def launch(stage, kind):
    return Launched(
        stage.fleet,
        stage.folder,
        kind.scenario,
        gate=kind.gate,
        budget_s=kind.budget_s,
        launch_s=kind.launch_s,
        out=stage.out,
        program=kind.program(stage) if kind.program else FLEETBENCH,
        env=kind.env(stage) if kind.env else None,
    )


def strike(stage, kind, moment, outcome):
    with kind.moment(moment)(stage):
        outcome.seen = stage.launched.journal.lines()
        outcome.struck_at_s = stage.launched.age_s
        kind.strike(stage)


def wait_until_gone(fleet, limit_s):
    end = time.monotonic() + limit_s
    while time.monotonic() < end and (fleet.running() or fleet.scratch_left()):
        time.sleep(0.1)
    names = {pid: name for pid, name, _ in processes()}
    return [f"{names.get(pid, '?')} on {member}" for pid, member in fleet.running().items()]


def say_verdict(run):
    command = [FLEETBENCH, "verdict", str(run)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout.strip()


def look(stage, outcome):
    launched = stage.launched
    outcome.code = launched.code
    outcome.took_s = launched.took_s
    outcome.text = launched.text()
    stage.heal()
    outcome.processes_left = wait_until_gone(stage.fleet, outcome.expected.left_s)
    outcome.scratch_left = stage.fleet.scratch_left()
    outcome.lines = launched.journal.lines()
    records = launched.journal.records()
    outcome.losses = [r for r in records if r["t"] == "loss"]
    outcome.report = launched.report()
    outcome.names = dict(enumerate(stage.fleet.nodes))
    outcome.verdict_code, outcome.verdict = say_verdict(launched.run)


def play_on(fleet, victim, keep, outcome):
    kind = outcome.kind
    with contextlib.ExitStack() as stack:
        stage = Stage(fleet, stack, victim)
        if kind.before:
            kind.before(stage)
        stage.launched = launch(stage, kind)
        stage.undo_last(stage.launched.end)
        try:
            strike(stage, kind, outcome.moment, outcome)
        except (NotReached, OSError, RuntimeError, subprocess.SubprocessError) as error:
            outcome.missed = str(error).splitlines()[0] if str(error) else type(error).__name__
            outcome.complaints.append(f"the fault could not strike: {error}")
        if not stage.launched.finish(outcome.deadline_s):
            outcome.hung = True
            outcome.complaints.append(f"did not end within {outcome.deadline_s:.0f} s")
        look(stage, outcome)
        if keep:
            keep(stage)


def play(kind, moment, name, *, victim=None, keep=None):
    """On a new fleet of that name. keep, if any, is given the Stage before its folder goes."""
    victim = victim or kind.victim
    outcome = Outcome(kind, moment, kind.expect[moment].of(victim), kind.deadline_s)
    fleet = VirtualFleet(name)
    try:
        play_on(fleet, victim, keep, outcome)
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        outcome.complaints.append(f"the test itself failed: {error}")
    try:
        fleet.down()
    except (RuntimeError, subprocess.SubprocessError) as error:
        outcome.complaints.append(str(error))
    outcome.machine_left = fleet.left_on_the_machine()
    outcome.complaints += judge(outcome)
    return outcome
