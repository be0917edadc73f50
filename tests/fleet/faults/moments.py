"""When a fault strikes. The journal, processor times and byte counters tell where the run is."""
import contextlib
import os
import signal

from .virtual_fleet import cpu_s

WORK_S = 0.15  # of processor time: more than preparing cpu_gemm takes, less than measuring it


def passed(stage, step, number, count=None):
    """Whether all samples of this step and pass, or so many of them, are in the journal."""
    expected = len(stage.fleet.nodes) if count is None else count
    return lambda: len(stage.launched.journal.samples(step, number)) >= expected


def at_work(stage):
    """Whether a worker that the fault spares has computed for a while since this was called."""
    pids = list(stage.fleet.running(stage.straggler, "fleetbench-worker"))
    start_s = cpu_s(pids)
    return lambda: cpu_s(pids) > start_s + WORK_S


@contextlib.contextmanager
def preparation(stage):
    """All nodes have answered the first pass of cpu_gemm: the tokeniser is trained on each."""
    stage.launched.wait_for(passed(stage, "cpu_gemm", 0))
    stage.launched.wait_for(at_work(stage))
    yield


@contextlib.contextmanager
def measurement(stage):
    """All nodes have answered token_pack: all measure cpu_gemm, whose preparation takes no time."""
    stage.launched.wait_for(passed(stage, "token_pack", 0))
    stage.launched.wait_for(at_work(stage))
    yield


@contextlib.contextmanager
def gathering(stage, before=("cpu_gemm", 1), last=("cpu_gemm", 2)):
    """The last slot: one worker is held until all other samples are in the journal, and goes on after
    the fault."""
    stage.launched.wait_for(passed(stage, *before))
    stage.launched.wait_for(at_work(stage))
    held = stage.fleet.signal(stage.straggler, signal.SIGSTOP, "fleetbench-worker")
    try:
        stage.launched.wait_for(passed(stage, *last, count=len(stage.fleet.nodes) - 1))
        yield
    finally:
        for pid in held:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def of(name):
    return {"preparation": preparation, "measurement": measurement, "gathering": gathering}[name]
