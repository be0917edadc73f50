"""One fleetbench on a virtual fleet, by itself or through the gate."""
import json
import os
import subprocess
import time
from pathlib import Path

from .journal import Journal

BUILD = Path(os.environ.get("FLEETBENCH_BUILD", "build")).resolve()
FLEETBENCH = str(BUILD / "fleetbench")
POLL_S = 0.01


class NotReached(Exception):
    """The run did not come to the moment at which the fault was to strike."""


def environment():
    """A probe's scratch goes to its node's own disk."""
    return {name: value for name, value in os.environ.items() if name != "TMPDIR"}


class Launched:
    """folder holds the scenario, the run directory and what was printed. budget_s and launch_s are
    the limits that the run is given."""

    def __init__(self, fleet, folder, scenario, *, gate, budget_s, launch_s, out=None, program=FLEETBENCH, env=None):
        self.fleet = fleet
        self.folder = folder
        self.run = (out or folder) / "run"
        self.journal = Journal(self.run)
        self.budget_s, self.launch_s = budget_s, launch_s
        file = folder / "scenario.json"
        file.write_text(json.dumps(scenario), encoding="utf-8")
        work = [program, "--suite", str(file), "--no-confirm"]
        self.command = self._gate(fleet, work) if gate else self._plain(fleet, work)
        self.started = time.monotonic()
        with (folder / "out").open("w") as out_file, (folder / "err").open("w") as err_file:
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=out_file, stderr=err_file,
                env={**environment(), **(env or {})}, start_new_session=True,
            )  # fmt: skip

    def _gate(self, fleet, work):
        return [
            FLEETBENCH, "gate", "--out", str(self.run), "--budget", f"{self.budget_s}s",
            "--launch-limit", f"{self.launch_s}s", "--hosts", ",".join(fleet.nodes), "--",
            *fleet.launcher(), *work,
        ]  # fmt: skip

    def _plain(self, fleet, work):
        limits = ["--budget", f"{self.budget_s}s", "--launch-limit", f"{self.launch_s}s"]
        return [*fleet.launcher(), *work, "--out", str(self.run), *limits]

    @property
    def age_s(self):
        return time.monotonic() - self.started

    def ended(self):
        return self.process.poll() is not None

    def wait_for(self, condition, limit_s=60):
        """The first true value of condition()."""
        end = time.monotonic() + limit_s
        while time.monotonic() < end:
            value = condition()
            if value:
                return value
            if self.ended():
                raise NotReached(f"the run ended first:\n{self.text()}")
            time.sleep(POLL_S)
        raise NotReached(f"not within {limit_s} s:\n{self.text()}")

    def finish(self, deadline_s):
        """Whether it ended by itself within so many seconds from its start; ended it is anyway."""
        try:
            self.process.wait(max(0.0, deadline_s - self.age_s))
            self.took_s = self.age_s
            return True
        except subprocess.TimeoutExpired:
            self.took_s = self.age_s
            self.end()
            return False

    def end(self):
        self.process.kill()
        self.process.wait()

    @property
    def code(self):
        return self.process.returncode

    def text(self):
        return "".join((self.folder / name).read_text(errors="replace") for name in ("out", "err"))

    def report(self):
        """None where there is no report that can be read."""
        try:
            return json.loads((self.run / "report.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return None
