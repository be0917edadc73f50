"""Starts the real binaries for end-to-end tests and looks at what they leave behind."""
import contextlib
import json
import os
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

BUILD = Path(os.environ["FLEETBENCH_BUILD"])
FLEETBENCH = str(BUILD / "fleetbench")
SCHEMA_CHECK = str(BUILD / "tests" / "schema_check")
WRONG_SUM = str(BUILD / "tests" / "libwrong_sum.so")
# How many times as long as usual this build may take; see tests/CMakeLists.txt.
TIME_SCALE = int(os.environ.get("FLEETBENCH_TEST_TIME_SCALE", "1"))

# A run that measures everything in a second or two. Its figures mean nothing.
TINY = {
    "schema": "fleetbench-scenario/1.0",
    "name": "tiny",
    "passes": 3,
    "steps": [
        {"probe": "cpu_gemm", "params": {"n": 128, "seconds": 0.02}},
        {"probe": "mpi_pairs", "params": {"bytes": 1048576, "message_bytes": 65536, "latency_iterations": 40}},
        {"probe": "mpi_collectives", "params": {"end_bytes": 4096, "iterations": 5}},
    ],
}

# Two groups of two, at the same time, in changing company.
GROUPED = {
    "schema": "fleetbench-scenario/1.1",
    "name": "grouped",
    "passes": 2,
    "steps": [
        {"probe": "mpi_collectives", "params": {"end_bytes": 4096, "iterations": 5}},
        {
            "id": "groups",
            "probe": "mpi_collectives",
            "params": {"begin_bytes": 4096, "end_bytes": 4096, "iterations": 5},
            "groups": {"size": 8, "rounds": 3},
        },
    ],
}

# One that computes long enough to be disturbed in the middle.
LONG = {
    "schema": "fleetbench-scenario/1.0",
    "name": "long",
    "passes": 3,
    "steps": [{"probe": "cpu_gemm", "params": {"n": 256, "seconds": 1.5}, "limit_s": 60}],
}


def mpirun(ranks):
    root = ["--allow-run-as-root"] if os.geteuid() == 0 else []
    return ["mpirun", *root, "--oversubscribe", "--bind-to", "none", "-np", str(ranks)]


class Result:
    def __init__(self, process):
        self.code = process.returncode
        self.out = process.stdout
        self.err = process.stderr


def execute(command, timeout=120, cwd=None, env=None):
    process = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=timeout * TIME_SCALE,
        cwd=cwd,
        env=env,
        check=False,
    )
    return Result(process)


def sanitizer_reports():
    """Files that scripts/sanitize has processes write what they find to."""
    folder = os.environ.get("FLEETBENCH_SANITIZER_REPORTS")
    return set(Path(folder).iterdir()) if folder else set()


def processes_in_session(session):
    """Every process of a session: pid → (command name, parent pid)."""
    found = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError, ValueError):
                stat = (entry / "stat").read_text()
                name = stat[stat.index("(") + 1 : stat.rindex(")")]
                fields = stat[stat.rindex(")") + 2 :].split()
                if int(fields[3]) == session and fields[0] != "Z":  # a zombie has ended
                    found[int(entry.name)] = (name, int(fields[1]))
    return found


class Started:
    """A command in a session of its own, so that its processes can be found and ended."""

    def __init__(self, command, env=None):
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=env,
            start_new_session=True,
        )

    def wait_for(self, condition, timeout=60):
        """The first true value of condition(), asked again and again while the command runs."""
        end = time.monotonic() + timeout * TIME_SCALE
        while time.monotonic() < end:
            value = condition()
            if value:
                return value
            if self.process.poll() is not None:
                raise AssertionError("the command ended first:\n" + self.process.stderr.read())
            time.sleep(0.02)
        raise AssertionError("it did not come to that in time")

    def named(self, name):
        return sorted(pid for pid, (comm, _) in processes_in_session(self.process.pid).items() if comm == name)

    def workers(self):
        """pid of each worker → pid of its rank."""
        return {
            pid: parent
            for pid, (comm, parent) in processes_in_session(self.process.pid).items()
            if comm == "fleetbench-work"
        }

    def finish(self, timeout=120):
        out, err = self.process.communicate(timeout=timeout * TIME_SCALE)
        self.out, self.err, self.code = out, err, self.process.returncode
        return self

    def end(self):
        for pid in processes_in_session(self.process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        with contextlib.suppress(Exception):
            self.process.communicate(timeout=10)


class FleetbenchTest(unittest.TestCase):
    def setUp(self):
        self.directory = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="fleetbench-e2e-")))
        self.addCleanup(self.assert_no_more_reports, sanitizer_reports())

    def assert_no_more_reports(self, before):
        for report in sorted(sanitizer_reports() - before):
            self.fail(f"{report.name}:\n" + report.read_text(errors="replace")[:4000])

    def scenario(self, content, name="scenario.json"):
        path = self.directory / name
        path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
        return str(path)

    def start(self, command, env=None):
        started = Started(command, env)
        self.addCleanup(started.end)
        return started

    def report(self, run):
        return json.loads((Path(run) / "report.json").read_text(encoding="utf-8"))

    def journal(self, run):
        lines = (Path(run) / "journal.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]

    def assert_follows_schemas(self, run):
        for schema, name, more in (
            ("run", "run.json", []),
            ("report", "report.json", []),
            ("journal", "journal.jsonl", ["--lines"]),
        ):
            result = execute([SCHEMA_CHECK, schema, str(Path(run) / name), *more])
            self.assertEqual(result.code, 0, result.out + result.err)
