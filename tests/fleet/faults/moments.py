"""When a fault strikes. Journal and byte counters tell where the run is, nothing in the product does."""
import contextlib
import os
import signal
import time

MOMENTS = ("preparation", "measurement", "gathering")


def passed(stage, step, number, count=None):
    """Whether all samples of this step and pass, or so many of them, are in the journal."""
    expected = len(stage.fleet.nodes) if count is None else count
    return lambda: len(stage.launched.journal.samples(step, number)) >= expected


@contextlib.contextmanager
def preparation(stage):
    """All nodes have answered the first pass of cpu_gemm: now the tokeniser is trained on each."""
    stage.launched.wait_for(passed(stage, "cpu_gemm", 0))
    time.sleep(0.2)
    yield


@contextlib.contextmanager
def measurement(stage):
    """All nodes have answered token_pack: half a second later all measure cpu_gemm."""
    stage.launched.wait_for(passed(stage, "token_pack", 0))
    time.sleep(0.5)
    yield


@contextlib.contextmanager
def gathering(stage, before=("cpu_gemm", 1), last=("cpu_gemm", 2)):
    """The last slot: one worker is held until all other samples are in the journal, and goes on after
    the fault."""
    stage.launched.wait_for(passed(stage, *before))
    time.sleep(0.2)
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
